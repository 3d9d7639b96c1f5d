"""Finds out which languages sandboxes have, by asking each for its version."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import structlog

from reward_server.domain import Execution, Job, Limits, Program, Work
from reward_server.executors.base import Executor
from reward_server.languages import Language

_PYTHON = "import sys; print('.'.join(map(str, sys.version_info[:3])))"
_LIMITS = Limits()

_log = structlog.get_logger("languages")


async def versions_of(executor: Executor, languages: Iterable[Language]) -> dict[str, str]:
    """Returns the version of each language that is there, by canonical name.

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
        if version := _read(language, answer):
            found[language.name] = version
        else:
            _log.info("a language is not there", language=language.name, why=_said(answer))
    return found


def _question(language: Language) -> Work:
    if language.toolchain is None:
        return Program(source=_PYTHON)
    return language.question(_LIMITS)


def _read(language: Language, answer: Execution) -> str:
    if answer.termination.value != 0:
        return ""
    said = _said(answer)
    if language.toolchain is None:
        return said
    found = language.toolchain.version_pattern.search(said)
    return found[1] if found else ""


def _said(answer: Execution) -> str:
    return (answer.stdout.data + answer.stderr.data).decode("utf-8", "replace").strip()
