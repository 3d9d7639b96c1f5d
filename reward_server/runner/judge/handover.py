"""Sends a solution to the candidate, and waits until it is loaded there."""

from __future__ import annotations

from collections.abc import Mapping

from .. import requests
from ..channel.frames import READY
from ..wire import Stage
from .endings import SessionEnded
from .link import Link, OversizeFrameError
from .report import Report
from .session import Session


def hand_over(
    link: Link, report: Report, program: requests.Program, blobs: Mapping[str, bytes]
) -> None:
    """Sends the program and waits until the candidate's shim has received it.

    Raises:
        ClosedError: the candidate ended before.
        OversizeFrameError: it answered something else.
    """
    report.reach(Stage.LOADING)
    link.send(requests.pack(program, blobs))
    if link.receive(len(READY)) != READY:
        raise OversizeFrameError
    report.reach(Stage.READY)


def load(session: Session, report: Report) -> bool:
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


def record_refusal(session: Session, report: Report, message: list[object]) -> None:
    """Records why a solution did not load; any other message is forged."""
    match message:
        case ["unloaded", ("compile" | "raise" | "exit") as kind, str(text)]:
            report.load = {"kind": kind, "message": text[:1000]}
            report.message = report.load["message"]
        case _:
            session.forged("no word of the solution")
