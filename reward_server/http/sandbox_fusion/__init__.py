"""SandboxFusion's door: its client and verl run programs and notebooks, and submit completions."""
