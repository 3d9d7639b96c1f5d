"""What every sandbox promises of an interactor and a solution in one execution."""

from __future__ import annotations

import textwrap
from typing import Any

from reward_server.domain import (
    Commands,
    Conversation,
    Ending,
    Execution,
    Job,
    LimitKind,
    Limits,
    Program,
    Termination,
    TerminationKind,
)
from reward_server.sandbox.base import Sandbox
from tests.conformance.suite.checks import LIMITS, Check
from tests.conformance.suite.host import Host

ECHO = "print(input()[::-1], flush=True)"
ASKS = """
    import sys
    print(open(sys.argv[1]).read(), flush=True)
    heard = input()
    print("heard", heard, file=sys.stderr)
    sys.exit(0 if heard == "terces" else 1)
"""


def program(text: str, *, as_command: bool, secret: bytes | None = None) -> Program | Commands:
    source = textwrap.dedent(text)
    files = {} if secret is None else {"input": secret}
    if not as_command:
        return Program(source=source, args=tuple(files), files=files)
    command = ("python3", "-S", "main.py", *files)
    return Commands(commands=(command,), files={**files, "main.py": source.encode()})


async def run(
    sandbox: Sandbox, interactor: str, solution: str, *, as_commands: bool = False, **limits: Any
) -> Execution:
    work = Conversation(
        interactor=program(interactor, as_command=as_commands, secret=b"secret"),
        solution=program(solution, as_command=as_commands),
    )
    return await sandbox.run(Job(work=work, limits=Limits(**{**LIMITS, **limits})))


def status(execution: Execution) -> int:
    """Returns the exit status of the interactor, which has to have decided."""
    assert execution.ending is Ending.COMPLETED, execution
    assert execution.tests_program is not None
    ended = execution.tests_program.termination
    assert ended is not None, execution
    assert ended.kind is TerminationKind.EXITED, execution
    return ended.value


async def an_interactor_decides_by_its_status(sandbox: Sandbox, host: Host) -> None:
    for as_commands in (False, True):
        accepted = await run(sandbox, ASKS, ECHO, as_commands=as_commands)
        assert status(accepted) == 0
        assert accepted.termination == Termination(kind=TerminationKind.EXITED)
        assert accepted.tests_program is not None
        assert accepted.tests_program.stderr.data == b"heard terces\n"
        assert accepted.stdout.data == b"terces\n"
        rejected = await run(sandbox, ASKS, "print(input())", as_commands=as_commands)
        assert status(rejected) == 1


async def a_solution_sees_nothing_of_its_interactor(sandbox: Sandbox, host: Host) -> None:
    look = """
        import os, signal, sys
        numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        files = [name for name in os.listdir(".") if name in ("input", "expected")]
        for number in numbers:
            if number != os.getpid() and number != 1:
                try: os.kill(number, signal.SIGKILL)
                except OSError: pass
        others = []
        for number in range(3, 64):
            try: others.append(os.fstat(number))
            except OSError: pass
        print(files, others, len(numbers), file=sys.stderr)
        print(input()[::-1], flush=True)
    """
    execution = await run(sandbox, ASKS, look)
    assert status(execution) == 0, execution
    assert execution.stderr.data.startswith(b"[] [] "), execution


async def a_solution_that_crashes_in_between_has_crashed(sandbox: Sandbox, host: Host) -> None:
    for as_commands in (False, True):
        exited = await run(sandbox, ASKS, "raise SystemExit(3)", as_commands=as_commands)
        assert exited.termination == Termination(kind=TerminationKind.EXITED, value=3), exited
        killed = "import os\nos.kill(os.getpid(), 11)"
        died = await run(sandbox, ASKS, killed, as_commands=as_commands)
        assert died.ending is Ending.CRASHED, died
        assert died.termination == Termination(kind=TerminationKind.SIGNALED, value=11)


async def a_conversation_is_bounded(sandbox: Sandbox, host: Host) -> None:
    silent = await run(sandbox, "input()", "input()", wall_time_seconds=1.0)
    assert (silent.ending, silent.limits_hit) == (Ending.LIMIT, (LimitKind.WALL_TIME,))
    busy = await run(sandbox, "input()", "while True: pass", cpu_time_seconds=0.5)
    assert (busy.ending, busy.limits_hit) == (Ending.LIMIT, (LimitKind.CPU_TIME,))
    flood = "import sys\nwhile True: sys.stdout.write('x' * 4096)"
    for interactor, solution in (("input()", flood), (flood, "input()")):
        loud = await run(sandbox, interactor, solution, output_bytes=1 << 16)
        assert (loud.ending, loud.limits_hit) == (Ending.LIMIT, (LimitKind.OUTPUT,)), loud


CONVERSATIONS: tuple[Check, ...] = (
    an_interactor_decides_by_its_status,
    a_solution_sees_nothing_of_its_interactor,
    a_solution_that_crashes_in_between_has_crashed,
    a_conversation_is_bounded,
)
