"""Finds Python tests that no answer of a solution can fail, by their text."""
