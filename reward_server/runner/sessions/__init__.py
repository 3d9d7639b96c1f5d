"""The runner of sessions: the first process of a session, and what it does for the server."""
