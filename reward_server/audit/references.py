"""Judges a reference solution: does it pass, always, in any order, within its limits?"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from dataclasses import dataclass

from codereward.v1 import reward_service_pb2 as pb
from reward_server.audit.answers import Answer, Judge, judged_all
from reward_server.audit.findings import TaskReport
from reward_server.audit.limits import ample, are_limits_hit, needs_of, tight
from reward_server.audit.tasks import Task, text_of_tests
from reward_server.audit.texts.examples import CallExample, call_examples, run_examples
from reward_server.audit.texts.reordering import reordered

_CHANCE = re.compile(
    r"\b(?:random|secrets|uuid|time|datetime|thread\w*|Thread\w*|asyncio|urandom|shuffle|rand|srand|"
    r"hash|id|now|perf_counter|monotonic|getpid|Random|Math\.random|nanoTime|mt19937)\b"
)
_ORDER_TRIES = 2
_SAME = """
def _same(got, wanted, _digits):
    if isinstance(wanted, float) or isinstance(got, float):
        try:
            near = max(1e-6 * abs(wanted), 0.6 * 10.0 ** -_digits)
            return got == wanted or abs(got - wanted) <= near
        except TypeError:
            return False
    if isinstance(wanted, (list, tuple)) and isinstance(got, (list, tuple)):
        return len(got) == len(wanted) and all(_same(a, b, _digits) for a, b in zip(got, wanted))
    return got == wanted
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examiner:
    """What the checks of a task share."""

    task: Task
    judge: Judge
    info: pb.GetServerInfoResponse
    report: TaskReport


async def examine_reference(one: Examiner, *, runs: int, more_runs: int, margin: float) -> None:
    """Judges the reference solution many times, in several ways."""
    first = await one.judge(one.task.filled(one.task.reference))
    if first.is_refused or first.is_lost:
        kind = "not_judged" if first.is_lost else "invalid_task"
        if kind != "invalid_task" or not one.report.has("no_tests"):
            one.report.found(kind, first.reason)
        return
    one.report.integrity = first.integrity
    count = runs + (more_runs if _is_left_to_chance(one.task) else 0)
    base = one.task.filled(one.task.reference)
    answers = [first, *await judged_all(one.judge, _varied(base, count - 1))]
    one.report.runs = len(answers)
    one.report.passed = sum(answer.passed for answer in answers)
    if not one.report.passed:
        answers = await _rescued(one, first, base)
    elif one.report.passed < len(answers):
        _found_flaky(one, answers)
    one.report.needs = needs_of(answers, one.info, margin)
    if one.report.passed == one.report.runs:
        await _examine_passing(one)


async def _examine_passing(one: Examiner) -> None:
    if one.report.needs is not None and (
        why := tight(one.report.needs, one.task.template, one.info)
    ):
        one.report.found("limit_tight", why)
    await _check_order(one)
    await _check_examples(one)


def _varied(request: pb.ScoreRequest, count: int) -> list[pb.ScoreRequest]:
    """Returns requests that the server does not take for the same one: it would judge only one."""
    found = []
    for number in range(1, count + 1):
        other = pb.ScoreRequest()
        other.CopyFrom(request)
        other.completion = request.completion + "\n" * number
        found.append(other)
    return found


def _is_left_to_chance(task: Task) -> bool:
    return bool(_CHANCE.search(f"{task.reference}\n{text_of_tests(task.template)}"))


def _found_flaky(one: Examiner, answers: list[Answer]) -> None:
    if all(answer.passed or are_limits_hit(answer) for answer in answers):
        reason = f"{one.report.passed} of {len(answers)} runs pass, others hit a limit"
        one.report.found("limit_too_small", reason)
        return
    reasons = Counter(answer.reason for answer in answers if not answer.passed)
    reason, _ = reasons.most_common(1)[0]
    one.report.found("flaky", f"{one.report.passed} of {len(answers)} runs pass; {reason}")


