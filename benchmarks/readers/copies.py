"""Measures how often solutions that read their tests are rewarded.

    python -m benchmarks.readers.copies

Tests run beside the solution, which finds in its own process what they expect. It answers with that
where it takes it for right, and with something else where it takes the file for a perturbed copy.
It is rewarded if it is right in the true file and in every copy of it. Expected values are those of
HumanEval and MBPP, each of them once; readers learn from each half of the tasks, and are tried on
the other.

- *simple* has the rules that sufficed once: values of the file's own assertions at ends, negative
  numbers, the text for which there was no other, and texts that nobody can read. *near* wants
  numbers up to 20, too.
- *guess* answers at random.
- *by parity*, *by thirds* accept a class of numbers.
- *trained* is a logistic regression on what can be said of a value and of the arguments beside it;
  the threshold is the best one on the tasks from which it learned.
- *constant* answers with the most frequent value, and reads nothing: it passes by chance.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import lzma
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reward_server.domain import Framework
from reward_server.grading import syntax
from reward_server.grading.copies.copies import Copies
from reward_server.grading.copies.endings import with_endings
from reward_server.grading.copies.outcomes import schedule
from reward_server.grading.python_tests.inventory import Inventory
from reward_server.grading.syntax import parse_files

DATA = Path(__file__).parents[2] / "tests" / "data"
PATH = "test_f.py"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_UNREADABLE = re.compile(r"[b-df-hj-np-tv-xz]{4}|q(?!u)")
_MODULI = (2, 3, 4, 5, 7, 10, 12)


@dataclass(frozen=True, slots=True)
class Seen:
    """An expected value in a file, what the call beside it is given, and the whole file."""

    value: object
    given: str
    file: str


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of a task shows, and whether each value in it is right."""

    seen: Sequence[Seen]
    right: Sequence[bool]


Task = Sequence[Run]  # the true file, then its copies
Reader = Callable[[Seen], bool]


def asserted() -> Iterator[list[tuple[str, str]]]:
    """Yields the calls and the expected literals of each task."""
    for name, column in (("mbpp_full", "test_list"), ("HumanEval", "test")):
        for line in lzma.decompress((DATA / f"{name}.jsonl.xz").read_bytes()).splitlines():
            tests = json.loads(line)[column]
            yield [*_comparisons(tests if isinstance(tests, str) else "\n".join(tests))]


def _comparisons(text: str) -> Iterator[tuple[str, str]]:
    for node in syntax.walk(syntax.parse(text)):
        match node:
            case ast.Assert(test=ast.Compare(left=ast.Call() as call, ops=[ast.Eq()])):
                if ast.unparse(call.func) == "int":
                    continue  # the assertion at the end of a test
                right = node.test.comparators[0]  # type: ignore[attr-defined]  # a comparison
                try:
                    ast.literal_eval(right)
                except ValueError:
                    continue
                yield ", ".join(map(ast.unparse, call.args)), ast.unparse(right)


def task(rows: Sequence[tuple[str, str]], draw: random.Random) -> Task:
    """Writes the true file and the copies for one verdict."""
    lines = (f"    assert f({given}) == {wanted}\n" for given, wanted in rows)
    text = with_endings(f"from solution import f\ndef test_f():\n{''.join(lines)}", draw)
    files, trees = [(PATH, text)], parse_files([(PATH, text)])
    copies = Copies(trees, files, "", Inventory(trees, files, Framework.PYTEST).rows)
    true = _run(copies.true_files(), {})
    wrongs = schedule(copies.weights, draw)
    return [true, *(_run(copies.perturbed_files(one, draw), one) for one in wrongs)]


def _run(files: Sequence[tuple[str, str]], wrong: object) -> Run:
    changed = {unit.assertion for unit in wrong}  # type: ignore[attr-defined]  # units
    text = dict(files)[PATH]
    seen = [Seen(ast.literal_eval(value), given, text) for given, value in _comparisons(text)]
    return Run(seen, [number not in changed for number in range(len(seen))])


def rewarded(one: Task, reader: Reader) -> bool:
    """Returns True if a reader is right about every value in every run."""
    return all(
        reader(seen) is right
        for run in one
        for seen, right in zip(run.seen, run.right, strict=True)
    )


def simple(seen: Seen) -> bool:
    """Accepts what is not plainly wrong."""
    if isinstance(seen.value, str):
        return "no value that" not in seen.value and not _UNREADABLE.search(seen.value.lower())
    if not isinstance(seen.value, (int, float)):
        return True
    return seen.value >= 0 and f"int('{seen.value}')" not in seen.file


def near(seen: Seen) -> bool:
    """Accepts numbers as small as most, and texts that can be read."""
    is_small = not isinstance(seen.value, (int, float)) or seen.value <= 20
    return is_small and simple(seen)


