"""Rows whose answer is a value, and no program: CRUXEval.

The answer is a text for the server. `judge` reads it in a sandbox of its own, as a literal, and
executes nothing of it.
"""

from trainer_client.tasks.prediction.rows import cruxeval_input, cruxeval_output

__all__ = ["cruxeval_input", "cruxeval_output"]
