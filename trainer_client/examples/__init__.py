"""Programs that show the whole at work."""
