"""Kinds of values that cross between judge and candidate, for both sides."""
