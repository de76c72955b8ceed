{{- /* Written by deploy/generate.ts (npm run deploy). Do not edit. */}}
{{- define "landfall.clusterRules" -}}
- apiGroups: [""]
  resources: [nodes]
  verbs: [list, watch, patch, get, delete]
- apiGroups: [""]
  resources: [nodes/status]
  verbs: [patch]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- if or (has "cloud-node-out-of-service" .Values.enabledControllers) (has "cloud-node-out-of-service-controller" .Values.enabledControllers) }}
- apiGroups: [storage.k8s.io]
  resources: [volumeattachments]
  verbs: [get, list, watch]
{{- end }}
{{- end }}

{{- define "landfall.leaseRules" -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: ["{{ .Values.leaderElection.resourceName }}"]
  verbs: [get, update]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
{{- end }}
