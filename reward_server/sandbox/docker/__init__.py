"""The Docker backend: containers of a Docker Engine, their images, and their removal."""
