"""Judges changes of a repository."""
