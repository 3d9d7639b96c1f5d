"""What every sandbox promises of executables, on top of what it promises of Python programs.

The walls are the same: `as_executable` puts a sandbox to `checks.WALLS` with programs that an
interpreter of their own runs, as an executable that the runner started.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from reward_server.domain import (
    MEBIBYTE,
    Commands,
    Ending,
    Execution,
    Job,
    LimitKind,
    Limits,
    Program,
    Termination,
    TerminationKind,
)
from reward_server.runner.walls import policy
from reward_server.sandbox.base import Sandbox
from tests.conformance.suite.checks import LIMITS, WALLS, Check
from tests.conformance.suite.host import Host


class _AsExecutable:
    """Runs the programs of checks as executables."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def run(self, job: Job) -> Execution:
        assert isinstance(job.work, Program)
        work = Commands(commands=(("python3", "-c", job.work.source),), stdin=job.work.stdin)
        return await self._sandbox.run(replace(job, work=work))

    async def close(self) -> None:
        await self._sandbox.close()


def as_executable(check: Check) -> Check:
    """Makes a check one of executables."""

    async def checked(sandbox: Sandbox, host: Host) -> None:
        await check(_AsExecutable(sandbox), host)

    checked.__name__ = f"{check.__name__}_by_an_executable"
    return checked


async def run(sandbox: Sandbox, *commands: tuple[str, ...], **given: Any) -> Execution:
    names = {"files", "data", "product", "stdin", "keep", "environment", "product_bytes"}
    work = Commands(
        commands=commands, **{name: value for name, value in given.items() if name in names}
    )
    limits = {name: value for name, value in given.items() if name not in names}
    return await sandbox.run(Job(work=work, limits=Limits(**{**LIMITS, **limits})))


def shell(text: str) -> tuple[str, ...]:
    return ("sh", "-c", text)


async def an_executable_reads_writes_and_exits(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, shell("cat; echo no >&2; exit 7"), stdin="grüße".encode())
    assert execution.ending is Ending.COMPLETED
    assert execution.termination == Termination(kind=TerminationKind.EXITED, value=7)
    assert (execution.stdout.data, execution.stderr.data) == ("grüße".encode(), b"no\n")


async def much_input_and_output_of_an_executable_are_kept(sandbox: Sandbox, host: Host) -> None:
    data = os.urandom(5 * MEBIBYTE)
    execution = await run(sandbox, ("cat",), stdin=data)
    assert execution.stdout.data == data


async def a_signal_that_an_executable_sends_itself_ends_it(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, shell("kill -ABRT $$"))
    assert execution.ending is Ending.CRASHED
    assert execution.termination == Termination(kind=TerminationKind.SIGNALED, value=6)


async def an_absent_executable_is_a_failure_of_the_program(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, ("no-such-thing",))
    assert execution.termination == Termination(kind=TerminationKind.EXITED, value=127)
    assert b"no-such-thing: No such file" in execution.stderr.data


async def commands_stop_at_the_first_that_fails(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, shell("echo 1"), shell("exit 3"), shell("echo 2"))
    assert execution.termination.value == 3
    assert execution.stdout.data == b"1\n"


async def what_was_made_runs_elsewhere(sandbox: Sandbox, host: Host) -> None:
    make = shell("mkdir -p a; printf '#!/bin/sh\\ncat b/data' >a/run; chmod +x a/run; ln -s x l")
    made = await run(
        sandbox, make, files={"b/data": b"\0given", "other": b"not kept"}, keep=("a/*", "b/*", "l")
    )
    assert made.ending is Ending.COMPLETED
    assert b"not kept" not in made.product
    again = await run(sandbox, ("a/run",), product=made.product)
    assert again.stdout.data == b"\0given"
    listed = await run(sandbox, shell("find . -type f | sort; echo *"), product=made.product)
    assert listed.stdout.data == b"./a/run\n./b/data\na b\n"


