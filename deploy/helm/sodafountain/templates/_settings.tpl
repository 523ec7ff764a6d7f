{{/* The environment variables of `sodafountain serve`. */}}

{{- define "sodafountain.env" -}}
- name: SODAFOUNTAIN_LISTEN_HOST
  value: {{ .Values.listenHost | quote }}
- name: SODAFOUNTAIN_LISTEN_PORT
  value: "50051"
- name: SODAFOUNTAIN_HEALTH_PORT
  value: "50052"
{{- if .Values.tls.existingSecret }}
- name: SODAFOUNTAIN_TLS_CERT_FILE
  value: /etc/sodafountain/tls/tls.crt
- name: SODAFOUNTAIN_TLS_KEY_FILE
  value: /etc/sodafountain/tls/tls.key
{{- end }}
{{- if .Values.gateway.enabled }}
- name: SODAFOUNTAIN_TRUSTED_PROXIES
  value: {{ join "," .Values.gateway.trustedNetworks | quote }}
{{- end }}
- name: SODAFOUNTAIN_METRICS_PORT
  {{- /* An empty value disables metrics; without the variable, the default of the image applies. */}}
  value: {{ ternary "9090" "" .Values.metrics.enabled | quote }}
- name: SODAFOUNTAIN_DRAIN
  value: {{ printf "%ds" (int .Values.shutdown.drainSeconds) | quote }}
