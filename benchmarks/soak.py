"""Runs the long soak in rounds, and writes a page of what happened.

    python -m benchmarks.soak --executions 300000 --out build/soak

A round is a run of `tests.scale.soak`: three servers serve it one after another, the first of them
with two processes, and two of them are killed; processes, control groups and folders of a server
are killed, stopped, removed and filled meanwhile, and clients leave before they are answered; three
tenants send executions of all kinds, and open, use and close sessions.
After each round nothing may be left. `rounds.jsonl` gets a line for each round, so a command that
was interrupted goes on with the next round. Exits with 1 if an answer was wrong or something was
left.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import xml.etree.ElementTree as ET  # only writes: nothing is parsed
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reward_server.audit.output.elements import (
    add_numbers,
    add_table,
    add_text,
    new_page,
    written,
)
from tests.scale.soak import Figures, soak

ROUND = 20_000  # executions
SERVERS = 3
EXECUTIONS_PER_FAULT = 1_000
EXECUTIONS_PER_SESSION = 30
IN_FLIGHT = 16
# Memory of a server may grow by this part between the halves of its life, because its caches fill.
MOST_GROWTH = 0.10
WIDTH, HEIGHT = 720, 180


def main() -> None:
    """Reads the command line, runs the rounds that are left, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executions", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=Path("build/soak"))
    given = parser.parse_args()
    # So that an end by SIGTERM, too, undoes the faults of the moment, such as a mount.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    given.out.mkdir(parents=True, exist_ok=True)
    rounds = read(given.out / "rounds.jsonl")
    while (done := sum(one["executions"] for one in rounds)) < given.executions:
        rounds.append(run(min(ROUND, given.executions - done), len(rounds)))
        with (given.out / "rounds.jsonl").open("a") as file:
            file.write(json.dumps(rounds[-1]) + "\n")
        (given.out / "soak.html").write_bytes(page(rounds, given.executions))
        sys.stdout.write(f"{told(rounds)}\n")
    (given.out / "soak.html").write_bytes(page(rounds, given.executions))
    sys.stdout.write(f"{told(rounds)}\nThe page is {given.out / 'soak.html'}\n")
    sys.exit(0 if is_clean(rounds) else 1)


def read(file: Path) -> list[dict[str, Any]]:
    """Returns the rounds that were run before; an unfinished last line is none."""
    if not file.exists():
        return []
    whole = file.read_bytes().rpartition(b"\n")[0] + b"\n"
    file.write_bytes(whole.lstrip(b"\n"))
    return [json.loads(line) for line in whole.splitlines() if line]


