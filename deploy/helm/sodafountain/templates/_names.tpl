{{/* What things are called, and what they are selected by. */}}

{{- define "sodafountain.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 45 | trimSuffix "-" }}
{{- end }}

{{/* Short enough for its longest suffix, and for the hash that a StatefulSet adds to its own name. */}}
{{- define "sodafountain.fullname" -}}
{{- $name := include "sodafountain.name" . -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 45 | trimSuffix "-" }}
{{- else if contains $name .Release.Name -}}
{{ .Release.Name | trunc 45 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name $name | trunc 45 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "sodafountain.headless" -}}
{{ include "sodafountain.fullname" . }}-headless
{{- end }}

{{- define "sodafountain.gateway" -}}
{{ include "sodafountain.fullname" . }}-gateway
{{- end }}

{{- define "sodafountain.valkey" -}}
{{ include "sodafountain.fullname" . }}-valkey
{{- end }}

{{- define "sodafountain.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "sodafountain.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end }}
{{- end }}

{{/* Labels that never change. Call it with (list . "component"). */}}
{{- define "sodafountain.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "sodafountain.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Labels of an object. Call it with (list . "component"). */}}
{{- define "sodafountain.labels" -}}
{{- $root := index . 0 -}}
{{ include "sodafountain.selector" . }}
app.kubernetes.io/version: {{ $root.Values.image.tag | default $root.Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "sodafountain.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- if .Values.image.digest -}}
{{ printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else -}}
{{ printf "%s:%s" .Values.image.repository $tag }}
{{- end }}
{{- end }}