- name: SODAFOUNTAIN_TOKEN_KEYS_FILE
  value: /etc/sodafountain/keys/token-keys
{{- if .Values.apiKeys.existingSecret }}
- name: SODAFOUNTAIN_API_KEYS_FILE
  value: /etc/sodafountain/keys/api-keys
{{- end }}
{{- if .Values.encryptionKeys.existingSecret }}
- name: SODAFOUNTAIN_ENCRYPTION_KEYS_FILE
  value: /etc/sodafountain/keys/encryption-keys
{{- end }}
{{- if .Values.valkey.enabled }}
{{- if .Values.valkey.existingSecret }}
- name: VALKEY_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ .Values.valkey.existingSecret | quote }}
      key: {{ .Values.valkey.key | quote }}
{{- end }}
- name: SODAFOUNTAIN_STORE_URL
  value: redis://{{ if .Values.valkey.existingSecret }}:$(VALKEY_PASSWORD)@{{ end }}{{ include "sodafountain.valkey" . }}:6379/0
{{- else }}
- name: SODAFOUNTAIN_STORE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.store.existingSecret | quote }}
      key: {{ .Values.store.key | quote }}
{{- end }}
{{- range $flag, $value := .Values.settings }}
- name: SODAFOUNTAIN_{{ $flag | upper | replace "-" "_" }}
  {{- /* Helm parses integers as floats, and would print 1000000 as 1e+06. */}}
  value: {{ ternary (printf "%.0f" (float64 $value)) (toString $value) (kindIs "float64" $value) | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Fail with a list of all missing and conflicting values, before anything is installed. */}}
{{- define "sodafountain.check" -}}
{{- $problems := list -}}
{{- if not .Values.image.repository -}}
{{- $problems = append $problems "image.repository is missing: set it to the repository that you pushed the image to" -}}
{{- end -}}
{{- range $place, $image := dict "image" .Values.image "gateway.image" .Values.gateway.image "valkey.image" .Values.valkey.image -}}
{{- if eq $image.tag "latest" -}}
{{- $problems = append $problems (printf "%s.tag must not be latest: pods of different versions could run at the same time; set a version" $place) -}}
{{- end -}}
{{- end -}}
{{- range $place, $image := dict "gateway.image" .Values.gateway.image "valkey.image" .Values.valkey.image -}}
{{- if not (or $image.tag $image.digest) -}}
{{- $problems = append $problems (printf "%s.tag is missing: set it, or %s.digest" $place $place) -}}
{{- end -}}
{{- end -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" (include "sodafountain.fullname" .)) -}}
{{- $problems = append $problems (printf "%s is not a valid name of a Service, which starts with a letter and contains letters, digits and hyphens: choose another release name, or set fullnameOverride" (include "sodafountain.fullname" .)) -}}
{{- end -}}
{{- $limits := dict "s" 315360000 "m" 5256000 "h" 87600 "d" 3650 -}}
{{- range $flag, $value := .Values.settings -}}
{{- if regexMatch "^[0-9]+[smhd]$" (toString $value) -}}
{{- if gt (int64 (regexFind "[0-9]+" $value)) (int64 (index $limits (regexFind "[a-z]" $value))) -}}
{{- $problems = append $problems (printf "settings.%s must be at most ten years" $flag) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range .Values.extraEnv -}}
{{- if hasPrefix "SODAFOUNTAIN_" .name -}}
{{- $problems = append $problems (printf "extraEnv must not contain %s: use settings, or the other chart value for it" .name) -}}
{{- end -}}
{{- end -}}
{{- if not .Values.tokenKeys.existingSecret -}}
{{- $problems = append $problems "tokenKeys.existingSecret is missing: set it to a Secret with keys from `sodafountain keygen`" -}}
{{- end -}}
{{- if and .Values.store.existingSecret .Values.valkey.enabled -}}
{{- $problems = append $problems "store.existingSecret and valkey.enabled are mutually exclusive: set one of them" -}}
{{- else if not (or .Values.store.existingSecret .Values.valkey.enabled) -}}
{{- $problems = append $problems "store.existingSecret is missing: set it to a Secret with the URL of a Redis or Valkey, or set valkey.enabled for evaluation" -}}
{{- end -}}
{{- if and .Values.valkey.enabled (gt (int (index .Values.settings "durable-replicas" | default 0)) 0) -}}
{{- $problems = append $problems "settings.durable-replicas must be 0 with valkey.enabled: the Valkey of the chart has no replica" -}}
{{- end -}}
{{- if and .Values.store.tls.existingSecret (not .Values.store.existingSecret) -}}
{{- $problems = append $problems "store.tls.existingSecret requires store.existingSecret" -}}
{{- end -}}
{{- with .Values.networkPolicy -}}
{{- $everywhere := "or to [{ipBlock: {cidr: 0.0.0.0/0}}] (::/0 for IPv6) to allow all" -}}
{{- if and .enabled $.Values.store.existingSecret (not $.Values.valkey.enabled) (not .stores) -}}
{{- $problems = append $problems (printf "networkPolicy.stores is missing: set it to the addresses of the store and its sentinels, for instance [{ipBlock: {cidr: 10.1.2.3/32}}], %s" $everywhere) -}}
{{- end -}}
{{- if and .enabled (index $.Values.settings "traces-endpoint") (not .traceCollectors) -}}
{{- $problems = append $problems (printf "networkPolicy.traceCollectors is missing: set it to the addresses of the collector in settings.traces-endpoint, %s" $everywhere) -}}
{{- end -}}
{{- if and .enabled (not $.Values.gateway.enabled) (not .clients) -}}
{{- $problems = append $problems "networkPolicy.clients is missing: without the gateway, set it to the pods that call the service, for instance [{podSelector: {}}] for all of the namespace" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (lt (int .Values.autoscaling.maxReplicas) (int .Values.autoscaling.minReplicas)) -}}
{{- $problems = append $problems "autoscaling.maxReplicas must not be less than autoscaling.minReplicas" -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.enabled) -}}
{{- $problems = append $problems "metrics.serviceMonitor.enabled requires metrics.enabled" -}}
{{- end -}}
{{- if and .Values.gateway.ingress.enabled (not .Values.gateway.enabled) -}}
{{- $problems = append $problems "gateway.ingress.enabled requires gateway.enabled" -}}
{{- end -}}
{{- if $problems -}}
{{- fail (printf "\n\nThe values are invalid:\n- %s\n" (join "\n- " $problems)) -}}
{{- end -}}
{{- end }}

{{/* The volume with the certificate of the authority of the service, for those that call it. */}}
{{- define "sodafountain.authorityVolume" -}}
- name: service-tls
  secret:
    secretName: {{ .Values.tls.existingSecret | quote }}
    defaultMode: 0440
    items:
      - key: ca.crt
        path: ca.crt
{{- end }}
