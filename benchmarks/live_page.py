"""Measures how fast the live page of a run with many completions answers its reader.

    python -m benchmarks.live_page --completions 20000 --rounds 10

Writes a run of so many completions of 2,000 characters each, serves it as `reward-train view` does,
and opens it in Chromium. Each interaction is timed in the page: from the event of the click or the
key until the frame after the list, the completion or the group has changed. During the second half
of the rounds the run goes on: a step is written every second, and figures are drawn. Prints the
median and the greatest time of each interaction in milliseconds, for both halves.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.support.browser import Browser, chromium
from tests.support.training_runs import Plan, made_rows, metrics_of, write_run, write_table
from trainer_client.run_folder import RunFolder
from trainer_client.view import served_view

GROUPS, SIZE = 8, 8
CHARACTERS = 2000
# What each interaction does, and how its end is seen. `act` begins it in one task of the page.
INTERACTIONS = {
    "search, the first letters": ("type('text', 'att')", "changed()"),
    "search, found in a quarter": ("type('text', 'attempt 2')", "changed()"),
    "search, found nowhere": ("type('text', 'nowhere at all')", "changed()"),
    "clear": ("byId('clear').click()", "changed()"),
    "choose a verdict": ("pick('verdict', 'FAILED')", "changed()"),
    "order by reward": ("pick('order', 'best')", "changed()"),
    "order by length": ("pick('order', 'longest')", "changed()"),
    "next page": ("byId('next').click()", "changed()"),
    "open a completion": (
        "document.querySelector('#list summary').click()",
        "document.querySelector('#list .inside')",
    ),
    "its group": ("document.querySelector('#list .actions button').click()", "byId('group').open"),
    "close the group": ("byId('group-close').click()", "!byId('group').open"),
    "clear all": ("byId('clear').click()", "changed()"),
}
TIMED = """
    const done = arguments[arguments.length - 1];
    const byId = (id) => document.getElementById(id);
    const send = (id, kind) => byId(id).dispatchEvent(new Event(kind, { bubbles: true }));
    const type = (id, text) => { byId(id).value = text; send(id, "input"); };
    const pick = (id, value) => { byId(id).value = value; send(id, "change"); };
    let isChanged = false;
    const observer = new MutationObserver(() => { isChanged = true; });
    observer.observe(byId("list"), { childList: true });
    const changed = () => isChanged;
    const began = performance.now();
    const look = () => {
      if (%s) requestAnimationFrame(() => done(performance.now() - began));
      else if (performance.now() - began > 20000) done(null);
      else setTimeout(look, 1);
    };
    %s;
    look();
"""


def text_of(task: int, verdict: str, attempt: int) -> str:
    """Makes a completion of the length that is measured."""
    line = f"    total_{task} = sum(number for number in numbers)  # attempt {attempt} {verdict}\n"
    return (line * (CHARACTERS // len(line) + 1))[:CHARACTERS]


def main() -> None:
    """Measures, and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--completions", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=10, help="of each half")
    arguments = parser.parse_args()
    steps = arguments.completions // (GROUPS * SIZE)
    plan = Plan(steps=steps, groups=GROUPS, size=SIZE, tasks=200, text=text_of)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        write_run(path, plan)
        with chromium(Path(folder) / "profile") as browser, served_view([path]) as url:
            browser.visit(url)
            count = f"of {steps * GROUPS * SIZE} completions"
            browser.until(
                "document.getElementById('count').textContent.includes(arguments[0])", count
            )
            browser.until("document.querySelector('#figure-reward img')?.naturalWidth > 300")
            quiet = measured(browser, arguments.rounds)
            with going_on(path, plan):
                busy = measured(browser, arguments.rounds)
    print(f"{count[3:]}, load {os.getloadavg()[0]:.1f}; milliseconds: median, greatest")
    print(f"{'':30}{'run ended':>16}{'run goes on':>16}")
    for name in INTERACTIONS:
        cells = (f"{median(found[name]):7.0f}{max(found[name]):8.0f}" for found in (quiet, busy))
        print(f"{name:30}{''.join(f'{cell:>16}' for cell in cells)}")


def measured(browser: Browser, rounds: int) -> dict[str, list[float]]:
    """Returns the times of each interaction in milliseconds."""
    found: dict[str, list[float]] = {name: [] for name in INTERACTIONS}
    for _ in range(rounds):
        for name, (act, condition) in INTERACTIONS.items():
            took = browser.run_async(TIMED % (condition, act))
            if took is None:
                raise SystemExit(f"{name}: no answer within 20 seconds")
            found[name].append(took)
    return found


@contextlib.contextmanager
def going_on(path: Path, plan: Plan) -> Iterator[None]:
    """Lets the run make a step every second, until the end of the block."""
    ended = threading.Event()
    folder, generator = RunFolder(path), random.Random(1)

    def train() -> None:
        step = plan.steps
        while not ended.wait(1.0):
            step += 1
            rows = made_rows(plan, step, generator)
            folder.add_metrics(step, 9.0 * step, metrics_of(plan, step, rows, generator))
            write_table(path, step, rows)

    thread = threading.Thread(target=train)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


if __name__ == "__main__":
    main()
