"""Reads test programs and test files in languages other than Python."""
