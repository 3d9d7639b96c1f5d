"""The local backend: containers made with bubblewrap over the host's interpreter, and cgroups."""
