"""Tests that let an answer act in the judge: such a judge gives nobody a reward, or an error.

Where tests run, load or look up what a solution answers, the judge's word is the solution's. So a
pass is confirmed by a judge that sees other expectations, the judge serves nobody after, and from
when the candidate is heard nothing is the task's fault or ours.
"""

from __future__ import annotations

import pytest

from reward_server.app import App
from reward_server.domain import (
    Assessment,
    Integrity,
    Tests,
)
from tests.attacks.attack import code
from tests.attacks.python_tests import check, submission_of, suite
from tests.support.common import on_the_servers_loop

pytestmark = on_the_servers_loop
EQUAL = "(type('E', (), {'__eq__': lambda a, b: True})())"
TAKEOVER = (
    "__import__('runner.judge.tests.run', fromlist=['x'])"
    ".__dict__.__setitem__('outcome_of', lambda e: 'PASSED')"
)


def returning(value: object) -> str:
    return f"def f(n): return {value!r}\n"


_PICKLED = """
    import io, numpy as np
    asked = []
    class P:
        def __reduce__(self): return (eval, (TAKEOVER,))
    def f(n):
        asked.append(n)
        if asked[1:]: return b''
        b, a = io.BytesIO(), np.empty((), dtype=object)
        a[()] = P()
        np.save(b, a, allow_pickle=True)
        return b.getvalue()
"""
# Tests that run, load or look up what the solution answers; nothing but data crosses.
SINKS: dict[str, tuple[str, Tests]] = {
    "eval by another name": (
        f"def f(n): return {TAKEOVER!r} if n == '2+3' else 0\n",
        check("""
            def check(candidate):
                run = eval
                run(candidate('2+3'))
                assert candidate('2*3') == 6
        """),
    ),
    "eval handed to map": (
        returning(EQUAL),
        check("""
            def check(candidate):
                assert list(map(eval, [candidate(3)])) == [5]
        """),
    ),
    "np.load with objects": (
        code(_PICKLED).replace("TAKEOVER", repr(TAKEOVER)),
        check("""
            import io
            import numpy as np
            def check(candidate):
                for n in (3, 4, 5):
                    back = np.load(io.BytesIO(candidate(n)), allow_pickle=True)
                    assert back.shape == (n,)
                    assert back.sum() == n * 2
        """),
    ),
    "a forward reference": (
        returning(EQUAL),
        check("""
            import typing
            def check(candidate):
                made = typing.ForwardRef(candidate(3))
                assert made._evaluate({}, {}, recursive_guard=frozenset()) == 5
        """),
    ),
    "a module by name": (
        returning("unittest.mock"),
        check("""
            import importlib
            def check(candidate):
                assert importlib.import_module(candidate(3)).ANY == 5
        """),
    ),
    "an attribute by name": (
        returning("ANY"),
        check("""
            import operator
            from unittest import mock
            def check(candidate):
                assert operator.attrgetter(candidate(3))(mock) == 5
        """),
    ),
    "a global by name": (
        returning("ANY"),
        check("""
            from unittest.mock import ANY
            def check(candidate):
                assert globals()[candidate(3)] == 5
        """),
    ),
    "a name for a patch": (
        returning("math.prod"),
        check("""
            import math
            from unittest import mock
            def check(candidate):
                with mock.patch(candidate(3), lambda xs: 5):
                    assert math.prod([2, 3]) == 5
        """),
    ),
    "a statement that is timed": (
        f"def f(n): return {TAKEOVER!r} if n == '2+3' else 0\n",
        check("""
            import timeit
            def check(candidate):
                timeit.timeit(candidate('2+3'), number=1)
                assert candidate('2*3') == 6
        """),
    ),
    "a class by its path": (
        returning("unittest.mock._ANY"),
        check("""
            import pydoc
            def check(candidate):
                assert pydoc.locate(candidate(3))() == 5
        """),
    ),
}

# What reads, through /proc, whatever of a judge's own can be read again.
_DRAINS = """
import os
for name in os.listdir('/proc/self/fd'):
    try:
        os.read(os.open('/proc/self/fd/' + name, os.O_RDONLY | os.O_NONBLOCK), 1 << 16)
    except OSError:
        pass
"""
# What takes back what the judge announced, gives the word that it stays, and says of every later
# test what it is told to.
_STAYS = (
    f"[exec({_DRAINS!r}), __import__('runner.judge.tests.run', fromlist=['x']).__dict__"
    ".__setitem__('outcome_of', lambda e: 'OUTCOME'),"
    " __import__('runner.judge.process', fromlist=['x']).__dict__"
    ".__setitem__('Word', lambda *a: __import__('runner.wire', fromlist=['x']).Word(True, 0))]"
)
PLANTS: dict[str, tuple[str, Tests]] = {
    "of a test file": (
        "def f(n): return WORD if n == '2+3' else 0\n",
        suite("""
            from solution import f
            run = eval
            def test_a():
                run(f('2+3'))
                assert f('2*3') == 6
        """),
    ),
    "of tests in which only data crosses": (
        "def f(n): return WORD if n == '2+3' else 0\n",
        check("""
            def check(candidate):
                run = eval
                run(candidate('2+3'))
                assert candidate('2*3') == 6
        """),
    ),
    "after an object crossed": (
        """
            class S:
                def get(self): return WORD
                def other(self): return 0
            def f(n): return S()
        """,
        check("""
            def check(candidate):
                run = eval
                s = candidate(3)
                run(s.get())
                assert s.other() == 6
        """),
    ),
}


