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
{{- /* Root of gVisor's kernel, which is none of the node's: sandbox/docker/container.py. */}}
{{- define "sandbox-kernel" -}}
runAsNonRoot: false
runAsUser: 0
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
  add: [SYS_ADMIN, SYS_CHROOT, SETUID, SETGID, SETPCAP, CHOWN, KILL]
{{- end }}
{{- define "socket" -}}
/run/codereward/{{ .i }}{{ if eq .profile "gvisor" }}.sock{{ else }}/runner.sock{{ end }}
{{- end }}
{{- /* Settings of a runner in a container of its own: sandbox/runner_command.py. */}}
{{- define "runner-settings" -}}
{"meters": null, "joins": [], "sandbox_kernel": {{ eq .profile "gvisor" }}, "covered": [{{ dir (include "socket" .) | quote }}], "private_proc": true, "seccomp": true, "landlock": true, "packages": [], "preload": [], "environment": {}}
{{- end }}
{{- /* Mebibytes of a quantity such as 3Gi. */}}
{{- define "mebibytes" -}}
{{- if hasSuffix "Gi" . }}{{ mul 1024 (trimSuffix "Gi" . | int) }}{{ else }}{{ trimSuffix "Mi" . | int }}{{ end }}
{{- end }}
