"""A judge stays while what it ran leaves nothing behind, and no longer."""

from __future__ import annotations

import builtins
import dataclasses
import random
import sys
import textwrap
from types import ModuleType
from unittest import mock

import pytest

from reward_server.runner.judge import surroundings
from reward_server.runner.judge.tests import prompt
from reward_server.runner.judge.text import purity
from tests.unit.runner.harness import Result, Zygote
from tests.unit.runner.judge.test_protocol_attacks import CHANNEL, FORGERIES

RIGHT = "def f(x):\n    return x + 1"
CHECK = "def check(candidate):\n    assert candidate(1) == 2"


def judge_after(zygote: Zygote, result: Result) -> int:
    """The judge of the next execution."""
    assert result.reply.judge_status == 0, result.explanation
    return zygote.function(RIGHT, test_code=CHECK).reply.judge_pid


@pytest.mark.parametrize(
    "source",
    [
        RIGHT,
        "def f(x):\n    return x",
        "def f(x):\n    raise ValueError(x)",
        "def f(x:",
        "raise ImportError",
        "import os\ndef f(x):\n    os._exit(0)",
        "def f(x):\n    while True: pass",
        "def f(x):\n    print('x' * 1000)\n    return [x]",
    ],
    ids=["right", "wrong", "raising", "no Python", "no module", "leaving", "endless", "printing"],
)
def test_a_judge_stays_whatever_an_ordinary_completion_does(zygote: Zygote, source: str) -> None:
    result = zygote.function(source, test_code=CHECK, wall_seconds=1)
    assert judge_after(zygote, result) == result.reply.judge_pid


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ("def f(x):\n    return lambda: x", "candidate(1)"),
        ("def f(x):\n    return int", "candidate(1)"),
        ("def f(x):\n    return x(1)", "candidate(lambda x: x + 1)"),
        ("def f(x):\n    return 2", "candidate(iter([1]))"),
        ("def f(x):\n    return [lambda: x]", "len(candidate(1))"),
        ("class E(Exception): pass\ndef f(x):\n    raise E", "repr(candidate)"),
        ("def f(x):\n    return {(1, (lambda: 2)): 3}", "bool(candidate(1))"),
    ],
    ids=["an object", "a type", "a callback", "an iterator", "inside", "an operator", "a key"],
)
def test_a_judge_leaves_when_anything_but_data_crossed(
    zygote: Zygote, source: str, call: str
) -> None:
    test = f"def check(candidate):\n    {call}\n    assert 1"
    result = zygote.function(source, test_code=test)
    assert judge_after(zygote, result) != result.reply.judge_pid


SEEDED = "import random\ndef check(candidate):\n    random.seed(3)\n    assert candidate(9) == {}"
FIELDS = "import dataclasses\ndef check(candidate):\n    assert dataclasses.{}"
ROLL = "import random\ndef f(n):\n    return random.randint(1, n)"
POINT = (
    "import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\ndef f(n):\n    return P(n)"
)
THIRD = random.Random(3).randint(1, 9)


