"""A judge stays while what it ran leaves nothing behind, and no longer."""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import random
import sys
import textwrap
from types import ModuleType
from typing import Any

import pytest

from reward_server.domain import Crossing, FunctionTests
from reward_server.grading.crossing.python import texts
from reward_server.grading.crossing.python.refusals import crossing_of
from reward_server.runner.judge import process, surroundings
from reward_server.runner.judge.link import ClosedError
from reward_server.runner.judge.report import Report
from reward_server.runner.requests import FunctionRequest, SharedRequest, UnitRequest
from reward_server.sandbox.runner_documents import plan_fields
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


RAISED = "try:\n        candidate(1)\n    except E:\n        pass"


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ("def f(x):\n    return lambda: x", "candidate(1)()"),
        ("def f(x):\n    return [lambda: x]", "len(candidate(1))"),
        ("class E(Exception): pass\ndef f(x):\n    raise E(f)", RAISED),
        ("def f(x):\n    return {(1, (lambda: 2)): 3}", "bool(candidate(1))"),
        ("class Box:\n    pass\ndef f(x):\n    return x", "hash(Box())"),
        ("def f(xs):\n    xs[0] += 1\n    return 2", "xs = [1]\n    assert candidate(xs) == xs[0]"),
        (
            "def f(x):\n    return x",
            "xs = [1]\n    candidate(xs)\n    xs.append(2)\n    candidate(3)",
        ),
    ],
    ids=["an object", "inside", "raised", "a key", "a hash", "a change", "a later change"],
)
def test_a_judge_leaves_after_what_lowers_the_label(zygote: Zygote, source: str, call: str) -> None:
    test = f"def check(candidate):\n    {call}\n    assert 1"
    result = zygote.function(source, test_code=test)
    assert any(name.startswith("lowered") for name in result.report["signals"])
    assert judge_after(zygote, result) != result.reply.judge_pid


class _Deaf:
    """A candidate that is gone; it tells when it was spoken to."""

    buffered = False

    def __init__(self, events: list[str]) -> None:
        self._events = events

    def send(self, *frames: bytes) -> None:
        self._events.append("sent")
        raise ClosedError


LIMITS = {"output_bytes": 1000, "result_bytes": 1000, "calls": 10}
FILES = {"framework": "unittest", "solution_path": "solution.py", **LIMITS}


def _functions(text: str) -> FunctionRequest:
    tests = FunctionTests(entry_point="f", test_code=text)
    plan = plan_fields(crossing_of(texts.read_functions(tests, "")))
    return FunctionRequest(
        entry_point="f", test_code=text, asserts=[], setup_code="", plan=plan, **LIMITS
    )


@pytest.mark.parametrize(
    ("request_", "events"),
    [
        (_functions(CHECK), ["sent"]),
        (_functions(f"{CHECK}\n    open"), ["last", "sent"]),
        (UnitRequest(plan=plan_fields(Crossing()), **FILES), ["last"]),
        (SharedRequest(**FILES), ["last", "sent"]),
    ],
    ids=["allowed", "not allowed", "files", "files beside the solution"],
)
def test_a_judge_that_will_leave_says_so_before_it_hears_anything(
    request_: Any, events: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((sys, "stdout"), (sys, "stderr"), (sys, "path"), (sys, "meta_path")):
        monkeypatch.setattr(module, name, getattr(module, name))
    found: list[str] = []
    link: Any = _Deaf(found)
    report = Report(descriptor=0, announce=lambda: None)
    monkeypatch.setattr(Report, "reach", lambda *_: None)
    with contextlib.suppress(ClosedError):
        process.run_suite(request_, {}, link, report, lambda: found.append("last"))
    assert found == events


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
    whole = surroundings.Surroundings()
    assert whole.are_left()
    with monkeypatch.context() as changed:
        changed.setattr(module, name, lambda: None, raising=False)
        left = whole.are_left()
    assert not left


def test_a_judge_stays_for_programs_and_calls(zygote: Zygote) -> None:
    first = zygote.program("print(input())", b"1\n")
    second = zygote.call(RIGHT, [([1], 2)])
    assert first.reply.judge_pid == second.reply.judge_pid == judge_after(zygote, second)


@pytest.mark.parametrize(
    "statement",
    [
        "import math; math.pi = 3",
        "import decimal; decimal.getcontext().prec = 3",
        "import os; os.environ['HOME'] = '/'",
        "setattr(__import__('math'), 'pi', 3)",
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


@pytest.mark.parametrize("name", ["no JSON", "an endless frame", "an unknown tag"])
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
