"""Finds what runs the test files of a framework.

Drivers are imported when they are needed, since each costs more than most tests do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .base import PYTEST, Course

Driver = Callable[[Sequence[str], Course], None]


def driver(name: str) -> Driver:
    """Returns what runs the tests in files of the working folder, and tells a course of it.

    A driver raises BrokenSuiteError if they cannot be collected.
    """
    if name == PYTEST:
        from . import pytest_driver

        return pytest_driver.run
    from . import unittest_driver

    return unittest_driver.run
