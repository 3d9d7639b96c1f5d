"""Nothing that tests or a candidate do without leaving the judge reaches the next execution."""

from __future__ import annotations

import random
import textwrap

from tests.unit.runner.harness import Zygote

RIGHT = "def f(x):\n    return x + 1"
CHECK = "def check(candidate):\n    assert candidate(1) == 2"
NOT_PLAIN = CHECK + "\n    import os"


def looking(expression: str) -> str:
    """A check that an expression is true in the judge."""
    imported = expression.split(".")[0].split()[-1]
    return f"{CHECK}\n    import {imported}\n    assert {expression}"


def test_the_recursion_limit_is_the_same_for_the_next(zygote: Zygote) -> None:
    test = """
        def dive():
            try:
                dive()
            except RecursionError:
                pass
            try:
                candidate(1)
            except RecursionError:
                pass
        def check(candidate):
            for _ in range(3):
                dive()
            assert candidate(1) == 2
    """
    fresh = zygote.function(RIGHT, test_code=NOT_PLAIN)
    first = zygote.function(RIGHT, test_code=textwrap.dedent(test))
    second = zygote.function(RIGHT, test_code=looking("sys.getrecursionlimit() == 1000"))
    assert fresh.passed
    assert first.passed, first.explanation
    assert second.passed, second.explanation
    assert first.reply.judge_pid == second.reply.judge_pid


def test_flags_of_decimal_numbers_are_down_again_for_the_next(zygote: Zygote) -> None:
    source = "from decimal import Decimal\ndef f(x):\n    return Decimal(1)"
    first = zygote.function(source, asserts=["assert f(1) / 3 > 0"])
    test = looking("not decimal.getcontext().flags[decimal.Inexact]")
    second = zygote.function(RIGHT, test_code=test)
    assert first.passed, first.explanation
    assert second.passed, second.explanation
    assert first.reply.judge_pid == second.reply.judge_pid


ANNOTATED = """
    from typing import List, Optional
    def build(x: int) -> Optional[Node]:
        return Node(x)
    def check(candidate):
        assert candidate(build(1)) == 2
"""
NODE = """
    class Kind(type):
        def __hash__(self): return 5
    class Node(metaclass=Kind):
        def __init__(self, x): self.x = x
    def f(node): return node.x + 1
"""


def test_a_class_of_one_candidate_is_no_annotation_of_the_next_ones_tests(zygote: Zygote) -> None:
    for _ in range(3):
        test = textwrap.dedent(ANNOTATED)
        result = zygote.function(textwrap.dedent(NODE), test_code=test)
        assert result.passed, result.explanation


RAISING = """
    def f(x):
        class Kind(LookupError, ArithmeticError if x % 2 else OSError):
            pass
        Kind.__name__ = Kind.__qualname__ = f"Kind{x}" * 100
        Kind.__module__ = "elsewhere"
        raise Kind(*range(x), "x" * x)
"""


def test_a_thousand_exceptions_of_a_candidate_leave_no_classes(zygote: Zygote) -> None:
    test = """
        def check(candidate):
            for x in range(500):
                try:
                    candidate(x)
                except LookupError:
                    pass
    """
    count = "len([c for c in LookupError.__subclasses__() if c.__name__[:4] == 'Kind'])"
    first = zygote.function(textwrap.dedent(RAISING), test_code=textwrap.dedent(test))
    second = zygote.function(
        RIGHT,
        test_code=f"{CHECK}\n    import gc\n    gc.collect()\n    assert {count} == 0, {count}",
    )
    assert first.passed, first.explanation
    assert second.passed, second.explanation
    assert first.reply.judge_pid == second.reply.judge_pid


HOSTILE = {
    "frames in flight": """
        import os
        def f(x):
            for descriptor in range(3, 20):
                try:
                    os.write(descriptor, b"x" * 99)
                except OSError:
                    pass
            return 2
    """,
    "descriptors in flight": """
        import os, socket
        def f(x):
            for descriptor in range(3, 20):
                try:
                    channel = socket.socket(fileno=os.dup(descriptor))
                    socket.send_fds(channel, [b"x"], [0, 1, 2])
                except OSError:
                    pass
            return 2
    """,
    "a child that stays": """
        import os, time
        if not os.fork():
            time.sleep(3)
            os._exit(0)
        def f(x):
            return 2
    """,
    "output at the end": """
        import os, sys
        def f(x):
            sys.stdout.write("x" * 60_000)
            sys.stdout.flush()
            os._exit(0)
    """,
    "a large object": "def f(x): return [[i] for i in range(100_000)]",
    "many objects": "def f(x): return [object() for _ in range(10_000)]",
    "recursion": "def f(x): return f(x)",
}


def test_verdicts_after_hostile_candidates_are_those_of_a_fresh_judge(zygote: Zygote) -> None:
    text = "from random import Random\n" + CHECK
    for name in random.Random(7).choices(list(HOSTILE), k=14):
        zygote.function(textwrap.dedent(HOSTILE[name]), test_code=text, wall_seconds=1)
        assert zygote.function(RIGHT, test_code=text).passed, name
        wrong = zygote.function("def f(x):\n    return x", test_code=text)
        assert wrong.outcomes == ["FAILED"], name
        assert "test_code, line 3" in wrong.report["tests"][0]["message"], name
