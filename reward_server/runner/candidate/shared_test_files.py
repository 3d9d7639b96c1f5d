"""Runs test files in the candidate's process, for tests that must share it with the solution.

Nothing here is trusted, because the solution can change any of it. The server compares the results
of these tests with those of perturbed copies of the same tests. This process sends four
kinds of frames: "collected" with the tests' names, "broken" with the reason why there are none,
"ended" with a test's index, outcome and message, and "done".
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from ..channel.frames import LOADED, Frames
from ..frameworks import base, outcomes, select
from ..frameworks.base import BrokenSuiteError
from ..requests import FilesProgram
from ..wire import Outcome
from . import solution, streams


class _Course:
    """Reports the progress of a suite to the judge."""

    heard = True

    def __init__(self, frames: Frames) -> None:
        self._frames = frames

    def say(self, *words: object) -> None:
        """Sends a frame."""
        self._frames.send(json.dumps(words).encode())

    def collected(self, names: Sequence[str]) -> bool:
        """Sends the names."""
        self.say("collected", list(names))
        return True

    def begin(self, index: int) -> None:
        """Does nothing; the judge measures the time."""

    def end(self, index: int, outcome: Outcome, error: BaseException | None, note: str) -> bool:
        """Sends the result of a test and continues. This process does not know whether a failure
        ends the suite."""
        streams.flush_streams()
        message = noted(error) + outcomes.message_of(error, note, base.place_of)
        self.say("ended", index, outcome, message.encode("utf-8", "replace").decode())
        return True


def noted(error: BaseException | None) -> str:
    """Returns the note that wrapped assertions add to a test's exception, as a line."""
    notes = getattr(error, "__notes__", ())
    own = [note for note in notes if isinstance(note, str) and note.startswith("observed ")]
    return f"{own[-1]}\n" if own else ""


def run(frames: Frames, program: FilesProgram, blobs: Mapping[str, bytes]) -> NoReturn:
    """Loads the solution, runs the tests and exits."""
    sys.dont_write_bytecode = True
    sys.path[:0] = [os.path.abspath(path) for path in program.import_paths]
    loaded = None
    if program.solution_path:
        loaded = solution.import_file(blobs["source"], program.solution_path)
    streams.flush_streams()
    with contextlib.suppress(OSError):
        if isinstance(loaded, solution.LoadError):
            solution.refuse(frames, loaded)
        else:
            frames.send(LOADED)
            _run_tests(frames, program, blobs)
    os._exit(0)


def _run_tests(frames: Frames, program: FilesProgram, blobs: Mapping[str, bytes]) -> None:
    course = _Course(frames)
    files = sorted(base.texts_of(blobs))
    try:
        select.driver(program.framework)(files, course, program.targets)
    except BrokenSuiteError as error:
        course.say("broken", str(error))
    streams.flush_streams()
    course.say("done")
