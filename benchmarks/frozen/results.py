"""Results of rows: their file, what differs from them, and the shares of labels."""

from __future__ import annotations

import json
import lzma
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.frozen.judging import Result
from benchmarks.frozen.rows import Key

Results = dict[Key, frozenset[Result]]
_LATE = "TIME_LIMIT_EXCEEDED"


def read(path: Path) -> Results:
    """Reads a file of results; there are none without a file."""
    if not path.exists():
        return {}
    found: Results = {}
    for line in lzma.decompress(path.read_bytes()).decode().splitlines():
        *key, results = json.loads(line)
        found[Key(*key)] = frozenset(_result(*one) for one in results)
    return found


def write(path: Path, results: Results) -> None:
    """Writes a file of results: a row a line, in order."""
    lines = (
        json.dumps(
            [key.set, key.row, key.solution, [_plain(one) for one in sorted(found, key=str)]]
        )
        for key, found in sorted(results.items())
    )
    path.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode()))


def _result(verdict: str, reward: float | None, integrity: str, signals: list[str]) -> Result:
    return Result(verdict, reward, integrity, tuple(signals))


def _plain(result: Result) -> list[object]:
    return [*result.told, list(result.signals)]


def unlike(before: frozenset[Result], now: frozenset[Result]) -> bool:
    """Returns True if a verdict, reward or label was not there before.

    A verdict about time that is not there each time says how busy the machine is.
    """
    new = {one.told for one in now} - {one.told for one in before}
    return any(told[0] != _LATE for told in new) or {one.told for one in now} == new != set()


def shares(results: Mapping[Key, frozenset[Result]]) -> Iterator[str]:
    """Yields a line for each set and solution: rows, how many passed, and the labels of these."""
    counted: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for key, found in results.items():
        counts = counted[key.set, key.solution if key.solution.isalpha() else "any"]
        counts["rows"] += 1
        passed = {one.integrity for one in found if one.reward}
        counts.update(["rewarded", *passed] if passed else [])
    for (name, solution), counts in sorted(counted.items()):
        labels = ", ".join(f"{label} {counts[label]}" for label in ("ISOLATED", "SHARED"))
        yield (
            f"{name:28} {solution:10} {counts['rows']:5} rows,"
            f" {counts['rewarded']:5} rewarded: {labels}"
        )
