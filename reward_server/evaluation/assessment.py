"""Builds an assessment from the results of executions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from reward_server.domain import (
    Assessment,
    Execution,
    Integrity,
    Provenance,
    Submission,
    TestOutcome,
    TestResult,
    Usage,
    Verdict,
)
from reward_server.grading.missing_modules import missing_modules
from reward_server.grading.reward import reward
from reward_server.grading.verdict import LOWERED, Run, conclude


def assess(
    submission: Submission,
    runs: Sequence[Run],
    *,
    integrity: Integrity,
    provenance: Provenance,
    has_code_block: bool,
) -> Assessment:
    """Concludes the verdict and the reward of a submission that was run.

    A pass with less integrity than the request requires gets no reward.
    """
    policy = submission.reward_policy
    found = [run.integrity for run in runs if run.integrity is not None]
    integrity = min(found) if found else integrity
    if integrity < submission.require_integrity:
        runs = [_taken_back(run, integrity) for run in runs]
    conclusion = conclude(policy, runs)
    tests = tuple(test for run in runs for test in run.tests)
    decisive = conclusion.execution
    executions = [run.execution for run in runs]
    return Assessment(
        id=submission.id,
        verdict=conclusion.verdict,
        reward=reward(policy, conclusion.verdict, tests, has_code_block=has_code_block),
        integrity=integrity,
        tests=tests,
        message=conclusion.message,
        stdout=decisive.stdout,
        stderr=decisive.stderr,
        termination=decisive.termination,
        usage=_summed(executions),
        limits_hit=tuple(dict.fromkeys(hit for one in executions for hit in one.limits_hit)),
        signals=_merged_signals(executions),
        provenance=provenance,
        missing_modules=() if conclusion.verdict is Verdict.PASSED else missing_modules(runs),
    )


def _taken_back(run: Run, integrity: Integrity) -> Run:
    rules = ", ".join(sorted(name for name in run.execution.signals if name.startswith(LOWERED)))
    why = f" ({rules})" if rules else ""
    message = f"it passed, but not with the integrity that is required: {integrity.name}{why}"
    return run.without_passes(TestOutcome.FAILED, message)


def assess_unrun(
    submission: Submission,
    tests: tuple[TestResult, ...],
    reason: str,
    *,
    verdict: Verdict,
    integrity: Integrity,
    provenance: Provenance,
    missing_modules: tuple[str, ...] = (),
) -> Assessment:
    """Judges a completion that need not run: it holds no program, or its task is invalid."""
    return Assessment(
        id=submission.id,
        verdict=verdict,
        reward=reward(submission.reward_policy, verdict, tests),
        integrity=integrity,
        tests=tests,
        message=reason,
        usage=Usage(executions=0),
        provenance=provenance,
        missing_modules=missing_modules,
    )


def shared_with(submission: Submission, assessment: Assessment) -> Assessment:
    """Returns the same answer for another submission."""
    return replace(assessment, id=submission.id, deduplicated=True)


def _summed(executions: Sequence[Execution]) -> Usage:
    used = [execution.usage for execution in executions]
    return Usage(
        cpu_time_seconds=math.fsum(one.cpu_time_seconds for one in used),
        wall_time_seconds=math.fsum(one.wall_time_seconds for one in used),
        queue_time_seconds=math.fsum(one.queue_time_seconds for one in used),
        peak_memory_bytes=max(one.peak_memory_bytes for one in used),
        executions=len(used),
    )


def _merged_signals(executions: Sequence[Execution]) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for execution in executions:
        counted.update(execution.signals)
    return dict(counted)
