"""Reads tests in Python: what they assert, what they need, and how they can be made wrong."""
