"""Kinds of values that cross between judge and candidate, as both sides know them."""
