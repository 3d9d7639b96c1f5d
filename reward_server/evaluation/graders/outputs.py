"""Decides how much of a program's output is kept, and describes how a program ended."""

from __future__ import annotations

from dataclasses import replace

from reward_server.domain import CapturedStream, Execution, TerminationKind
from reward_server.grading.verdict import Run

KEPT_OUTPUT_BYTES = 64 * 1024


def kept(execution: Execution) -> Execution:
    """Keeps the beginning of the output."""
    return replace(execution, stdout=_cut(execution.stdout), stderr=_cut(execution.stderr))


def with_last_line(said: str, execution: Execution) -> str:
    """Adds the last line of the error output, if there is one, to a message."""
    last_line = execution.stderr.data.rstrip().rpartition(b"\n")[2].decode("utf-8", "replace")
    return f"{said}: {last_line[:200]}" if last_line else said


def how_it_ended(execution: Execution) -> str:
    """Returns the status or signal of a program's end, and its last line of error output."""
    kind, value = execution.termination.kind, execution.termination.value
    exited = kind is TerminationKind.EXITED
    said = f"exited with status {value}" if exited else f"was ended by signal {value}"
    return with_last_line(said, execution)


def without_output(run: Run) -> Run:
    """Keeps nothing of the output."""
    execution = run.execution
    stdout, stderr = (replace(one, data=b"") for one in (execution.stdout, execution.stderr))
    return replace(run, execution=replace(execution, stdout=stdout, stderr=stderr))


def _cut(stream: CapturedStream) -> CapturedStream:
    return replace(stream, data=stream.data[:KEPT_OUTPUT_BYTES])
