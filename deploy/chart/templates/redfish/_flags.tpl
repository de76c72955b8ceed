{{- /* Name of the objects by which clients reach the Redfish service. The name of its EndpointSlice is longer. */}}
{{- define "landfall.redfishName" -}}
{{- printf "%s-redfish" (include "landfall.fullname" . | trunc 50 | trimSuffix "-") }}
{{- end }}

{{- /* Refuses what could not work. */}}
{{- define "landfall.checkRedfish" -}}
{{- if not (has "vino" (splitList "," (include "landfall.controllers" .))) }}
{{- fail "redfish.enabled needs the controller vino: add it to enabledControllers" }}
{{- end }}
{{- end }}

{{- define "landfall.redfishArgs" -}}
{{- include "landfall.checkRedfish" . }}
{{- $name := include "landfall.redfishName" . }}
{{- $url := printf "https://%s.%s.svc:%d" $name .Release.Namespace (int .Values.redfish.port) }}
- --vino-redfish-address=0.0.0.0:{{ .Values.redfish.port }}
- --vino-redfish-url={{ default $url .Values.redfish.url }}
{{- if .Values.redfish.tlsSecret }}
- --vino-redfish-tls-cert-file=/etc/landfall-redfish/tls.crt
- --vino-redfish-tls-private-key-file=/etc/landfall-redfish/tls.key
{{- end }}
- --vino-redfish-service={{ .Release.Namespace }}/{{ $name }}
- --vino-redfish-pod-ip=$(POD_IP)
{{- end }}
