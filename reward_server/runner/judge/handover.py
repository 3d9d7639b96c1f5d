"""Sends a solution to the candidate, and waits until it is loaded there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from .. import requests
from ..channel.frames import READY
from ..wire import Stage
from .endings import SessionEnded
from .link import Link, OversizeFrameError
from .report import Report


class Receiver(Protocol):
    """The end of a line at which the word of a solution arrives that is being loaded."""

    loaded: bool

    def receive(self) -> list[object]:
        """Waits for it; raises SessionEnded if none will come."""

    def forged(self, problem: str) -> object:
        """Ends the session because of a message that no unmodified shim sends."""


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


def load(session: Receiver, report: Report) -> bool:
    """Waits for the end of loading; returns True if the solution is loaded."""
    try:
        match session.receive():
            case ["loaded"]:
                session.loaded = True
                return True
            case message:
                record_refusal(session, report, message)
    except SessionEnded:
        pass
    return False


def record_refusal(session: Receiver, report: Report, message: list[object]) -> None:
    """Records why a solution did not load; any other message is forged."""
    match message:
        case ["unloaded", ("compile" | "raise" | "exit") as kind, str(text)]:
            report.load = {"kind": kind, "message": text[:1000]}
            report.message = report.load["message"]
        case _:
            session.forged("no word of the solution")