@pytest.mark.parametrize(
    ("said", "source", "test_code"),
    [
        ("# random.seed(1) is not needed", ROLL, SEEDED.format(THIRD)),
        ("'seed('", ROLL, SEEDED.format(THIRD)),
        ("# no dataclasses", POINT, FIELDS.format("asdict(candidate(9)) == {'x': 9}")),
        ("'of dataclasses'", POINT, FIELDS.format("astuple(candidate(9)) == (9,)")),
        ("# dataclasses", POINT, FIELDS.format("is_dataclass(candidate(9))")),
    ],
)
def test_a_judge_that_stays_has_nothing_of_who_was_there_before(
    zygote: Zygote, said: str, source: str, test_code: str
) -> None:
    first = zygote.function(RIGHT, test_code=f"{said}\n{CHECK}")
    result = zygote.function(source, test_code=test_code)
    assert result.reply.judge_pid == first.reply.judge_pid
    assert result.passed, result.explanation


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (random, "seed"),
        (random, "left_over"),
        (dataclasses, "fields"),
        (builtins, "input"),
        (builtins, "left_over"),
        (sys, "excepthook"),
        (sys, "displayhook"),
        (sys, "setrecursionlimit"),
    ],
)
def test_whatever_is_left_in_a_module_is_seen(
    module: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = surroundings.Whole()
    assert whole.is_left()
    with monkeypatch.context() as changed:
        changed.setattr(module, name, lambda: None, raising=False)
        left = whole.is_left()
    assert not left


def test_a_judge_stays_for_programs_and_calls(zygote: Zygote) -> None:
    first = zygote.program("print(input())", b"1\n")
    second = zygote.call(RIGHT, [([1], 2)])
    assert first.reply.judge_pid == second.reply.judge_pid == judge_after(zygote, second)


@pytest.mark.parametrize(
    "statement",
    [
        "import math; math.pi = 3",
        "import math; del math.tau",
        "import builtins; builtins.copyright = None",
        "import decimal; decimal.getcontext().prec = 3",
        "import os; os.environ['HOME'] = '/'",
        "setattr(__import__('math'), 'pi', 3)",
        "import json.decoder",
        "from random import seed; seed(1)",
        "class Helper:\n        def __del__(self): pass",
        "def steps():\n        yield candidate(1)",
        "candidate.__globals__",
        "import warnings; warnings.simplefilter('error')",
        "vars()['x'] = 1",
        "exec('x = 1')",
        "open('/tmp/left', 'w').close()",
        "import threading; threading.Thread(target=print).start()",
    ],
)
def test_a_judge_leaves_after_tests_that_could_leave_something(
    zygote: Zygote, statement: str
) -> None:
    test = f"def check(candidate):\n    {statement}\n    assert candidate(1) == 2"
    result = zygote.function(RIGHT, test_code=test)
    assert judge_after(zygote, result) != result.reply.judge_pid


@pytest.mark.parametrize("name", ["no JSON", "noise", "an endless frame", "an unknown tag"])
def test_a_judge_leaves_after_a_forged_message(zygote: Zygote, name: str) -> None:
    source = CHANNEL + textwrap.dedent(FORGERIES[name])
    result = zygote.function(source, asserts=["assert f(1) == 2"], wall_seconds=1)
    assert result.report["broken"] == "forged", result.explanation
    assert judge_after(zygote, result) != result.reply.judge_pid


def test_a_judge_leaves_after_a_limit_that_it_saw(zygote: Zygote) -> None:
    source = "def f(x):\n    return 'x' * 100_000"
    result = zygote.function(source, test_code=CHECK, result_bytes=1000)
    assert result.report["limits"] == ["result"]
    assert judge_after(zygote, result) != result.reply.judge_pid


def test_a_judge_leaves_after_broken_tests(zygote: Zygote) -> None:
    result = zygote.function(RIGHT, test_code="x = 1 / 0\n" + CHECK)
    assert result.report["blame"] == "task"
    assert judge_after(zygote, result) != result.reply.judge_pid


def test_a_judge_leaves_when_it_has_grown(zygote: Zygote) -> None:
    test = "def check(candidate):\n    assert len([candidate(1)] * 40_000_000) == 40_000_000"
    result = zygote.function(RIGHT, test_code=test)
    assert result.passed, result.explanation
    assert judge_after(zygote, result) != result.reply.judge_pid


def test_a_judge_leaves_after_its_number_of_executions_and_none_is_lost() -> None:
    count = 20
    zygote = Zygote(judge_executions=count)
    results = [zygote.program("") for _ in range(count + 1)]
    zygote.close()
    judges = [result.reply.judge_pid for result in results]
    assert all(result.reply.judge_status == 0 and result.report["ready"] for result in results)
    assert len(set(judges)) == 2
    assert judges.count(judges[0]) <= count


def test_a_judge_leaves_when_the_prompt_could_leave_something(zygote: Zygote) -> None:
    prompt_text = "import math\nmath.pi = 3\ndef helper(x):\n    return x\ndef f(x):\n"
    test = "def check(candidate):\n    assert candidate(1) == helper(2)"
    result = zygote.function(RIGHT, test_code=test, prompt=prompt_text)
    assert result.passed, result.explanation
    assert judge_after(zygote, result) != result.reply.judge_pid


@pytest.mark.promise("What tests change in a judge is not seen by the next execution.", "Labels")
def test_what_tests_changed_is_not_seen_by_the_next(zygote: Zygote) -> None:
    change = "def check(candidate):\n    import math; math.pi = 3\n    assert candidate(1) == 2"
    look = "def check(candidate):\n    import math; assert math.pi > candidate(2.1)"
    assert zygote.function(RIGHT, test_code=change).passed
    assert zygote.function(RIGHT, test_code=look).passed


def test_globals_of_tests_are_not_seen_by_the_next(zygote: Zygote) -> None:
    leave = "kept = [1]\n" + CHECK
    look = "def check(candidate):\n    assert candidate(1) == 2\n    assert kept == [1]"
    assert zygote.function(RIGHT, test_code=leave).passed
    assert not zygote.function(RIGHT, test_code=look).passed


def test_the_same_tests_are_judged_afresh_for_each_completion(zygote: Zygote) -> None:
    test = "seen = []\ndef check(candidate):\n    seen.append(candidate(1))\n    assert seen == [2]"
    assert all(zygote.function(RIGHT, test_code=test).passed for _ in range(3))
    assert not zygote.function("def f(x):\n    return 3", test_code=test).passed


def test_a_judge_that_stays_keeps_no_descriptor(zygote: Zygote) -> None:
    look = (
        "def check(candidate):\n    import os\n"
        "    assert candidate(1) == 2\n    assert 0, len(os.listdir('/proc/self/fd'))"
    )
    fresh = zygote.function(RIGHT, test_code=look)
    first = zygote.function(RIGHT, test_code=CHECK)
    for _ in range(5):
        zygote.function("import os\nos._exit(1)", test_code=CHECK)
        zygote.program("import sys\nsys.stdin.close()", b"x" * 100_000)
    used = zygote.function(RIGHT, test_code=look)
    assert used.reply.judge_pid == first.reply.judge_pid != fresh.reply.judge_pid
    (message,) = {result.report["tests"][0]["message"] for result in (fresh, used)}
    assert message


PLAIN = (
    CHECK,
    "assert sorted(f([3, 1])) == [1, 3] and f('a').strip().upper() == 'A'",
    "from collections import Counter\nassert Counter(f(1)).most_common(1)[0] == (1, 2)",
    "from solution import f\nfor x in range(3):\n    assert f(x) == {y: y for y in (x,)}[x]",
    "try:\n    f(None)\nexcept ValueError as error:\n    assert str(error) == ''\nelse:\n    x",
    "import random\nr = random.Random(42)\nassert f(r.randint(0, 9), key=lambda x: -x) < 1",
    "assert f'{f(1):>3}' == '  1', f(1)",
    "METADATA = {'author': 'x'}\ndef check(candidate):\n    x, *y = candidate(1)\n    assert y",
)
NOT_PLAIN = (
    "x.y = 1",
    "del x.y",
    "x.__class__",
    "x._private",
    "x.gi_frame",
    "getattr(x, 'y')",
    "__builtins__",
    "import os",
    "import math, sys",
    "from math import *",
    "from operator import attrgetter",
    "from typing import sys",
    "from . import x",
    "import solution.x",
    "with x: pass",
    "def f():\n    yield",
    "async def f(): pass",
    "class C: pass",
    "type('C', (), {})",
    "globals()['x'] = 1",
    "match x:\n    case C(y=z): pass",
    "for x.y in z: pass",
    "[1 for x.y in z]",
    "lambda: (yield)",
    "print(x, file=y.z)",
)


def is_plain(text: str) -> bool:
    return purity.is_plain(text, compile(text, "<text>", "exec"))


def test_a_check_without_attributes_or_imports_is_told_by_its_code() -> None:
    with mock.patch.object(purity.ast, "parse", side_effect=AssertionError("parsed")):
        assert is_plain(CHECK)


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_tests_are_plain(text: str) -> None:
    assert is_plain(text)


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_what_could_leave_something_is_not_plain(text: str) -> None:
    assert not is_plain(text)


def test_every_pure_function_that_is_named_exists() -> None:
    for module, names in purity.MODULES.items():
        assert names <= set(dir(__import__(module))), module


def test_a_prompt_is_plain_if_all_that_it_runs_is() -> None:
    text = "from typing import List\ndef f(x: List[int]):\n    'doc'\n"
    assert prompt.is_plain(prompt.parse(text))
    assert prompt.is_plain(prompt.parse("no Python at all"))
    assert not prompt.is_plain(prompt.parse("import os\ndef f(x):\n"))
