"""Finds out which languages sandboxes have, by asking each for its version."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

import structlog

from reward_server.domain import Execution, Job, Limits, Program, Work
from reward_server.executors.base import Executor
from reward_server.languages import Language

_PYTHON = """
import importlib.util, platform
print(platform.python_version(), *filter(importlib.util.find_spec, ("unittest", "pytest")))
"""
_LIMITS = Limits()

_log = structlog.get_logger("languages")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A language that is there.

    Args:
        version: of its implementation.
        frameworks: whose test files can be run.
    """

    version: str
    frameworks: tuple[str, ...] = ()


async def versions_of(executor: Executor, languages: Iterable[Language]) -> dict[str, Found]:
    """Returns the languages that are there, by canonical name.

    Raises:
        SandboxError: our machinery failed.
    """
    wanted = tuple(languages)
    places = asyncio.Semaphore(executor.slots)

    async def ask(language: Language) -> Execution:
        async with places:
            job = Job(work=_question(language), language=language.name, limits=_LIMITS)
            return await executor.run(job)

    answers = await asyncio.gather(*map(ask, wanted))
    found = {}
    for language, answer in zip(wanted, answers, strict=True):
        if there := _read(language, answer):
            found[language.name] = there
        else:
            _log.info("a language is not there", language=language.name, why=_said(answer))
    return found


def _question(language: Language) -> Work:
    if language.toolchain is None:
        return Program(source=_PYTHON)
    return language.question(_LIMITS)


def _read(language: Language, answer: Execution) -> Found | None:
    if answer.termination.value != 0:
        return None
    if language.toolchain is None:
        version, *frameworks = _said(answer).split()
        return Found(version=version, frameworks=tuple(frameworks))
    found = language.toolchain.version_pattern.search(_said(answer))
    return Found(version=found[1]) if found else None


def _said(answer: Execution) -> str:
    return (answer.stdout.data + answer.stderr.data).decode("utf-8", "replace").strip()
