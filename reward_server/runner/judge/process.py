"""The judge process: sends the program to the candidate, runs the tests and writes the report.

What this stops: a verdict that is made in any other process. A test only counts if it ran to its
end here, and the session was still intact at that time. It also stops traces of one execution in
the next. A judge serves again only if all tests that it ran can leave no traces, by the contract,
and if the candidates kept to the protocol. Otherwise it exits, and another judge is forked from a
process that never held a request (`fork_server`).

What it does not do: it does not limit its own resources. The zygote's clock and limits do.
"""

from __future__ import annotations

import contextlib
import decimal
import io
import os
import resource
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NoReturn

from .. import requests, wire
from ..channel.descriptors import as_stream, receive
from ..requests import (
    CallRequest,
    CommandsRequest,
    ConversationRequest,
    FunctionRequest,
    ProgramRequest,
    SharedRequest,
    SplitRequest,
    UnitRequest,
)
from ..walls import confine, policy
from ..wire import Stage, Word
from . import conversation, relay
from .contract import calls
from .contract import run as functions
from .endings import Cause, SessionEnded
from .handover import hand_over, record_end, record_refusal
from .line import Line
from .link import ClosedError, Link, OversizeFrameError
from .outputs import OutputLimitError, Outputs, give_input
from .report import Report
from .surroundings import Surroundings

_DESCRIPTORS = 10  # the most that come with one execution, see `wire`


class _Silence(io.TextIOBase):
    """Discards what tests print."""

    def write(self, text: str) -> int:
        return len(text)


def serve(line: socket.socket, notes: socket.socket) -> NoReturn:
    """Judges one execution after another, as long as it may; see `wire`.

    Args:
        line: a socket to the zygote.
        notes: another socket to the zygote, for the notes.
    """
    recursion_limit, born_bytes = sys.getrecursionlimit(), _peak_bytes()
    around = Surroundings()
    for left in reversed(range(policy.JUDGE_EXECUTIONS)):
        message, descriptors = receive(line, len(wire.JUDGE), _DESCRIPTORS)
        if message == wire.ENDED:  # of the last execution, which was judged before its end
            message, descriptors = receive(line, len(wire.JUDGE), _DESCRIPTORS)
        if not message:
            break
        channel, stdin, stdout, stderr, request, report, *tests_program = descriptors
        document = os.pread(request, os.fstat(request).st_size, 0)
        with as_stream(channel) as candidate:
            _forget(recursion_limit)
            word = run(
                document,
                candidate,
                stdin,
                stdout,
                stderr,
                report,
                notes.send,
                tests_program,
                await_end=partial(receive, line, len(wire.ENDED)),
            )
        confine.close_all_but({line.fileno(), notes.fileno()})
        is_fresh = (
            left > 0
            and around.are_left()
            and _peak_bytes() - born_bytes < policy.JUDGE_GROWTH_BYTES
        )
        word = word._replace(stays=word.stays and is_fresh and _has_time())
        with contextlib.suppress(OSError):  # the zygote is gone
            line.send(wire.WORD.pack(*word))
        if not word.stays:
            break
    os._exit(0)


def _forget(recursion_limit: int) -> None:
    """Undoes the side effects that tests can have: arithmetic sets flags."""
    sys.setrecursionlimit(recursion_limit)
    decimal.getcontext().clear_flags()


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _has_time() -> bool:
    """Returns True if at least half of this process's CPU time is left."""
    return time.process_time() < policy.JUDGE_CPU_SECONDS / 2


def run(
    document: bytes | memoryview,
    channel: socket.socket,
    stdin_fd: int,
    stdout_fd: int,
    stderr_fd: int,
    report_fd: int,
    announce: Callable[[bytes], object],
    tests_program: Sequence[int] = (),
    *,
    await_end: Callable[[], object],
) -> Word:
    """Judges one execution.

    The standard streams of modes "program" and "commands" are memory files, of others pipes.

    Args:
        document: a request's document, see `requests`.
        channel: a socket to the candidate.
        stdin_fd: the candidate's standard input; the write end of a pipe does not block.
        stdout_fd: its standard output.
        stderr_fd: its standard error.
        report_fd: an empty memory file, for the report.
        announce: sends the zygote the note CAN_HEAR or LAST, see `wire`.
        tests_program: channel, stdin, stdout and stderr of the trusted program of two.
        await_end: waits until all processes of the candidate are gone.

    Returns:
        A word whose `stays` is True if the execution can have left nothing in this process.
    """
    report = Report(descriptor=report_fd, announce=partial(announce, wire.CAN_HEAR))
    report.reach(Stage.TESTS)
    request, blobs = requests.unpack(document)
    is_program = isinstance(request, (ProgramRequest, CommandsRequest))
    keeps_all = is_program or isinstance(request, ConversationRequest)
    works_on = False
    limit_bytes = request.output_bytes
    kept_bytes = limit_bytes if keeps_all else wire.KEPT_OUTPUT_BYTES
    pipes = (None, None) if is_program else (stdout_fd, stderr_fd)
    outputs = Outputs(*pipes, kept_bytes=kept_bytes, limit_bytes=limit_bytes)
    link = Link(channel, outputs)
    is_plain = True
    try:
        if isinstance(request, (ProgramRequest, CommandsRequest)):
            give_input(stdin_fd, blobs.pop("stdin"))
            hand_over(link, report, request, blobs)
            if isinstance(request, CommandsRequest):
                _await_commands(request, link, report)
            else:
                _hear_compiler(link, report)
            if _kept_to_protocol(report):
                await_end()
            outputs.read_files(stdout_fd, stderr_fd)
        elif isinstance(request, SplitRequest):
            os.close(stdin_fd)
            solution = relay.Peer(channel, link, outputs)
            _run_split(request, blobs, solution, tests_program, report)
        elif isinstance(request, ConversationRequest):
            candidate = conversation.Speaker(
                channel, link, outputs, stdin=stdin_fd, stdout=stdout_fd
            )
            works_on = _converse(request, blobs, candidate, tests_program, report)
        else:
            os.close(stdin_fd)
            is_plain = run_suite(request, blobs, link, report, partial(announce, wire.LAST))
        outputs.drain()
    except OutputLimitError:
        if "output" not in report.limits:
            report.limits.append("output")
    except (ClosedError, OversizeFrameError) as error:
        report.message = f"the candidate did not start: {type(error).__name__}"
    report.write(outputs)
    return Word(is_plain and _kept_to_protocol(report), _patience_ns(report, works_on=works_on))


