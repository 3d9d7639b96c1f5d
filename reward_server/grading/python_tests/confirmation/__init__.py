"""Perturbed copies of tests that an isolated judge runs, to confirm that it still rejects.

A judge compares the answers of the solution. If more than plain data crosses between the two, a
hole in the rules for what crosses could be rewarded. So a pass of such tests is confirmed by copies
in which a secret part of the assertions is wrong. With a sound judge exactly these fail.

`sites` finds what can be made wrong in the body of a test, `observed` writes tests that report the
result of each of their assertions, and `copies` does both for each kind of tests.
"""

from reward_server.grading.python_tests.confirmation.copies import (
    CallCopies,
    Copies,
    FileCopies,
    FunctionCopies,
)
from reward_server.grading.python_tests.confirmation.outcomes import Deviation

__all__ = ["CallCopies", "Copies", "Deviation", "FileCopies", "FunctionCopies"]
