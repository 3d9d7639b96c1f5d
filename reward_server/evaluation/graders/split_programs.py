"""Runs tests and solution as two programs in one execution.

The tests' program is made of trusted text only (see `grading.compiled_tests.split`). It is compiled
once for each task. The solution cannot write its output or set its exit status.

The text of a test program decides whether it can be split. Nevertheless the tests' program may not
compile, or may end before it has called the solution. Then tests and solution are judged as one
program, and the answer is SHARED.
"""

from __future__ import annotations

import copy
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from reward_server.domain import (
    CapturedStream,
    Commands,
    Ending,
    Execution,
    Integrity,
    Job,
    SplitPrograms,
    TestOutcome,
    TestResult,
    TestsProgram,
)
from reward_server.evaluation.graders.base import Candidate, Slots
from reward_server.evaluation.graders.compilation import Programs, Ready
from reward_server.evaluation.graders.nonces import Nonces
from reward_server.evaluation.graders.outputs import kept, without_output
from reward_server.evaluation.graders.program_outcomes import NAME, judged, ran_tests
from reward_server.grading.compiled_tests.assertions import Assertion, opened_for
from reward_server.grading.compiled_tests.rewriting import Rewritten, rewrite
from reward_server.grading.compiled_tests.split import Source, Split, Task, taken_apart
from reward_server.grading.verdict import Run
from reward_server.languages import Language
from reward_server.languages.composing import Composed
from reward_server.recent import Recent

