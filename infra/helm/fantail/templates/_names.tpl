{{- define "fantail.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- $full | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "fantail.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "fantail.labels" -}}
{{ include "fantail.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: fantail
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "fantail.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "fantail.publicUrl" -}}
{{- if .Values.settings.FANTAIL_PUBLIC_URL -}}
{{ .Values.settings.FANTAIL_PUBLIC_URL }}
{{- else if and .Values.ingress.enabled .Values.ingress.host -}}
{{ ternary "https" "http" (ne .Values.ingress.tlsSecret "") }}://{{ .Values.ingress.host }}
{{- end -}}
{{- end -}}

{{- /* Seconds after SIGTERM in which a process ends by itself: STOP_TIMEOUT_MS of packages/runtime. A test compares them. */ -}}
{{- define "fantail.stopSeconds" -}}18{{- end -}}

{{- /* How many seconds a pod may take to end: its preStop, the end of the process, and 2 seconds for the kubelet. */ -}}
{{- define "fantail.graceSeconds" -}}
{{ add . (include "fantail.stopSeconds" .) 2 }}
{{- end -}}
