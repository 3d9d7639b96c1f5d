"""The bytes between server, zygote, judge and candidate.

Server ── control in (a pipe) ──▶ zygote
    EXECUTE   a `Start` record (fixed size, numbers only), then `payload_bytes` of payload: a
              *document* (below) that only the judge reads
    CANCEL    a `Start` record with kind CANCEL: the execution in progress is killed and reported
    end of file: the zygote kills what runs and exits

Server ◀── control out (a pipe) ── zygote
    HELLO     once: a `Finish` record of kind HELLO, then a document describing the runner
    FINISH    one a execution: a `Finish` record (numbers only), then `report_bytes` of report

Report, written by the judge to a memory file that the zygote sends on unread:
    byte 0    the `Stage` last reached, so that a judge that was killed still tells who is to blame
    rest      empty, or a document: the judge's findings

Document: `>I` length of a JSON object, the object, then its blobs one after another; the object's
"blobs" lists [name, length] pairs.

Zygote ── a packet socket ── judge: JUDGE with the descriptors of an execution (the channel to the
candidate, its stdin, stdout and stderr, the request's and the report's memory file, and in mode
"split" the tests' program's channel, stdin, stdout and stderr), answered, when the report is
written, by a `Word`. Before that it writes notes to another socket, which the zygote reads when it
has the word. They can't be taken back (a pipe's could: /proc opens it for reading), whatever
becomes of the judge by what the candidate says: CAN_HEAR before the candidate is heard, from when
on nothing is the task's fault or ours, and CROSSING before anything but plain data crosses for the
first time, or meets tests that are not `purity`. A judge that noted CROSSING judges no more.

Judge ── a stream socket ── candidate: frames of `>I` length and that many bytes; their content is
described in `codec`. The first frame, judge to candidate, is the program; the candidate's shim
answers READY, the last message that is trusted. In mode "program" it then sends the compiler's
refusal, or nothing, and closes the channel before any code of the program's runs. In mode
"commands" it sends, when they have ended, the status of the last one as of `os.waitpid` and, where
files are to be handed back and all succeeded, a frame more: the product, a document of the files
with "executable", the names of those that are. In mode "split" two processes of that kind, one for
the tests' program and one for the solution's, get after READY one byte with the ends of two pipes,
which their commands find as descriptors 3, to read, and 4, to write; see `relay`.

Request document: see `requests`.

Report document:
    ready     whether the candidate's shim said READY
    blame     null, "task" (the tests are broken, decided before the candidate was heard; in mode
              split also that they hand over something of their own that cannot cross)
    load      null, or why the program did not load: {"kind": "compile" | "raise" | "exit",
              "message": ...}
    broken    null, or how the candidate's side of the protocol ended early: "closed" | "forged"
    limits    limits that the judge saw hit: "output", "result", "calls", "file_size"
    message   one sentence for people, or ""
    tests     [{"name", "outcome" (an `Outcome`), "message", "wall_ns"}, ...], in order,
              one for each test of the request, whatever happened
    signals   {name: count}; CONTRADICTION where objects of the solution's contradicted themselves,
              CAST where answers were of other classes than those that arrived,
              REFUSAL where the tests saw an exception that is the judge's own,
              WITHHELD_CHANGE where the tests did not see what the solution did to an argument,
              OUT_OF_STEP where both sides held more containers than are kept in step, or what
              cannot be kept in step has changed,
              MET_IN_PROMPT where the prompt's code may bring an argument and an answer together,
              UNASKED where tests ran without a request to the solution,
              UNTOLD where the solution and not the task's signature said that a result or an
              argument of a call is made of nodes, or that an argument is the result
    status    null, or in modes commands and split the status of the candidate's last one
    stdout_size, stderr_size; blobs stdout, stderr (leading bytes, up to KEPT_OUTPUT_BYTES each in
              modes function, call and split, whole up to output_bytes in the others), product
    tests_program  null, or in mode split what the tests' program did: {"status" (null if it did not
              end), "stdout_size", "stderr_size"}; blobs tests_stdout, tests_stderr, whole
"""

from __future__ import annotations

import enum
import json
import struct
from collections.abc import Mapping
from typing import NamedTuple

PROTOCOL_VERSION = 4
KEPT_OUTPUT_BYTES = 64 * 1024
BROKEN_STATUS = 70  # exit status of a process of ours that an exception of ours ended (EX_SOFTWARE)


class Kind(enum.IntEnum):
    """Kinds of control records."""

    EXECUTE = 1
    CANCEL = 2
    HELLO = 3
    FINISH = 4


class Stage(enum.IntEnum):
    """How far an execution got; a failure is ours before TESTS, the task's in TESTS, ours in
    LOADING, and the candidate's from READY on."""

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


class Start(NamedTuple):
    """Begins an execution: limits as numbers. Times in nanoseconds, sizes in bytes.

    `programs` is 2 in mode "split", otherwise 1. `report_bytes` is the greatest size of a report;
    of a larger one the first byte alone is sent.
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


class Finish(NamedTuple):
    """Ends an execution. Statuses are those of `os.waitpid`, -1 where there was no process.

    `crossings` is 1 if anything but plain data crossed between judge and candidate, or met tests
    that are not plain, else 0; `heard` is 1 if the candidate may have been heard, else 0.
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
    crossings: int = 0
    heard: int = 0
    residue_bytes: int = 0


class Word(NamedTuple):
    """A judge's last word on an execution.

    Args:
        stays: whether it will judge again.
        patience_ns: for how long the candidate may live on, should it still live.
    """

    stays: bool
    patience_ns: int


WORD = struct.Struct(">?q")
UNTIL_ITS_LIMITS_NS = 1 << 62
START = struct.Struct(f">{len(Start._fields)}q")
FINISH = struct.Struct(f">{len(Finish._fields)}q")
LENGTH = struct.Struct(">I")
JUDGE = b"J"
CAN_HEAR = b"H"
CROSSING = b"X"
CONTRADICTION = "contradiction"
WITHHELD_CHANGE = "withheld_change"
MET_CHANGE = "met_change"  # brought back where the text brings it and an answer together
MET_IN_PROMPT = "met_in_prompt"
CAST = "cast_to_base"
REFUSAL = "refused_by_judge"
OUT_OF_STEP = "out_of_step"
UNTOLD = "untold_signature"
UNASKED = "unasked"
JOINED = b"P"  # comes with the ends of the two pipes of mode "split"
_DECODER = json.JSONDecoder()


def pack(header: Mapping[str, object], blobs: Mapping[str, bytes]) -> bytes:
    """Builds a document."""
    listed = [[name, len(blob)] for name, blob in blobs.items()]
    head = json.dumps({**header, "blobs": listed}).encode()
    return b"".join((LENGTH.pack(len(head)), head, *blobs.values()))


def unpack(document: bytes | memoryview) -> tuple[dict[str, object], dict[str, bytes]]:
    """Takes a document apart.

    Raises:
        ValueError: it is not a document.
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
