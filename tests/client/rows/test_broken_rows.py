"""Broken rows: each reader names the field in plain words, or makes a request that is judged."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest

from codereward.v1 import reward_service_pb2 as pb
from reward_server.domain import Limits
from reward_server.languages import Languages, load_languages
from reward_server.rpc import convert
from tests.client.rows.samples import SAMPLES, Sample
from tests.support.sampling import TAKES_ALL, times
from trainer_client import TaskError, tasks
from trainer_client.tasks.limits import LANGUAGES

Path = tuple[str | int, ...]

# What Python itself says of wrong values.
INTERNALS = re.compile(
    r"NoneType|KeyError|TypeError|<class|<unknown>|has no attribute|unhashable|argument \d"
    r"|keyword arg|object is not|not subscriptable|not iterable|positional|\bzip\(|\bdict\b"
    r"|\bstr\b|\bint\b|\bndarray\b|\blist object\b"
    r"|codec can't|JSON serializable|set_int_max_str_digits"
)
NESTED: Any = []
for _ in range(100_000):
    NESTED = [NESTED]
VALUES: tuple[Any, ...] = (
    *(None, 5, -1, 1.5, True, math.nan, math.inf, 10**5000),
    *("", " \n", "x", "[", "{}", "[1, 2]", "null", '{"a": 1}', "\0", "\ud800", "((" * 5000),
    *("[" * 100_000, "assert", "def f(:", "7" * 5000, "a.b.c", "../x", "x" * (9 << 20)),
    *(b"\xff", [], {}, [None], [[]], [5], ["x"], {"a": 1}, {1: 2}, [b"x"], NESTED, (1, 2), {1, 2}),
)
DROP = object()
# Whether a test program is whole is told by the rules of its language, which the server has.
PROGRAMS = {"humaneval_x", "multipl_e", "mceval"}
BOUNDS = convert.Bounds(
    languages=Languages(
        one.with_frameworks(("pytest", "unittest")) for one in load_languages().all
    ),
    default_limits=Limits(),
    maximum_limits=Limits(),
)


def paths(value: Any, before: Path = ()) -> Iterator[Path]:
    """Yields the places of a row, of a list only the first."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:1])
    for name, inner in items:
        yield (*before, name)
        if isinstance(inner, dict | list):
            yield from paths(inner, (*before, name))


def changed(row: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    copied = copy.deepcopy(row)
    inner: Any = copied
    for name in path[:-1]:
        inner = inner[name]
    if value is DROP:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return copied


def broken(sample: Sample) -> Iterator[Any]:
    yield from (None, 5, "x", [], [sample.row])
    for number, path in enumerate(paths(sample.row)):
        # Each place gets a part of the values, and all places together get each of them.
        for value in (DROP, *(VALUES if TAKES_ALL else VALUES[number % 3 :: 3])):
            yield changed(sample.row, path, value)


def refused(kind: str, row: Any) -> str:
    """Returns why a reader refuses a row; "" if a server takes its request."""
    try:
        request = tasks.named(kind)(row)
    except TaskError as error:
        return f"{error.field}: {error.problem}"
    body = request.SerializeToString()
    if len(body) <= BOUNDS.maximum_request_bytes and kind not in PROGRAMS:
        convert.task(pb.Task.FromString(body).SerializeToString(), BOUNDS)
    return ""


def test_there_is_a_sample_of_each_format() -> None:
    assert {sample.kind for sample in SAMPLES} == set(tasks.TASKS)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.kind)
def test_a_broken_row_is_refused_in_plain_words_or_makes_a_request_that_servers_take(
    sample: Sample,
) -> None:
    assert refused(sample.kind, sample.row) == ""
    told = [refused(sample.kind, row) for row in broken(sample)]
    refusals = [one for one in told if one]
    assert len(refusals) >= times(20, by_default=6)
    assert not [one[:500] for one in refusals if INTERNALS.search(one) or one.startswith(":")]


def test_the_names_of_languages_are_those_of_the_server() -> None:
    known = load_languages()
    names = {name for language in known.all for name in (language.name, *language.aliases)}
    assert names == LANGUAGES
