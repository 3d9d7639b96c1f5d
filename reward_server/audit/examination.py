"""Examines one task: texts first, then its reference solution, then the cheats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codereward.v1 import reward_service_pb2 as pb
from reward_server.audit.answers import Answer, Judge, judged_all
from reward_server.audit.cheats.cheat import Cheat, fenced
from reward_server.audit.cheats.choice import cheats_of
from reward_server.audit.cheats.reading import places_found, reading_request
from reward_server.audit.findings import TaskReport
from reward_server.audit.references import Examiner, examine_reference
from reward_server.audit.tasks import Task
from reward_server.audit.texts.emptiness import why_no_tests
from reward_server.audit.texts.leaks import answers_in_data, leaks_in_prompt
from reward_server.audit.texts.source import reference_tree

__all__ = ["Options", "examine"]

# A task that nothing passes may still be one that an empty answer passes.
_OF_BROKEN = ("empty_passes", "constant_passes")
_BROKEN = ("no_tests", "invalid_task", "reference_fails", "not_judged")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How much is tried.

    Args:
        runs: number of runs of each reference solution, at least 2.
        more_runs: further runs if a text uses time, threads or random numbers.
        margin: factor between the use of the reference solution and suggested limits.
        hacks: whether generic attacks are tried.
    """

    runs: int = 3
    more_runs: int = 12
    margin: float = 4.0
    hacks: bool = True


async def examine(
    task: Task, judge: Judge, info: pb.GetServerInfoResponse, options: Options
) -> TaskReport:
    """Examines a task; each fault becomes a finding."""
    report = TaskReport(id=task.id, digest=task.digest, language=task.language, tests=task.kind)
    _read_texts(task, report)
    if not task.kind:
        return report
    examiner = Examiner(task=task, judge=judge, info=info, report=report)
    if task.reference.strip():
        await examine_reference(
            examiner, runs=options.runs, more_runs=options.more_runs, margin=options.margin
        )
    else:
        report.found("no_reference", "the line has no reference solution")
    await _try_cheats(task, judge, report, with_hacks=options.hacks)
    if not report.has(*_BROKEN):
        await _look_inside(task, judge, report)
    return report


def _read_texts(task: Task, report: TaskReport) -> None:
    if why := why_no_tests(task):
        report.found("no_tests", why)
    for leak in leaks_in_prompt(task):
        report.found("leak", leak)
    for answer in answers_in_data(task):
        report.found("answers_in_data", answer)


async def _try_cheats(task: Task, judge: Judge, report: TaskReport, *, with_hacks: bool) -> None:
    """Judges the cheats; if the task is broken, only those that show whether it tests anything."""
    if report.has("invalid_task", "not_judged", "no_tests"):
        return
    is_broken = report.has(*_BROKEN)
    cheats = list(cheats_of(task, with_hacks=with_hacks and not is_broken))
    cheats = [one for one in cheats if not is_broken or one.kind in _OF_BROKEN]
    answers = await judged_all(judge, [_request(task, one, report) for one in cheats])
    report.cheats.extend(one.name for one in cheats)
    if any(one.is_refused for one in answers) and not task.reference:
        report.found("invalid_task", next(one.reason for one in answers if one.is_refused))
        return
    if lost := [one for one in answers if one.is_lost]:
        report.found("not_judged", lost[0].reason)
    if not report.integrity and not answers[0].status:
        report.integrity = answers[0].integrity
    _conclude(task, report, list(zip(cheats, answers, strict=True)))


def _request(task: Task, cheat: Cheat, report: TaskReport) -> pb.ScoreRequest:
    plain = task.template.extraction == pb.EXTRACTION_NONE
    request = task.filled(cheat.code if plain or not cheat.code else fenced(cheat.code))
    request.language = cheat.language or request.language
    if report.placement:
        request.function.placement = pb.TestPlacement.Value(report.placement)
    return request


def _conclude(task: Task, report: TaskReport, judged: Sequence[tuple[Cheat, Answer]]) -> None:
    """Makes one finding for each kind of cheat that earns something."""
    passing: dict[str, list[str]] = {}
    for cheat, answer in judged:
        if answer.passed:
            passing.setdefault(cheat.kind, []).append(cheat.name)
    for kind, names in passing.items():
        report.found(
            kind, ", ".join(names[:5]) + (f" and {len(names) - 5} more" if names[5:] else "")
        )
    bonus = task.template.reward_policy.compile_bonus + task.template.reward_policy.format_bonus
    paid = [
        (answer.response.reward, cheat.name)
        for cheat, answer in judged
        if not answer.status and not answer.passed and answer.response.reward > bonus
    ]
    if paid:
        most, name = max(paid)
        report.found("partial_reward", f"{name} earns {most:.2f}")


async def _look_inside(task: Task, judge: Judge, report: TaskReport) -> None:
    tree = reference_tree(task)
    if tree is None:
        return
    request = reading_request(task, tree)
    if request is None:
        return
    if report.placement:
        request.function.placement = pb.TestPlacement.Value(report.placement)
    places = places_found(await judge(request))
    if places:
        report.found("tests_readable", f"a marker in the tests was found in {', '.join(places)}")
