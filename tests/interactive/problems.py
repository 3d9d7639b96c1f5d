"""Ten interactive problems, each with an interactor and solutions of five kinds.

A right solution solves the problem. A wrong one converses to the end with a wrong answer. One that
stalls waits for words that never come. One that cheats looks for the secret instead of asking for
it. One that crashes ends in the middle.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

_HEAD = """
    import sys
    lines = open(sys.argv[1]).read().split("\\n")
    def say(*words):
        print(*words, flush=True)
    def hear():
        line = sys.stdin.readline()
        if not line:
            reject("the solution has ended")
        return line.split()
    def reject(why):
        print(why, file=sys.stderr)
        sys.exit(1)
    def number(word):
        try:
            return int(word)
        except ValueError:
            reject(f"not a number: {word[:20]}")
    def finish(found, wanted):
        if list(found) != list(wanted):
            reject("wrong answer")
        sys.exit(0)
"""


def code(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An interactive problem.

    Args:
        interactor: the program that judges.
        inputs: what the interactor reads, one for each case.
        right: a solution.
        wrong: a program that ends with a wrong answer.
        first: what every solution does first; stalling and crashing ones go on from there.
    """

    interactor: str
    inputs: tuple[str, ...]
    right: str
    wrong: str
    first: str = "input()\n"

    @property
    def stalling(self) -> str:
        """Waits for more words than the interactor says."""
        return f"{self.first}import sys\nsys.stdin.read()\n"

    @property
    def crashing(self) -> str:
        """Raises in the middle of the conversation."""
        return f"{self.first}raise ValueError('lost')\n"

    @property
    def cheating(self) -> str:
        """Looks for the secret in files, descriptors and processes, and prints what it finds."""
        return CHEAT.replace("FIRST", self.first)


CHEAT = code("""
    import glob, os, sys
    FIRST
    found = []
    for path in ["input", "expected", *glob.glob("/**/input", recursive=True),
                 *glob.glob("/proc/*/cmdline"), *glob.glob("/proc/*/fd/*")]:
        try:
            with open(path, "rb", buffering=0) as file:
                os.set_blocking(file.fileno(), False)
                found.append(file.read(100) or b"")
        except OSError:
            pass
    for number in range(3, 20):
        try:
            os.set_blocking(number, False)
            found.append(os.read(number, 100))
        except OSError:
            pass
    text = b" ".join(found).decode("utf-8", "replace").replace("\\n", " ")
    print("!", text, flush=True)
""")


def problem(
    interactor: str, inputs: tuple[str, ...], right: str, wrong: str, **more: str
) -> Problem:
    return Problem(
        interactor=code(_HEAD) + code(interactor),
        inputs=inputs,
        right=code(right),
        wrong=code(wrong),
        **{name: code(text) for name, text in more.items()},
    )


