"""Tests of a repository: its files, the changes that count, and reports about tests."""
