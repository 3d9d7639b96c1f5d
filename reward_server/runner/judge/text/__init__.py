"""Analyses the text of tests for names, arguments and side effects."""
