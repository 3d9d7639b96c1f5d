"""A grader of test programs that believes their exit status."""

from __future__ import annotations

from reward_server.app import App
from reward_server.domain import Ending, Job, Program, TerminationKind
from tests.attacks.programs.program_attacks import TESTS


async def awarded_by_exit_status(app: App, language: str, completion: str) -> bool:
    """Returns True if a solution and the tests, as one program, leave with status 0."""
    source = f"{completion}\n{TESTS[language]}"
    execution, _ = await app.evaluation.execute(Job(work=Program(source=source), language=language))
    ended = execution.termination
    return (
        execution.ending is Ending.COMPLETED
        and ended.kind is TerminationKind.EXITED
        and ended.value == 0
    )
