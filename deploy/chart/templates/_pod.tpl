{{- /* Spec of the pods. */}}
{{- define "landfall.podSpec" -}}
{{- $secret := include "landfall.configSecret" . }}
{{- $file := include "landfall.configFile" . }}
{{- $key := include "landfall.configKey" . }}
{{- $redfishSecret := ternary .Values.redfish.tlsSecret "" .Values.redfish.enabled }}
{{- $isStandalone := eq (include "landfall.isStandalone" .) "true" }}
serviceAccountName: {{ include "landfall.serviceAccountName" . }}
{{ include "landfall.podSettings" . }}
terminationGracePeriodSeconds: 30
affinity:
  {{- include "landfall.affinity" . | nindent 2 }}
{{- if not .Values.useDaemonSet }}
{{- with .Values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- $selector := dict "labelSelector" (dict "matchLabels" (include "landfall.selectorLabels" $ | fromYaml)) }}
  {{- range . }}
  {{- list (hasKey . "labelSelector" | ternary . (merge (dict) . $selector)) | toYaml | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}
{{- with .Values.initContainers }}
initContainers:
  {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: landfall
    image: {{ include "landfall.image" . | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    args:
      - run
      {{- if or $secret (not $isStandalone) }}
      - --cloud-provider={{ .Values.cloudProvider }}
      {{- end }}
      {{- if $secret }}
      - --cloud-config=/etc/landfall/{{ $file }}
      {{- end }}
      - --controllers={{ include "landfall.controllers" . }}
      {{- if ne (include "landfall.isSeparate" .) "true" }}
      - --leader-elect-resource-name={{ include "landfall.lease" . }}
      {{- end }}
      - --secure-port=10258
      - --debug-address=127.0.0.1:10260
      - --v={{ .Values.logVerbosityLevel }}
      {{- if and .Values.rbac.hostNamespaces (include "landfall.hostsRules" . | trim) }}
      - --sip-host-namespaces={{ join "," .Values.rbac.hostNamespaces }}
      {{- end }}
      {{- if .Values.redfish.enabled }}
      {{- include "landfall.redfishArgs" . | nindent 6 }}
      {{- end }}
      {{- with include "landfall.extraArgs" . }}
      {{- . | nindent 6 }}
      {{- end }}
    env:
      {{- range $name, $path := dict "POD_NAME" "name" "POD_NAMESPACE" "namespace" "POD_UID" "uid" }}
      - name: {{ $name }}
        valueFrom:
          fieldRef:
            {{- /* The default of the API server, so that Helm and kubectl own the same fields. */}}
            apiVersion: v1
            fieldPath: metadata.{{ $path }}
      {{- end }}
      {{- if .Values.redfish.enabled }}
      - name: POD_IP
        valueFrom:
          fieldRef:
            apiVersion: v1
            fieldPath: status.podIP
      {{- end }}
      {{- with .Values.extraEnvs }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    ports:
      - name: https
        containerPort: 10258
        protocol: TCP
      {{- if .Values.redfish.enabled }}
      - name: redfish
        containerPort: {{ .Values.redfish.port }}
        protocol: TCP
      {{- end }}
    startupProbe:
      httpGet: {path: /healthz, port: 10258, scheme: HTTPS}
      timeoutSeconds: 5
      periodSeconds: 2
      failureThreshold: 30
    livenessProbe:
      httpGet: {path: /healthz, port: 10258, scheme: HTTPS}
      timeoutSeconds: 5
      periodSeconds: 10
      failureThreshold: 3
    readinessProbe:
      httpGet: {path: /readyz, port: 10258, scheme: HTTPS}
      timeoutSeconds: 5
      periodSeconds: 5
      failureThreshold: 3
    {{- with include "landfall.containerSettings" . | trim }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- if or $secret $redfishSecret .Values.extraVolumeMounts }}
    volumeMounts:
      {{- if $secret }}
      - name: config
        mountPath: /etc/landfall
        readOnly: true
      {{- end }}
      {{- if $redfishSecret }}
      - name: redfish-tls
        mountPath: /etc/landfall-redfish
        readOnly: true
      {{- end }}
      {{- with .Values.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- end }}
{{- if or $secret $redfishSecret .Values.extraVolumes }}
volumes:
  {{- if $secret }}
  - name: config
    secret:
      secretName: {{ $secret }}
      # 0440: root and the group of the pod may read it.
      defaultMode: 288
      {{- if and (not .Values.config) (ne $key $file) }}
      items:
        - key: {{ $key }}
          path: {{ $file }}
      {{- end }}
  {{- end }}
  {{- if $redfishSecret }}
  - name: redfish-tls
    secret:
      secretName: {{ $redfishSecret }}
      # 0440: root and the group of the pod may read it.
      defaultMode: 288
  {{- end }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* Settings of every pod of the release. */}}
{{- define "landfall.podSettings" -}}
automountServiceAccountToken: true
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
enableServiceLinks: false
{{- if .Values.useHostNetwork }}
hostNetwork: true
{{- end }}
dnsPolicy: Default
{{- with .Values.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Settings of every container of the release. */}}
{{- define "landfall.containerSettings" -}}
{{- with .Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "landfall.affinity" -}}
{{- if .Values.affinity }}
{{- toYaml .Values.affinity }}
{{- else if .Values.useDaemonSet -}}
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
      - matchExpressions:
          - key: node-role.kubernetes.io/control-plane
            operator: Exists
{{- else -}}
nodeAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      preference:
        matchExpressions:
          - key: node-role.kubernetes.io/control-plane
            operator: Exists
podAntiAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 50
      podAffinityTerm:
        topologyKey: topology.kubernetes.io/zone
        labelSelector:
          matchLabels:
            {{- include "landfall.selectorLabels" . | nindent 12 }}
{{- end }}
{{- end }}
