"""The tasks of a training run: where they come from, what is asked, and whether they are sound."""