def run(executions: int, number: int) -> dict[str, Any]:
    """Runs a round; something that was left behind is a line of its result."""
    figures, broken = Figures(), list[str]()
    try:
        asyncio.run(
            soak(
                executions=executions,
                servers=SERVERS,
                faults=max(4, executions // EXECUTIONS_PER_FAULT),
                sessions=max(1, executions // EXECUTIONS_PER_SESSION),
                light=True,
                in_flight=IN_FLIGHT,
                tell=lambda line: sys.stderr.write(f"round {number}: {line}\n"),
                figures=figures,
            )
        )
    except (AssertionError, ExceptionGroup) as error:
        found = error.exceptions if isinstance(error, ExceptionGroup) else [error]
        broken = [repr(one) for one in found]
    return {"executions": executions, "broken": broken, **vars(figures)}


def is_clean(rounds: Sequence[dict[str, Any]]) -> bool:
    """Returns True if every answer was right, nothing was left and no memory grew."""
    return not any(problems(one) for one in rounds)


def problems(one: dict[str, Any]) -> list[str]:
    """Returns what was wrong in a round."""
    found = [*one["broken"], *one["wrong"]]
    if one["sessions"].get("wrong"):
        found.append(f"{one['sessions']['wrong']} sessions gave a wrong output")
    if growth(one) > MOST_GROWTH:
        found.append(f"the server's memory grew by {growth(one):.0%}")
    return found


def growth(one: dict[str, Any]) -> float:
    """Returns by which part the last server's memory grew from the first half to the second."""
    samples = one["memory_bytes"]
    if len(samples) < 4:
        return 0.0
    half = len(samples) // 2
    return max(samples[half:]) / max(samples[:half]) - 1


def totals(rounds: Sequence[dict[str, Any]], name: str) -> Counter[str]:
    """Adds up the counts of all rounds."""
    return sum((Counter(one[name]) for one in rounds), Counter[str]())


def told(rounds: Sequence[dict[str, Any]]) -> str:
    """Returns one line about all rounds."""
    seconds = sum(one["seconds"] for one in rounds)
    judged = totals(rounds, "judged").total()
    return (
        f"{len(rounds)} rounds, {judged} executions in {seconds:.0f} s "
        f"({judged / seconds if seconds else 0:.0f} a second), "
        f"{totals(rounds, 'sessions').total()} sessions, "
        f"{totals(rounds, 'faults').total()} faults, "
        f"{sum(len(problems(one)) for one in rounds)} problems"
    )


# ------------------------------------------------------------------------------------ the page


def page(rounds: Sequence[dict[str, Any]], wanted: int) -> bytes:
    """Returns the page of a soak."""
    root, body = new_page("Soak")
    add_text(body, "p", "Soak", **{"class": "kind"})
    add_text(body, "h1", f"{totals(rounds, 'judged').total():,} of {wanted:,} executions")
    add_text(body, "p", told(rounds), **{"class": "about"})
    add_numbers(
        body,
        (
            ("wrong answers", sum(len(one["wrong"]) for one in rounds)),
            ("rounds that left something", sum(bool(one["broken"]) for one in rounds)),
            ("servers killed", (SERVERS - 1) * len(rounds)),
            ("other faults", totals(rounds, "faults").total()),
            ("greatest growth of memory", f"{max(map(growth, rounds), default=0.0):.1%}"),
        ),
    )
    rates = [one["executions"] / one["seconds"] for one in rounds if one["seconds"]]
    memory = [size / 2**20 for one in rounds for size in one["memory_bytes"]]
    _plot(body, "Executions a second, by round", rates)
    _plot(body, "Memory of the last server of each round, in MiB", memory)
    for title, name in (
        ("Executions by kind; each had the verdict of its kind", "judged"),
        ("Calls that failed and were made again, by status", "refused"),
        ("Ends of sessions; those of a killed server or container are lost", "sessions"),
        ("Faults", "faults"),
    ):
        add_text(body, "h2", title)
        counts = totals(rounds, name).most_common()
        add_table(body, ("", "count"), [(key, f"{count:,}") for key, count in counts])
    add_text(body, "h2", "Problems")
    listed = [(str(number), text) for number, one in enumerate(rounds) for text in problems(one)]
    add_table(body, ("round", "problem"), listed or [("", "none")])
    return written(root)


def _plot(body: ET.Element, title: str, values: Sequence[float]) -> None:
    """Adds a line, from 0 to the greatest value."""
    add_text(body, "h2", title)
    most = max(values, default=0.0)
    if not most:
        return
    told = f"{title}: from {min(values):.0f} to {most:.0f}"
    box = f"0 0 {WIDTH} {HEIGHT}"
    picture = ET.SubElement(body, "svg", {"viewBox": box, "role": "img", "aria-label": told})
    step = WIDTH / max(1, len(values) - 1)
    points = " ".join(
        f"{number * step:.1f},{HEIGHT - (HEIGHT - 10) * value / most:.1f}"
        for number, value in enumerate(values)
    )
    line = {"points": points, "fill": "none", "stroke": "currentColor", "stroke-width": "2"}
    ET.SubElement(picture, "polyline", line)
    add_text(body, "p", f"From {min(values):.0f} to {most:.0f}; the line begins at 0.")


if __name__ == "__main__":
    main()
