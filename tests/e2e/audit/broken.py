"""Tasks that are broken on purpose, and what the audit has to find in each."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A task with a planted fault.

    Attributes:
        name: the fault.
        kinds: kinds of findings of which at least one has to be found.
        prompt: the text for the model.
        reference: the solution that its author holds to be right.
        request: the rest of the request.
    """

    name: str
    kinds: tuple[str, ...]
    prompt: str = ""
    reference: str = "def f(x):\n    return 3 * x + 1\n"
    request: dict[str, Any]

    def line(self) -> dict[str, Any]:
        row = {"task_id": self.name, "prompt": self.prompt or f"Task: {self.name}."}
        return row | {"request": self.request, "reference": self.reference}


def code(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def asserts(*lines: str, **rest: Any) -> dict[str, Any]:
    return {"function": {"entry_point": "f", "asserts": list(lines), **rest}}


def check(text: str, **rest: Any) -> dict[str, Any]:
    body = textwrap.indent(code(text), "    ")
    return {"function": {"entry_point": "f", "test_code": f"def check(candidate):\n{body}", **rest}}


def calls(*cases: tuple[str, str], entry_point: str = "f") -> dict[str, Any]:
    rows = [{"args_json": given, "expected_json": wanted} for given, wanted in cases]
    return {"call": {"entry_point": entry_point, "cases": rows}}


def runs(*cases: tuple[str, str]) -> dict[str, Any]:
    rows = [{"stdin_text": given, "expected_stdout_text": wanted} for given, wanted in cases]
    return {"stdio": {"cases": rows}}


def unit(text: str) -> dict[str, Any]:
    return {"unit": {"framework": "FRAMEWORK_UNITTEST", "files": {"test_f.py": code(text)}}}


LINEAR = asserts("assert f(2) == 7", "assert f(5) == 16", "assert f(-4) == -11")
SUM = "print(sum(map(int, input().split())))\n"
HEAVY = code("""
    def f(x):
        total = 0
        for number in range(6_000_000):
            total += number % 7
        return 3 * x + 1
""")

WRONG: Sequence[Broken] = (
    Broken(
        name="a wrong reference",
        kinds=("reference_fails",),
        reference="def f(x):\n    return 3 * x\n",
        request=LINEAR,
    ),
    Broken(
        name="a reference for another name",
        kinds=("reference_fails",),
        reference="def g(x):\n    return 3 * x + 1\n",
        request=LINEAR,
    ),
    Broken(
        name="a reference that is no Python",
        kinds=("reference_fails",),
        reference="def f(x) return 3 * x + 1\n",
        request=LINEAR,
    ),
    Broken(
        name="a wrong result of a call",
        kinds=("reference_fails",),
        request=calls(("[2]", "7"), ("[5]", "17")),
    ),
    Broken(
        name="a wrong program",
        kinds=("reference_fails",),
        reference="print(max(map(int, input().split())))\n",
        request=runs(("1 2\n", "3\n"), ("5 6\n", "11\n")),
    ),
    Broken(
        name="a program that is flaky",
        kinds=("flaky",),
        reference=f"import random\nif random.random() < 0.5:\n    print('x')\n{SUM}",
        request=runs(("1 2\n", "3\n"), ("5 6\n", "11\n")),
    ),
    Broken(
        name="a reference that is flaky",
        kinds=("flaky",),
        reference="import random\ndef f(x):\n    return 3 * x + random.choice((0, 1))\n",
        request=asserts("assert f(2) == 7"),
    ),
    Broken(
        name="tests that are flaky",
        kinds=("flaky",),
        request={
            "function": {
                "entry_point": "f",
                "setup_code": "import random",
                "asserts": ["assert f(2) == 7", "assert f(random.choice((1, 2))) == 7"],
            }
        },
    ),
    Broken(
        name="a reference that depends on the clock",
        kinds=("flaky",),
        reference="import time\ndef f(x):\n    return 3 * x + 1 - (time.time_ns() // 1000 % 2)\n",
        request=asserts("assert f(2) == 7"),
    ),
)

UNTESTED: Sequence[Broken] = (
    Broken(name="no kind of tests", kinds=("no_tests",), request={"language": "python"}),
    Broken(name="a check without a body", kinds=("no_tests",), request=check("pass")),
    Broken(
        name="a check that only prints",
        kinds=("no_tests",),
        request=check("print(candidate(2))\nprint(candidate(5))"),
    ),
    Broken(name="no cases", kinds=("no_tests",), request=calls()),
    Broken(name="no runs", kinds=("no_tests",), reference=SUM, request=runs()),
    Broken(
        name="a test file without tests", kinds=("no_tests",), request=unit("import unittest\n")
    ),
    Broken(
        name="tests that are no Python",
        kinds=("invalid_task",),
        request=asserts("assert f(2) == 7", "assert f(5) = 16"),
    ),
    Broken(
        name="a language that nobody knows",
        kinds=("invalid_task",),
        request={"language": "klingon", **LINEAR},
    ),
    Broken(
        name="a limit that no server allows",
        kinds=("invalid_task",),
        request={"limits": {"cpu_time_seconds": -1}, **LINEAR},
    ),
    Broken(name="no reference", kinds=("no_reference",), reference="", request=LINEAR),
)

WEAK: Sequence[Broken] = (
    Broken(
        name="every result is true",
        kinds=("constant_passes",),
        reference="def f(x):\n    return x > 1\n",
        request=asserts("assert f(2) == True", "assert f(5) == True", "assert f(9)"),
    ),
    Broken(name="one call", kinds=("constant_passes",), request=calls(("[2]", "7"))),
    Broken(
        name="every output is YES",
        kinds=("constant_passes",),
        reference="print('YES' if int(input()) > 1 else 'NO')\n",
        request=runs(("2\n", "YES\n"), ("5\n", "YES\n"), ("9\n", "YES\n")),
    ),
    Broken(
        name="an output that is empty",
        kinds=("empty_passes",),
        reference="for _ in range(int(input())):\n    print()\n",
        request=runs(("0\n", ""), ("1\n", "\n")),
    ),
    Broken(
        name="a prompt that is the solution",
        kinds=("empty_passes",),
        reference="    return value\n",
        request={
            "prompt": "def f(x):\n    value = 3 * x + 1\n    return value\n",
            **check("assert candidate(2) == 7\nassert candidate(5) == 16"),
        },
    ),
    Broken(
        name="arguments that are results",
        kinds=("echo_passes",),
        reference="def f(items):\n    return sorted(items)\n",
        request=calls(("[[1, 2, 3]]", "[1, 2, 3]"), ("[[4, 9]]", "[4, 9]")),
    ),
    Broken(
        name="an input that is the output",
        kinds=("echo_passes",),
        reference="print(*sorted(input().split()))\n",
        request=runs(("1 2 3\n", "1 2 3\n"), ("4 9\n", "4 9\n")),
    ),
    Broken(
        name="only the type is compared",
        kinds=("shape_passes", "constant_passes"),
        reference="def f(x):\n    return [x, 3 * x]\n",
        request=asserts("assert isinstance(f(2), list)", "assert type(f(5)) is list"),
    ),
    Broken(
        name="only the size is compared",
        kinds=("shape_passes",),
        reference="def f(x):\n    return [number * number for number in range(x)]\n",
        request=asserts("assert len(f(2)) == 2", "assert len(f(5)) == 5", "assert len(f(7)) == 7"),
    ),
    Broken(
        name="tests that are the examples",
        kinds=("examples_pass",),
        prompt="Write f.\n>>> f(2)\n7\n>>> f(5)\n16\n",
        request=asserts("assert f(2) == 7", "assert f(5) == 16"),
    ),
    Broken(
        name="runs that are the examples",
        kinds=("examples_pass",),
        prompt="Add.\n\nSample Input\n1 2\nSample Output\n3\n\nInput:\n5 6\n\nOutput:\n11\n",
        reference=SUM,
        request=runs(("1 2\n", "3\n"), ("5 6\n", "11\n")),
    ),
    Broken(
        name="most of the reward for a constant",
        kinds=("partial_reward",),
        reference="def f(x):\n    return x > 1\n",
        request={
            "reward_policy": {"kind": "REWARD_POLICY_KIND_FRACTION"},
            **asserts("assert f(2) == True", "assert f(5) == True", "assert f(0) == False"),
        },
    ),
    Broken(
        name="a successful exit is what is tested",
        kinds=("hack_passes",),
        reference=code("""
            import sys
            def f(x):
                if x < 0:
                    sys.exit(0)
                sys.exit(0)
        """),
        request=unit("""
            import unittest
            from solution import f
            class Leaving(unittest.TestCase):
                def test_it_leaves(self):
                    with self.assertRaises(SystemExit) as caught:
                        f(2)
                    self.assertEqual(caught.exception.code, 0)
        """),
    ),
)

SHOWN: Sequence[Broken] = (
    Broken(
        name="tests in the solution's process",
        kinds=("tests_readable",),
        request=asserts("assert f(2) == 7", "assert f(5) == 16", placement="TEST_PLACEMENT_BESIDE"),
    ),
    Broken(
        name="tests that patch the solution",
        kinds=("tests_readable",),
        reference="def g(x):\n    return 3 * x\ndef f(x):\n    return g(x) + 1\n",
        request=unit("""
            import unittest
            from unittest import mock
            import solution
            class Patched(unittest.TestCase):
                def test_that_g_is_called(self):
                    with mock.patch.object(solution, "g", return_value=41) as g:
                        self.assertEqual(solution.f(5), 42)
                    g.assert_called_once_with(5)
                def test_a_value(self):
                    self.assertEqual(solution.f(2), 7)
        """),
    ),
    Broken(
        name="outputs in a data file",
        kinds=("answers_in_data",),
        reference=SUM,
        request={
            "text_data_files": {"all.txt": "10001\n20002\n30003\n"},
            **runs(("10000 1\n", "10001\n"), ("2 20000\n", "20002\n"), ("3 30000\n", "30003\n")),
        },
    ),
    Broken(
        name="a data file for the tests alone",
        kinds=("answers_in_data",),
        request={
            "text_data_files": {"expected.json": "[[2, 7], [5, 16]]"},
            **check("""
                import json
                for given, wanted in json.load(open("expected.json")):
                    assert candidate(given) == wanted
            """),
        },
    ),
    Broken(
        name="a test in the prompt",
        kinds=("leak",),
        prompt="Write f.\nIt is tested by: assert f(5) == 16\n",
        request=LINEAR,
    ),
    Broken(
        name="an answer in the prompt",
        kinds=("leak",),
        prompt="Write f.\nHint: for 1234 the answer is 3703.\n",
        request=asserts("assert f(2) == 7", "assert f(1234) == 3703", "assert f(-4) == -11"),
    ),
    Broken(
        name="outputs in the prompt",
        kinds=("leak",),
        prompt="Add two numbers.\nThe sums will be 10001 and 20002.\n",
        reference=SUM,
        request=runs(("10000 1\n", "10001\n"), ("2 20000\n", "20002\n"), ("1 1\n", "2\n")),
    ),
    Broken(
        name="the reference in the prompt",
        kinds=("leak",),
        prompt=code("""
            Write f. For example:
            def f(items):
                total = sum(items)
                count = len(items)
                return total // count + 1
        """),
        reference=code("""
            def f(items):
                total = sum(items)
                count = len(items)
                return total // count + 1
        """),
        request=asserts("assert f([2, 4]) == 4", "assert f([9]) == 10"),
    ),
    Broken(
        name="an example that is wrong",
        kinds=("example_contradicts",),
        prompt="Write f.\n>>> f(3)\n11\n",
        request=LINEAR,
    ),
    Broken(
        name="a sample that is wrong",
        kinds=("example_contradicts",),
        prompt="Add.\n\nInput\n\n1 2\n\nOutput\n\n4\n",
        reference=SUM,
        request=runs(("7 2\n", "9\n"), ("5 6\n", "11\n")),
    ),
)

STATE = "known = []\ndef f(x):\n    known.append(x)\n    return len(known)\n"
LIMITED: Sequence[Broken] = (
    Broken(
        name="a time limit that is too small",
        kinds=("limit_too_small",),
        reference=HEAVY,
        request={"limits": {"cpu_time_seconds": 0.1}, **asserts("assert f(2) == 7")},
    ),
    Broken(
        name="a memory limit that is too small",
        kinds=("limit_too_small",),
        reference="def f(x):\n    data = b'x' * (200 << 20)\n    return 3 * x + data[0] - 119\n",
        request={"limits": {"memory_bytes": 64 << 20}, **LINEAR},
    ),
    Broken(
        name="a memory limit that is tight",
        kinds=("limit_tight",),
        reference="def f(x):\n    data = b'x' * (60 << 20)\n    return 3 * x + data[0] - 119\n",
        request={"limits": {"memory_bytes": 96 << 20}, **LINEAR},
    ),
    Broken(
        name="asserts that depend on their order",
        kinds=("order_dependent",),
        reference=STATE,
        request=asserts("assert f('a') == 1", "assert f('b') == 2", "assert f('c') == 3"),
    ),
    Broken(
        name="a check that depends on its order",
        kinds=("order_dependent",),
        reference=STATE,
        request=check("assert candidate('a') == 1\nassert candidate('b') == 2"),
    ),
    Broken(
        name="calls that depend on their order",
        kinds=("order_dependent",),
        reference=STATE,
        request=calls(('["a"]', "1"), ('["b"]', "2")),
    ),
    Broken(
        name="test methods that depend on their order",
        kinds=("order_dependent",),
        reference=STATE,
        request=unit("""
            import unittest
            from solution import f
            class Counting(unittest.TestCase):
                def test_a(self):
                    self.assertEqual(f("a"), 1)
                def test_b(self):
                    self.assertEqual(f("b"), 2)
        """),
    ),
    Broken(
        name="a task that is repeated",
        kinds=("duplicate",),
        prompt="Task: the original.",
        request=asserts("assert f(2) == 7", "assert f(6) == 19", "assert f(-4) == -11"),
    ),
    Broken(
        name="a prompt that is repeated",
        kinds=("same_prompt",),
        prompt="Write a function f that multiplies by three and adds one.",
        request=asserts("assert f(8) == 25", "assert f(6) == 19"),
    ),
)

BROKEN = (*WRONG, *UNTESTED, *WEAK, *SHOWN, *LIMITED)
