"""Keeps the verdicts of this build over every row at hand, or compares a build with them.

    python -m benchmarks.frozen                          # judges all rows, and keeps their results
    python -m benchmarks.frozen humaneval attacks        # the same for some sets
    python -m benchmarks.frozen --compare                # lists each row that comes out otherwise
    python -m benchmarks.frozen --compare --server ../other/.venv/bin/reward-server
    python -m benchmarks.frozen --requests rows.jsonl    # with rows that are not in the repository

Rows are those of the published sets in `tests/data`, with right and wrong solutions, and requests
that tests of this repository made (`benchmarks/frozen/recording.py`). Of rows that are compiled
every eighth is taken, unless `--all` is given. Results that depend on a secret are drawn several
times (`--times`), and all that came are kept. Prints the share of labels by set. With `--compare`
the exit status is 1 if the verdict, the reward or the label of a row is none that is kept; a row
that differs is judged `--times` times more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.frozen import results
from benchmarks.frozen.judging import Result, judged
from benchmarks.frozen.rows import DATA, PUBLISHED, Key, published, recorded
from codereward.v1 import reward_service_pb2 as pb

RESULTS = DATA / "frozen.jsonl.xz"
REQUESTS = DATA / "frozen_requests.jsonl.xz"
Requests = dict[Key, pb.ScoreRequest]


def main() -> None:
    """Judges, and keeps or compares."""
    options = _parsed()
    rows, kept = _rows(options), results.read(options.results)
    changed = 0
    for name in sorted({key.set for key in rows}):
        chosen = {key: request for key, request in rows.items() if key.set == name}
        found = _judged(options.server, chosen, 1 if options.compare else options.times)
        if options.compare:
            changed += _compared(options, chosen, kept, found)
        else:
            before = kept if options.add else {}
            kept |= {key: one | before.get(key, frozenset()) for key, one in found.items()}
            results.write(options.results, kept)
        print(*results.shares(found), sep="\n", flush=True)
    if options.compare:
        print(f"{len(rows)} rows, {changed} changed, {len(rows.keys() - kept.keys())} not kept")
        sys.exit(min(1, changed))


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("sets", nargs="*", help="sets that are judged; all if none is named")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--add", action="store_true", help="keep what came out before, too")
    parser.add_argument("--all", action="store_true", help="all rows of sets that are sampled")
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file that is kept")
    parser.add_argument("--requests", type=Path, nargs="*", default=[], help="further rows")
    parser.add_argument(
        "--server", type=Path, default=Path(sys.executable).with_name("reward-server")
    )
    return parser.parse_args()


def _rows(options: argparse.Namespace) -> Requests:
    names = [name for name in PUBLISHED if name in options.sets or not options.sets]
    found = dict(row for name in names for row in published(name, every=options.all))
    for path in (REQUESTS, *options.requests):
        found |= {
            key: request
            for key, request in recorded(path)
            if not options.sets or key.set in options.sets
        }
    return found


def _judged(server: Path, rows: Requests, times: int) -> results.Results:
    drawn = [judged(server, [*rows.values()]) for _ in range(times)]
    return {key: frozenset(each) for key, each in zip(rows, zip(*drawn, strict=True), strict=True)}


def _compared(
    options: argparse.Namespace, rows: Requests, kept: results.Results, found: results.Results
) -> int:
    doubted = {
        key: rows[key] for key in found if key in kept and results.unlike(kept[key], found[key])
    }
    for key, again in _judged(options.server, doubted, options.times).items():
        found[key] |= again
    changed = [key for key in doubted if results.unlike(kept[key], found[key])]
    for key in changed:
        print(f"{key.set} {key.row} {key.solution}: {_told(kept[key])} -> {_told(found[key])}")
    return len(changed)


def _told(found: Iterable[Result]) -> str:
    told: Sequence[str] = sorted({" ".join(map(str, one.told)) for one in found})
    return " or ".join(told)


if __name__ == "__main__":
    main()
