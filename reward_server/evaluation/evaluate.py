"""Judges a submission, from its text to its assessment."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Protocol

from reward_server.domain import (
    Assessment,
    CallTests,
    Checker,
    Execution,
    FunctionTests,
    ImageInfo,
    Job,
    Limits,
    Network,
    Program,
    ProgramTests,
    Provenance,
    RepositoryTests,
    StdioTests,
    Submission,
    UnitTests,
    Verdict,
)
from reward_server.errors import BudgetSpentError, DeadlineError, UnsupportedError
from reward_server.evaluation.assessment import assess, assess_unrun, shared_with
from reward_server.evaluation.budget import Budget, budget_seconds, together_seconds
from reward_server.evaluation.deduplication import (
    IdempotencyCache,
    SingleFlight,
    fingerprint,
    identity,
)
from reward_server.evaluation.graders.base import (
    CallGrader,
    Candidate,
    FunctionGrader,
    Grader,
    Slots,
    over_budget,
    read_aside,
)
from reward_server.evaluation.graders.compilation import Programs
from reward_server.evaluation.graders.compiled_test_files import suite_grader
from reward_server.evaluation.graders.function_test_files import InProcessGrader, function_grader
from reward_server.evaluation.graders.programs import ProgramGrader, program_grader
from reward_server.evaluation.graders.python_test_files import UnitGrader, plan
from reward_server.evaluation.graders.repository.grader import RepositoryGrader
from reward_server.evaluation.graders.repository.repositories import Repositories
from reward_server.evaluation.graders.split_programs import Splits
from reward_server.evaluation.graders.stdio import StdioGrader
from reward_server.evaluation.libraries import ASKED, Lacking, Libraries
from reward_server.evaluation.task_images import TaskImages, image_of
from reward_server.grading.extraction.continuation import read_prompt
from reward_server.grading.extraction.extract import Extracted, extract
from reward_server.grading.extraction.patch_text import extract_patch
from reward_server.grading.signatures import read_signature
from reward_server.grading.verdict import Run
from reward_server.languages import Language, Languages

DEFAULT_LIMITS = Limits()
DEFAULT_PARALLELISM = 4
_QUICK_CHARACTERS = 1 << 16
# A share of the caller's time is reserved for sending the answer back, up to this maximum.
_WAY_BACK_SHARE, _WAY_BACK_SECONDS = 0.05, 0.5


class Admission(Protocol):
    """Decides which submissions may enter; a scheduler."""

    @property
    def slots(self) -> int:
        """Executions that run at once."""

    def admit(
        self, deadline: float | None = None, cost: int = 1, owner: str = ""
    ) -> AbstractAsyncContextManager[Slots]:
        """Lets a submission in for the length of the block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """A submission, the language that it names, and its grader."""

    submission: Submission
    language: Language
    grader: Grader


