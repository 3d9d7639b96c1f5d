"""Decides from the text of tests whether they can run apart from the solution."""
