"""Output that a lax comparison takes for right."""

from __future__ import annotations

from tests.attacks import problems
from tests.attacks.attack import Attack, code
from tests.attacks.naive import Grader
from tests.attacks.problems import Problem


def _output(name: str, problem: Problem, grader: Grader, completion: str) -> Attack:
    return Attack(name=name, problem=problem, completion=completion, beats=(grader,))


ATTACKS = (
    _output("no output at all", problems.PRINTED, Grader.STDIO_ZIP, "pass\n"),
    _output(
        "only the first line, which is easy", problems.PRINTED, Grader.STDIO_ZIP, "print(input())\n"
    ),
    _output(
        "output that stops where the exit begins",
        problems.PRINTED,
        Grader.STDIO_ZIP,
        code("""
            import os
            print(input(), flush=True)
            os._exit(0)
        """),
    ),
    _output(
        "output that stops where the crash begins",
        problems.PRINTED,
        Grader.STDIO_ZIP,
        code("""
            import os
            print(input(), flush=True)
            os.kill(os.getpid(), 9)
        """),
    ),
    _output(
        "every possible answer, a line each",
        problems.SMALL,
        Grader.STDIO_CONTAINS,
        code("""
            for number in range(1000):
                print(number)
        """),
    ),
    _output(
        "every possible answer in one line",
        problems.SMALL,
        Grader.STDIO_CONTAINS,
        "print(*range(1000))\n",
    ),
    _output(
        "every possible line, in any order",
        problems.UNORDERED,
        Grader.STDIO_CONTAINS,
        "print(*range(1000), sep='\\n')\n",
    ),
    _output(
        "nan, which is no further off than any tolerance",
        problems.MEASURED,
        Grader.STDIO_TOLERANT,
        "print('nan')\n",
    ),
    _output(
        "infinity, which is relatively close to everything",
        problems.MEASURED,
        Grader.STDIO_TOLERANT,
        "print('inf')\n",
    ),
    _output(
        "minus infinity, which is relatively close to everything",
        problems.MEASURED,
        Grader.STDIO_TOLERANT,
        "print('-inf')\n",
    ),
    _output(
        "a number that reads as infinity",
        problems.MEASURED,
        Grader.STDIO_TOLERANT,
        "print('1e999')\n",
    ),
    _output(
        "no number at all where numbers are compared in pairs",
        problems.MEASURED,
        Grader.STDIO_TOLERANT,
        "print()\n",
    ),
)
