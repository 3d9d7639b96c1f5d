"""Sandboxes of sessions: containers that each serve one session and are never used again."""
