"""Connections and calls: channels, deadlines, retries, forks."""
