"""Sends a solution to the candidate, waits until it is loaded there, and records how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import requests
from ..channel.frames import READY
from ..wire import Stage
from .endings import LIMITS, Cause, SessionEnded
from .line import Line
from .link import Link, OversizeFrameError
from .report import Report


def hand_over(
    link: Link,
    report: Report,
    program: requests.Program,
    blobs: Mapping[str, bytes],
    questions: Sequence[bytes] = (),
) -> None:
    """Sends the program and waits until the candidate's shim has received it.

    Args:
        link: frames to and from the candidate.
        report: receives the stage.
        program: the program.
        blobs: its source and files.
        questions: frames that are sent with it.

    Raises:
        ClosedError: the candidate ended before.
        OversizeFrameError: it answered something else.
    """
    report.reach(Stage.LOADING)
    link.send(requests.pack(program, blobs), *questions)
    if link.receive(len(READY)) != READY:
        raise OversizeFrameError
    report.reach(Stage.READY)


def load(line: Line, report: Report) -> bool:
    """Waits for the end of loading; returns True if the solution is loaded."""
    try:
        match line.receive():
            case ["loaded"]:
                line.loaded = True
                return True
            case message:
                record_refusal(line, report, message)
    except SessionEnded:
        pass
    return False


def record_refusal(line: Line, report: Report, message: list[object]) -> None:
    """Records why a solution did not load; any other message is forged."""
    match message:
        case ["unloaded", ("compile" | "raise" | "exit") as kind, str(text)]:
            report.load = {"kind": kind, "message": text[:1000]}
            report.message = report.load["message"]
        case _:
            line.forged("no word of the solution")


def record_end(line: Line, report: Report) -> None:
    """Records a line's signals, and the reason if it ended early."""
    report.signals = line.signals
    ended = line.ended
    if ended is None:
        return
    if ended.cause in LIMITS:
        report.limits.append(ended.cause.value)
    else:
        report.broken = ended.cause.value
    if ended.cause is Cause.CLOSED:
        report.signals["early_exit"] = report.signals.get("early_exit", 0) + 1
    report.message = str(ended)
