"""Sound tasks of many forms, in which the audit has to find nothing."""

from __future__ import annotations

from tests.e2e.audit.broken import LINEAR, SUM, Broken, asserts, calls, check, code, runs, unit

SOUND = (
    Broken(
        name="sound asserts",
        kinds=(),
        prompt="Task: the original.",
        request=asserts("assert f(2) == 7", "assert f(6) == 19", "assert f(-4) == -11"),
    ),
    Broken(
        name="the first with its prompt",
        kinds=(),
        prompt="Write a function f that multiplies by three and adds one.",
        request=asserts("assert f(9) == 28", "assert f(1) == 4", "assert f(0) == 1"),
    ),
    Broken(
        name="an example among the tests",
        kinds=(),
        prompt="Write f.\n>>> f(2)\n7\n",
        request=LINEAR,
    ),
    Broken(
        name="sound continuation",
        kinds=(),
        prompt="Complete it.",
        reference="    return 3 * x + 1\n",
        request={
            "prompt": 'def f(x: int) -> int:\n    """f(1) => 4"""\n',
            **check("assert candidate(2) == 7\nassert candidate(5) == 16"),
        },
    ),
    Broken(
        name="words that may be returned",
        kinds=(),
        prompt='Return "Invalid triangle" or "Valid triangle" for the angles.',
        reference=code("""
            def f(*angles):
                return "Valid triangle" if sum(angles) == 180 else "Invalid triangle"
        """),
        request=asserts(
            "assert f(60, 60, 60) == 'Valid triangle'",
            "assert f(60, 60, 61) == 'Invalid triangle'",
        ),
    ),
    Broken(
        name="sound calls of a method",
        kinds=(),
        reference="class Solution:\n    def f(self, x):\n        return 3 * x + 1\n",
        request=calls(("[2]", "7"), ("[5]", "16"), entry_point="Solution().f"),
    ),
    Broken(
        name="sound runs",
        kinds=(),
        prompt="Add.\n\nInput\n\n1 2\n\nOutput\n\n3\n",
        reference=SUM,
        request=runs(("1 2\n", "3\n"), ("5 6\n", "11\n"), ("-4 4\n", "0\n")),
    ),
    Broken(
        name="a data file that the task is about",
        kinds=(),
        prompt="Count the words of words.txt.",
        reference="print(len(open('words.txt').read().split()) + int(input()))\n",
        request={
            "text_data_files": {"words.txt": "one two three"},
            **runs(("0\n", "3\n"), ("7\n", "10\n")),
        },
    ),
    Broken(
        name="sound test methods",
        kinds=(),
        reference=code("""
            class Stack:
                def __init__(self):
                    self.items = []
                def push(self, item):
                    self.items.append(item)
                def pop(self):
                    return self.items.pop()
        """),
        request=unit("""
            import unittest
            from solution import Stack
            class Stacking(unittest.TestCase):
                def test_the_last_comes_first(self):
                    stack = Stack()
                    stack.push(1)
                    stack.push(2)
                    self.assertEqual([stack.pop(), stack.pop()], [2, 1])
                def test_that_an_empty_one_raises(self):
                    with self.assertRaises(IndexError):
                        Stack().pop()
        """),
    ),
    Broken(
        name="results in which nothing can be scrambled",
        kinds=(),
        reference="def f(x):\n    return [{} for _ in range(x)]\n",
        request=asserts("assert f(1) == [{}]", "assert f(2) == [{}, {}]", "assert f(0) == []"),
    ),
    Broken(
        name="a seeded generator",
        kinds=(),
        reference=code("""
            import random
            def f(x):
                return random.Random(x).randrange(1000) + x
        """),
        request=check(
            "import random\n"
            "for x in (1, 2, 30):\n"
            "    assert candidate(x) == random.Random(x).randrange(1000) + x"
        ),
    ),
)
