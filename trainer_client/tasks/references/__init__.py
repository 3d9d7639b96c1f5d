"""Rows with inputs and a reference solution, whose results are expected: EvalPlus's own files.

rows     a row becomes function tests
inputs   what EvalPlus makes of the inputs of a row of MBPP+, since JSON has no tuples
"""

from trainer_client.tasks.references.rows import evalplus

__all__ = ["evalplus"]
