{{/* The settings of `sodafountain serve`, as environment variables. */}}

{{- define "sodafountain.env" -}}
- name: SODAFOUNTAIN_LISTEN_HOST
  value: {{ .Values.listenHost | quote }}
- name: SODAFOUNTAIN_LISTEN_PORT
  value: "50051"
- name: SODAFOUNTAIN_METRICS_PORT
  {{- /* Empty, there is none; left out, there is the one that the image has set. */}}
  value: {{ ternary "9090" "" .Values.metrics.enabled | quote }}
- name: SODAFOUNTAIN_DRAIN
  value: {{ printf "%ds" (int .Values.shutdown.drainSeconds) | quote }}
- name: SODAFOUNTAIN_TOKEN_KEYS_FILE
  value: /etc/sodafountain/keys/token-keys
{{- if .Values.apiKeys.existingSecret }}
- name: SODAFOUNTAIN_API_KEYS_FILE
  value: /etc/sodafountain/keys/api-keys
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
  {{- /* Helm reads whole numbers as floats, and would write a million as 1e+06. */}}
  value: {{ ternary (printf "%.0f" (float64 $value)) (toString $value) (kindIs "float64" $value) | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Everything that is missing or contradicts itself, in one message, before anything is installed. */}}
{{- define "sodafountain.check" -}}
{{- $wrong := list -}}
{{- if not .Values.image.repository -}}
{{- $wrong = append $wrong "image.repository is missing: name the place that you have pushed the image to" -}}
{{- end -}}
{{- range $place, $image := dict "image" .Values.image "gateway.image" .Values.gateway.image "valkey.image" .Values.valkey.image -}}
{{- if eq $image.tag "latest" -}}
{{- $wrong = append $wrong (printf "%s.tag must not be latest: pods of different releases would run beside each other" $place) -}}
{{- end -}}
{{- end -}}
{{- range $place, $image := dict "gateway.image" .Values.gateway.image "valkey.image" .Values.valkey.image -}}
{{- if not (or $image.tag $image.digest) -}}
{{- $wrong = append $wrong (printf "%s.tag is missing, and %s.digest too: name one" $place $place) -}}
{{- end -}}
{{- end -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" (include "sodafountain.fullname" .)) -}}
{{- $wrong = append $wrong (printf "%s cannot be what Services are called, by a letter first and then letters, digits and hyphens: choose another name for the release, or set fullnameOverride" (include "sodafountain.fullname" .)) -}}
{{- end -}}
{{- $mosts := dict "s" 315360000 "m" 5256000 "h" 87600 "d" 3650 -}}
{{- range $flag, $value := .Values.settings -}}
{{- if regexMatch "^[0-9]+[smhd]$" (toString $value) -}}
{{- if gt (int64 (regexFind "[0-9]+" $value)) (int64 (index $mosts (regexFind "[a-z]" $value))) -}}
{{- $wrong = append $wrong (printf "settings.%s is more than ten years" $flag) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range .Values.extraEnv -}}
{{- if hasPrefix "SODAFOUNTAIN_" .name -}}
{{- $wrong = append $wrong (printf "extraEnv must not set %s: it has a place of its own, in settings or elsewhere in these values" .name) -}}
{{- end -}}
{{- end -}}
{{- if not .Values.tokenKeys.existingSecret -}}
{{- $wrong = append $wrong "tokenKeys.existingSecret is missing: name a Secret that holds what `sodafountain keygen` draws" -}}
{{- end -}}
{{- if and .Values.store.existingSecret .Values.valkey.enabled -}}
{{- $wrong = append $wrong "store.existingSecret and valkey.enabled contradict each other: games are kept in one store, so choose one" -}}
{{- else if not (or .Values.store.existingSecret .Values.valkey.enabled) -}}
{{- $wrong = append $wrong "store.existingSecret is missing: name a Secret that holds the URL of a Redis or Valkey, or set valkey.enabled to try it out" -}}
{{- end -}}
{{- if and .Values.valkey.enabled (gt (int (index .Values.settings "durable-replicas" | default 0)) 0) -}}
{{- $wrong = append $wrong "settings.durable-replicas cannot be met: the Valkey of valkey.enabled has no replica to confirm a change" -}}
{{- end -}}
{{- if and .Values.store.tls.existingSecret (not .Values.store.existingSecret) -}}
{{- $wrong = append $wrong "store.tls.existingSecret is for the store of store.existingSecret, which is not set" -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (lt (int .Values.autoscaling.maxReplicas) (int .Values.autoscaling.minReplicas)) -}}
{{- $wrong = append $wrong "autoscaling.maxReplicas is below autoscaling.minReplicas" -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.enabled) -}}
{{- $wrong = append $wrong "metrics.serviceMonitor.enabled needs metrics.enabled" -}}
{{- end -}}
{{- if and .Values.gateway.ingress.enabled (not .Values.gateway.enabled) -}}
{{- $wrong = append $wrong "gateway.ingress.enabled needs gateway.enabled" -}}
{{- end -}}
{{- if $wrong -}}
{{- fail (printf "\n\nThis cannot be installed:\n- %s\n" (join "\n- " $wrong)) -}}
{{- end -}}
{{- end }}
