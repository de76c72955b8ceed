{{- /* Name of the chart, for labels. */}}
{{- define "landfall.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* Name of all objects: the name of the release, then that of the chart unless the first contains it. */}}
{{- define "landfall.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := include "landfall.name" . }}
{{- /* The name of a release can contain a dot, but not the name of a Service. */}}
{{- if contains $name .Release.Name }}
{{- .Release.Name | replace "." "-" | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | replace "." "-" | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "landfall.selectorLabels" -}}
app.kubernetes.io/name: {{ include "landfall.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "landfall.labels" -}}
{{ include "landfall.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: cloud-controller-manager
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "landfall.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "landfall.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- required "serviceAccount.name is required when serviceAccount.create is false: without it, every pod of the namespace would get the rights of Landfall" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "landfall.image" -}}
{{- $repository := required "image.repository is required: build the image, push it to your registry, and set its name without a tag, for example registry.example.org/landfall (docs/guides/install.md)" .Values.image.repository }}
{{- if .Values.image.digest }}
{{- printf "%s@%s" $repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- /* How the cloud gets its settings. */}}
{{- define "landfall.cloud" -}}
{{- get (include "landfall.clouds" . | fromYaml) .Values.cloudProvider | toYaml }}
{{- end }}

{{- /* The list of --controllers: that of the values, or that of the cloud. */}}
{{- define "landfall.controllers" -}}
{{- $cloud := include "landfall.cloud" . | fromYaml }}
{{- join "," (.Values.enabledControllers | default $cloud.controllers) }}
{{- end }}

{{- /* "true" if the release runs only controllers that need no Lease but their own. */}}
{{- define "landfall.isSeparate" -}}
{{- include "landfall.runsOnly" (dict "root" . "known" (include "landfall.separable" .)) }}
{{- end }}

{{- /* "true" if the release runs only such controllers, and none of them needs a cloud. */}}
{{- define "landfall.isStandalone" -}}
{{- include "landfall.runsOnly" (dict "root" . "known" (include "landfall.standalone" .)) }}
{{- end }}

{{- /* "true" if all controllers of the release are keys of the YAML text "known". */}}
{{- define "landfall.runsOnly" -}}
{{- $known := .known | fromYaml }}
{{- $rest := list }}
{{- range splitList "," (include "landfall.controllers" .root) }}
{{- if not (hasKey $known .) }}
{{- $rest = append $rest . }}
{{- end }}
{{- end }}
{{- empty $rest }}
{{- end }}

{{- /* Name of the Secret with the settings. Empty if environment variables hold them, or there are none. */}}
{{- define "landfall.configSecret" -}}
{{- if and .Values.config .Values.existingConfigSecret }}
{{- fail "set config or existingConfigSecret, not both" }}
{{- end }}
{{- $cloud := include "landfall.cloud" . | fromYaml }}
{{- $isInEnvironment := false }}
{{- range .Values.extraEnvs }}
{{- if eq .name (default "" $cloud.variable) }}
{{- $isInEnvironment = true }}
{{- end }}
{{- end }}
{{- if .Values.existingConfigSecret }}
{{- .Values.existingConfigSecret }}
{{- else if .Values.config }}
{{- include "landfall.fullname" . }}
{{- else if not (or $isInEnvironment (eq (include "landfall.isStandalone" .) "true")) }}
{{- $cloud.secret }}
{{- end }}
{{- end }}

{{- /* Name of the settings file in /etc/landfall. */}}
{{- define "landfall.configFile" -}}
{{- $file := (include "landfall.cloud" . | fromYaml).file }}
{{- if .Values.config }}
{{- $file }}
{{- else }}
{{- default $file .Values.existingConfigSecretPath }}
{{- end }}
{{- end }}

{{- /* Key of the settings in an existing Secret. */}}
{{- define "landfall.configKey" -}}
{{- default (include "landfall.cloud" . | fromYaml).file .Values.existingConfigSecretKey }}
{{- end }}

{{- /* Name of the Lease. */}}
{{- define "landfall.lease" -}}
{{- default (include "landfall.cloud" . | fromYaml).lease .Values.leaderElection.resourceName }}
{{- end }}

{{- /* Refuses flags that would break what the chart sets: the probes, the Lease, the list of controllers. */}}
{{- define "landfall.extraArgs" -}}
{{- $instead := dict
  "controllers" "set enabledControllers instead"
  "leader-elect" "leader election is always on, because two replicas may run during a rollout"
  "leader-elect-resource-name" "set leaderElection.resourceName instead: the rights name this Lease"
  "leader-elect-resource-namespace" "the Lease and the rights to it are in kube-system"
  "secure-port" "the probes and the Service use port 10258"
}}
{{- if .Values.redfish.enabled }}
{{- range list "address" "service" "pod-ip" "tls-cert-file" "tls-private-key-file" "url" }}
{{- $_ := set $instead (printf "vino-redfish-%s" .) "redfish.enabled sets it: set the other values of redfish instead" }}
{{- end }}
{{- end }}
{{- if .Values.rbac.hostNamespaces }}
{{- $_ := set $instead "sip-host-namespaces" "rbac.hostNamespaces sets it, and the rights for it" }}
{{- end }}
{{- range .Values.extraArgs }}
{{- $flag := regexReplaceAll "^--?([^=]*)(=.*)?$" . "${1}" | replace "_" "-" }}
{{- if and (hasKey $instead $flag) (ne . "--leader-elect") (ne . "--leader-elect=true") }}
{{- fail (printf "extraArgs: --%s: %s" $flag (get $instead $flag)) }}
{{- end }}
{{- if regexMatch "^--?bind[-_]address=(127\\.|::1$|::ffff:127\\.)" . }}
{{- fail "extraArgs: --bind-address: the probes and the Service use the address of the pod, not a loopback address" }}
{{- end }}
{{- end }}
{{- with .Values.extraArgs }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- /* Labels of the hook's objects. The selectors of the workload, the Service and the budget must not match them. */}}
{{- define "landfall.hookLabels" -}}
{{- $name := printf "%s-uninstall" (include "landfall.name" . | trunc 53 | trimSuffix "-") }}
{{- $labels := unset (include "landfall.labels" . | fromYaml) "app.kubernetes.io/instance" }}
{{- merge (dict "app.kubernetes.io/name" $name) $labels | toYaml }}
{{- end }}

{{- define "landfall.hookAnnotations" -}}
helm.sh/hook: pre-delete
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
