"""Judges every task's reference solution, before minutes are spent on a model.

A task whose own solution fails teaches nothing: its tests, its limits or the server's packages are
wrong for it.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.blocking import RewardClient
from trainer_client.channel import Target
from trainer_client.errors import CallError, ConfigError
from trainer_client.score import Score, Verdict
from trainer_client.tasks import fill
from trainer_client.trl.config import TrainConfig
from trainer_client.trl.data import TaskSource

_SHOWN = 10


def check_references(
    config: TrainConfig, target: Target, source: TaskSource, console: Console
) -> frozenset[str]:
    """Has the reference solutions judged and prints what became of them.

    Without any, an empty answer to the first task is judged, so that the server is tried.

    Returns:
        The ids of the tasks to leave out.

    Raises:
        ConfigError: the section [server] is wrong, or a reference fails and the run is to stop.
        CallError: the server did not judge one.
    """
    references = {key: text for key, text in source.references.items() if text}
    tried = references or {next(iter(source.templates)): ""}
    info, scores = _judged(config, target, source, tried)
    failing = {key: score for key, score in scores.items() if score.verdict is not Verdict.PASSED}
    head = f"reward server {info.server_version} at {target}, {info.slots} slots"
    if not references:
        ((key, score),) = scores.items()
        _say(console, f"{head}; an empty answer to {key}: {_verdict(score)}")
        return frozenset()
    passed = len(references) - len(failing)
    _say(console, f"{head}; {passed} of {len(references)} reference solutions pass")
    return _left_out(config, failing, console)


def _judged(
    config: TrainConfig, target: Target, source: TaskSource, solutions: Mapping[str, str]
) -> tuple[pb.GetServerInfoResponse, dict[str, Score]]:
    requests = []
    for key, text in solutions.items():
        request = fill(source.templates[key], text)
        request.MergeFrom(config.reward.defaults)
        requests.append(request)
    try:
        with RewardClient(target, **config.server.options) as client:
            info = client.server_info()
            scores = dict(zip(solutions, client.score(requests), strict=True))
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"server.target: {error}") from error
    for key, score in scores.items():
        if score.error is not None:
            message = f"the reference solution of {key} was not judged: {score.error.message}"
            raise CallError(score.error.status, message)
    return info, scores


def _left_out(
    config: TrainConfig, failing: Mapping[str, Score], console: Console
) -> frozenset[str]:
    lines = [f"{key}: its reference solution: {_reason(score)}" for key, score in failing.items()]
    if config.data.failing_references == "stop" and failing:
        more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
        raise ConfigError("\n".join([*lines[:_SHOWN], *more]))
    keeps = config.data.failing_references == "keep"
    for line in lines:
        _say(console, f"{line}; {'kept' if keeps else 'left out'}")
    return frozenset() if keeps else frozenset(failing)


def _reason(score: Score) -> str:
    """Returns the verdict with its reason, in one line."""
    failing = next((test for test in score.tests if test.message), None)
    reason = score.message or ("" if failing is None else f"{failing.name}: {failing.message}")
    return " ".join(f"{_verdict(score)} {reason}".split())


def _verdict(score: Score) -> str:
    return score.verdict.name if score.verdict is not None else ""


def _say(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)