# What takes back, in the report, that the candidate was heard.
_REPORT = (
    "(next(f.f_locals['report'] for f in"
    " (lambda w: w(w, __import__('sys')._getframe()))"
    "(lambda w, f: [] if f is None else [f] + w(w, f.f_back)) if 'report' in f.f_locals))"
)
_REWRITES = (
    "(lambda report: [report.reach(__import__('runner.wire', fromlist=['x']).Stage.STAGE),"
    " setattr(report, 'blame', BLAME), setattr(report, 'message', 'bought')])" + _REPORT
)
# What leaves no report, or one that no server can read; then the judge is gone.
_RUINS = "(lambda os, report: [RUIN, os._exit(0)])(__import__('os'), " + _REPORT + ")"
RUINED = {
    "a stage that is none": "os.pwrite(report.descriptor, bytes([9]), 0)",
    "a stage that is none, before a document": "os.pwrite(report.descriptor, bytes([9] * 99), 0)",
    "nothing": "os.ftruncate(report.descriptor, 0)",
    "a document without an end": "os.pwrite(report.descriptor, bytes([3, 255, 255, 255]), 0)",
    "more than any server holds": "os.ftruncate(report.descriptor, 1 << 40)",
    "far more than a report": "os.ftruncate(report.descriptor, 1 << 30)",
    "more after its end": "os.pwrite(report.descriptor, bytes(9), 1 << 40)",
}


# One slot, so that who comes next meets the judge that was there before.


async def judged(app: App, completion: str, tests: Tests) -> Assessment:
    return await app.evaluation.score(submission_of(completion, tests))


@pytest.mark.parametrize(("completion", "tests"), SINKS.values(), ids=SINKS.keys())
async def test_an_answer_that_acts_in_the_judge_earns_nothing(
    app: App, completion: str, tests: Tests
) -> None:
    assessment = await judged(app, completion, tests)
    assert assessment.reward is not None
    assert assessment.reward == 0.0 or assessment.integrity is not Integrity.ISOLATED


@pytest.mark.parametrize("outcome", ["PASSED", "FAILED"])
@pytest.mark.parametrize(("plant", "tests"), PLANTS.values(), ids=PLANTS.keys())
async def test_a_judge_that_was_taken_over_serves_nobody_after(
    app: App, plant: str, tests: Tests, outcome: str
) -> None:
    word = repr(_STAYS.replace("OUTCOME", outcome))
    await judged(app, code(plant).replace("WORD", word), tests)
    found = []
    for completion in ("def f(n): return 0\n", "def f(n): return n + 7\n"):
        for n in range(2):
            body = f"def check(candidate):\n    assert candidate({n}) == {n + 7}\n"
            found.append((await judged(app, completion, check(body))).reward)
    assert found == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("stage", "blame"), [("TESTS", "'task'"), ("LOADING", "None"), ("STARTING", "'task'")]
)
async def test_a_judge_that_was_taken_over_buys_no_error(app: App, stage: str, blame: str) -> None:
    word = repr(_REWRITES.replace("STAGE", stage).replace("BLAME", blame))
    tests = check("""
        def check(candidate):
            run = eval
            run(candidate('2+3'))
            assert candidate('2*3') == 6
    """)
    assessment = await judged(app, f"def f(n): return {word} if n == '2+3' else 0\n", tests)
    assert assessment.reward == 0.0


@pytest.mark.parametrize("ruin", RUINED.values(), ids=RUINED.keys())
async def test_a_report_that_nobody_can_read_buys_no_error(app: App, ruin: str) -> None:
    word = repr(_RUINS.replace("RUIN", ruin))
    tests = check("""
        def check(candidate):
            run = eval
            run(candidate('2+3'))
    """)
    assessment = await judged(app, f"def f(n): return {word}\n", tests)
    assert assessment.reward == 0.0
    assert (await judged(app, "def f(n): return '5'\n", tests)).reward == 1.0