async def data_is_read_only_and_fresh_each_time(sandbox: Sandbox, host: Host) -> None:
    spoil = shell("cat d/in; echo 2 >d/in || echo no; rm -f d/in; echo 3 >d/in; cat d/in")
    for _ in range(2):
        execution = await run(sandbox, spoil, data={"d/in": b"1\n"})
        assert execution.stdout.data == b"1\nno\n3\n"


async def what_a_failure_made_is_not_kept(sandbox: Sandbox, host: Host) -> None:
    made = await run(sandbox, shell("echo 1 >made; exit 1"), keep=("*",))
    assert (made.termination.value, made.product) == (1, b"")


async def what_is_handed_back_is_bounded(sandbox: Sandbox, host: Host) -> None:
    make = shell("head -c 3000000 /dev/urandom >made")
    made = await run(sandbox, make, keep=("*",), product_bytes=2_000_000)
    assert (made.ending, made.limits_hit) == (Ending.LIMIT, (LimitKind.FILE_SIZE,))
    assert made.product == b""


async def a_large_product_is_handed_back_whole(sandbox: Sandbox, host: Host) -> None:
    make = shell("head -c 9000000 /dev/urandom >made; wc -c made; cksum <made")
    made = await run(sandbox, make, keep=("made",))
    again = await run(sandbox, shell("wc -c made; cksum <made"), product=made.product)
    assert again.stdout.data == made.stdout.data != b""


async def an_executable_sees_its_streams_and_no_other_descriptor(
    sandbox: Sandbox, host: Host
) -> None:
    source = "import os\nfor n in range(64):\n try: os.fstat(n); print(n)\n except OSError: pass"
    execution = await run(sandbox, ("python3", "-S", "-c", source))
    assert execution.stdout.data == b"0\n1\n2\n"


async def an_executable_finds_the_policys_environment(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, ("env",), environment={"GIVEN": "1"})
    told = dict(line.split("=", 1) for line in execution.stdout.data.decode().splitlines())
    folders = told.pop("PATH").split(":")
    assert told.pop("LD_LIBRARY_PATH", "/opt/codereward/").startswith("/opt/codereward/")
    assert set(policy.PATH) <= set(folders)
    assert told == {**policy.ENVIRONMENT, "GIVEN": "1", "PYTHONHASHSEED": "0"}


async def what_an_executable_leaves_running_holds_up_nothing(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, shell("(setsid sleep 30 &) ; sleep 30 & echo done"))
    assert (execution.ending, execution.stdout.data) == (Ending.COMPLETED, b"done\n")
    assert execution.usage.wall_time_seconds < 10


async def a_status_cannot_be_forged_by_ending_who_tells_it(sandbox: Sandbox, host: Host) -> None:
    for signal in ("KILL", "TERM", "INT", "SEGV", "HUP"):
        execution = await run(sandbox, shell(f"kill -{signal} 1; exit 5"))
        assert execution.termination == Termination(kind=TerminationKind.EXITED, value=5)


async def an_executable_that_closes_its_streams_lives_on(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, shell("exec >&- 2>&- <&-; sleep 0.1; exit 4"))
    assert execution.termination == Termination(kind=TerminationKind.EXITED, value=4)


async def one_process_is_enough_for_one_executable(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, ("echo", "alone"), processes=1)
    assert execution.stdout.data == b"alone\n"


EXECUTABLES: tuple[Check, ...] = (
    an_executable_reads_writes_and_exits,
    much_input_and_output_of_an_executable_are_kept,
    a_signal_that_an_executable_sends_itself_ends_it,
    an_absent_executable_is_a_failure_of_the_program,
    commands_stop_at_the_first_that_fails,
    what_was_made_runs_elsewhere,
    data_is_read_only_and_fresh_each_time,
    what_a_failure_made_is_not_kept,
    what_is_handed_back_is_bounded,
    a_large_product_is_handed_back_whole,
    an_executable_sees_its_streams_and_no_other_descriptor,
    an_executable_finds_the_policys_environment,
    what_an_executable_leaves_running_holds_up_nothing,
    a_status_cannot_be_forged_by_ending_who_tells_it,
    an_executable_that_closes_its_streams_lives_on,
    one_process_is_enough_for_one_executable,
    *map(as_executable, WALLS),
)
