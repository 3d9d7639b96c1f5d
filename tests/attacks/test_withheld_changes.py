"""Changes of what tests handed over: who calls, what else they are in, and what tests go on with.

A completion of `WRONG` earns nothing, or its label is weaker than ISOLATED. One of `HONEST` passes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import (
    Assessment,
    Extraction,
    Integrity,
    Submission,
    Tests,
    Verdict,
)
from reward_server.settings import Settings
from tests.attacks.attack import code
from tests.attacks.test_unearned_objects import LIMITS, check
from tests.sampling import sampled
from tests.support import PACKAGES, on_the_servers_loop

pytestmark = on_the_servers_loop
SORTS = """
    import collections, types
    State = collections.namedtuple("State", "items name")
    class Pair(tuple): pass
    def f(x, *more):
        x.sort()
        return x if not more else more[0](x)
    def g(a, b):
        a += b
        return a
    def smallest(state):
        state[0].sort()
        return state[0][0]
    def state(x):
        x.sort()
        return State(x, "a")
    def pairs(x):
        x.sort()
        return [Pair((x, 1))]
    def shown(x, kind):
        x.sort()
        rows = {"a": x}
        return {"proxy": types.MappingProxyType(rows), "values": rows.values(),
                "items": rows.items(), "inside": [rows.values()]}[kind]
"""
Table = dict[str, tuple[str, Tests]]


def body(text: str, solution: str = SORTS) -> tuple[str, Tests]:
    lines = code(text).splitlines()
    return solution, check("def check(candidate):\n" + "".join(f"    {line}\n" for line in lines))


BORROWED: Table = {
    "reduce": body("""
        import functools
        rows = [[1], [2]]
        assert functools.reduce(g, rows) == [1, 2]
        assert rows == [[1], [2]]
    """),
    "starmap": body("""
        import itertools
        rows = [([3, 1],)]
        assert list(itertools.starmap(candidate, rows)) == [[1, 3]]
        assert rows == [([3, 1],)]
    """),
    "accumulate": body("""
        import itertools
        rows = [[1], [2]]
        assert list(itertools.accumulate(rows, g))[-1] == [1, 2]
        assert rows == [[1], [2]]
    """),
    "a method bound by hand": body("""
        import types
        row = [3, 1]
        assert types.MethodType(candidate, row)() == [1, 3]
        assert row == [3, 1]
    """),
    "a name that means something else": body("""
        import itertools
        rows, f = [([3, 1],)], itertools.starmap
        assert list(f(candidate, rows)) == [[1, 3]]
        assert rows == [([3, 1],)]
    """),
    "a field that holds C code": body("""
        import functools, types
        tools, rows = types.SimpleNamespace(fold=functools.reduce), [[1], [2]]
        assert tools.fold(g, rows) == [1, 2]
        assert rows == [[1], [2]]
    """),
    "C code that is chosen": body("""
        import functools
        rows = [[1], [2]]
        assert (functools.reduce if rows else map)(g, rows) == [1, 2]
        assert rows == [[1], [2]]
    """),
}
NAMED = {
    "a named tuple": body("""
        from collections import namedtuple
        state = namedtuple("State", "items name")([3, 1], "a")
        assert smallest(state) == 1
    """),
    "a tuple of a class of its own": body("""
        class Pair(tuple): pass
        assert smallest(Pair(([3, 1], "a"))) == 1
    """),
    "a tuple in a named tuple": body("""
        from typing import NamedTuple
        class State(NamedTuple):
            items: list
            of: tuple
        rows = [3, 1]
        assert smallest(State(rows, (rows, 3))) == 1
    """),
    "an answer that is a named tuple": body("""
        x = [3, 1]
        assert state(x).items == [1, 3]
    """),
    "an answer that holds tuples of its own": body("""
        x = [3, 1]
        assert pairs(x)[0][0] == [1, 3]
    """),
    **{
        f"an answer that is {kind} of a dictionary": body(f"""
            x = [3, 1]
            r = shown(x, "{kind}")
            assert {look} == {want}
        """)
        for kind, look, want in (
            ("proxy", "r", '{"a": [1, 3]}'),
            ("values", "list(r)", "[[1, 3]]"),
            ("items", "list(r)", '[("a", [1, 3])]'),
            ("inside", "list(r[0])", "[[1, 3]]"),
        )
    },
}
WRONG: Table = BORROWED
HONEST: Table = NAMED


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app() -> AsyncIterator[App]:
    settings = Settings(port=0, workers=1, sandbox_packages=PACKAGES, sandbox_preload=("pytest",))
    async with running_app(settings) as running:
        yield running


async def judged(app: App, row: tuple[str, Tests]) -> Assessment:
    completion, tests = row
    submission = Submission(
        language="python",
        completion=code(completion),
        tests=tests,
        limits=LIMITS,
        extraction=Extraction.NONE,
    )
    return await app.evaluation.score(submission)


@pytest.mark.parametrize("name", sampled(list(WRONG), 2))
async def test_a_solution_that_changes_what_it_must_leave_earns_nothing(
    app: App, name: str
) -> None:
    assessment = await judged(app, WRONG[name])
    assert assessment.verdict is not Verdict.INVALID_TASK, assessment
    assert assessment.reward == 0 or assessment.integrity is not Integrity.ISOLATED, assessment


@pytest.mark.parametrize("name", sampled(list(HONEST), 2))
async def test_a_solution_that_changes_what_it_is_given_passes(app: App, name: str) -> None:
    assessment = await judged(app, HONEST[name])
    assert assessment.reward == 1, assessment
