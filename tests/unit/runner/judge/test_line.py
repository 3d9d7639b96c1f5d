"""One answer to each question of the judge, and an end that stays."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from reward_server.runner.channel.frames import NUMBER, Frames
from reward_server.runner.judge.endings import Cause, SessionEnded
from reward_server.runner.judge.line import Line
from reward_server.runner.judge.link import Link
from reward_server.runner.judge.outputs import Outputs

Ends = tuple[Line, Frames, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    ours, theirs = socket.socketpair()
    with ours, theirs, open(os.devnull, "rb") as nothing:
        limits = {"kept_bytes": 100, "limit_bytes": 100}
        outputs = Outputs(os.dup(nothing.fileno()), os.dup(nothing.fileno()), **limits)
        yield Line(Link(ours, outputs), 1000), Frames(theirs), theirs


def _number(line: Line, step: int = 1) -> bytes:
    return NUMBER.pack(line._number + step)


def _answer(line: Line, answer: object = ("return", 3), step: int = 1) -> bytes:
    return _number(line, step) + json.dumps(answer).encode()


def test_a_question_has_the_answer_with_its_number(ends: Ends) -> None:
    line, frames, _ = ends
    frames.send(_answer(line))
    assert line.exchange("?") == ["return", 3]
    assert frames.receive()[NUMBER.size :] == b"?"


FORGED: dict[str, Callable[[Line, Frames], object]] = {
    "to the question before": lambda line, frames: frames.send(_answer(line, step=0)),
    "to the next question": lambda line, frames: frames.send(_answer(line, step=2)),
    "without a number": lambda line, frames: frames.send(b"[3]"),
    "that is no list": lambda line, frames: frames.send(_answer(line, {"return": 3})),
    "that is nothing": lambda line, frames: frames.send(_number(line)),
    "that is no text": lambda line, frames: frames.send(_number(line) + b"\xff"),
    "that is too deep": lambda line, frames: frames.send(_number(line) + b"[" * 5000),
    "that is too large": lambda line, frames: frames.send(_number(line) + b" " * 100_000),
}


@pytest.mark.parametrize("name", FORGED)
def test_any_other_answer_ends_the_line_as_forged(ends: Ends, name: str) -> None:
    line, frames, _ = ends
    FORGED[name](line, frames)
    with pytest.raises(SessionEnded):
        line.exchange("?")
    assert line.ended is not None
    assert (line.ended.cause, line.signals) == (Cause.FORGED, {"tampering": 1})


def test_a_frame_that_nobody_asked_for_ends_a_test(ends: Ends) -> None:
    line, frames, _ = ends
    line.loaded = True
    line.finish()
    assert line.ended is None
    frames.send(b"[3]")
    line.finish()
    assert line.ended is not None
    assert line.ended.cause is Cause.FORGED


def test_the_first_end_stays_whatever_comes_later(ends: Ends) -> None:
    line, _, theirs = ends
    theirs.close()
    for _ in range(2):
        with suppress(SessionEnded):
            line.exchange("?")
    assert line.ended is not None
    assert line.ended.cause is Cause.CLOSED
    line.end(Cause.FORGED, "later")
    assert line.ended.cause is Cause.CLOSED


AHEAD: dict[str, tuple[list[object], str, list[object]]] = {
    "the question that was sent": ([["return", 1], ["return", 2]], "a", ["return", 1]),
    "one that was sent as the second": ([["return", 1], ["return", 2]], "b", ["return", 2]),
    "one that was not sent": ([["return", 1], ["return", 2], ["return", 3]], "c", ["return", 3]),
    "one that was not answered then": (
        [["behind"], ["return", 2], ["return", 3]],
        "a",
        ["return", 3],
    ),
}


@pytest.mark.parametrize("name", AHEAD)
def test_a_question_that_was_sent_ahead_has_its_own_answer(ends: Ends, name: str) -> None:
    line, frames, _ = ends
    answers, question, wanted = AHEAD[name]
    first = line._number
    line.frames_ahead(["a", "b"])

    def speak() -> None:
        for place, answer in enumerate(answers, 1):
            if place > 2:  # the first two are sent ahead
                frames.receive()
            frames.send(NUMBER.pack(first + place) + json.dumps(answer).encode())

    candidate = threading.Thread(target=speak)
    candidate.start()
    assert line.exchange(question) == wanted
    candidate.join()
