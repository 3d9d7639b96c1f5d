"""The line to the candidate: one answer to each question, and an end that no test can hide.

What this stops: an answer without a question, or to another; a test that hides the end of the
candidate, since an ended line stays ended whatever the `except` clauses of the tests do.

Each frame begins with the number of its question. The first questions may be sent with the solution
(`AHEAD`): it answers each as if it were asked alone, or that it has not done so (`BEHIND`).
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Sequence
from typing import Any

from ..channel.frames import AHEAD, BEHIND, NUMBER
from .endings import Cause, SessionEnded
from .link import ClosedError, Link, OversizeFrameError
from .outputs import OutputLimitError

_FRAME_OVERHEAD = 1 << 16
_BEHIND = json.loads(BEHIND)


class Line:
    """Exchanges questions and answers.

    Args:
        link: frames to and from the candidate.
        result_bytes: greatest size of an answer.

    Attributes:
        loaded: whether the solution is loaded.
        ended: why there are no more answers.
        signals: what happened, by name.
    """

    def __init__(self, link: Link, result_bytes: int) -> None:
        self._link = link
        self._frame_bytes = result_bytes + _FRAME_OVERHEAD
        self._number = int.from_bytes(os.urandom(6))
        self._ahead: deque[tuple[bytes, str]] = deque()
        self.loaded = False
        self.ended: SessionEnded | None = None
        self.signals: dict[str, int] = {}

    def finish(self) -> None:
        """Ends a test: nothing of the candidate may be left to hear."""
        if self.ended is None and self.loaded and not self._ahead and self._link.has_more():
            self.forged("a frame that nobody asked for")

    def frames_ahead(self, questions: Sequence[str]) -> list[bytes]:
        """Returns the frames of the first questions, which are sent with the solution."""
        self._ahead.extend((self._next_number(), question) for question in questions)
        return [number + AHEAD + question.encode() for number, question in self._ahead]

    def exchange(self, question: str) -> list[Any]:
        """Sends a question, unless that was done, and returns the answer to it.

        Raises:
            SessionEnded: there is none.
        """
        while self._ahead:
            number, asked = self._ahead.popleft()
            answer = self._answer_to(number)
            if asked == question and answer != _BEHIND:
                return answer
        number = self._next_number()
        if self._link.buffered:
            raise self.forged("a frame that nobody asked for")
        try:
            self._link.send(number + question.encode())
        except ClosedError:
            raise self.end(Cause.CLOSED, "the program ended before it was asked") from None
        except OutputLimitError:
            raise self.end(Cause.OUTPUT, "the program wrote too much output") from None
        return self._answer_to(number)

    def receive(self) -> list[Any]:
        """Waits for the word of a solution that is being loaded.

        Raises:
            SessionEnded: none will come.
        """
        return self._parsed(self._received())

    def _next_number(self) -> bytes:
        self._number += 1
        return NUMBER.pack(self._number)

    def _answer_to(self, number: bytes) -> list[Any]:
        frame = self._received()
        if frame[: NUMBER.size] != number:
            raise self.forged("an answer to no question")
        return self._parsed(frame[NUMBER.size :])

    def _received(self) -> bytes:
        try:
            return self._link.receive(self._frame_bytes)
        except ClosedError:
            raise self.end(Cause.CLOSED, "the program ended before it answered") from None
        except OversizeFrameError:
            raise self.forged("a frame larger than any answer") from None
        except OutputLimitError:
            raise self.end(Cause.OUTPUT, "the program wrote too much output") from None

    def _parsed(self, frame: bytes) -> list[Any]:
        try:
            answer = json.loads(frame)
        except (ValueError, RecursionError):
            answer = None
        if type(answer) is not list:
            raise self.forged("no answer")
        return answer

    def count(self, signal: str) -> None:
        """Counts a signal."""
        self.signals[signal] = self.signals.get(signal, 0) + 1

    def forged(self, problem: str) -> SessionEnded:
        """Ends the session because of a message that no unmodified shim sends."""
        self.count("tampering")
        return self.end(Cause.FORGED, f"the program broke the protocol: {problem}")

    def end(self, cause: Cause, message: str) -> SessionEnded:
        """Ends the session, unless it ended before; returns why."""
        if self.ended is None:
            self.ended = SessionEnded(cause, message)
        return self.ended
