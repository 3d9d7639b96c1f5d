"""Judges the lines of standard input in threads, and writes a line for each.

A line is JSON with `id`, `solution`, `tests` and `seconds`, the greatest time. An answer has `id`,
`outcome` and `detail`. The first line that is written has `version`.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

ACCEPTED, REJECTED, TIMED_OUT, FAILED = "accepted", "rejected", "timed_out", "failed"
_GRACE_SECONDS = 5.0
_DETAIL = 300

Told = tuple[str, str]
Judge = Callable[[str, str, float], Told]


def program_of(solution: str, tests: str) -> str:
    """Returns one program, whose exit status is 0 if the solution is right."""
    return f"{solution}\n\n{tests}\n"


def run(
    command: Sequence[str],
    program: str,
    seconds: float,
    *,
    broken: Collection[int] = (),
    grace_seconds: float = _GRACE_SECONDS,
) -> Told:
    """Runs a command that reads a program; its exit status is the verdict.

    Args:
        command: the command, which ends the program after `seconds` itself.
        program: text for its standard input.
        seconds: greatest time of the program.
        broken: exit statuses of a command that failed before it ran the program.
        grace_seconds: further time, after which the command is killed.
    """
    began = time.monotonic()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            _, errors = process.communicate(program.encode(), timeout=seconds + grace_seconds)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            return TIMED_OUT, f"killed after {seconds + grace_seconds:.0f} s"
    if process.returncode == 0:
        return ACCEPTED, ""
    detail = errors.decode("utf-8", "replace").strip()[-_DETAIL:]
    if process.returncode in broken:
        return FAILED, detail or f"exit status {process.returncode}"
    if time.monotonic() - began >= seconds:
        return TIMED_OUT, detail
    return REJECTED, detail


def main(method: str, options: Sequence[str], threads: int) -> None:
    """Serves until standard input ends.

    Args:
        method: name of a module of this package.
        options: its options.
        threads: greatest number of submissions at once.
    """
    source = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    # Programs that run in this process or below it have no part in the conversation.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    judge, version = importlib.import_module(f".{method}", __package__).judging(options)
    lock = threading.Lock()

    def write(line: dict[str, Any]) -> None:
        with lock:
            answers.write(json.dumps(line) + "\n")

    def work(line: str) -> None:
        task = json.loads(line)
        try:
            outcome, detail = judge(task["solution"], task["tests"], task["seconds"])
        except Exception as error:  # noqa: BLE001  # a peer may raise anything
            outcome, detail = FAILED, repr(error)[:_DETAIL]
        write({"id": task["id"], "outcome": outcome, "detail": detail})

    write({"version": version})
    with ThreadPoolExecutor(threads) as pool:
        for line in source:
            pool.submit(work, line)
