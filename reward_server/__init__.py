"""The reward server: it runs untrusted completions against tests and answers with rewards."""
