"""The messages between the server and the first process of a session.

Server ── a pipe ──▶ first process: orders. First process ── a pipe ──▶ server: reports. Each
message is a `HEAD` (kind, number, length) and that many bytes. The number is chosen by the server
and names a command, or one request about files; each is used once in a session.

    READY     (report) the session's namespaces and folders are made; its limits are awaited
    OPEN      JSON {memory_bytes, group_processes, processes (of the user), file_size_bytes,
              disk_bytes, open_files, loopback}
    OPENED    the limits are applied and the walls are closed; from here on commands can run
    RUN       JSON {argv, cwd, environment, output_bytes}; answered by STARTED and later ENDED, or
              by ENDED alone if it cannot be started
    INTERPRET JSON {environment, cwd}: starts an interpreter of Python, see `interpreter.wire`;
              answered as RUN
    STARTED   JSON {pid, oom_kills, process_limit_hits}: the counters of the session's control group
    STDOUT, STDERR   bytes of output. Their total never exceeds `WINDOW_BYTES` and what CREDIT
              orders have added, so that a reader that is slow holds up its own command alone.
    CREDIT    `CREDIT` number of bytes
    INPUT     bytes for standard input; answered by TAKEN when the pipe has taken them
    END_INPUT closes standard input
    TAKEN     JSON {closed}: whether standard input was closed, so that bytes were dropped
    SIGNAL    `SIGNAL` number of a signal for the command's process group
    KILL      kills all processes of the command's process session
    ENDED     JSON {status (as of `os.waitpid`, null if not started), problem, is_missing,
              stdout_bytes, stderr_bytes, oom_kills, process_limit_hits}: the command has ended and
              its output was sent. Output
              above `output_bytes` of a stream is counted and dropped.
    WRITE     a document (`wire.pack`) {path, append, executable} with the blob content
    READ      JSON {path, offset, length}
    LIST      JSON {path, recursive, count, path_bytes, without (names of folders to leave out)}
    FREEZE    kills all processes of the session but this one
    DONE      the answer to WRITE and FREEZE (a document {}), READ ({size} with the blob content) or
              LIST ({files: [[path, type, size, mode], ...], truncated})
    FAILED    JSON {reason, message}: the answer to an order about files that failed

What the server may trust: nothing. The session's commands run as the same user as this process, so
each report comes from an untrusted place. The server limits the size of a message, and ends a
session that breaks these rules.
"""

from __future__ import annotations

import enum
import json
import struct
from typing import Any

HEAD = struct.Struct(">BII")
CREDIT = struct.Struct(">I")
SIGNAL = struct.Struct(">B")
MOST_MESSAGE_BYTES = 4 << 20
WINDOW_BYTES = 256 << 10
INPUT_BYTES = 64 << 10  # of one INPUT order
FILE_PART_BYTES = 1 << 20  # of one READ or WRITE
COMMANDS = 16  # that run at once; a connection has streams for them and for other calls
LEAST_OPEN_FILES = 256  # for the pipes of commands, and what they leave behind


class Order(enum.IntEnum):
    """Messages of the server."""

    OPEN = 1
    RUN = 2
    CREDIT = 3
    INPUT = 4
    END_INPUT = 5
    SIGNAL = 6
    KILL = 7
    WRITE = 8
    READ = 9
    LIST = 10
    FREEZE = 11
    INTERPRET = 12


class Report(enum.IntEnum):
    """Messages of the session."""

    READY = 1
    OPENED = 2
    STARTED = 3
    STDOUT = 4
    STDERR = 5
    TAKEN = 6
    ENDED = 7
    DONE = 8
    FAILED = 9


class Reason(enum.StrEnum):
    """Why an order about files failed."""

    FILE_NOT_FOUND = "FILE_NOT_FOUND"
    FILE_IS_FOLDER = "FILE_IS_FOLDER"
    FILE_NOT_A_FOLDER = "FILE_NOT_A_FOLDER"
    FILE_NOT_REGULAR = "FILE_NOT_REGULAR"
    FILE_NOT_PERMITTED = "FILE_NOT_PERMITTED"
    FILE_TOO_LARGE = "FILE_TOO_LARGE"
    FILE_DISK_FULL = "FILE_DISK_FULL"
    FILE_FAILED = "FILE_FAILED"


class Type(enum.StrEnum):
    """Types of files."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


def message(kind: int, number: int, payload: bytes = b"") -> bytes:
    """Builds a message."""
    return HEAD.pack(kind, number, len(payload)) + payload


def as_json(**fields: object) -> bytes:
    """Builds the payload of a message of JSON."""
    return json.dumps(fields).encode()


def from_json(payload: bytes) -> dict[str, Any]:
    """Reads the payload of a message of JSON.

    Raises:
        ValueError: it is not an object of JSON.
    """
    try:
        found = json.loads(payload)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(found, dict):
        raise ValueError("is not an object")
    return found
