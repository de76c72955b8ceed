{{- /* Written by deploy/generate.ts (npm run deploy). Do not edit. */}}
{{- define "landfall.clouds" -}}
xenorchestra:
  file: config.yaml
  secret: xenorchestra-cloud-controller-manager
  variable: XOA_URL
static:
  file: config.yaml
  secret: xenorchestra-cloud-controller-manager
{{- end }}
