"""Reads exercise folders in the form of Exercism and Aider's polyglot benchmark.

folder       the folder with its tests and solution
frameworks   how each language's tests run here, and what is refused
"""

from trainer_client.tasks.exercises.folder import Exercise, exercise

__all__ = ["Exercise", "exercise"]
