"""What a judge makes of the word about compilation, said by a candidate that is no shim of ours."""

from __future__ import annotations

import os
import socket
from typing import Any

import pytest

from reward_server.runner import requests, wire
from reward_server.runner.channel.frames import READY
from reward_server.runner.judge import process
from reward_server.runner.requests import ProgramRequest
from reward_server.runner.supervisor.memory_streams import MemoryStreams

REQUEST = ProgramRequest(args=[], output_bytes=1000)
FORGED = [
    b'["loaded"]',
    b'["unloaded", "compile", 5]',
    b'["unloaded", "passed", "text"]',
    b'["unloaded", "compile"]',
    b"[" * 5000,
    b"\xff",
    b"{}",
]


def framed(content: bytes) -> bytes:
    return wire.LENGTH.pack(len(content)) + content


def judged(sent: bytes, *, written: bytes = b"") -> dict[str, Any]:
    """Returns the report about a candidate that sends this behind READY, writes and ends."""
    trusted, untrusted = socket.socketpair()
    untrusted.sendall(framed(READY) + sent)
    untrusted.shutdown(socket.SHUT_WR)
    report = os.memfd_create("report")
    streams = MemoryStreams.make()
    opened = streams.opened()
    os.write(opened[1], written)
    for descriptor in opened:
        os.close(descriptor)
    document = requests.pack(REQUEST, {"source": b"", "stdin": b"input"})
    try:
        process.run(document, trusted, *streams, report, lambda note: None, await_end=lambda: None)
        found, blobs = wire.unpack(os.pread(report, 1 << 20, 1))
    finally:
        trusted.close()
        untrusted.close()
        streams.close()
        os.close(report)
    return {**found, "blobs": blobs}


def test_an_end_of_the_channel_means_that_it_compiled() -> None:
    report = judged(b"", written=b"output")
    assert (report["load"], report["broken"], report["limits"]) == (None, None, [])
    assert (report["stdout_size"], report["signals"]) == (6, {})


def test_a_refusal_is_believed_whoever_made_it() -> None:
    report = judged(framed(b'["unloaded", "compile", "SyntaxError: no"]'), written=b"right output")
    assert report["load"] == {"kind": "compile", "message": "SyntaxError: no"}
    assert report["broken"] is None


def test_a_long_refusal_is_cut() -> None:
    text = b"x" * 50_000
    report = judged(framed(b'["unloaded", "compile", "%s"]' % text))
    assert len(report["load"]["message"]) == 1000


@pytest.mark.parametrize("frame", FORGED)
def test_any_other_word_is_tampering(frame: bytes) -> None:
    report = judged(framed(frame), written=b"right output")
    assert (report["broken"], report["signals"]) == ("forged", {"tampering": 1})
    assert report["load"] is None


def test_a_frame_larger_than_any_refusal_is_tampering() -> None:
    report = judged(wire.LENGTH.pack(1 << 31))
    assert (report["broken"], report["signals"]) == ("forged", {"tampering": 1})


def test_half_a_frame_is_no_word() -> None:
    report = judged(framed(b'["unloaded", "compile", "x"]')[:-1], written=b"output")
    assert (report["load"], report["broken"], report["stdout_size"]) == (None, None, 6)


def test_of_a_flood_of_output_no_more_is_kept_than_allowed() -> None:
    report = judged(b"", written=b"x" * 2000)
    assert (report["limits"], report["stdout_size"]) == ([], 2000)
    assert [len(blob) for blob in report["blobs"].values()] == [1000, 0, 0]