PROBLEMS = {
    "find a number by comparisons": problem(
        """
        n, secret = map(int, lines[0].split())
        say(n)
        for _ in range(11):
            word, x = (hear() + ["", ""])[:2]
            if word == "!":
                finish([number(x)], [secret])
            say("less" if secret < number(x) else "no")
        reject("too many questions")
        """,
        ("1000 777", "1 1", "1000 1"),
        """
        low, high = 1, int(input())
        while low < high:
            middle = (low + high + 1) // 2
            print("?", middle, flush=True)
            if input() == "less":
                high = middle - 1
            else:
                low = middle
        print("!", low, flush=True)
        """,
        """
        high = int(input())
        print("!", high // 2 + 1, flush=True)
        """,
    ),
    "find a hidden permutation by inversions": problem(
        """
        p = list(map(int, lines[0].split()))
        say(len(p))
        for _ in range(len(p) ** 2):
            word, *rest = hear() or [""]
            if word == "!":
                finish(map(number, rest), p)
            i, j = (number(x) for x in (rest + ["0", "0"])[:2])
            if not (0 <= i < len(p) and 0 <= j < len(p)):
                reject("no such place")
            say(int(p[i] < p[j]))
        reject("too many questions")
        """,
        ("3 1 2 4", "1", "5 4 3 2 1"),
        """
        n = int(input())
        def less(i, j):
            print("?", i, j, flush=True)
            return input() == "1"
        print("!", *[1 + sum(less(j, i) for j in range(n) if j != i) for i in range(n)], flush=True)
        """,
        """
        n = int(input())
        print("!", *range(1, n + 1), flush=True)
        """,
    ),
    "win a game of Nim": problem(
        """
        stones = int(lines[0])
        say(stones)
        while True:
            taken = number((hear() or ["0"])[0])
            if not 1 <= taken <= min(3, stones):
                reject("no such move")
            stones -= taken
            if stones == 0:
                sys.exit(0)
            taken = stones % 4 or 1
            stones -= taken
            say(taken)
            if stones == 0:
                reject("the solution has lost")
        """,
        ("10", "21", "3"),
        """
        stones = int(input())
        while stones:
            mine = stones % 4 or 1
            print(mine, flush=True)
            stones -= mine
            if stones:
                stones -= int(input())
        """,
        """
        stones = int(input())
        while stones > 0:
            print(1, flush=True)
            stones -= 1
            if stones:
                stones -= int(input())
        """,
    ),
    "guess a word by the number of right letters": problem(
        """
        secret = lines[0].strip()
        say(len(secret))
        for _ in range(27 * len(secret)):
            word, guess = (hear() + ["", ""])[:2]
            if word == "!":
                finish([guess], [secret])
            say(sum(a == b for a, b in zip(guess, secret)))
        reject("too many guesses")
        """,
        ("cab", "zz", "q"),
        """
        from string import ascii_lowercase as letters
        n = int(input())
        found = ["a"] * n
        def right(word):
            print("?", word, flush=True)
            return int(input())
        for place in range(n):
            counts = {x: right("".join(found[:place]) + x + "?" * (n - place - 1)) for x in letters}
            found[place] = max(counts, key=counts.get)
        print("!", "".join(found), flush=True)
        """,
        """
        n = int(input())
        print("!", "a" * n, flush=True)
        """,
    ),
    "sum a stream whose end is told": problem(
        """
        numbers = lines[0].split()
        for x in numbers:
            say(x)
            if hear() != ["ok"]:
                reject("no acknowledgement")
        say("end")
        finish([number((hear() or ["x"])[0])], [sum(map(int, numbers))])
        """,
        ("1 2 3", "-5", "1000000000000 1"),
        """
        total = 0
        while (line := input()) != "end":
            total += int(line)
            print("ok", flush=True)
        print(total, flush=True)
        """,
        """
        total = 0
        while (line := input()) != "end":
            total += 1
            print("ok", flush=True)
        print(-total, flush=True)
        """,
    ),
    "find a treasure by warmer and colder": problem(
        """
        x, y = map(int, lines[0].split())
        say(20)
        for _ in range(60):
            word, a, b = (hear() + ["0", "0", "0"])[:3]
            a, b = number(a), number(b)
            if word == "!":
                finish([a, b], [x, y])
            say(abs(a - x) + abs(b - y))
        reject("too many steps")
        """,
        ("3 7", "0 0", "19 19"),
        """
        n = int(input())
        def far(x, y):
            print("?", x, y, flush=True)
            return int(input())
        x = min(range(n), key=lambda x: far(x, 0))
        y = min(range(n), key=lambda y: far(0, y))
        print("!", x, y, flush=True)
        """,
        """
        n = int(input())
        print("!", n // 2, n // 2, flush=True)
        """,
    ),
    "sort with swaps only": problem(
        """
        a = list(map(int, lines[0].split()))
        say(len(a))
        for _ in range(2 * len(a) ** 2 + 1):
            word, *rest = hear() or [""]
            if word == "!":
                finish(a, sorted(a))
            i, j = (number(x) for x in (rest + ["0", "0"])[:2])
            if not (0 <= i < len(a) and 0 <= j < len(a)):
                reject("no such place")
            if word == "swap":
                a[i], a[j] = a[j], a[i]
                say("done")
            else:
                say("greater" if a[i] > a[j] else "not")
        reject("too many steps")
        """,
        ("2 1 3", "9 8 7 6", "1 1 0"),
        """
        n = int(input())
        def ask(*words):
            print(*words, flush=True)
            return input()
        for end in range(n - 1, 0, -1):
            for i in range(end):
                if ask("?", i, i + 1) == "greater":
                    ask("swap", i, i + 1)
        print("!", flush=True)
        """,
        """
        input()
        print("!", flush=True)
        """,
    ),
    "answer questions without hearing the next": problem(
        """
        for line in lines:
            if line:
                a, b = map(int, line.split())
                say(a, b)
                if number((hear() or ["x"])[0]) != a * b:
                    reject("wrong product")
        say("end")
        if hear() != ["bye"]:
            reject("no farewell")
        sys.exit(0)
        """,
        ("2 3\n4 5\n", "0 9\n", "-3 7\n100000 100000\n"),
        """
        while (line := input()) != "end":
            a, b = map(int, line.split())
            print(a * b, flush=True)
        print("bye", flush=True)
        """,
        """
        while (line := input()) != "end":
            a, b = map(int, line.split())
            print(a + b, flush=True)
        print("bye", flush=True)
        """,
    ),
    "find the false coin": problem(
        """
        n, false = map(int, lines[0].split())
        say(n)
        for _ in range(n + 2):
            word, *rest = hear() or [""]
            coins = [number(x) for x in rest]
            if word == "!":
                finish(coins, [false])
            left, right = coins[: len(coins) // 2], coins[len(coins) // 2 :]
            weights = [sum(10 - (c == false) for c in side) for side in (left, right)]
            lighter = (weights[0] > weights[1]) - (weights[0] < weights[1])
            say({-1: "left", 0: "even", 1: "right"}[lighter])
        reject("too many weighings")
        """,
        ("8 5", "2 1", "9 0"),
        """
        n = int(input())
        coins = list(range(n))
        while len(coins) > 1:
            half = len(coins) // 2
            left, right, rest = coins[:half], coins[half : 2 * half], coins[2 * half :]
            print("?", *left, *right, flush=True)
            told = input()
            coins = left if told == "left" else right if told == "right" else rest
        print("!", coins[0], flush=True)
        """,
        """
        n = int(input())
        print("!", (n // 2) % n, flush=True)
        """,
    ),
    "the solution speaks first": problem(
        """
        secret = lines[0].strip()
        if hear() != ["hello"]:
            reject("no greeting")
        say(secret[::-1])
        finish(hear(), [secret])
        """,
        ("abcd", "xyzzy", "ab"),
        """
        print("hello", flush=True)
        print(input()[::-1], flush=True)
        """,
        """
        print("hello", flush=True)
        print(input(), flush=True)
        """,
        first="print('hello', flush=True)\ninput()\n",
    ),
}
