{{/* Names, labels and selectors. */}}

{{/* Shorten a name, leaving room for the longest suffix and for the hash that a StatefulSet appends. */}}
{{- define "sodafountain.short" -}}
{{ regexReplaceAll "-+$" (trunc 45 .) "" }}
{{- end }}

{{- define "sodafountain.name" -}}
{{ include "sodafountain.short" (.Values.nameOverride | default .Chart.Name) }}
{{- end }}

{{- define "sodafountain.fullname" -}}
{{- $name := include "sodafountain.name" . -}}
{{- if .Values.fullnameOverride -}}
{{ include "sodafountain.short" .Values.fullnameOverride }}
{{- else if contains $name .Release.Name -}}
{{ include "sodafountain.short" .Release.Name }}
{{- else -}}
{{ include "sodafountain.short" (printf "%s-%s" .Release.Name $name) }}
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

{{/* Labels of selectors, which never change. Call with (list . "component"). */}}
{{- define "sodafountain.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "sodafountain.name" $root | quote }}
app.kubernetes.io/instance: {{ $root.Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 | quote }}
{{- end }}

{{/* Labels of an object. Call with (list . "component"). */}}
{{- define "sodafountain.labels" -}}
{{- $root := index . 0 -}}
{{ include "sodafountain.selector" . }}
{{- /* A tag can start and end with characters that a label cannot. */}}
app.kubernetes.io/version: {{ regexReplaceAll "^[-_.]+|[-_.]+$" ($root.Values.image.tag | default $root.Chart.AppVersion | trunc 63) "" | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
{{- end }}

{{/* Labels or annotations of the user and of the chart, which take precedence. No key occurs twice. Call with (list user chart), where
chart is YAML. */}}
{{- define "sodafountain.merged" -}}
{{ toYaml (mergeOverwrite (dict) (index . 0) (fromYaml (index . 1))) }}
{{- end }}

{{/* The reference of an image, by its digest if set, else by its tag. Call with (list image-values default-tag). */}}
{{- define "sodafountain.imageOf" -}}
{{- $image := index . 0 -}}
{{- if $image.digest -}}
{{ printf "%s@%s" $image.repository $image.digest }}
{{- else -}}
{{ printf "%s:%s" $image.repository ($image.tag | default (index . 1)) }}
{{- end }}
{{- end }}

{{- define "sodafountain.image" -}}
{{ include "sodafountain.imageOf" (list .Values.image .Chart.AppVersion) }}
{{- end }}
