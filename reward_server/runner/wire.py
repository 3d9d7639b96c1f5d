"""The bytes that cross between server, zygote, judge and candidate.

Server ── control in (a pipe) ──▶ zygote
    SEED      once, at first: the hash seed of both interpreters, which `start` reads
    EXECUTE   a `Start` record (fixed size, numbers only), then `payload_bytes` of payload: a
              *document* (below) that only the judge reads
    CANCEL    a `Start` record of kind CANCEL: the zygote kills the current execution and reports it
    end of file: the zygote kills the current execution and exits

Server ◀── control out (a pipe) ── zygote
    HELLO     once: a `Finish` record of kind HELLO, then a document that describes the runner
    FINISH    once for each execution: a `Finish` record (numbers only), then `report_bytes` of
              report

Report, which the judge writes to a memory file and the zygote sends without reading it:
    byte 0    the `Stage` last reached, which shows who is to blame even if the judge was killed
    rest      empty, or a document with the judge's findings

Document: `>I` length of a JSON object, the object, then its blobs one after another. The object's
"blobs" lists [name, length] pairs.

Zygote ── a packet socket ── judge: the zygote sends JUDGE with the descriptors of an execution (the
channel to the candidate, its stdin, stdout and stderr, the memory files of request and report, and
in modes "split" and "conversation" the channel, stdin, stdout and stderr of the trusted program).
In modes "program" and "commands" the standard streams are memory files. There the zygote sends
ENDED once all processes of the candidate are gone, and the judge reads the output then. A judge
that has answered before ignores it.
The judge answers with a `Word` when the report is written. Before that it writes notes to another
socket, which the zygote reads after the word. Nobody can take a note back, not even a judge that
the candidate's answers have taken over. (From a pipe it could: /proc opens a pipe for reading.)
There are two notes. The judge sends CAN_HEAR before it hears the candidate; after it no failure is
the task's or the server's. The judge sends LAST before it runs tests that can leave something in
its process. A judge that noted LAST judges no further execution.

Judge ── a stream socket ── candidate: frames, each a `>I` length and that many bytes;
`judge.contract.session` describes their content. The first frame, from the judge, is the program.
The candidate's shim answers READY, the last message that is trusted. In mode "program" the shim
then sends the compiler's error, or nothing, and closes the channel before any code of the program
runs. If the program `reports`, the shim keeps the channel, forks the program and sends its status
at the end, as of `os.waitpid`. In mode "commands" it sends, after the commands have ended, the
status of the last one. If files are to be handed back and all commands succeeded, it sends one more
frame: the product, a document of the files with "executable", the names of those that are. In mode
"split" there are two processes of that kind, one for the tests' program and one for the solution's.
After READY each gets one byte with the ends of two pipes. Its commands read from one of them,
descriptor 3, and write to the other, descriptor 4; see `relay`. In mode "conversation" there are
two processes too, each of mode "program" or "commands"; the interactor's reports. See
`judge.conversation`.

Request document: see `requests`.

Report document:
    ready     whether the candidate's shim sent READY
    blame     null, or "task": the tests are broken, as decided before the judge heard the candidate
              (in mode split also: the tests hand over something that cannot cross)
    load      null, or why the program did not load: {"kind": "compile" | "raise" | "exit",
              "message": ...}
    broken    null, or how the candidate's side of the protocol ended early: "closed" | "forged"
    limits    limits that the judge saw hit: "output", "result", "calls", "file_size"
    message   one sentence for people, or ""
    tests     [{"name", "outcome" (an `Outcome`), "message", "wall_ns"}, ...], in order, one for
              each test of the request, in every case
    signals   {name: count}; docs/reference/signals.md says what they mean
    status    null, or in modes commands, split and conversation the status of the candidate's last
              command, if it runs commands
    stdout_size, stderr_size; blobs stdout, stderr (the leading bytes, up to KEPT_OUTPUT_BYTES each
              in modes function, call and split, all up to output_bytes in the others), product
    tests_program  null, or in modes split and conversation the end of the trusted program:
              {"status" (null if it did not end), "stdout_size", "stderr_size"}; blobs tests_stdout,
              tests_stderr, complete
"""

from __future__ import annotations

import enum
import json
import struct
from collections.abc import Mapping
from typing import NamedTuple

PROTOCOL_VERSION = 6
KEPT_OUTPUT_BYTES = 64 * 1024
BROKEN_STATUS = 70  # exit status of a runner process that its own error ended (EX_SOFTWARE)


