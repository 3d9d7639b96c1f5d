"""Test frameworks: collecting and running test files with pytest and unittest."""
