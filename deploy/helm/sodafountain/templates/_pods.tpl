{{/* Parts of pod specs. */}}

{{- define "sodafountain.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "sodafountain.containerSecurity" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* The first fields of a pod spec. Service links are disabled: their environment variables look like settings. */}}
{{- define "sodafountain.podStart" -}}
serviceAccountName: {{ include "sodafountain.serviceAccount" . | quote }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "sodafountain.podSecurity" . | nindent 2 }}
{{- end }}

{{/* The scheduling of a pod. Call with (list . "component" component-values). */}}
{{- define "sodafountain.placement" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $values := index . 2 -}}
topologySpreadConstraints:
{{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - topologyKey: {{ $key }}
    maxSkew: 1
    whenUnsatisfiable: {{ $values.spread | quote }}
    labelSelector:
      matchLabels:
        {{- include "sodafountain.selector" (list $root $component) | nindent 8 }}
    # Ignore pods of the previous revision; otherwise pods are unevenly spread after a rolling update.
    matchLabelKeys: [pod-template-hash]
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The volume with the key files of the service and of its test. Call with (list . is-service): the test gets no token keys and no
encryption keys. */}}
{{- define "sodafountain.keysVolume" -}}
{{- $root := index . 0 -}}
- name: keys
  projected:
    defaultMode: 0440
    sources:
      {{- if index . 1 }}
      - secret:
          name: {{ $root.Values.tokenKeys.existingSecret | quote }}
          items:
            - key: {{ $root.Values.tokenKeys.key | quote }}
              path: token-keys
      {{- with $root.Values.encryptionKeys }}
      {{- if .existingSecret }}
      - secret:
          name: {{ .existingSecret | quote }}
          items:
            - key: {{ .key | quote }}
              path: encryption-keys
      {{- end }}
      {{- end }}
      {{- end }}
      {{- with $root.Values.apiKeys }}
      {{- if .existingSecret }}
      - secret:
          name: {{ .existingSecret | quote }}
          items:
            - key: {{ .key | quote }}
              path: api-keys
      {{- end }}
      {{- end }}
{{- end }}
