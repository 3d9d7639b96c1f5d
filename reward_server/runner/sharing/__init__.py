"""Values that judge and candidate both hold, and that have to stay one and the same."""
