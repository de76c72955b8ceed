{{- /* "true" if an administrator must say where controllers of the release may work. */}}
{{- define "landfall.isScoped" -}}
{{- if include "landfall.tenantRules" . | trim }}true{{ end }}
{{- end }}

{{- define "landfall.scopedRole" }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ include "landfall.fullname" .root }}-{{ .suffix }}
  labels:
    {{- include "landfall.labels" .root | nindent 4 }}
rules:
  {{- .rules | trim | nindent 2 }}
{{- end }}

{{- /* Binds such a ClusterRole in a namespace; without one, everywhere. */}}
{{- define "landfall.scopedBinding" }}
{{- if eq (default "" .namespace) "kube-system" }}
{{- fail "rbac.tenantNamespaces, rbac.hostNamespaces: kube-system has accounts that are as good as cluster-admin, and Landfall could become each of them: put SIPClusters, Vinos and hosts into other namespaces" }}
{{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ ternary "RoleBinding" "ClusterRoleBinding" (hasKey . "namespace") }}
metadata:
  name: {{ include "landfall.fullname" .root }}-{{ .suffix }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "landfall.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ include "landfall.fullname" .root }}-{{ .suffix }}
subjects:
  - kind: ServiceAccount
    name: {{ include "landfall.serviceAccountName" .root }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}

{{- /* The user whom the admission policy limits. */}}
{{- define "landfall.user" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "landfall.serviceAccountName" . }}
{{- end }}

{{- define "landfall.policyBindingSpec" -}}
policyName: {{ include "landfall.fullname" . }}
validationActions: [Deny]
{{- end }}
