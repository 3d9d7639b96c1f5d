"""Runs test programs apart from the solution, or compiled with it.

If the text allows it, tests and solution become two programs; see `split_programs`. Otherwise they
are one program. Then the solution can write anything that the tests could write, and the answer is
SHARED. Assertions that can be parsed are rewritten to write nonces (random words); see
`grading.compiled_tests.rewriting`. This makes cheating harder and more visible. Without such
assertions, only the exit status and the nonce at the end decide.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from reward_server.domain import (
    Ending,
    Execution,
    Integrity,
    Network,
    ProgramTests,
    RewardPolicy,
    Submission,
    TestOutcome,
    TestResult,
)
from reward_server.evaluation.graders.base import Candidate, Slots, read_aside
from reward_server.evaluation.graders.compilation import Programs
from reward_server.evaluation.graders.nonces import Nonces
from reward_server.evaluation.graders.outputs import kept, without_output
from reward_server.evaluation.graders.program_outcomes import NAME, judged
from reward_server.evaluation.graders.split_programs import (
    Parts,
    Splits,
    ran_any,
    ready_tests,
    run_apart,
)
from reward_server.grading.compiled_tests.assertions import Assertion, find_assertions, opened_for
from reward_server.grading.compiled_tests.rewriting import Rewritten, rewrite
from reward_server.grading.compiled_tests.vacuous import flaw_of_program
from reward_server.grading.extraction.other_languages import read_prompt
from reward_server.grading.verdict import Run
from reward_server.languages import Language
from reward_server.languages.composing import Composed
from reward_server.recent import Recent

BYTES_OF_CHARACTER = 40  # 33 were measured


async def program_grader(
    submission: Submission, language: Language, programs: Programs, splits: Splits
) -> ProgramGrader:
    """Reads a test program and returns its grader."""
    tests = submission.tests
    assert isinstance(tests, ProgramTests)

    def read() -> ProgramGrader:
        size = BYTES_OF_CHARACTER * len(tests.test_code)
        key = tests.test_code, language
        assertions = _known.find(key, size, lambda: _assertions(*key))
        prompt = read_prompt(submission.prompt, language).code
        parts: Parts | str = "programs that share a network"
        if submission.network is Network.NONE:
            parts = splits.parts(tests.test_code, language, prompt, assertions)
        return ProgramGrader(
            tests=tests,
            language=language,
            prompt=prompt,
            assertions=assertions,
            parts=None if isinstance(parts, str) else parts,
            reason=parts if isinstance(parts, str) else "",
            flaw=_flaws.find((*key, prompt), size, lambda: _flaw(*key, prompt)),
            required=submission.require_integrity,
            programs=programs,
            splits=splits,
        )

    return await read_aside(len(tests.test_code) + len(submission.prompt), read)


_known: Recent[tuple[Assertion, ...]] = Recent(32 << 20)
_flaws: Recent[str] = Recent(32 << 20)


def _assertions(test_code: str, language: Language) -> tuple[Assertion, ...]:
    if language.program is None or language.program.assertions is None:
        return ()
    return find_assertions(test_code, language.program.assertions)


def _flaw(test_code: str, language: Language, prompt: str) -> str:
    assertions = None if language.program is None else language.program.assertions
    return flaw_of_program(test_code, language.name, assertions, prompt)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramGrader:
    """Runs a test program once, apart from the solution or compiled with it.

    Args:
        tests: the program.
        language: the language of the program.
        prompt: the code that the solution continues; "" if there is none.
        assertions: the assertions of the program that can be rewritten.
        parts: the split program, if its text and the prompt's allow it.
        reason: the rule, the line and the construct that do not allow it.
        required: the least integrity that the request accepts.
        programs: makes programs ready to run.
        splits: splits programs.
        flaw: why no answer can fail it; "" if one can.
        draw: the source of nonces.
    """

    tests: ProgramTests
    language: Language
    prompt: str
    assertions: tuple[Assertion, ...]
    parts: Parts | None
    required: Integrity
    programs: Programs
    splits: Splits
    reason: str = ""
    flaw: str = ""
    draw: random.Random = random.SystemRandom()  # noqa: RUF009  # it holds no state

    @property
    def wanted(self) -> frozenset[str]:
        """No names, since the solution is compiled as a whole."""
        return frozenset()

    @property
    def integrity(self) -> Integrity:
        """The integrity that the tests' text allows."""
        return Integrity.SHARED if self.parts is None else Integrity.ISOLATED

    def remedy(self) -> str:
        """Returns why the tests are one program with the solution."""
        return f"they are one program with the solution ({self.reason})"

    def cost(self, policy: RewardPolicy) -> int:
        """Returns 2: the compiler's execution and the program's."""
        return 2

    def not_run(self) -> tuple[TestResult, ...]:
        """Returns a result for each parsed assertion, or else one for the program."""
        lines = [one.line for one in self.assertions for _ in one.parsed]
        names = [f"assertion {number} at line {line}" for number, line in enumerate(lines, 1)]
        return tuple(TestResult(name=name, outcome=TestOutcome.NOT_RUN) for name in names or [NAME])

    async def stands_alone(self, data: Mapping[str, bytes], slots: Slots) -> bool:
        """Returns True if the tests, with a stub as the solution, compile."""
        if self.parts is None:
            return False
        ready = await ready_tests(self.parts, self.language, data, slots, self.programs)
        return ready.refusal is None

    async def grade(self, candidate: Candidate, slots: Slots) -> list[Run]:
        """Makes the program ready and runs it; see `Grader`."""
        parts = self.parts
        if parts is None:
            return await self._grade_in_one(candidate, slots)
        found = await run_apart(parts, candidate, slots, self.programs)
        if isinstance(found, Execution):
            return await self._grade_after(found, parts, candidate, slots)
        last = found[-1]
        return [*found[:-1], last.with_tests(last.tests or self.not_run())]

    async def _grade_after(
        self, refusal: Execution, parts: Parts, candidate: Candidate, slots: Slots
    ) -> list[Run]:
        """Judges tests and solution as one program after they did not work as two."""
        ran = ran_any(refusal, parts, self.language)
        if self.required > Integrity.SHARED or not ran:
            message = f"the tests do not run apart from a solution: {refusal.message}"
            if not ran:
                message = "no test was run: all are ignored, or left out as they are compiled"
            broken = replace(refusal, ending=Ending.INVALID_TASK, message=message)
            return [Run.of(kept(broken), self.not_run())]
        if not refusal.limits_hit:
            self.splits.refuse(parts)
        runs = await self._grade_in_one(candidate, slots)
        return [replace(run, integrity=Integrity.SHARED) for run in runs]

    async def _grade_in_one(self, candidate: Candidate, slots: Slots) -> list[Run]:
        language = candidate.language
        assert language.program is not None
        nonces = Nonces.draw(self.draw)
        rewritten = self._rewritten(language, nonces)
        program = language.program

        def compose(solution: str) -> Composed:
            return program.compose(
                self._opened(solution), rewritten.text, secret=nonces.name, word=nonces.ending
            )

        composed = await candidate.read_by(compose)
        ready = await self.programs.ready(
            language,
            composed.source,
            slots,
            candidate.files,
            candidate.data,
            parts=composed.files,
            once=True,
        )
        if ready.refusal is not None:
            return [Run.of(kept(ready.refusal), self.not_run())]
        execution = await slots.run(ready.job(candidate.limits))
        run = judged(execution, rewritten, nonces, language)
        if ready.compilation is None:
            return [run]
        return [without_output(Run.of(ready.compilation, ())), run]

    def _opened(self, solution: str) -> str:
        program = self.language.program
        if program is None or program.assertions is None:
            return solution
        return opened_for(self.tests.test_code, solution, program.assertions)

    def _rewritten(self, language: Language, nonces: Nonces) -> Rewritten:
        assert language.program is not None
        if language.program.assertions is None:
            return Rewritten(text=self.tests.test_code, sites=())
        return rewrite(
            self.tests.test_code,
            self.assertions,
            language.program.assertions,
            secret=nonces.name,
            tag=nonces.tag,
            random=self.draw,
        )
