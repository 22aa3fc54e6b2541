{{- define "fantail.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- define "fantail.mounts" -}}
{{- if or .Values.redis.tls.caSecret.name .Values.redis.tls.clientSecret.name }}
- { name: redis-tls, mountPath: /etc/fantail/redis-tls, readOnly: true }
{{- end }}
{{- with .Values.volumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "fantail.volumes" -}}
{{- with .Values.redis.tls }}{{ if or .caSecret.name .clientSecret.name }}
- name: redis-tls
  projected:
    defaultMode: 0440
    sources:
      {{- if .caSecret.name }}
      - secret: { name: {{ .caSecret.name }}, items: [{ key: {{ .caSecret.key }}, path: ca.crt }] }
      {{- end }}
      {{- if .clientSecret.name }}
      - secret:
          name: {{ .clientSecret.name }}
          items:
            - { key: {{ .clientSecret.certKey }}, path: tls.crt }
            - { key: {{ .clientSecret.keyKey }}, path: tls.key }
      {{- end }}
{{- end }}{{ end }}
{{- with .Values.volumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* What all pods of Fantail have: the placement and the rights. */ -}}
{{- define "fantail.placement" -}}
# Variables of Services must not look like settings.
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext: {{ toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{- /* A Deployment. A new pod must be ready before an old one ends. */ -}}
{{- define "fantail.deployment" -}}
{{- $root := .root -}}
{{- $own := index $root.Values .component -}}
{{- $preStop := int (default 0 $own.preStopSeconds) -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "fantail.fullname" $root }}-{{ .component }}
  labels: {{ include "fantail.labels" . | nindent 4 }}
spec:
  {{- if not (and $own.autoscaling $own.autoscaling.enabled) }}
  replicas: {{ $own.replicas }}
  {{- end }}
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  selector:
    matchLabels: {{ include "fantail.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "fantail.labels" . | nindent 8 }}
        {{- with $root.Values.podLabels }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- with $root.Values.podAnnotations }}
      annotations: {{ toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "fantail.fullname" $root }}
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: {{ include "fantail.graceSeconds" $preStop }}
      {{- include "fantail.placement" $root | nindent 6 }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{ include "fantail.selector" . | nindent 14 }}
      containers:
        - name: {{ .component }}
          image: {{ include "fantail.image" $root }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: [{{ .component }}]
          securityContext: {{ include "fantail.securityContext" $root | nindent 12 }}
          env:
            {{- include "fantail.environment" $root | trim | nindent 12 }}
          ports:
            - { name: {{ .portName }}, containerPort: {{ .port }} }
          startupProbe:
            httpGet: { path: /healthz, port: {{ .portName }} }
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /healthz, port: {{ .portName }} }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: {{ .portName }} }
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 2
          {{- if $preStop }}
          lifecycle:
            preStop:
              sleep: { seconds: {{ $preStop }} }
          {{- end }}
          resources: {{ toYaml $own.resources | nindent 12 }}
          {{- with include "fantail.mounts" $root | trim }}
          volumeMounts: {{ . | nindent 12 }}
          {{- end }}
      {{- with include "fantail.volumes" $root | trim }}
      volumes: {{ . | nindent 8 }}
      {{- end }}
{{- end -}}
