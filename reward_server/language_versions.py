"""Finds out which languages the sandboxes have, by asking for the version of each.

Dialects of one language have the same toolchain. A question that several of them ask runs once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import structlog

from reward_server.domain import Execution, Job, Limits, Program, Work
from reward_server.executor import Executor
from reward_server.languages import Language, Toolchain

_PYTHON = """
import importlib.util, platform
print(platform.python_version(), *filter(importlib.util.find_spec, ("unittest", "pytest")))
"""
_LIMITS = Limits()

_log = structlog.get_logger("languages")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A language that the sandboxes have.

    Args:
        version: version of the language's implementation.
        frameworks: frameworks whose test files can be run.
    """

    version: str
    frameworks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Which of some languages the sandboxes have, by canonical name.

    Args:
        found: the languages that they have.
        absent: for each other language, what the command for its version wrote.
    """

    found: Mapping[str, Found]
    absent: Mapping[str, str]


async def versions_of(executor: Executor, languages: Iterable[Language]) -> Survey:
    """Asks the sandboxes for each language.

    Raises:
        SandboxError: the server's machinery failed.
    """
    wanted = tuple(languages)
    questions = _Questions(executor)

    async def find(language: Language) -> Found | str:
        answer = await questions.ask(language, _question(language))
        there = _read(language, answer)
        if there is None:
            why = _said(answer) or f"exit status {answer.termination.value}"
            _log.info("a language is not there", language=language.name, why=why)
            return why
        if language.unit is not None:
            asked = language.suite_question(_LIMITS)
            if not asked.commands or await questions.works(language, asked):
                return replace(there, frameworks=(language.unit.framework,))
        return there

    names = [language.name for language in wanted]
    answers = dict(zip(names, await asyncio.gather(*map(find, wanted)), strict=True))
    return Survey(
        found={name: one for name, one in answers.items() if isinstance(one, Found)},
        absent={name: one for name, one in answers.items() if isinstance(one, str)},
    )


class _Questions:
    """Puts questions to the sandboxes, as many at once as there are slots.

    Args:
        executor: runs what a question consists of.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._places = asyncio.Semaphore(executor.slots)
        self._asked: list[tuple[Toolchain | None, Work, asyncio.Task[Execution]]] = []

    async def ask(self, language: Language, work: Work) -> Execution:
        """Returns the answer of a language's sandboxes."""
        for toolchain, known, answer in self._asked:
            if toolchain is language.toolchain and known == work:
                return await answer
        answer = asyncio.create_task(self._run(language, work))
        self._asked.append((language.toolchain, work, answer))
        return await answer

    async def works(self, language: Language, work: Work) -> bool:
        """Returns True if the commands succeed."""
        return (await self.ask(language, work)).termination.value == 0

    async def _run(self, language: Language, work: Work) -> Execution:
        async with self._places:
            job = Job(work=work, language=language.name, limits=_LIMITS)
            return await self._executor.run(job)


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
