"""Reads programs as text: words, blocks and types."""
