"""The tasks of a training run: their sources, their prompts, and checks of their references."""
