{{- define "labels" -}}
app.kubernetes.io/name: reward-server
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "hardened" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
{{- define "sandboxing" -}}
{{ include "hardened" . }}
# Sandboxes mount a fresh /proc, which the kernel refuses under a masked one.
procMount: Unmasked
seccompProfile: {{ toJson .Values.seccompProfile }}
{{- end }}
