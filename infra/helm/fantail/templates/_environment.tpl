{{- define "fantail.variable" -}}
- name: {{ .name }}
  value: {{ .value | toString | quote }}
{{ end -}}

{{- define "fantail.secretVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret }}
      key: {{ .key }}
{{ end -}}

{{- define "fantail.checkRedis" -}}
{{- $r := .Values.redis -}}
{{- $given := 0 -}}
{{- range list $r.url $r.urlSecret.name $r.sentinels $r.cluster $r.trial.enabled -}}
{{- if . -}}{{- $given = add1 $given -}}{{- end -}}
{{- end -}}
{{- if ne (int $given) 1 -}}
{{- fail "set exactly one of redis.url, redis.urlSecret.name, redis.sentinels, redis.cluster and redis.trial.enabled" -}}
{{- end -}}
{{- if and $r.sentinels (not $r.sentinelName) -}}
{{- fail "redis.sentinelName must be set where redis.sentinels is" -}}
{{- end -}}
{{- if and $r.tls.enabled (or $r.trial.enabled (and $r.url (not (hasPrefix "rediss://" $r.url)))) -}}
{{- fail "redis.tls.enabled needs a redis.url that begins with rediss://, and the Redis for trials has no TLS" -}}
{{- end -}}
{{- end -}}

{{- define "fantail.redis" -}}
{{- include "fantail.checkRedis" . -}}
{{- $r := .Values.redis -}}
{{- if $r.trial.enabled -}}
{{ include "fantail.variable" (dict "name" "REDIS_URL" "value" (printf "redis://%s-redis:6379" (include "fantail.fullname" .))) }}
{{- else if $r.url -}}
{{ include "fantail.variable" (dict "name" "REDIS_URL" "value" $r.url) }}
{{- else if $r.urlSecret.name -}}
{{ include "fantail.secretVariable" (dict "name" "REDIS_URL" "secret" $r.urlSecret.name "key" $r.urlSecret.key) }}
{{- else -}}
{{- if $r.sentinels -}}
{{ include "fantail.variable" (dict "name" "REDIS_SENTINELS" "value" (join "," $r.sentinels)) }}
{{- include "fantail.variable" (dict "name" "REDIS_SENTINEL_NAME" "value" $r.sentinelName) }}
{{- with $r.sentinelUsername }}{{ include "fantail.variable" (dict "name" "REDIS_SENTINEL_USERNAME" "value" .) }}{{ end }}
{{- with $r.sentinelPasswordSecret }}{{ if .name }}{{ include "fantail.secretVariable" (dict "name" "REDIS_SENTINEL_PASSWORD" "secret" .name "key" .key) }}{{ end }}{{ end }}
{{- else -}}
{{ include "fantail.variable" (dict "name" "REDIS_CLUSTER_NODES" "value" (join "," $r.cluster)) }}
{{- with $r.clusterNatMap }}{{ include "fantail.variable" (dict "name" "REDIS_CLUSTER_NAT_MAP" "value" .) }}{{ end }}
{{- end -}}
{{- with $r.username }}{{ include "fantail.variable" (dict "name" "REDIS_USERNAME" "value" .) }}{{ end }}
{{- with $r.passwordSecret }}{{ if .name }}{{ include "fantail.secretVariable" (dict "name" "REDIS_PASSWORD" "secret" .name "key" .key) }}{{ end }}{{ end }}
{{- if $r.tls.enabled }}{{ include "fantail.variable" (dict "name" "REDIS_TLS" "value" "true") }}{{ end }}
{{- end -}}
{{- if $r.tls.caSecret.name }}{{ include "fantail.variable" (dict "name" "REDIS_TLS_CA_FILE" "value" "/etc/fantail/redis-tls/ca.crt") }}{{ end }}
{{- if $r.tls.clientSecret.name }}
{{- include "fantail.variable" (dict "name" "REDIS_TLS_CERT_FILE" "value" "/etc/fantail/redis-tls/tls.crt") }}
{{- include "fantail.variable" (dict "name" "REDIS_TLS_KEY_FILE" "value" "/etc/fantail/redis-tls/tls.key") }}
{{- end -}}
{{- with $r.tls.serverName }}{{ include "fantail.variable" (dict "name" "REDIS_TLS_SERVER_NAME" "value" .) }}{{ end }}
{{- end -}}

{{- /* The environment of every process of Fantail. Workers and the redrive service listen at the next two ports. */ -}}
{{- define "fantail.environment" -}}
{{ include "fantail.variable" (dict "name" "FANTAIL_MODE" "value" "server") }}
{{- include "fantail.variable" (dict "name" "FANTAIL_PORT" "value" "4100") }}
{{- include "fantail.redis" . }}
{{- with .Values.masterKey }}{{ if .existingSecret }}
{{- include "fantail.secretVariable" (dict "name" "FANTAIL_MASTER_KEY" "secret" .existingSecret "key" .key) }}
{{- if .oldKeysKey }}{{ include "fantail.secretVariable" (dict "name" "FANTAIL_MASTER_KEYS_OLD" "secret" .existingSecret "key" .oldKeysKey) }}{{ end }}
{{- end }}{{ end }}
{{- with include "fantail.publicUrl" . }}{{ include "fantail.variable" (dict "name" "FANTAIL_PUBLIC_URL" "value" .) }}{{ end }}
{{- range $name, $value := omit .Values.settings "FANTAIL_PUBLIC_URL" }}{{ include "fantail.variable" (dict "name" $name "value" $value) }}{{ end }}
{{- range $name, $from := .Values.secretSettings }}
{{- if hasKey $.Values.settings $name }}{{ fail (printf "%s is in settings and in secretSettings" $name) }}{{ end }}
{{- include "fantail.secretVariable" (dict "name" $name "secret" $from.name "key" $from.key) }}
{{- end }}
{{- end -}}
