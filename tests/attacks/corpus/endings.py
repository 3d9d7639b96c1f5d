"""Exceptions that end somebody's loop, and tests that count as passed because they were skipped."""

from __future__ import annotations

from tests.attacks import problems
from tests.attacks.attack import Attack, code
from tests.attacks.naive import Grader
from tests.attacks.problems import Problem


def _ending(
    name: str, problem: Problem, completion: str, grader: Grader = Grader.IN_PROCESS
) -> Attack:
    return Attack(name=name, problem=problem, completion=completion, beats=(grader,))


ATTACKS = (
    _ending(
        "a StopIteration that ends all(map())",
        problems.ALL_MAPPED,
        code("""
            def solve(x):
                raise StopIteration
        """),
    ),
    _ending(
        "a StopIteration that ends zip(map())",
        problems.ZIP_MAPPED,
        code("""
            def solve(x):
                raise StopIteration
        """),
    ),
    _ending(
        "a StopIteration from next() of nothing",
        problems.ALL_MAPPED,
        code("""
            def solve(x):
                return next(iter(()))
        """),
    ),
    _ending(
        "a subclass of StopIteration under another name",
        problems.ALL_MAPPED,
        code("""
            class ValueError(StopIteration):
                pass
            def solve(x):
                raise ValueError
        """),
    ),
    _ending(
        "a StopIteration that is an AssertionError as well",
        problems.ZIP_MAPPED,
        code("""
            class Wrong(StopIteration, AssertionError):
                pass
            def solve(x):
                raise Wrong
        """),
    ),
    _ending(
        "a comparison that raises StopIteration",
        problems.ALL_MAPPED,
        code("""
            class Ends:
                def __eq__(self, other):
                    raise StopIteration
            def solve(x):
                return Ends()
        """),
    ),
    _ending(
        "a StopAsyncIteration that ends an asynchronous loop",
        problems.ASYNC_MAPPED,
        code("""
            def solve(x):
                raise StopAsyncIteration
        """),
    ),
    _ending(
        "a unittest that skips itself",
        problems.UNITTEST,
        code("""
            import unittest
            def solve(x):
                raise unittest.SkipTest('not today')
        """),
    ),
    _ending(
        "a unittest that is told to stop",
        problems.UNITTEST,
        code("""
            import unittest.case
            def solve(x):
                raise unittest.case._ShouldStop
        """),
    ),
    _ending(
        "a pytest that skips itself",
        problems.EQUAL,
        code("""
            import pytest
            def solve(x):
                pytest.skip('not today')
        """),
        Grader.PYTEST_STATUS,
    ),
    _ending(
        "a pytest that expects its failure",
        problems.EQUAL,
        code("""
            import pytest
            def solve(x):
                pytest.xfail('as usual')
        """),
        Grader.PYTEST_STATUS,
    ),
    _ending(
        "a pytest session that exits with success",
        problems.EQUAL,
        code("""
            import pytest
            def solve(x):
                pytest.exit('done', returncode=0)
        """),
        Grader.PYTEST_STATUS,
    ),
    _ending(
        "a first answer that is right and no other",
        problems.CALLED,
        f"{problems.SECRET}import os\n"
        "def solve(x):\n"
        "    if x != 3:\n        os._exit(0)\n"
        "    return secret(x)\n",
        Grader.ALL_RECEIVED,
    ),
    _ending(
        "an exception before the first outcome",
        problems.CALLED,
        code("""
            def solve(x):
                raise KeyboardInterrupt
        """),
        Grader.ALL_RECEIVED,
    ),
    _ending(
        "an argument emptied from which the expected value is computed",
        problems.COMPUTED_AFTER,
        code("""
            def solve(values):
                values.clear()
                return []
        """),
    ),
    _ending(
        "an argument cut down to what is easy",
        problems.COMPUTED_AFTER,
        code("""
            def solve(values):
                del values[:]
                return list(values)
        """),
    ),
    _ending(
        "an argument emptied by a function that returns nothing",
        problems.COMPUTED_OR_NONE,
        code("""
            def solve(values):
                values.clear()
        """),
    ),
    _ending(
        "an argument emptied by a function whose result is kept",
        problems.KEPT_OR_NONE,
        code("""
            def solve(values):
                values.clear()
                return None
        """),
    ),
    _ending(
        "an argument exchanged for the result",
        problems.COMPUTED_AFTER,
        code("""
            class Same(list):
                def __eq__(self, other):
                    return True
            def solve(values):
                values[:] = []
                return Same()
        """),
    ),
)
