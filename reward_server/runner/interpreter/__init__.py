"""The interpreter of a session: it evaluates Python code and keeps its state from call to call."""
