"""Which questions about classes and identities take test files beside the solution."""

from __future__ import annotations

import pytest

from reward_server.grading.python_tests.isolation.files import parse_files, read_suite

_HEAD = "import asyncio, collections.abc, operator\nfrom solution import P, f\ndef test_a():\n"


def _reasons(body: str) -> tuple[str, ...]:
    text = _HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    files = (("test_a.py", text),)
    return read_suite(parse_files(files), files, "solution.py").reasons


@pytest.mark.parametrize(
    "body",
    [
        "p = P(1)\nq = p.clone()\nassert type(p) is type(q)",
        "p = P(1)\nassert len({type(p), type(p.clone())}) == 1",
        "p = P(1)\nassert isinstance(p.clone(), type(p))",
        "p = P(1)\nassert len(set(map(type, (p, p.clone())))) == 1",
        "assert type(P(1)).__name__ == 'P'",
        "assert P(1).__class__.__name__ == 'P'",
        "assert not isinstance(f(1), map)",
        "assert not isinstance(f(1), (filter, zip))",
        "assert not isinstance(f(1), collections.abc.Mapping)",
        "assert not isinstance(f(1), type)",
        "assert f() is not operator.add",
        "assert f() is not len",
        "assert not asyncio.iscoroutinefunction(f)",
        "log = []\np = P(log)\ndel p\nassert log == []",
        "log = []\np = P(log)\np = None\nassert log == []",
    ],
)
def test_what_the_judges_interpreter_cannot_answer_needs_the_solution(body: str) -> None:
    assert _reasons(body)


@pytest.mark.parametrize(
    "body",
    [
        "r = f(1)\nassert type(r) is list, f'a list, not {type(r).__name__}'",
        "assert type(f(1)) in (int, float)",
        "assert type(f(1)).__name__ == 'int'",
        "expected = [1]\nassert type(f(1)) == type(expected)",
        "assert isinstance(f(1), collections.abc.Iterator)",
        "assert isinstance(f(1), (list, tuple))",
        "assert list(map(str, f(1))) == ['1']",
        "assert f(1) is None or f(1) is True",
        "rows = {1: 2}\ndel rows[1]\nassert f(rows) == 1",
        "r = None\nfor n in (1, 2):\n    r = f(n)\nassert r == 2",
    ],
)
def test_what_tells_data_from_all_else_stays_apart(body: str) -> None:
    assert _reasons(body) == ()
