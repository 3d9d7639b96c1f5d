"""Ten problems that every language solves, and how their solutions are written down.

A language's solutions lie in `solutions/NAME.EXT`, where NAME is the language or an alias of it.
A line of comment in the language's own syntax begins each section; a word that ends the comment
may follow.

problem: NAME   the right solution. In it, ⟪this⟫⟪that⟫ is `this` in the right solution and `that`
                in the wrong one, and ⟪!⟫, or ⟪!KIND⟫, is where a crash or an endless loop is put;
                a line that has nothing else is left out of the other variants
tests: NAME     a test program: the problem is solved by a function, and judged by `ProgramTests`.
                Without it the solution reads standard input and is judged by the cases below
crash           what is put in place of ⟪!⟫ to make the solution crash; "crash: KIND" of ⟪!KIND⟫
endless         the same, to make it run for ever

What stands before the first section is for readers alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

SOLUTIONS = Path(__file__).parent / "solutions"

_CHOICE = re.compile(r"⟪(?!!)(.*?)⟫⟪(.*?)⟫", re.DOTALL)
_MARK = re.compile(r"⟪!(\w*)⟫")
_MARKED_LINE = re.compile(r"^([ \t]*)⟪!(\w*)⟫[ \t]*\n", re.MULTILINE)
_SECTION = r"^[ \t]*{comment}[ \t]*(problem|tests|crash|endless)(?:: (\w+))?[^\w\n]*$"


class Case(NamedTuple):
    """What a program reads, and what it has to write."""

    stdin: str
    stdout: str


class Problem(NamedTuple):
    """A problem; those from `gcd` on are functions where a language has a form for that."""

    name: str
    task: str
    cases: tuple[Case, ...]


_TALE = """the cat and the dog
the  bird

