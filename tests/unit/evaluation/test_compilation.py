"""Programs in other languages are compiled once, and never blamed for a broken compiler."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from reward_server.domain import (
    CapturedStream,
    Checker,
    CheckerKind,
    Commands,
    Ending,
    Execution,
    Job,
    LimitKind,
    Limits,
    Program,
    Provenance,
    RewardPolicy,
    RewardPolicyKind,
    StdioCase,
    StdioTests,
    Submission,
    Termination,
    TerminationKind,
    Verdict,
)
from reward_server.errors import SandboxError
from reward_server.evaluation import Evaluation
from reward_server.evaluation.graders.compilation import Programs
from reward_server.languages import load_languages
from reward_server.runner import wire
from reward_server.scheduler import Scheduler

LANGUAGES = load_languages()
CPP = LANGUAGES.find("c++")
SOURCE = "int main() {}"
MADE = b"made"


def ended(status: int = 0, out: bytes = b"", err: bytes = b"", **changes: object) -> Execution:
    execution = Execution(
        ending=Ending.COMPLETED,
        termination=Termination(kind=TerminationKind.EXITED, value=status),
        stdout=CapturedStream(data=out, size_bytes=len(out)),
        stderr=CapturedStream(data=err, size_bytes=len(err)),
    )
    return replace(execution, **changes)  # type: ignore[arg-type]  # fields by name


@dataclass(kw_only=True)
class Machine:
    """Compiles anything, and runs it: a program adds the numbers it is given."""

    compiler: Callable[[str], Execution] = lambda _: ended(product=MADE)
    program: Callable[[Commands], Execution] = lambda work: ended(
        out=b"%d" % sum(map(int, work.stdin.split()))
    )
    gate: asyncio.Event | None = None
    jobs: list[Job] = field(default_factory=list)
    slots: int = 4

    async def run(self, job: Job) -> Execution:
        self.jobs.append(job)
        if self.gate:
            await self.gate.wait()
        await asyncio.sleep(0)
        assert isinstance(job.work, Commands)
        if job.work.keep:
            return self.compiler(next(iter(job.work.files.values())).decode())
        return self.program(job.work)

    def compilations(self, source: str = SOURCE) -> int:
        return sum(
            isinstance(job.work, Commands) and source.encode() in job.work.files.values()
            for job in self.jobs
        )


def wanted(**changes: object) -> Submission:
    case = StdioCase(stdin=b"1 2", expected_stdout=b"3")
    submission = Submission(completion=SOURCE, language="c++", tests=StdioTests(cases=(case,) * 3))
    return replace(submission, **changes)  # type: ignore[arg-type]  # fields by name


def evaluation(machine: Machine) -> Evaluation:
    provenance = {one.name: Provenance() for one in LANGUAGES.all}
    return Evaluation(Scheduler(machine), LANGUAGES, provenance=provenance)


# ---------------------------------------------------------------------------------- compiling


@pytest.mark.promise(
    "A program is compiled once for all its cases, and not again for the same source.", "Languages"
)
async def test_a_program_is_compiled_once_for_all_its_cases_and_not_again() -> None:
    machine = Machine()
    judge = evaluation(machine)
    first = await judge.score(wanted())
    assert (first.verdict, first.usage.executions) == (Verdict.PASSED, 4)
    again = await judge.score(wanted(limits=Limits(cpu_time_seconds=3)))
    assert (again.verdict, again.usage.executions) == (Verdict.PASSED, 3)
    assert machine.compilations() == 1


async def test_what_was_made_is_what_runs() -> None:
    machine = Machine()
    await evaluation(machine).score(wanted())
    runs = [job.work for job in machine.jobs if isinstance(job.work, Commands) and job.work.stdin]
    assert {(work.product, work.commands) for work in runs} == {(MADE, (("./main",),))}


@pytest.mark.promise("Programs that differ in a byte are never taken for each other.", "Languages")
async def test_programs_that_differ_are_not_taken_for_each_other() -> None:
    machine = Machine(compiler=lambda source: ended(product=source.encode()))
    programs = Programs(Limits())
    made = [
        await programs.ready(language, source, machine, files)
        for language in (CPP, LANGUAGES.find("c++20"))
        for source in ("a", "b")
        for files in ({}, {"x": b"1"}, {"x": b"2"}, {"x1": b""})
    ]
    assert len(machine.jobs) == len(made) + 2 * 2  # each language is tried by two


async def test_owners_neither_get_nor_notice_what_was_compiled_for_others() -> None:
    machine = Machine()
    judge = evaluation(machine)
    executions = [(await judge.score(wanted(), owner=one)).usage.executions for one in "ab"]
    assert executions == [4, 4]
    assert machine.compilations() == 2
    gate = machine.gate = asyncio.Event()
    both = [asyncio.create_task(judge.score(wanted(completion="x"), owner=one)) for one in "ab"]
    while machine.compilations("x") < 2:  # noqa: ASYNC110  # each waits for its own
        await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*both)


async def test_two_who_ask_at_once_share_one_compilation() -> None:
    machine = Machine(gate=asyncio.Event())
    programs = Programs(Limits())
    asked = [asyncio.create_task(programs.ready(CPP, SOURCE, machine)) for _ in range(5)]
    await asyncio.sleep(0.01)
    assert machine.gate is not None
    machine.gate.set()
    made = await asyncio.gather(*asked)
    assert machine.compilations() == 1
    assert [one.product for one in made] == [MADE] * 5
    assert sum(one.compilation is not None for one in made) == 1


async def test_what_was_made_is_forgotten_in_time() -> None:
    now = [0.0]
    machine = Machine()
    programs = Programs(Limits(), kept_seconds=10, clock=lambda: now[0])
    for moment, compilations in ((0.0, 1), (9.0, 1), (11.0, 2)):
        now[0] = moment
        await programs.ready(CPP, SOURCE, machine)
        assert machine.compilations() == compilations


async def test_what_was_made_first_goes_first_when_there_is_too_much() -> None:
    machine = Machine(compiler=lambda _: ended(product=bytes(10_000)))
    programs = Programs(Limits(), kept_bytes=25_000)
    for source in ("a", "b", "c", "c", "b", "a"):
        await programs.ready(CPP, source, machine)
    assert [machine.compilations(source) for source in "abc"] == [2, 1, 1]


async def test_a_library_is_compiled_once_by_commands_of_its_own() -> None:
    made = wire.pack({"executable": []}, {"splitwire.o": MADE})
    machine = Machine(compiler=lambda _: ended(product=made))
    programs = Programs(Limits())
    for _ in range(2):
        assert await programs.library(CPP, "int f();", machine) == {"splitwire.o": MADE}
    assert machine.compilations("int f();") == 1
    work = machine.jobs[-1].work
    assert isinstance(work, Commands)
    assert (work.keep, "-c" in work.commands[0]) == (("splitwire.o",), True)


async def test_a_program_of_the_same_text_is_no_library() -> None:
    made = wire.pack({"executable": []}, {})
    machine = Machine(
        compiler=lambda source: ended(1, err=b"no main") if source == "a" else ended(product=made)
    )
    programs = Programs(Limits())
    assert (await programs.ready(CPP, "a", machine)).refusal is not None
    machine.compiler = lambda _: ended(product=made)
    assert await programs.library(CPP, "a", machine) == {}


async def test_a_library_that_does_not_compile_is_no_fault_of_a_program() -> None:
    machine = Machine(
        compiler=lambda source: ended(1, err=b"what?") if source == "a" else ended(product=MADE)
    )
    with pytest.raises(SandboxError, match=r"a library of ours does not compile: what\?"):
        await Programs(Limits()).library(CPP, "a", machine)


# ------------------------------------------------------------------------------ compile errors


async def test_a_refused_program_is_a_compile_error_and_never_runs() -> None:
    machine = Machine()
    machine.compiler = lambda source: (
        ended(1, err=b"main.cpp:1: error: what?\n") if source == SOURCE else ended(product=MADE)
    )
    judge = evaluation(machine)
    bonus = RewardPolicy(kind=RewardPolicyKind.ALL_OR_NOTHING, format_bonus=0.5)
    for _ in range(2):
        found = await judge.score(wanted(reward_policy=bonus))
        assert (found.verdict, found.reward) == (Verdict.COMPILE_ERROR, 0.0)
        assert found.message == "main.cpp:1: error: what?"
        assert len(found.tests) == 3
    assert machine.compilations() == 1
    assert all(isinstance(job.work, Commands) and not job.work.product for job in machine.jobs[2:])


@pytest.mark.parametrize(
    ("execution", "words"),
    [
        (ended(ending=Ending.CRASHED, message="killed by signal 11"), "killed by signal 11"),
        (
            ended(
                ending=Ending.LIMIT, message="CPU time ran out", limits_hit=(LimitKind.CPU_TIME,)
            ),
            "CPU time ran out",
        ),
    ],
)
async def test_a_compiler_that_a_program_breaks_is_a_compile_error(
    execution: Execution, words: str
) -> None:
    machine = Machine(
        compiler=lambda source: execution if source == SOURCE else ended(product=MADE)
    )
    found = await evaluation(machine).score(wanted())
    assert found.verdict is Verdict.COMPILE_ERROR
    assert words in found.message


async def test_a_compilation_that_met_a_limit_is_tried_again_another_time() -> None:
    late = ended(ending=Ending.LIMIT, limits_hit=(LimitKind.WALL_TIME,))
    machine = Machine(compiler=lambda source: late if source == SOURCE else ended(product=MADE))
    programs = Programs(Limits())
    for _ in range(2):
        assert (await programs.ready(CPP, SOURCE, machine)).refusal is not None
    assert machine.compilations() == 2


async def test_an_attack_on_the_compilers_walls_stays_one() -> None:
    machine = Machine(
        compiler=lambda source: (
            ended(ending=Ending.VIOLATION) if source == SOURCE else ended(product=MADE)
        )
    )
    found = await evaluation(machine).score(wanted())
    assert found.verdict is Verdict.SECURITY_VIOLATION


# ----------------------------------------------------------------------------- broken compilers


@pytest.mark.promise(
    "A language that does not work is the server's failure, never a compile error.", "Languages"
)
@pytest.mark.parametrize(
    "broken",
    [
        Machine(compiler=lambda _: ended(1, err=b"cc1plus: not found")),
        Machine(program=lambda _: ended(127, err=b"libstdc++.so.6: not found")),
        Machine(program=lambda _: ended(out=b"41")),
    ],
)
async def test_a_language_that_does_not_work_is_our_fault(broken: Machine) -> None:
    judge = evaluation(broken)
    for _ in range(2):
        with pytest.raises(SandboxError, match=r"c\+\+17 does not work here"):
            await judge.score(wanted())


async def test_a_language_is_tried_again_until_it_works_and_then_no_more() -> None:
    machine = Machine(compiler=lambda _: ended(1))
    programs = Programs(Limits())
    with pytest.raises(SandboxError):
        await programs.ready(CPP, SOURCE, machine)
    machine.compiler = lambda _: ended(product=MADE)
    for source in ("a", "b", "c"):
        await programs.ready(CPP, source, machine)
    assert machine.compilations(CPP.probe.works) == 2


# --------------------------------------------------------------------------------- checkers


async def test_a_checker_program_may_be_in_another_language() -> None:
    machine = Machine()
    machine.program = lambda work: (
        ended(0 if len(work.files) == 3 else 9)
        if len(work.commands[0]) == 4
        else ended(out=b"%d" % sum(map(int, work.stdin.split())))
    )
    checker = Checker(kind=CheckerKind.PROGRAM, program="int check;", program_language="c++")
    tests = StdioTests(cases=(StdioCase(stdin=b"1 2", expected_stdout=b"?"),), checker=checker)
    found = await evaluation(machine).score(wanted(tests=tests))
    assert found.verdict is Verdict.PASSED
    [checked] = [job.work for job in machine.jobs if len(_command(job)) == 4]
    assert isinstance(checked, Commands)
    assert checked.commands == (("./main", "input", "output", "expected"),)
    assert checked.files == {"input": b"1 2", "output": b"3", "expected": b"?"}


async def test_a_checker_program_that_does_not_compile_makes_the_task_invalid() -> None:
    machine = Machine()
    machine.compiler = lambda source: ended(1) if source == "no" else ended(product=MADE)
    checker = Checker(kind=CheckerKind.PROGRAM, program="no", program_language="c++")
    tests = StdioTests(cases=(StdioCase(stdin=b"1 2", expected_stdout=b"?"),), checker=checker)
    found = await evaluation(machine).score(wanted(tests=tests))
    assert (found.verdict, found.reward) == (Verdict.INVALID_TASK, None)
    assert "does not compile" in found.message


def _command(job: Job) -> tuple[str, ...]:
    assert isinstance(job.work, Commands)
    return job.work.commands[0]


# ---------------------------------------------------------------------------------- execute


async def test_execute_tells_what_the_compiler_said() -> None:
    machine = Machine()
    machine.compiler = lambda source: (
        ended(1, err=b"what?") if source == SOURCE else ended(product=MADE)
    )
    job = Job(work=Program(source=SOURCE), language="c++")
    execution, _ = await evaluation(machine).execute(job)
    assert (execution.ending, execution.stderr.data) == (Ending.COMPILE_ERROR, b"what?")


async def test_execute_runs_with_arguments_and_input() -> None:
    machine = Machine(
        program=lambda work: ended(out=work.stdin) if work.stdin != b"20 22\n" else ended(out=b"42")
    )
    job = Job(work=Program(source=SOURCE, args=("a", "b"), stdin=b"in"), language="c++")
    execution, _ = await evaluation(machine).execute(job)
    assert execution.stdout.data == b"in"
    assert _command(machine.jobs[-1]) == ("./main", "a", "b")
