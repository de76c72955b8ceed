{{- /* The chart's name, as labels have it. */}}
{{- define "landfall.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* Name of all objects: the release's, with the chart's unless it is in there already. */}}
{{- define "landfall.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := include "landfall.name" . }}
{{- /* Releases may have dots in their names, and Services may not. */}}
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
{{- required "serviceAccount.name: name one when create is false: default would give its rights to every pod" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "landfall.image" -}}
{{- $tag := default .Chart.AppVersion .Values.image.tag }}
{{- printf "%s%s%s" .Values.image.repository (ternary "@" ":" (hasPrefix "sha256:" $tag)) $tag }}
{{- end }}

{{- /* What the cloud says of its settings. */}}
{{- define "landfall.cloud" -}}
{{- get (include "landfall.clouds" . | fromYaml) .Values.cloudProvider | toYaml }}
{{- end }}

{{- /* The Secret with the settings; nothing when the environment has them. */}}
{{- define "landfall.configSecret" -}}
{{- if and .Values.config .Values.existingConfigSecret }}
{{- fail "set config or existingConfigSecret, not both: with both, nobody knows which one counts" }}
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
{{- else if not $isInEnvironment }}
{{- $cloud.secret }}
{{- end }}
{{- end }}

{{- /* File of the settings below /etc/landfall. */}}
{{- define "landfall.configFile" -}}
{{- if .Values.config }}
{{- (include "landfall.cloud" . | fromYaml).file }}
{{- else }}
{{- .Values.existingConfigSecretPath }}
{{- end }}
{{- end }}

{{- /* Flags that contradict what the chart relies on: a pod would be killed by its probes, or two would lead. */}}
{{- define "landfall.extraArgs" -}}
{{- $instead := dict
  "controllers" "set enabledControllers: of two lists the first match wins"
  "leader-elect" "it is always on, since while a rollout lasts there may be two"
  "leader-elect-resource-name" "set leaderElection.resourceName, which its right is bound to"
  "leader-elect-resource-namespace" "the Lease, and the right to it, are in kube-system"
  "secure-port" "probes and Service ask at port 10258"
}}
{{- range .Values.extraArgs }}
{{- $flag := regexReplaceAll "^--?([^=]*)(=.*)?$" . "${1}" | replace "_" "-" }}
{{- if and (hasKey $instead $flag) (ne . "--leader-elect") (ne . "--leader-elect=true") }}
{{- fail (printf "extraArgs: --%s: %s" $flag (get $instead $flag)) }}
{{- end }}
{{- if regexMatch "^--?bind[-_]address=(127\\.|::1$|::ffff:127\\.)" . }}
{{- fail "extraArgs: --bind-address: probes and the Service ask at the address of the pod, not at a loopback address" }}
{{- end }}
{{- end }}
{{- with .Values.extraArgs }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- /* Of what the hook makes: not the labels that workload, Service and budget select pods by. */}}
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