cat and mouse
"""

PROBLEMS = (
    Problem(
        "add",
        "Reads two integers on a line and writes their sum.",
        (
            Case("1 2\n", "3\n"),
            Case("-5 3\n", "-2\n"),
            Case("0 0\n", "0\n"),
            Case("123456 654321\n", "777777\n"),
        ),
    ),
    Problem(
        "reverse",
        "Reads a line and writes it backwards.",
        (
            Case("hello\n", "olleh\n"),
            Case("a bc d\n", "d cb a\n"),
            Case("level\n", "level\n"),
            Case("(1, 2); [x]\n", "]x[ ;)2 ,1(\n"),
        ),
    ),
    Problem(
        "primes",
        "Reads n (at least 2) and writes the primes up to it, separated by blanks.",
        (
            Case("10\n", "2 3 5 7\n"),
            Case("2\n", "2\n"),
            Case("30\n", "2 3 5 7 11 13 17 19 23 29\n"),
            Case("49\n", "2 3 5 7 11 13 17 19 23 29 31 37 41 43 47\n"),
        ),
    ),
    Problem(
        "words",
        "Reads lower case text to its end; writes each word and how often it occurs, by word.",
        (
            Case("a b a\n", "a 2\nb 1\n"),
            Case(_TALE, "and 2\nbird 1\ncat 2\ndog 1\nmouse 1\nthe 3\n"),
            Case("same\nsame\nsame\n", "same 3\n"),
        ),
    ),
    Problem(
        "matrix",
        "Reads n, then n lines of n integers; writes the transposed matrix.",
        (
            Case("2\n1 2\n3 4\n", "1 3\n2 4\n"),
            Case("1\n-7\n", "-7\n"),
            Case("3\n1 2 3\n4 5 6\n7 8 9\n", "1 4 7\n2 5 8\n3 6 9\n"),
        ),
    ),
    Problem(
        "fibonacci",
        "Reads n (0 to 90) and writes F(n); F(90) needs 64 bits.",
        (
            Case("0\n", "0\n"),
            Case("1\n", "1\n"),
            Case("10\n", "55\n"),
            Case("47\n", "2971215073\n"),
            Case("90\n", "2880067194370816120\n"),
        ),
    ),
    Problem(
        "gcd",
        "Greatest common divisor of two positive integers.",
        (
            Case("12 18\n", "6\n"),
            Case("7 13\n", "1\n"),
            Case("100 75\n", "25\n"),
            Case("9 9\n", "9\n"),
        ),
    ),
    Problem(
        "palindrome",
        "Whether a text reads the same backwards, ignoring case and all that is no letter.",
        (
            Case("A man, a plan, a canal: Panama!\n", "true\n"),
            Case("Hello\n", "false\n"),
            Case("x\n", "true\n"),
            Case("No 'x' in Nixon\n", "true\n"),
            Case("ab\n", "false\n"),
        ),
    ),
    Problem(
        "running_max",
        "For each place of a list of integers, the largest up to there.",
        (
            Case("1 3 2 5 4\n", "1 3 3 5 5\n"),
            Case("-3\n", "-3\n"),
            Case("5 4 3\n", "5 5 5\n"),
            Case("-2 -5 -1\n", "-2 -2 -1\n"),
        ),
    ),
    Problem(
        "fizzbuzz",
        "The numbers from 1 to n as texts: Fizz, Buzz or FizzBuzz where 3, 5 or both divide them.",
        (
            Case("1\n", "1\n"),
            Case("5\n", "1 2 Fizz 4 Buzz\n"),
            Case("15\n", "1 2 Fizz 4 Buzz Fizz 7 8 Fizz Buzz 11 Fizz 13 14 FizzBuzz\n"),
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """One problem's solution in one language.

    Args:
        text: with all its marks.
        tests: the test program; None if the problem's cases judge it.
        crashes: what is put in place of each kind of mark to make it crash.
        loops: the same, to make it run for ever.
    """

    text: str
    tests: str | None
    crashes: dict[str, str]
    loops: dict[str, str]

    @property
    def right(self) -> str:
        """The solution itself."""
        return _unmarked(_CHOICE.sub(lambda choice: choice[1], self.text))

    @property
    def wrong(self) -> str:
        """One that gives another answer."""
        return _unmarked(_CHOICE.sub(lambda choice: choice[2], self.text))

    @property
    def crashing(self) -> str:
        """One that ends by a fault of its own."""
        return self._with(self.crashes)

    @property
    def endless(self) -> str:
        """One that comes to no end."""
        return self._with(self.loops)

    def _with(self, statements: dict[str, str]) -> str:
        def placed(mark: re.Match[str]) -> str:
            return _indented(statements[mark[2]], mark[1])

        text = _CHOICE.sub(lambda choice: choice[1], self.text)
        text = _MARKED_LINE.sub(placed, text)
        return _MARK.sub(lambda mark: statements[mark[1]].strip(), text)


def read_solutions(path: Path, comment: str) -> dict[str, Solution]:
    """Reads a language's solutions, by name of the problem.

    Args:
        path: of the file.
        comment: what begins a line of comment in the language.

    Raises:
        ValueError: a mark has no statements, or a problem has no mark or no choice.
    """
    sections: dict[str, dict[str, str]] = {"problem": {}, "tests": {}, "crash": {}, "endless": {}}
    pattern = re.compile(_SECTION.format(comment=re.escape(comment)), re.MULTILINE)
    parts = pattern.split(path.read_text("utf-8"))[1:]
    for kind, name, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        sections[kind][name or ""] = text.strip("\n") + "\n"
    return {
        name: _checked(
            name,
            Solution(
                text=text,
                tests=sections["tests"].get(name),
                crashes=sections["crash"],
                loops=sections["endless"],
            ),
        )
        for name, text in sections["problem"].items()
    }


def _checked(name: str, solution: Solution) -> Solution:
    marks = {mark[1] for mark in _MARK.finditer(solution.text)}
    if not marks or not _CHOICE.search(solution.text):
        raise ValueError(f"{name}: no mark, or no choice")
    if missing := marks - {*solution.crashes} | marks - {*solution.loops}:
        raise ValueError(f"{name}: no crash or no endless loop for {', '.join(missing)}")
    return solution


def _unmarked(text: str) -> str:
    return _MARK.sub("", _MARKED_LINE.sub("", text))


def _indented(statements: str, indentation: str) -> str:
    return "".join(f"{indentation}{line}\n" for line in statements.splitlines())
