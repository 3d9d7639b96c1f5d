"""What the text of a task shows, without running anything."""