class Evaluation:
    """Judges submissions.

    Args:
        scheduler: lets submissions in and runs their jobs.
        languages: the languages that the server offers.
        provenance: where answers come from, by canonical language name.
        checker_limits: limits of a checker program's execution.
        parallelism: greatest number of executions of one submission at the same time.
        window_size: how many answers are kept by id.
        window_seconds: how long an answer is kept by id.
        clock: returns the time in seconds, for the window.
        repositories: the repositories that tasks name.
        images: the images that tasks can name.
    """

    def __init__(
        self,
        scheduler: Admission,
        languages: Languages,
        *,
        provenance: Mapping[str, Provenance],
        checker_limits: Limits = DEFAULT_LIMITS,
        parallelism: int = DEFAULT_PARALLELISM,
        window_size: int = 4096,
        window_seconds: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
        repositories: Repositories | None = None,
        images: Iterable[ImageInfo] = (),
    ) -> None:
        self._scheduler = scheduler
        self._repositories = repositories or Repositories()
        self._languages = languages
        self._provenance = provenance
        self._images = TaskImages(images, provenance)
        self._checker_limits = checker_limits
        self._programs = Programs(checker_limits)
        self._libraries = Libraries(self._programs, checker_limits)
        self._splits = Splits()
        self._parallelism = parallelism
        self._idempotency = IdempotencyCache(count=window_size, seconds=window_seconds, clock=clock)
        self._single_flight: SingleFlight[Assessment] = SingleFlight()

    async def score(
        self, submission: Submission, *, deadline: float | None = None, owner: str = ""
    ) -> Assessment:
        """Judges a submission, or gives it the answer of an identical one of the same owner.

        Args:
            submission: what to judge.
            deadline: on the running loop's clock; None for never.
            owner: the owner of the submission; it does not know ids and answers of other owners.

        Raises:
            InvalidRequestError: the id was used for other content.
            UnsupportedError: the language, or the integrity required, is not on offer.
            OverloadedError, DrainingError: there is no room, or not before the deadline.
            DeadlineError: the deadline was not met.
            SandboxError: the server failed.
        """
        language = self._languages.find(submission.language)
        prepared = await self._prepared(submission, language, owner)
        grader = prepared.grader
        if submission.require_integrity > grader.integrity:
            raise UnsupportedError(self._too_little(prepared))
        if not submission.id:
            return await self._shared(prepared, deadline, owner)
        name, key = (owner, submission.id), fingerprint(submission, owner)
        if answer := self._idempotency.recall(name, key):
            return shared_with(submission, answer)
        with self._idempotency.claim(name, key):
            assessment = await self._shared(prepared, deadline, owner)
        self._idempotency.keep(name, key, assessment)
        return assessment

    async def execute(
        self, job: Job, *, deadline: float | None = None, owner: str = ""
    ) -> tuple[Execution, Provenance]:
        """Runs a program without grading it, and returns what it did.

        Raises:
            UnsupportedError: the language or a limit is not on offer.
            OverloadedError, DrainingError: there is no room, or not before the deadline.
            DeadlineError: the deadline was not met.
            SandboxError: the server failed.
        """
        language, program = self._languages.find(job.language), job.work
        assert isinstance(program, Program)
        async with self._scheduler.admit(deadline=deadline, owner=owner) as slots:
            programs = self._programs.of(owner)
            ready = await programs.ready(
                language, program.source, slots, program.files, program.data
            )
            run = ready.job(job.limits, stdin=program.stdin, args=program.args)
            execution = ready.refusal or await slots.run(replace(run, network=job.network))
        return execution, self._provenance[language.name]

    async def _shared(self, prepared: _Prepared, deadline: float | None, owner: str) -> Assessment:
        submission = prepared.submission
        try:
            async with asyncio.timeout_at(deadline) as scope:
                assessment, shared = await self._single_flight.join(
                    identity(submission, owner),
                    lambda: self._judge(prepared, _way_back(deadline), owner),
                )
        except TimeoutError:
            if scope.expired():
                raise DeadlineError("the deadline passed before the program was judged") from None
            raise
        return shared_with(submission, assessment) if shared else assessment

    async def _prepared(self, submission: Submission, language: Language, owner: str) -> _Prepared:
        grader = await self._grader(submission, language, owner)
        return _Prepared(submission=submission, language=language, grader=grader)

    async def _judge(self, prepared: _Prepared, deadline: float | None, owner: str) -> Assessment:
        """Judges a submission, without imports that its sandbox lacks and its task does not use."""
        lacking = self._libraries.known(prepared.submission, prepared.language, owner)
        if not lacking:
            assessment = await self._judge_whole(prepared, deadline, owner)
            is_clear = lacking is not None or prepared.grader.flaw
            if is_clear or assessment.verdict not in ASKED:
                return assessment
            lacking = await self._lacking(prepared, deadline, owner)
            if not lacking:
                return assessment
        if lacking.needed:
            reason = f"the sandbox lacks what the task imports: {', '.join(lacking.needed)}"
            return self._unrun(prepared, reason, Verdict.INVALID_TASK, lacking.needed)
        left = lacking.left_out(prepared.submission)
        again = await self._prepared(left, prepared.language, owner)
        return await self._judge_whole(again, deadline, owner)

    async def _lacking(self, prepared: _Prepared, deadline: float | None, owner: str) -> Lacking:
        submission, language = prepared.submission, prepared.language
        async with self._scheduler.admit(deadline=deadline, owner=owner) as slots:

            async def compiles(other: Submission) -> bool:
                grader = (await self._prepared(other, language, owner)).grader
                data = dict(other.data_files)
                return isinstance(grader, ProgramGrader) and await grader.stands_alone(data, slots)

            return await self._libraries.find(submission, language, owner, slots, compiles)

    def _unrun(
        self,
        prepared: _Prepared,
        reason: str,
        verdict: Verdict = Verdict.COMPILE_ERROR,
        missing_modules: tuple[str, ...] = (),
    ) -> Assessment:
        submission, grader = prepared.submission, prepared.grader
        return assess_unrun(
            submission,
            grader.not_run(),
            reason,
            verdict=verdict,
            integrity=grader.integrity,
            provenance=self._images.provenance(submission.tests, prepared.language),
            missing_modules=missing_modules,
        )

    async def _judge_whole(
        self, prepared: _Prepared, deadline: float | None, owner: str
    ) -> Assessment:
        submission, language, grader = prepared.submission, prepared.language, prepared.grader
        cost = grader.cost(submission.reward_policy)

        if grader.flaw:
            return self._unrun(prepared, grader.flaw, Verdict.INVALID_TASK)
        if submission.refusal:
            return self._unrun(prepared, submission.refusal)
        async with self._scheduler.admit(deadline=deadline, cost=cost, owner=owner) as slots:
            extracted = await _extract(prepared)
            if not extracted.found:
                return self._unrun(prepared, "the completion holds no fenced code")
            candidate = _candidate(prepared, extracted)
            await self._images.check(submission.tests, language, slots)
            budget = self._budget(prepared, slots, deadline)
            runs = await graded_within(grader, candidate, budget)
        return assess(
            submission,
            runs,
            integrity=grader.integrity,
            provenance=self._images.provenance(submission.tests, language),
            has_code_block=extracted.has_code_block,
        )

    def _budget(self, prepared: _Prepared, slots: Slots, deadline: float | None) -> Budget:
        submission = prepared.submission
        side_by_side = self._parallelism if isinstance(prepared.grader, StdioGrader) else 1
        seconds = budget_seconds(submission.time_budget_seconds, submission.limits)
        return Budget(
            slots,
            width=min(side_by_side, self._scheduler.slots),
            seconds=seconds,
            together_seconds=together_seconds(_remaining(deadline), seconds, submission.limits),
            network=submission.network,
        )

    async def _grader(self, submission: Submission, language: Language, owner: str) -> Grader:
        match submission.tests:
            case FunctionTests() as tests:
                prompt = read_prompt(submission.prompt, language).executable
                return await function_grader(tests, prompt)
            case CallTests() as tests:
                prompt, entry_point = submission.prompt, tests.entry_point
                told = await read_aside(len(prompt), read_signature, prompt, entry_point)
                return CallGrader(tests=tests, signature=told)
            case StdioTests() as tests:
                return StdioGrader(
                    tests=tests,
                    programs=self._programs.of(owner),
                    checker_language=self._checker_language(tests.checker, language),
                    checker_limits=self._checker_limits,
                    parallelism=self._parallelism,
                )
            case UnitTests() as tests if language.unit is not None:
                return await suite_grader(tests, language, self._programs.of(owner))
            case UnitTests() as tests:
                is_networked = submission.network is not Network.NONE
                reasons = ("they share a network",) if is_networked else ()
                known = await plan(tests, submission.prompt, reasons)
                return UnitGrader(tests=tests, plan=known)
            case ProgramTests():
                programs, splits = self._programs.of(owner), self._splits.of(owner)
                return await program_grader(submission, language, programs, splits)
            case RepositoryTests() as tests:
                repository = await self._repositories.of(tests)
                return RepositoryGrader(
                    tests=tests,
                    repository=repository,
                    language=language.name,
                    is_whole=submission.is_whole,
                )

    def _too_little(self, prepared: _Prepared) -> str:
        """Returns why tests give less integrity than is required, and which tests give more."""
        grader, required = prepared.grader, prepared.submission.require_integrity
        told = f"{required.name} is not on offer for these tests: {grader.integrity.name} is"
        if isinstance(grader, (UnitGrader, InProcessGrader, FunctionGrader)):
            return f"{told}, since {grader.remedy()}"
        if isinstance(grader, CallGrader):
            return f"{told}, since no signature in the prompt says whether arrays are nodes"
        if isinstance(grader, RepositoryGrader):
            return f"{told}, since tests run in one process with the repository's code"
        if prepared.language.toolchain is None:
            return told
        since = "they are one program with the solution"
        if isinstance(grader, ProgramGrader):
            since = grader.remedy()
        return (
            f"{told}, since {since}. ISOLATED are tests of standard "
            "input and output in every language, and test programs without a network in "
            f"{', '.join(self._languages.apart)} whose text, with the prompt's, lets them run "
            "apart from the solution; see docs/reference/languages.md"
        )

    def _checker_language(self, checker: Checker, language: Language) -> Language:
        """Returns the language of the checker program; the solution's language if there is none."""
        if not checker.is_program:
            return language
        return self._languages.find(checker.program_language)