class Kind(enum.IntEnum):
    """Kinds of control records."""

    EXECUTE = 1
    CANCEL = 2
    HELLO = 3
    FINISH = 4


class Stage(enum.IntEnum):
    """How far an execution got. A failure is the server's before TESTS, the task's in TESTS, the
    server's in LOADING, and the candidate's from READY on."""

    STARTING = 0
    TESTS = 1
    LOADING = 2
    READY = 3


class Outcome(enum.StrEnum):
    """What happened to one test; the server's `TestOutcome` has the same names."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    ERROR = "ERROR"
    LIMIT = "LIMIT"
    NOT_RUN = "NOT_RUN"
    SKIPPED = "SKIPPED"


class Stop(enum.IntEnum):
    """Why the zygote killed the candidate before it ended by itself."""

    NONE = 0
    JUDGE_DONE = 1
    WALL_TIME = 2
    CPU_TIME = 3
    CANCELLED = 4
    JUDGE_STUCK = 5
    MEMORY = 6
    OUTPUT = 7


class Start(NamedTuple):
    """Begins an execution and carries its limits. Times are in nanoseconds, sizes in bytes.

    `programs` is 2 in modes "split" and "conversation", otherwise 1. `report_bytes` is the greatest
    size of a report; if a report is larger, only its first byte is sent. If the standard streams
    are memory files, `output_bytes` is the greatest size of both outputs together; if they are
    pipes, which the judge limits, it is 0.
    """

    kind: int
    payload_bytes: int = 0
    wall_time_ns: int = 0
    cpu_time_ns: int = 0
    memory_bytes: int = 0
    processes: int = 0
    file_size_bytes: int = 0
    disk_bytes: int = 0
    open_files: int = 0
    loopback: int = 0
    programs: int = 1
    report_bytes: int = 0
    output_bytes: int = 0


class Finish(NamedTuple):
    """Ends an execution. Statuses are those of `os.waitpid`, or -1 if there was no process.

    `heard` is 1 if the judge may have heard the candidate, else 0.
    """

    kind: int
    report_bytes: int = 0
    stop: int = 0
    candidate_status: int = -1
    judge_status: int = -1
    wall_time_ns: int = 0
    cpu_time_ns: int = 0
    peak_memory_bytes: int = 0
    oom_kills: int = 0
    process_limit_hits: int = 0
    heard: int = 0
    residue_bytes: int = 0


class Word(NamedTuple):
    """The judge's final message about an execution.

    Args:
        stays: whether the judge will serve another execution.
        patience_ns: for how long the candidate may still live.
    """

    stays: bool
    patience_ns: int


SEED = struct.Struct(">I")
WORD = struct.Struct(">?q")
UNTIL_ITS_LIMITS_NS = 1 << 62
START = struct.Struct(f">{len(Start._fields)}q")
FINISH = struct.Struct(f">{len(Finish._fields)}q")
LENGTH = struct.Struct(">I")
JUDGE, ENDED = b"J", b"E"
CAN_HEAR = b"H"
LAST = b"L"
JOINED = b"P"  # sent with the ends of the two pipes of mode "split"
_DECODER = json.JSONDecoder()


def pack(header: Mapping[str, object], blobs: Mapping[str, bytes]) -> bytes:
    """Builds a document."""
    listed = [[name, len(blob)] for name, blob in blobs.items()]
    head = json.dumps({**header, "blobs": listed}).encode()
    return b"".join((LENGTH.pack(len(head)), head, *blobs.values()))


def unpack(document: bytes | memoryview) -> tuple[dict[str, object], dict[str, bytes]]:
    """Splits a document into its object and its blobs.

    Raises:
        ValueError: the bytes are not a document.
    """
    view = memoryview(document)
    if len(view) < LENGTH.size:
        raise ValueError("document is cut short")
    (head_bytes,) = LENGTH.unpack(view[: LENGTH.size])
    position = LENGTH.size + head_bytes
    header, _ = _DECODER.raw_decode(str(view[LENGTH.size : position], "utf-8"))
    if not isinstance(header, dict):
        raise ValueError("document is not an object")
    blobs: dict[str, bytes] = {}
    for name, size in header.pop("blobs"):
        blobs[name] = bytes(view[position : position + size])
        position += size
    if position != len(view):
        raise ValueError("document has another length than it says")
    return header, blobs
