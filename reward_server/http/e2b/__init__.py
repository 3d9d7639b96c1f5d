"""E2B's door: its client opens sandboxes, which are sessions of this server."""
