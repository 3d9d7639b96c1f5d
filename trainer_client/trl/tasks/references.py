"""Judges every task's reference solution before the model is loaded, since loading takes minutes.

If the reference solution of a task fails, the task teaches nothing: its tests, its limits or the
server's packages are wrong. Or function tests ran in a separate judge, and it passes only in their
own process: if the request leaves that open and accepts SHARED, this is tried too. Completions have
no influence on this.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import CallError, ConfigError
from trainer_client.score import Integrity, Score, ScoreError, Verdict
from trainer_client.sync_client import RewardClient
from trainer_client.tasks import fill
from trainer_client.transport.channel import Target
from trainer_client.trl.settings.configuration import TrainConfig
from trainer_client.trl.tasks.data import TaskSource

_SHOWN = 10
_UNPROVEN = frozenset(
    (
        *("twin_passed", "twin_failed", "twin_missing", "missing_test", "invented_test"),
        *("forged_skip", "unproven", "no_data", "interactor_failed"),
    )
)
_LOWERED = "lowered_"  # begins the signals of rules that took the label from a solution


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """The results of the reference solutions.

    Args:
        left_out: ids of the tasks to leave out.
        beside: ids of tasks whose solution passes only if its tests run in its process.
    """

    left_out: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()


def check_references(
    config: TrainConfig, target: Target, source: TaskSource, console: Console
) -> References:
    """Judges the reference solutions and prints the results.

    If there are no reference solutions, it judges an empty answer to the first task, to test the
    server.

    Raises:
        ConfigError: the section [server] is wrong, or a reference fails and the run must stop.
        CallError: the server did not judge a reference.
    """
    references = {key: text for key, text in source.references.items() if text}
    tried = references or {next(iter(source.templates)): ""}
    requests = {key: _request(config, source, key, text) for key, text in tried.items()}
    info, scores = _judged(config, target, requests)
    head = f"reward server {info.server_version} at {target}, {info.slots} slots"
    if not references:
        ((key, score),) = scores.items()
        _say(console, f"{head}; an empty answer to {key}: {_verdict(score) or _reason(score)}")
        return References()
    failing = {key: score for key, score in scores.items() if score.verdict is not Verdict.PASSED}
    beside = _beside(config, target, requests, failing)
    failing = {key: score for key, score in failing.items() if key not in beside}
    passed = len(references) - len(failing)
    _say(console, f"{head}; {passed} of {len(references)} reference solutions pass")
    _say_all(console, [f"{key}: its tests run beside the solution" for key in sorted(beside)])
    if unproven := sum(map(_is_unproven, failing.values())):
        _say(console, f"{unproven} of those that fail may be right, and only cannot be proven")
    return References(left_out=_left_out(config, failing, console), beside=beside)


def placed(
    templates: Mapping[str, pb.ScoreRequest], beside: Collection[str]
) -> Mapping[str, pb.ScoreRequest]:
    """Returns templates, some of them with tests that run in the solution's process."""
    return {
        key: _placed(template) if key in beside else template for key, template in templates.items()
    }


def _placed(request: pb.ScoreRequest) -> pb.ScoreRequest:
    copy = pb.ScoreRequest()
    copy.CopyFrom(request)
    copy.function.placement = pb.TEST_PLACEMENT_BESIDE
    return copy


def _request(config: TrainConfig, source: TaskSource, key: str, text: str) -> pb.ScoreRequest:
    request = fill(source.templates[key], text)
    request.MergeFrom(config.reward.defaults)
    return request


def _judged(
    config: TrainConfig, target: Target, requests: Mapping[str, pb.ScoreRequest]
) -> tuple[pb.GetServerInfoResponse, dict[str, Score]]:
    try:
        with RewardClient(target, **config.server.options) as client:
            info = client.server_info()
            scores = dict(zip(requests, client.score(list(requests.values())), strict=True))
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"server.target: {error}") from error
    for key, score in scores.items():
        if score.error is not None and not _is_too_weak(score.error, requests[key]):
            message = f"the reference solution of {key} was not judged: {score.error.message}"
            raise CallError(score.error.status, message)
    return info, scores


def _is_too_weak(error: ScoreError, request: pb.ScoreRequest) -> bool:
    """Returns True if the tests cannot reach the integrity that the request requires."""
    return error.status == "FAILED_PRECONDITION" and bool(request.require_integrity)


def _beside(
    config: TrainConfig,
    target: Target,
    requests: Mapping[str, pb.ScoreRequest],
    failing: Mapping[str, Score],
) -> frozenset[str]:
    """Returns the tasks whose solution fails in a separate judge, and passes beside its tests."""
    tried = [key for key, score in failing.items() if _may_move(requests[key], score)]
    if not tried:
        return frozenset()
    with RewardClient(target, **config.server.options) as client:
        scores = client.score([_placed(requests[key]) for key in tried])
    found = zip(tried, scores, strict=True)
    return frozenset(key for key, score in found if score.verdict is Verdict.PASSED)


def _may_move(request: pb.ScoreRequest, score: Score) -> bool:
    """Returns True if function tests ran in a separate judge, and the request leaves that open.

    A solution that passes only in the process of its tests may have written the verdict itself. So
    the request has to accept SHARED by name.
    """
    is_open = request.function.placement == pb.TEST_PLACEMENT_UNSPECIFIED
    is_lowered = any(name.startswith(_LOWERED) for name in score.signals)
    return (
        request.WhichOneof("tests") == "function"
        and is_open
        and score.error is None
        and request.require_integrity == pb.INTEGRITY_SHARED
        and (score.integrity is Integrity.ISOLATED or is_lowered)
    )


def _left_out(
    config: TrainConfig, failing: Mapping[str, Score], console: Console
) -> frozenset[str]:
    lines = [f"{key}: its reference solution: {_reason(score)}" for key, score in failing.items()]
    if config.data.failing_references == "stop" and failing:
        raise ConfigError("\n".join(_first(lines)))
    keeps = config.data.failing_references == "keep"
    for line in lines:
        _say(console, f"{line}; {'kept' if keeps else 'left out'}")
    return frozenset() if keeps else frozenset(failing)


def _reason(score: Score) -> str:
    """Returns the verdict with its reason, in one line."""
    if score.error is not None:
        return f"not judged: {score.error.message}"
    failing = next((test for test in score.tests if test.message), None)
    reason = score.message or ("" if failing is None else f"{failing.name}: {failing.message}")
    told = " ".join(f"{_verdict(score)} {reason}".split())
    if not _is_unproven(score):
        return told
    signals = ", ".join(sorted(_UNPROVEN & score.signals.keys()))
    return f"its tests cannot be proven, which need not be its fault ({signals}): {told}"


def _is_unproven(score: Score) -> bool:
    """Returns True if the server did not trust the reported test results."""
    return not _UNPROVEN.isdisjoint(score.signals)


def _verdict(score: Score) -> str:
    return score.verdict.name if score.verdict is not None else ""


def _first(lines: Sequence[str]) -> list[str]:
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return [*lines[:_SHOWN], *more]


def _say_all(console: Console, lines: Sequence[str]) -> None:
    for line in _first(lines):
        _say(console, line)


def _say(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)
