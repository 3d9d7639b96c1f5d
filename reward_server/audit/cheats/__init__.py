"""Answers that solve nothing, and must earn nothing."""
