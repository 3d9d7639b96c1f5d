"""The reward server runs untrusted completions against tests and returns rewards."""
