"""Values that judge and candidate both hold, and that must remain synchronized."""
