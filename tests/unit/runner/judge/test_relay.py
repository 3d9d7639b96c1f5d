"""Between two programs, against one whose answers and end come at the same moment."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Sequence

import pytest

from reward_server.runner.channel.frames import READY
from reward_server.runner.judge.link import Link
from reward_server.runner.judge.outputs import Outputs
from reward_server.runner.judge.relay import Peer, Relay
from reward_server.runner.judge.report import Report
from reward_server.runner.requests import Side, SplitRequest
from reward_server.runner.wire import LENGTH

NOTHING: Side = {"commands": [], "environment": {}}


def frame(payload: bytes) -> bytes:
    return LENGTH.pack(len(payload)) + payload


def answer(kind: bytes, number: int) -> bytes:
    return frame(kind + LENGTH.pack(number))


class ProgramAtOnce(socket.socket):
    """The relay's end of a program that has done everything as soon as it has its pipes."""

    @classmethod
    def made(cls, writes: bytes, status: int | None) -> ProgramAtOnce:
        near, far = socket.socketpair()
        program = cls(fileno=near.detach())
        program.far, program.writes, program.status = far, writes, status
        far.sendall(frame(READY))
        return program

    far: socket.socket
    writes: bytes
    status: int | None

    def sendmsg(self, buffers: Sequence[bytes], ancillary: Sequence[object] = ()) -> int:  # type: ignore[override]
        sent = super().sendmsg(buffers, ancillary)  # type: ignore[arg-type]
        _, descriptors, _, _ = socket.recv_fds(self.far, 1 << 16, 2)
        os.write(descriptors[1], self.writes)
        os.close(descriptors[0])
        if self.status is not None:
            os.close(descriptors[1])
            self.far.sendall(frame(json.dumps(self.status).encode()))
            self.far.close()
        return sent


def report_of(solution_writes: bytes) -> Report:
    """Returns what came of a solution's program that wrote this and exited, once it was called."""
    descriptor = os.memfd_create("report")
    report = Report(descriptor=descriptor, announce=lambda: None)

    def peer(program: ProgramAtOnce) -> Peer:
        outputs = Outputs(None, None, kept_bytes=100, limit_bytes=100)
        return Peer(program, Link(program, outputs), outputs)

    tests = ProgramAtOnce.made(answer(b"C", 1), None)
    solution = ProgramAtOnce.made(solution_writes, 0)
    with tests, solution, tests.far:
        Relay(peer(tests), peer(solution), report, frame_bytes=1000).run(
            SplitRequest(tests=NOTHING, solution=NOTHING, output_bytes=1000, result_bytes=1000), {}
        )
    os.close(descriptor)
    return report


@pytest.mark.parametrize(
    "writes",
    [
        answer(b"R", 2),
        answer(b"C", 1),
        answer(b"R", 1) + answer(b"R", 1),
        frame(b"R"),
        frame(b""),
        answer(b"R", 1) + b"\0",
    ],
)
def test_a_forged_frame_that_an_ended_program_left_is_forged(writes: bytes) -> None:
    assert report_of(writes).broken == "forged"


@pytest.mark.parametrize("writes", [b"", b"\0\0", answer(b"R", 1), answer(b"E", 1)])
def test_a_program_that_answered_and_left_has_left(writes: bytes) -> None:
    report = report_of(writes)
    assert (report.broken, report.status) == ("closed", 0)


def test_a_program_that_does_not_compile_says_so_as_it_leaves() -> None:
    report = report_of(frame(b"X" + LENGTH.pack(2) + b"no"))
    assert report.load == {"kind": "compile", "message": "no"}
