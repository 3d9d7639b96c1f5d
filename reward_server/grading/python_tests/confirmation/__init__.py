"""Perturbed copies of tests, which confirm that an isolated judge still rejects wrong answers.

A judge compares the answers of the solution. If more than plain data crosses between the two, a
solution could use a hole in the rules for what crosses. So a pass of such tests is confirmed by
copies in which a secret part of the assertions is wrong. With an intact judge exactly these
assertions fail.

`sites` finds the assertions of a test that can be made wrong. `observed` writes tests that report
the result of each of their assertions. `copies` does both for each kind of tests.
"""

from reward_server.grading.python_tests.confirmation.copies import (
    CallCopies,
    Copies,
    FileCopies,
    FunctionCopies,
)
from reward_server.grading.python_tests.confirmation.outcomes import Deviation

__all__ = ["CallCopies", "Copies", "Deviation", "FileCopies", "FunctionCopies"]