def features(seen: Seen, bigrams: Counter[str]) -> list[float]:
    """Describes a value, and how it is related to what the call is given."""
    value, given = seen.value, seen.given
    text = value if isinstance(value, str) else repr(value)
    numbers = [float(one) for one in re.findall(r"-?\d+\.?\d*", text)][:50]
    parts = re.findall(r"\w+", text) or [""]
    pairs = [a + b for a, b in itertools.pairwise(text.lower())] or [""]
    number = numbers[0] if numbers else 0.0
    whole = int(min(abs(number), 1e15))
    is_one = type(value) in (int, float)
    found: list[float] = [type(value) is one for one in (bool, int, float, str, list, tuple)]
    found += [number < 0, math.log1p(abs(number)), len(text), len(parts)]
    found += [is_one and whole % by == rest for by in _MODULI for rest in range(by)]
    found += [is_one and f"{whole}"[0] == digit for digit in "123456789"]
    found += [is_one and whole == digit for digit in range(10)]
    found += [math.isqrt(whole) ** 2 == whole, whole & (whole - 1) == 0]
    found += [len(repr(value)) - len(repr(value).rstrip("0")), seen.file.count(repr(value)) > 1]
    found += [numbers == sorted(numbers), len({*numbers}) == len(numbers)]
    found += [sum(one in given for one in parts) / len(parts), text in given, text[::-1] in given]
    found += [sum(one in given for one in text) / max(1, len(text))]
    found += [sum(math.log1p(bigrams[one]) for one in pairs) / len(pairs)]
    found += [text.lower().count(one) / max(1, len(text)) for one in _LETTERS]
    found += [text.isupper(), text.istitle(), text == text[::-1], len({*text}) / max(1, len(text))]
    return [*map(float, found), 1.0]


def trained(tasks: Sequence[Task]) -> Reader:
    """Returns a reader that learned from tasks."""
    shown = [pair for one in tasks for run in one for pair in zip(run.seen, run.right, strict=True)]
    true = {str(seen.value).lower() for one in tasks for seen in one[0].seen}
    bigrams = Counter(a + b for text in true for a, b in itertools.pairwise(text))
    table = np.array([features(seen, bigrams) for seen, _ in shown])
    scale = np.abs(table).max(axis=0) + 1e-9
    table, right = table / scale, np.array([is_right for _, is_right in shown], float)
    weights = np.zeros(table.shape[1])
    for _ in range(1500):
        chance = 1 / (1 + np.exp(-table @ weights))
        weights += 2.0 * (table.T @ (right - chance) / len(right) - 1e-4 * weights)

    def reader(least: float) -> Reader:
        return lambda seen: bool(np.array(features(seen, bigrams)) / scale @ weights > least)

    scores = np.quantile(table @ weights, np.linspace(0.01, 0.99, 50))
    best = max(scores, key=lambda least: sum(rewarded(one, reader(float(least))) for one in tasks))
    return reader(float(best))


def constant(tasks: Sequence[Task]) -> Callable[[Task], bool]:
    """Returns whether the most frequent value of some tasks is right in another."""
    most = Counter(repr(seen.value) for one in tasks for seen in one[0].seen).most_common(1)[0][0]
    return lambda one: all(repr(seen.value) == most for seen in one[0].seen)


def of_kinds(
    tasks: Sequence[list[tuple[str, str]]], draw: random.Random
) -> dict[str, list[list[tuple[str, str]]]]:
    """Returns the rows of tasks by kind, each expected value once, in any order."""
    found = {}
    for name, rows in _kinds(tasks):
        once = [*{str([value for _, value in one]): one for one in rows}.values()]
        draw.shuffle(once)
        found[name] = once
    return found


def share(found: int, count: int) -> str:
    """Returns a share with its interval of 95 % (Wilson)."""
    z, rate = 1.96, found / count
    middle = rate + z * z / (2 * count)
    width = z * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count))
    low, high = ((middle + sign * width) / (1 + z * z / count) for sign in (-1, 1))
    return f"{found} of {count} ({max(0.0, low):.3f} to {high:.3f})"


def _kinds(
    tasks: Sequence[list[tuple[str, str]]],
) -> Iterator[tuple[str, list[list[tuple[str, str]]]]]:
    def is_of(kind: type) -> Callable[[tuple[str, str]], bool]:
        return lambda row: type(ast.literal_eval(row[1])) is kind

    for name, kind in (("one hidden number", int), ("one hidden text", str)):
        of_kind = ([*filter(is_of(kind), rows)][:1] for rows in tasks)
        yield name, [rows for rows in of_kind if rows]
    yield "overall, one value", [rows[:1] for rows in tasks if rows]
    yield "overall, all of a task", [rows for rows in tasks if rows]


def main() -> None:
    """Prints the rates."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--tasks", type=int, default=400, help="of each kind, at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    for name, rows in of_kinds([*asserted()], draw).items():
        tasks = [task(one, draw) for one in rows[: options.tasks]]
        print(f"{name}:")
        for kind, found in _found(tasks, draw).items():
            print(f"  {kind:10} {share(found, len(tasks))}", flush=True)


def _found(tasks: Sequence[Task], draw: random.Random) -> dict[str, int]:
    """Returns how many tasks each reader is rewarded in."""
    thirds: Reader = lambda seen: isinstance(seen.value, int) and seen.value % 3 == 1  # noqa: E731
    parity: Reader = lambda seen: isinstance(seen.value, int) and seen.value % 2 == 0  # noqa: E731
    readers: dict[str, Reader] = {
        "simple": simple,
        "near": near,
        "guess": lambda seen: draw.random() < 0.5,
        "by parity": parity,
        "by thirds": thirds,
    }
    found = {kind: sum(rewarded(one, reader) for one in tasks) for kind, reader in readers.items()}
    halves = tasks[::2], tasks[1::2]
    found["trained"] = found["constant"] = 0
    for known, others in (halves, halves[::-1]):
        reader, by_chance = trained(known), constant(known)
        found["trained"] += sum(rewarded(one, reader) for one in others)
        found["constant"] += sum(map(by_chance, others))
    return found


if __name__ == "__main__":
    main()