def _kept_to_protocol(report: Report) -> bool:
    return report.ready and report.broken != Cause.FORGED.value and not report.limits


def _patience_ns(report: Report, *, works_on: bool) -> int:
    """Returns for how long a candidate may live after its last message.

    Args:
        report: the results.
        works_on: whether a program closed its streams, and may do more before it ends.
    """
    if not _kept_to_protocol(report):
        return 0
    if works_on:
        return wire.UNTIL_ITS_LIMITS_NS
    return policy.LAST_STEPS_NS if report.broken else 0


# ----------------------------------------------------------------------------------- suites


def run_suite(
    request: UnitRequest | FunctionRequest | CallRequest,
    blobs: Mapping[str, bytes],
    link: Link,
    report: Report,
    announce_last: Callable[[], object],
) -> bool:
    """Runs the tests of a request.

    Returns:
        True if the tests leave nothing behind in this process.
    """
    sys.stdout = sys.stderr = _Silence()
    if isinstance(request, CallRequest):
        return calls.run_calls(request, blobs, link, report)
    if isinstance(request, FunctionRequest):
        if not request.plan["is_allowed"]:
            announce_last()
        return functions.run_functions(request, blobs, link, report)
    announce_last()
    from . import shared_test_files  # both are slow to import
    from .contract import files

    if isinstance(request, SharedRequest):
        shared_test_files.run(request, blobs, link, report)
    else:
        files.run(request, blobs, link, report)
    return False


# ---------------------------------------------------------------------------------- programs


def _await_commands(request: CommandsRequest, link: Link, report: Report) -> None:
    """Waits for the end of commands; records the status of the last one and the product."""
    try:
        report.status = relay.read_status(link)
        if request.keep and (report.status == 0 or request.keeps_failed):
            report.product = link.receive(request.product_bytes)
    except ClosedError:
        report.broken = Cause.CLOSED.value
    except OversizeFrameError:
        report.limits.append("file_size")
    except ValueError:
        report.broken = Cause.FORGED.value


def _run_split(
    request: SplitRequest,
    blobs: Mapping[str, bytes],
    solution: relay.Peer,
    descriptors: Sequence[int],
    report: Report,
) -> None:
    """Runs the tests' program, and the solution's program from its first call on; see `relay`."""
    channel, stdin_fd, stdout_fd, stderr_fd = descriptors
    os.close(stdin_fd)
    limit_bytes = request.output_bytes
    outputs = Outputs(stdout_fd, stderr_fd, kept_bytes=limit_bytes, limit_bytes=limit_bytes)
    with as_stream(channel) as line:
        relay.Relay(
            relay.Peer(line, Link(line, outputs), outputs),
            solution,
            report,
            frame_bytes=request.result_bytes,
        ).run(request, blobs)


def _converse(
    request: ConversationRequest,
    blobs: Mapping[str, bytes],
    solution: conversation.Speaker,
    descriptors: Sequence[int],
    report: Report,
) -> bool:
    """Runs an interactor and a solution; see `conversation`.

    Returns:
        True if the solution may come to its end, as the end decides, too.

    Raises:
        ClosedError, OversizeFrameError: a process that runs one of them did not start.
        OutputLimitError: one of them wrote more than allowed.
    """
    channel, stdin, stdout, stderr = descriptors
    limit_bytes = request.output_bytes
    outputs = Outputs(stdout, stderr, kept_bytes=limit_bytes, limit_bytes=limit_bytes)
    with as_stream(channel) as line:
        link = Link(line, outputs)
        interactor = conversation.Speaker(line, link, outputs, stdin=stdin, stdout=stdout)
        both = conversation.Conversation(interactor, solution, report)
        both.start(request, blobs)
        is_program = request.solution["mode"] == "program"
        decides = (not is_program or _hear_compiler(solution.link, report)) and both.run()
        if decides and not is_program:
            relay.read_end(solution.link, report)
    interactor.stop_listening()
    solution.stop_listening()
    return decides


def _hear_compiler(link: Link, report: Report) -> bool:
    """Waits until the shim has compiled the program; returns False if it broke the protocol.

    The shim closes the channel before any code of the program runs. Before that it sends a message
    if the program does not compile.

    Raises:
        OutputLimitError: it wrote more output than allowed.
    """
    if link.closes():
        return True
    line = Line(link, result_bytes=0)
    try:
        record_refusal(line, report, line.receive())
    except SessionEnded as ended:
        if ended.cause is Cause.CLOSED:
            return True
    record_end(line, report)
    return line.ended is None
