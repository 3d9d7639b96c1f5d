"""Reads tests in Python: their assertions, what they need, and how to make them wrong."""
