"""The messages between the server and an interpreter of a session.

Server ── standard input ──▶ relay: one request after another. Relay ── standard output ──▶ server:
reports. Each message is a `HEAD` (kind, length) and that many bytes.

    READY     the interpreter waits for its first request
    RUN       (request) `LIMIT` (bytes of each output stream to send), `LENGTH` of the JSON that
              follows, environment variables that the code sees, and the code in UTF-8
    STDOUT, STDERR   output of the code, up to the limit of the request
    SHOWN     JSON {data (by MIME type: a text, bytes in base64, or JSON), is_main (whether it is
              the value of the last expression), is_cut}: what the code shows
    ENDED     `SIZES` (bytes written to standard output, to standard error) and JSON {raised, name,
              message, traceback (of an exception), dropped_images}: the code has ended, and all of
              its output was sent

The evaluator sends READY, SHOWN and ENDED (without sizes) to the relay in the same form.

What the server may trust: nothing, as for all that comes from a session. It limits each message,
and ends an interpreter that breaks these rules. The session and its other commands live on.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Mapping

HEAD = struct.Struct(">BI")
LIMIT = struct.Struct(">Q")
LENGTH = struct.Struct(">I")
SIZES = struct.Struct(">QQ")
PIECE_BYTES = 64 << 10  # of output, in one message
VALUE_BYTES = 64 << 10
NAME_BYTES = 1 << 10
EXPLANATION_BYTES = 16 << 10  # of an exception's message
TRACEBACK_BYTES = 64 << 10
IMAGE_BYTES = 2 << 20
IMAGES = 16  # of one call
PNG_BEGIN = b"\x89PNG\r\n\x1a\n"
FORMAT_CHARACTERS = 1 << 20
SHOWN_BYTES, SHOWN_PARTS = 3 << 20, 100_000  # the second of objects and lists
SHOWN = 64  # of one call


class Order(enum.IntEnum):
    """Messages to the interpreter."""

    RUN = 1


class Report(enum.IntEnum):
    """Messages of the interpreter."""

    READY = 1
    STDOUT = 2
    STDERR = 3
    SHOWN = 4
    ENDED = 5


# The longest payload of each kind; JSON writes a character as up to six bytes.
MOST_BYTES: Mapping[Report, int] = {
    Report.READY: 0,
    Report.STDOUT: PIECE_BYTES,
    Report.STDERR: PIECE_BYTES,
    Report.SHOWN: SHOWN_BYTES,
    Report.ENDED: 1 << 20,
}


def is_sendable(shown: bytes) -> bool:
    """Returns True if the JSON of what code shows is not too long to be read at once."""
    return len(shown) <= SHOWN_BYTES and shown.count(b"[") + shown.count(b"{") <= SHOWN_PARTS


def message(kind: int, payload: bytes = b"") -> bytes:
    """Builds a message."""
    return HEAD.pack(kind, len(payload)) + payload


def take_report(received: bytearray) -> tuple[Report, bytes] | None:
    """Takes the first report out of the bytes that were received; None if it is not whole yet.

    Raises:
        ValueError: it is of an unknown kind, or longer than its kind may be.
    """
    if len(received) < HEAD.size:
        return None
    number, length = HEAD.unpack_from(received)
    kind = Report(number)
    if length > MOST_BYTES[kind]:
        raise ValueError(f"a message {kind.name} of {length} bytes")
    end = HEAD.size + length
    if len(received) < end:
        return None
    payload = bytes(received[HEAD.size : end])
    del received[:end]
    return kind, payload
