"""Finds the driver of a test framework.

Drivers are imported on demand, since each import takes longer than most tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .base import PYTEST, Course

Driver = Callable[[Sequence[str], Course, Sequence[str]], None]


def driver(name: str) -> Driver:
    """Returns the function that runs the tests in files of the working folder and reports to a
    course.

    Its third argument are the files of a repository whose tests run; if there are none, the tests
    of all the files run.

    A driver raises BrokenSuiteError if the tests cannot be collected.
    """
    if name == PYTEST:
        from . import pytest_driver

        return pytest_driver.run
    from . import unittest_driver

    return unittest_driver.run
