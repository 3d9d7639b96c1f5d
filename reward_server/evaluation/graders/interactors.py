"""A case that an interactor judges: a program of the task that converses with the solution.

Both run at the same time in one execution, each in its own namespaces, and only their output passes
between them (see `runner.judge.conversation`). The interactor's exit status decides. If the
interactor fails before output of the solution was written to its pipe, the task is broken. If it
fails later, the solution's output made it fail, and so the case is failed. The signal
`interactor_failed` shows this, because the cause may be a mistake in the interactor. A Python
interactor that raises an exception ends with status 1, as if it rejected; its traceback shows the
difference.
"""

from __future__ import annotations

from dataclasses import replace

from reward_server.domain import (
    Commands,
    Conversation,
    Execution,
    Job,
    Program,
    StdioCase,
    Termination,
    TerminationKind,
    Work,
)
from reward_server.evaluation.graders.base import Candidate
from reward_server.evaluation.graders.compilation import Ready

FAILED_INTERACTOR = "interactor_failed"
_ACCEPTED = Termination(kind=TerminationKind.EXITED, value=0)
_REJECTED = Termination(kind=TerminationKind.EXITED, value=1)
_TRACEBACK = "Traceback (most recent call last):"
_QUOTED_CHARACTERS = 200


def conversation(
    interactor: Ready, solution: Ready, case: StdioCase, candidate: Candidate, *, is_text: bool
) -> Job:
    """Makes the job of one case.

    Args:
        interactor: its arguments are the paths of the case's input and expected output.
        solution: untrusted, also a harness, which runs what the interactor says; it gets no file
            of the case.
        case: the case.
        candidate: the solution with its limits and the task's data, which only the solution reads.
        is_text: whether `solution` is a harness, and the interactor gets the solution's code in a
            third file.
    """
    files = {"input": case.stdin, "expected": case.expected_stdout}
    if is_text:
        files["solution"] = candidate.source.encode()
    told = interactor.job(candidate.limits, args=tuple(files), files=files)
    untold = solution.job(candidate.limits)
    work = Conversation(interactor=_program(told.work), solution=_program(untold.work))
    return candidate.job(work)


def decided(execution: Execution) -> tuple[Execution, str]:
    """Returns the execution of a conversation, and why the case failed; "" if it passed."""
    interactor = execution.tests_program
    assert interactor is not None
    if interactor.termination == _ACCEPTED:
        return execution, ""
    words = interactor.stderr.data.decode("utf-8", "replace").strip()
    raised = _TRACEBACK in words
    line = words.rpartition("\n")[2] if raised else words.partition("\n")[0]
    told = f": {line[:_QUOTED_CHARACTERS]}" if line else ""
    if interactor.termination == _REJECTED and not raised:
        return execution, f"the interactor rejects the solution{told}"
    signals = {**execution.signals, FAILED_INTERACTOR: 1}
    return replace(execution, signals=signals), f"the interactor failed on the solution{told}"


def _program(work: Work) -> Program | Commands:
    assert isinstance(work, Program | Commands)
    return work
