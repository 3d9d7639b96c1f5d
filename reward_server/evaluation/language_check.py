"""Tries a language with the probe programs of its file."""

from __future__ import annotations

from dataclasses import replace

from reward_server.domain import Ending, Execution, LimitKind, Limits, TerminationKind
from reward_server.evaluation.graders.base import Slots
from reward_server.evaluation.graders.compilation import PROBE_STDIN, Programs, works
from reward_server.languages import Language

_ENDLESS_CPU_SECONDS = 1.0


async def try_language(language: Language, slots: Slots, limits: Limits) -> tuple[str, ...]:
    """Runs a language's four probe programs; returns what went wrong, or None.

    Args:
        language: the language to check.
        slots: where its programs run.
        limits: the server's defaults.

    Raises:
        SandboxError: the server failed, or the probe program that should work did not.
    """
    programs = Programs(limits)
    own = language.default_limits(limits)
    short = replace(own, cpu_time_seconds=_ENDLESS_CPU_SECONDS)

    async def run(source: str, within: Limits) -> Execution:
        ready = await programs.ready(language, source, slots)
        return ready.refusal or await slots.run(ready.job(within, stdin=PROBE_STDIN))

    probe = language.probe
    findings = {
        "a program that works": works(await run(probe.works, own)),
        "a program that is refused": _is_refused(await run(probe.refused, own)),
        "a program that fails": _has_failed(await run(probe.fails, own)),
        "an endless program": _is_stopped(await run(probe.endless, short)),
    }
    return tuple(f"{what} is not judged so" for what, is_so in findings.items() if not is_so)


def _is_refused(execution: Execution) -> bool:
    return execution.ending is Ending.COMPILE_ERROR


def _has_failed(execution: Execution) -> bool:
    exited = execution.termination.kind is TerminationKind.EXITED
    by_itself = execution.ending in (Ending.COMPLETED, Ending.CRASHED)
    return by_itself and (not exited or execution.termination.value != 0)


def _is_stopped(execution: Execution) -> bool:
    return LimitKind.CPU_TIME in execution.limits_hit
