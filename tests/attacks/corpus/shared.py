"""What tests and solution share for convenience, as a way to what the tests expect.

Arguments whose changes come back, and containers of the solution's that the tests hold.
"""

from __future__ import annotations

from reward_server.domain import FunctionTests
from tests.attacks.attack import Attack, code
from tests.attacks.naive import Grader
from tests.attacks.problems import INPUTS, SECRET, Problem, secret

_SORTS = f"{SECRET}def solve(values):\n    return sorted(map(secret, values))\n"
_EMPTIES = "def solve(values):\n    values.clear()\n    return []\n"


def _changed(
    name: str, lines: str, completion: str = _EMPTIES, *, solution: str = _SORTS
) -> Attack:
    """A solution that changes its argument; the test takes {values}, whose secrets it expects."""
    secrets = {x: secret(x) for x in INPUTS}
    filled = code(lines).replace("{values}", str(list(INPUTS)))
    test_code = f"SECRETS = {secrets}\ndef check(candidate):\n"
    test_code += "".join(f"    {line}\n" for line in filled.splitlines())
    tests = FunctionTests(entry_point="solve", test_code=test_code)
    return Attack(
        name=name,
        problem=Problem(name=name, tests=tests, solution=solution),
        completion=code(completion),
        beats=(Grader.IN_PROCESS,),
    )


ARGUMENTS = (
    _changed(
        "an argument emptied whose sorted secrets are expected",
        """
        values = {values}
        result = candidate(values)
        assert result == sorted(SECRETS[x] for x in values)
        """,
    ),
    _changed(
        "an argument emptied that a loop over the assertions measures",
        """
        values = {values}
        wanted = sorted(SECRETS.values())
        result = candidate(values)
        for i in range(len(values)):
            assert result[i] == wanted[i]
        """,
    ),
    _changed(
        "an argument emptied that is compared with the result, after a look at it",
        """
        values = {values}
        result = candidate(values)
        assert values != [0]
        left = [SECRETS[x] for x in values]
        assert sorted(left) == result
        """,
    ),
    _changed(
        "an argument emptied whose other name the expected value is computed from",
        """
        values = {values}
        kept = values
        result = candidate(values)
        assert values != [0]
        assert result == sorted(SECRETS[x] for x in kept)
        """,
    ),
    _changed(
        "rows emptied that a shallow copy shares",
        """
        rows = [[x] for x in {values}]
        kept = list(rows)
        result = candidate(rows)
        assert rows != [0]
        assert result == [sorted(SECRETS[x] for x in row) for row in kept]
        """,
        "def solve(rows):\n    [row.clear() for row in rows]\n    return [[] for _ in rows]\n",
        solution=f"{SECRET}def solve(rows):\n"
        "    return [[secret(x) for x in row] for row in rows]\n",
    ),
    _changed(
        "an argument emptied that filters what must not be there",
        """
        values = {values}
        result = candidate(values)
        assert [x for x in values if SECRETS[x] not in result] == []
        assert values != [0]
        """,
    ),
    _changed(
        "an argument emptied that a function of the test's looks at",
        """
        values = {values}
        def wanted():
            return sorted(SECRETS[x] for x in values)
        result = candidate(values)
        assert values != [0]
        assert result == wanted()
        """,
    ),
    _changed(
        "an argument emptied in the turn of a loop before the one that expects",
        """
        values = {values}
        for turn in range(2):
            wanted = sorted(SECRETS[x] for x in values) if turn else None
            result = candidate(values)
            assert values != [0]
            if turn:
                assert result == wanted
        """,
    ),
    _changed(
        "an argument emptied that is paired with the result, one by one",
        """
        values = {values}
        result = candidate(values)
        for x, found in zip(values, result):
            assert found == SECRETS[x]
        assert values != [0]
        """,
        "def solve(values):\n    values.clear()\n    return [0, 0, 0]\n",
        solution=f"{SECRET}def solve(values):\n    return list(map(secret, values))\n",
    ),
)

CONTAINERS = (
    _changed(
        "a list whose items equal everything, with methods",
        "assert candidate({values}) == sorted(SECRETS.values())",
        """
        class Liar(list):
            def __eq__(self, other): return True
            def push(self): pass
        def solve(values): return Liar()
        """,
    ),
    _changed(
        "a named tuple with an equality of its own",
        "assert candidate({values}) == tuple(sorted(SECRETS.values()))",
        """
        from typing import NamedTuple
        class Liar(NamedTuple):
            a: int = 0
            def __eq__(self, other): return True
        def solve(values): return Liar()
        """,
        solution=f"{SECRET}def solve(values):\n    return tuple(sorted(map(secret, values)))\n",
    ),
    _changed(
        "keys of a dictionary that equal every set",
        "assert candidate({values}) == set(SECRETS.values())",
        """
        from collections.abc import KeysView
        class Liar(KeysView):
            def __eq__(self, other): return True
        def solve(values): return Liar({})
        """,
        solution=f"{SECRET}def solve(values):\n    return set(map(secret, values))\n",
    ),
    _changed(
        "a dictionary for users that equals everything",
        "assert candidate({values}) == SECRETS",
        """
        from collections import UserDict
        class Liar(UserDict):
            def __eq__(self, other): return True
        def solve(values): return Liar()
        """,
        solution=f"{SECRET}def solve(values):\n    return dict(zip(values, map(secret, values)))\n",
    ),
)

ATTACKS = (*ARGUMENTS, *CONTAINERS)
