"""The judge's report, in the memory file that the zygote sends on."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from .. import wire
from ..wire import Outcome, Stage
from .outputs import Outputs


@dataclass(slots=True, kw_only=True)
class TestReport:
    """One test's result."""

    __test__ = False

    name: str
    outcome: Outcome = Outcome.NOT_RUN
    message: str = ""
    wall_ns: int = 0


@dataclass(slots=True, kw_only=True)
class TestsProgram:
    """The result of the tests' program in mode "split"; the status is None until it has ended."""

    __test__ = False

    status: int | None = None
    outputs: Outputs


@dataclass(slots=True, kw_only=True)
class Report:
    """The report document that `wire` describes, while it is being collected.

    Args:
        descriptor: descriptor of the file.
        announce: sends the zygote the note that the judge is about to hear the candidate.
    """

    descriptor: int
    announce: Callable[[], object]
    ready: bool = False
    blame: str | None = None
    load: dict[str, str] | None = None
    broken: str | None = None
    limits: list[str] = field(default_factory=list)
    message: str = ""
    tests: list[TestReport] = field(default_factory=list)
    signals: dict[str, int] = field(default_factory=dict)
    status: int | None = None
    product: bytes = b""
    tests_program: TestsProgram | None = None

    def reach(self, stage: Stage) -> None:
        """Records how far the execution got, in case this process is killed."""
        self.ready = stage is Stage.READY
        if self.ready:
            self.announce()
        os.pwrite(self.descriptor, bytes((stage,)), 0)

    def write(self, outputs: Outputs) -> None:
        """Writes the document."""
        header: dict[str, object] = {
            "ready": self.ready,
            "blame": self.blame,
            "load": self.load and {key: _sendable(text) for key, text in self.load.items()},
            "broken": self.broken,
            "limits": self.limits,
            "message": _sendable(self.message),
            "tests": [
                {
                    "name": test.name,
                    "outcome": test.outcome,
                    "message": _sendable(test.message),
                    "wall_ns": test.wall_ns,
                }
                for test in self.tests
            ],
            "signals": self.signals,
            "status": self.status,
            "stdout_size": outputs.stdout.size_bytes,
            "stderr_size": outputs.stderr.size_bytes,
            "tests_program": None,
        }
        blobs = {
            "stdout": bytes(outputs.stdout.kept),
            "stderr": bytes(outputs.stderr.kept),
            "product": self.product,
        }
        if ended := self.tests_program:
            header["tests_program"] = {
                "status": ended.status,
                "stdout_size": ended.outputs.stdout.size_bytes,
                "stderr_size": ended.outputs.stderr.size_bytes,
            }
            blobs["tests_stdout"] = bytes(ended.outputs.stdout.kept)
            blobs["tests_stderr"] = bytes(ended.outputs.stderr.kept)
        rest, offset = memoryview(wire.pack(header, blobs)), 1
        while rest:
            written = os.pwrite(self.descriptor, rest, offset)
            rest, offset = rest[written:], offset + written


def _sendable(text: str) -> str:
    """Returns a text without lone surrogates, which UTF-8 cannot encode."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
