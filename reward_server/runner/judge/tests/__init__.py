"""Runs each kind of tests in the judge."""
