"""Models from which a run starts, and checkpoints from which it resumes."""