def _way_back(deadline: float | None) -> float | None:
    """Returns the time by which a submission must be judged for its answer to arrive in time."""
    if deadline is None:
        return None
    remaining = max(_remaining(deadline), 0.0)
    return deadline - min(remaining * _WAY_BACK_SHARE, _WAY_BACK_SECONDS)


def _remaining(deadline: float | None) -> float:
    return math.inf if deadline is None else deadline - asyncio.get_running_loop().time()


async def graded_within(grader: Grader, candidate: Candidate, budget: Budget) -> list[Run]:
    """Returns a grader's runs; if the budget was used up before the first, one run that says so."""
    try:
        return await grader.grade(candidate, budget)
    except BudgetSpentError as error:
        return [over_budget(error, grader.not_run())]


def _candidate(prepared: _Prepared, extracted: Extracted) -> Candidate:
    submission = prepared.submission
    return Candidate(
        source=extracted.source,
        prompt=extracted.prompt,
        language=prepared.language,
        limits=submission.limits,
        policy=submission.reward_policy,
        files=dict(submission.files),
        data=dict(submission.data_files),
        executable=frozenset(submission.executable),
        image=image_of(submission.tests),
        required=submission.require_integrity,
    )


async def _extract(prepared: _Prepared) -> Extracted:
    submission = prepared.submission

    def work() -> Extracted:
        if isinstance(submission.tests, RepositoryTests):
            return extract_patch(submission.completion, submission.extraction)
        return extract(
            submission.completion,
            extraction=submission.extraction,
            dialect=prepared.language,
            prompt=submission.prompt,
            wanted=prepared.grader.wanted,
            is_text=isinstance(submission.tests, StdioTests) and bool(submission.tests.harness),
        )

    if len(submission.completion) <= _QUICK_CHARACTERS:
        return work()
    return await asyncio.to_thread(work)