# Of the text, the two programs and what was cut out of them.
_BYTES_OF_CHARACTER = 40
_REFUSED_BYTES = 1 << 20
_SALT_BYTES = 32
_EMPTY = CapturedStream()
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A test program that was split.

    Args:
        key: the digest of its inputs.
        split: makes the solution's program from the solution.
        tests: the tests' program.
        rewritten: the words that its assertions write.
        nonces: the nonces in these words.
    """

    key: bytes
    split: Split
    tests: Composed
    rewritten: Rewritten
    nonces: Nonces


class Splits:
    """Splits test programs, and remembers those that did not work as two programs.

    The tests' program of a task stays the same for an owner, so that it is compiled once. Its
    nonces come from the secret salt of this object. A solution of one owner may show that a program
    cannot be split. This does not change how the program is run for another owner.
    """

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(_SALT_BYTES)
        self._parts: Recent[Parts | str] = Recent(64 << 20)
        self._refused: Recent[bool] = Recent(_REFUSED_BYTES)
        self._owner = ""

    def of(self, owner: str) -> Splits:
        """Returns the split programs of one owner; they share the memory with those of others."""
        view = copy.copy(self)
        view._owner = owner
        return view

    def parts(
        self, tests: str, language: Language, prompt: str, assertions: tuple[Assertion, ...]
    ) -> Parts | str:
        """Splits a program by its text and the prompt's, or returns why it needs the solution.

        Args:
            tests: the program.
            language: the language of the program.
            prompt: the code that the solution continues; "" if there is none.
            assertions: the assertions of the program that can be rewritten.
        """
        key = self._key(self._owner, language.name, prompt, tests)
        if self._refused.get(key):
            return "its parts do not run as two programs"
        size = _BYTES_OF_CHARACTER * (len(tests) + len(prompt))
        return self._parts.find(
            key, size, lambda: self._made(key, tests, language, prompt, assertions)
        )

    def refuse(self, parts: Parts) -> None:
        """Remembers that a program cannot be split, although its text seems to allow it."""
        self._refused.put(parts.key, 0, True)

    def _key(self, *texts: str) -> bytes:
        digest = hashlib.blake2b(key=self._salt, digest_size=32)
        for text in texts:
            encoded = text.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(encoded))
            digest.update(encoded)
        return digest.digest()

    def _made(
        self,
        key: bytes,
        tests: str,
        language: Language,
        prompt: str,
        assertions: tuple[Assertion, ...],
    ) -> Parts | str:
        program = language.program
        if program is None or program.assertions is None or not program.split:
            return f"test programs in {language.name} do not run apart"
        task = Task(prompt=prompt, tests=tests, language=program.assertions)
        split = taken_apart(program.split, task)
        if isinstance(split, str):
            return split
        random = Random(key)
        drawn = Nonces.draw(random)
        rewritten = rewrite(
            tests,
            assertions,
            program.assertions,
            secret=drawn.name,
            tag=drawn.tag,
            random=random,
            perturbed=False,
        )
        stubs = opened_for(tests, split.stubs.text, program.assertions)
        composed = program.compose(stubs, rewritten.text, secret=drawn.name, word=drawn.ending)
        files = {**split.stubs.files, **composed.files}
        return Parts(
            key=key,
            split=split,
            tests=Composed(source=composed.source, files=files),
            rewritten=rewritten,
            nonces=drawn,
        )


async def run_apart(
    parts: Parts, candidate: Candidate, slots: Slots, programs: Programs
) -> list[Run] | Execution:
    """Runs tests and solution as two programs.

    Returns:
        The runs. If the two programs do not work, it is the execution that showed this; in it, no
        code of the solution ran.

    Raises:
        SandboxError, DeadlineError: as the slots.
    """
    language = candidate.language
    tests = await ready_tests(parts, language, candidate.data, slots, programs)
    if tests.refusal is not None:
        return tests.refusal
    serving = await candidate.read_by(parts.split.serving)
    solution = await _ready(serving, candidate, slots, programs)
    runs = [_compiled(one) for one in (tests.compilation, solution.compilation) if one is not None]
    if solution.refusal is not None:
        return [*runs[:-1], _isolated(Run.of(kept(solution.refusal), ()))]
    options = parts.split.stubs.options
    work = SplitPrograms(
        tests=_with_options(_work(tests, candidate), options), solution=_work(solution, candidate)
    )
    execution = await slots.run(candidate.job(work))
    if execution.ending is Ending.INVALID_TASK:
        return execution
    if execution.ending is Ending.COMPILE_ERROR:
        return [*runs, _isolated(Run.of(kept(execution), ()))]
    run = judged(_of_tests(execution), parts.rewritten, parts.nonces, language)
    completed = run.execution.ending is Ending.COMPLETED
    idle = all(one.idle for one in parts.rewritten.sites)
    if completed and idle and all(one.outcome is TestOutcome.SKIPPED for one in run.tests):
        # A right solution reaches no assertion either, and still reaches the end.
        whole = TestResult(name=NAME, outcome=TestOutcome.PASSED)
        run = run.with_tests((whole, *run.tests))
    stdout = _joined(run.execution.stdout, execution.stdout)
    return [*runs, _isolated(replace(run, execution=replace(run.execution, stdout=stdout)))]


async def ready_tests(
    parts: Parts, language: Language, data: Mapping[str, bytes], slots: Slots, programs: Programs
) -> Ready:
    """Makes the tests' program ready, which is made of the task alone.

    Args:
        parts: the tests' program.
        language: of the tests.
        data: the files of the task.
        slots: where the compiler runs.
        programs: makes programs ready to run.

    Raises:
        SandboxError, DeadlineError: as the slots.
    """
    library = await _library(parts.split.stubs, language, slots, programs)
    files = {**library, **parts.tests.files}
    source = parts.tests.source
    return await programs.ready(language.of_tests, source, slots, data=data, parts=files)


def ran_any(refusal: Execution, parts: Parts, language: Language) -> bool:
    """Returns False if a tests' program reached its end without a call of the solution and without
    a test."""
    tests = refusal.tests_program
    if tests is None or parts.nonces.ending.encode() not in tests.stdout.data:
        return True
    return ran_tests(tests.stdout, language)


async def _ready(source: Source, candidate: Candidate, slots: Slots, programs: Programs) -> Ready:
    language = candidate.language
    library = await _library(source, language, slots, programs)
    files, data, parts = candidate.files, candidate.data, {**library, **source.files}
    if not source.is_ready:
        return await programs.ready(
            language, source.text, slots, files, data, parts=parts, once=True
        )
    parts[language.source_file(source.text)] = source.text.encode("utf-8", "surrogatepass")
    return Ready(language=language, source=source.text, files={**files, **parts}, data=data)


async def _library(
    source: Source, language: Language, slots: Slots, programs: Programs
) -> Mapping[str, bytes]:
    return await programs.library(language, source.library, slots) if source.library else {}


def _work(program: Ready, candidate: Candidate) -> Commands:
    job: Job = program.job(candidate.limits)
    assert isinstance(job.work, Commands)
    return job.work


def _with_options(work: Commands, options: tuple[str, ...]) -> Commands:
    [[name, *arguments]] = work.commands
    return replace(work, commands=((name, *options, *arguments),))


def _of_tests(execution: Execution) -> Execution:
    """Returns the execution, with the end and the output of the tests' program as its own."""
    tests = execution.tests_program or TestsProgram(termination=None, stdout=_EMPTY, stderr=_EMPTY)
    return replace(
        execution,
        termination=tests.termination or execution.termination,
        stdout=tests.stdout,
        stderr=_joined(tests.stderr, execution.stderr),
        tests_program=None,
    )


def _joined(first: CapturedStream, second: CapturedStream) -> CapturedStream:
    return CapturedStream(
        data=first.data + second.data, size_bytes=first.size_bytes + second.size_bytes
    )


def _compiled(execution: Execution) -> Run:
    return without_output(_isolated(Run.of(execution, ())))


def _isolated(run: Run) -> Run:
    return replace(run, integrity=Integrity.ISOLATED)
