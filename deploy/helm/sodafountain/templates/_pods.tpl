{{/* Parts of pod specs. */}}

{{/* Not empty if the security context constraints of OpenShift assign the user and the groups of pods. */}}
{{- define "sodafountain.openshift" -}}
{{- $adapt := .Values.compatibility.openshift.adaptSecurityContext -}}
{{- if or (eq $adapt "force") (and (eq $adapt "auto") (.Capabilities.APIVersions.Has "security.openshift.io/v1")) -}}
true
{{- end }}
{{- end }}

{{- define "sodafountain.podSecurity" -}}
runAsNonRoot: true
{{- if not (include "sodafountain.openshift" .) }}
{{- range $name, $id := .Values.podSecurityContext }}
{{- if not (kindIs "invalid" $id) }}
{{ $name }}: {{ $id | int64 }}
{{- if eq $name "fsGroup" }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
{{- end }}
{{- end }}
{{- end }}
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

{{/* What all pod specs have in common. Service links are disabled: their environment variables look like settings. */}}
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

{{/* The spread of the pods of a Deployment. Call with (list . "component" component-values). */}}
{{- define "sodafountain.spread" -}}
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
{{- end }}

{{/* The first fields of a pod spec: podStart, and where the pod may run. Call with (list . component-values). */}}
{{- define "sodafountain.pod" -}}
{{- $values := index . 1 -}}
{{ include "sodafountain.podStart" (index . 0) }}
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