async def _rescued(one: Examiner, failed: Answer, base: pb.ScoreRequest) -> list[Answer]:
    """Tries larger limits, and tests beside it, for a solution that never passes."""
    if are_limits_hit(failed):
        wide = await one.judge(ample(base, one.info))
        if wide.passed:
            one.report.found("limit_too_small", f"{failed.reason}; it passes with larger limits")
            return [wide]
    is_open = one.task.kind == "function" and not one.task.template.function.placement
    if is_open and _ran_apart(failed):
        base.function.placement = pb.TEST_PLACEMENT_BESIDE
        answers = await judged_all(one.judge, [base, *_varied(base, one.report.runs - 1)])
        if all(answer.passed for answer in answers):
            one.report.placement = "TEST_PLACEMENT_BESIDE"
            one.report.integrity = answers[0].integrity
            one.report.passed = len(answers)
            return answers
    one.report.found("reference_fails", failed.reason)
    return [failed]


def _ran_apart(answer: Answer) -> bool:
    """Returns True if the tests ran in a separate judge."""
    is_lowered = any(name.startswith("lowered_") for name in answer.response.signals)
    return answer.integrity == "ISOLATED" or is_lowered


async def _check_order(one: Examiner) -> None:
    request = reordered(one.task)
    if request is None:
        return
    if one.report.placement:
        request.function.placement = pb.TestPlacement.Value(one.report.placement)
    request.completion = one.task.reference
    answers = await judged_all(one.judge, [request, *_varied(request, _ORDER_TRIES - 1)])
    if not any(answer.passed or answer.status or answer.is_refused for answer in answers):
        one.report.found("order_dependent", f"in the opposite order: {answers[0].reason}")


async def _check_examples(one: Examiner) -> None:
    """Runs the examples of the prompt against the reference solution."""
    if one.task.kind == "stdio":
        await _check_runs(one)
        return
    examples = [example for example in call_examples(one.task) if _is_plain(one.task, example)]
    if not examples or one.task.kind not in ("function", "call"):
        return
    request = one.task.filled(one.task.reference)
    setup = request.function.setup_code
    request.function.Clear()
    request.function.entry_point = one.task.entry_point
    request.function.setup_code = f"{setup}\n{_SAME}"
    request.reward_policy.Clear()
    request.reward_policy.kind = pb.REWARD_POLICY_KIND_FRACTION
    request.function.asserts.extend(
        f"assert _same({example.text}, {example.value!r}, {_digits(example.value)})"
        for example in examples
    )
    answer = await one.judge(request)
    wrong = [
        (example, test.message)
        for example, test in zip(examples, answer.response.tests, strict=False)
        if test.outcome in (pb.TEST_OUTCOME_FAILED, pb.TEST_OUTCOME_ERROR)
    ]
    if wrong and len(answer.response.tests) == len(examples):
        example, message = wrong[0]
        shown = " ".join(f"{example.line[:100]} shows {example.value!r}; {message}".split())
        one.report.found("example_contradicts", f"{len(wrong)} of {len(examples)}: {shown[:300]}")


def _is_plain(task: Task, example: CallExample) -> bool:
    """Returns True if an example calls no functions but the one under test and built-in ones."""
    names = {node.id for node in ast.walk(example.call) if isinstance(node, ast.Name)}
    return names <= {task.entry_point, *dir(builtins)}


def _digits(value: object) -> int:
    """Returns how many digits after the point a result shows."""
    found = [text.partition(".")[2] for text in re.findall(r"\d+\.\d+", repr(value))]
    return min(map(len, found), default=9)


async def _check_runs(one: Examiner) -> None:
    examples = run_examples(one.task)
    if not examples:
        return
    if one.task.template.stdio.checker.kind == pb.CHECKER_KIND_INTERACTOR:
        return  # the samples are conversations
    request = one.task.filled(one.task.reference)
    del request.stdio.cases[:]
    request.reward_policy.Clear()
    for example in examples:
        request.stdio.cases.add(stdin_text=example.given, expected_stdout_text=example.output)
    request.reward_policy.kind = pb.REWARD_POLICY_KIND_FRACTION
    answer = await one.judge(request)
    wrong = [
        example
        for example, test in zip(examples, answer.response.tests, strict=False)
        if test.outcome == pb.TEST_OUTCOME_FAILED
    ]
    if wrong:
        shown = f"{len(wrong)} of {len(examples)}: input {wrong[0].given[:80]!r}"
        one.report.found("example_contradicts", f"{shown} shows {wrong[0].output[:80]!r}")
