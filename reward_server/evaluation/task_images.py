"""The images that tasks name, and what their sandboxes have.

A server may have many images, each for one task. So what an image has is found out when the first
task names it, by an execution in it, and not when the server starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from reward_server.domain import (
    Execution,
    Framework,
    ImageInfo,
    Job,
    Provenance,
    RepositoryTests,
    TerminationKind,
    Tests,
)
from reward_server.errors import SandboxError, UnsupportedError
from reward_server.evaluation.graders.base import Slots
from reward_server.language_versions import Found, versions_of
from reward_server.languages import Language

_SHOWN_CHARACTERS = 200
_REMEDY = "make it again with what is missing, or name another"


class TaskImages:
    """What the images that tasks name have.

    Args:
        images: the images on offer.
        provenance: where answers come from without an image, by canonical language name.
    """

    def __init__(self, images: Iterable[ImageInfo], provenance: Mapping[str, Provenance]) -> None:
        self._names = {image.digest: image.name for image in images}
        self._provenance = provenance
        self._found: dict[tuple[str, str], Found] = {}

    def provenance(self, tests: Tests, language: Language) -> Provenance:
        """Returns where an answer comes from. The version of the language is empty if the image was
        not tried."""
        image = image_of(tests)
        usual = self._provenance[language.name]
        if not image:
            return usual
        found = self._found.get((image, language.name))
        version = "" if found is None else found.version
        return replace(usual, image_digest=image, language_version=version)

    async def check(self, tests: Tests, language: Language, slots: Slots) -> None:
        """Checks that the image of tests has what they need.

        Args:
            tests: the tests.
            language: the language of the task.
            slots: where an image that was not tried before is tried.

        Raises:
            UnsupportedError: it lacks the language or the framework.
            SandboxError: the server failed.
        """
        image = image_of(tests)
        if not image:
            return
        key = image, language.name
        name = self._names[image]
        if key not in self._found:
            survey = await versions_of(_InImage(slots=1, ticket=slots, image=image), [language])
            if why := survey.absent.get(language.name):
                problem = f"{name} has no {language.name} that works ({why[:_SHOWN_CHARACTERS]})"
                raise UnsupportedError(f"repository.image: {problem}; {_REMEDY}")
            self._found |= {key: survey.found[language.name]}
        found = self._found[key]
        assert isinstance(tests, RepositoryTests)
        framework = tests.runner
        if isinstance(framework, Framework) and framework.name.lower() not in found.frameworks:
            raise UnsupportedError(
                f"repository.framework: {framework.name} is not offered in {name}, whose "
                f"{language.name} {found.version} cannot import it; {_REMEDY}, or set a command"
            )


def image_of(tests: Tests) -> str:
    """Returns the digest of the image that tests name, or ""."""
    return tests.image if isinstance(tests, RepositoryTests) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _InImage:
    """Runs jobs in an image, one at a time; see `executor.Executor`."""

    slots: int
    ticket: Slots
    image: str

    async def run(self, job: Job) -> Execution:
        """Runs a job.

        Raises:
            SandboxError: the job did not end in time, so it tells nothing about the image.
        """
        execution = await self.ticket.run(replace(job, image=self.image))
        if execution.termination.kind is TerminationKind.LIMIT:
            raise SandboxError("an image could not be tried within the limits of an execution")
        return execution
