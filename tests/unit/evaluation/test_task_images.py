"""What an image has is found out once, by an execution in it."""

from __future__ import annotations

import pytest

from reward_server.domain import (
    CapturedStream,
    Ending,
    Execution,
    Framework,
    ImageInfo,
    Job,
    Provenance,
    RepositoryTests,
    StdioTests,
    Termination,
    TerminationKind,
)
from reward_server.errors import SandboxError, UnsupportedError
from reward_server.evaluation.task_images import TaskImages
from reward_server.languages import load_languages

PYTHON = load_languages().find("python")
PLAIN = Provenance(language_version="3.11.2", image_digest="sha256:0", backend="docker")
TESTS = RepositoryTests(
    image="sha256:1", fail_to_pass=("test_x.py::test_y",), runner=Framework.PYTEST
)


class Sandboxes:
    """Runs each job as if it printed a text."""

    def __init__(
        self, text: str, status: int = 0, kind: TerminationKind = TerminationKind.EXITED
    ) -> None:
        self.jobs: list[Job] = []
        self._text = text
        self._termination = Termination(kind=kind, value=status)

    async def run(self, job: Job) -> Execution:
        self.jobs.append(job)
        return Execution(
            ending=Ending.COMPLETED,
            termination=self._termination,
            stdout=CapturedStream(data=self._text.encode(), size_bytes=len(self._text)),
        )


def images() -> TaskImages:
    info = ImageInfo(name="shop", digest="sha256:1", languages=("python",))
    return TaskImages([info], {"python": PLAIN})


@pytest.mark.asyncio
async def test_an_image_is_tried_once_and_told_in_answers() -> None:
    known, sandboxes = images(), Sandboxes("3.12.1 unittest pytest")
    assert known.provenance(TESTS, PYTHON).language_version == ""
    for _ in range(2):
        await known.check(TESTS, PYTHON, sandboxes)
    assert [job.image for job in sandboxes.jobs] == ["sha256:1"]
    told = known.provenance(TESTS, PYTHON)
    assert (told.image_digest, told.language_version, told.backend) == (
        "sha256:1",
        "3.12.1",
        "docker",
    )


@pytest.mark.asyncio
async def test_tests_without_an_image_cost_nothing() -> None:
    known, sandboxes = images(), Sandboxes("")
    await known.check(StdioTests(cases=()), PYTHON, sandboxes)
    assert (known.provenance(StdioTests(cases=()), PYTHON), sandboxes.jobs) == (PLAIN, [])


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("sandboxes", "problem"),
    [
        (Sandboxes("3.12.1 unittest"), "PYTEST is not offered in shop, whose python 3.12.1 cannot"),
        (Sandboxes("no module", status=1), "repository.image: shop has no python that works"),
    ],
    ids=["no pytest", "no python"],
)
async def test_what_an_image_lacks_is_named(sandboxes: Sandboxes, problem: str) -> None:
    with pytest.raises(UnsupportedError, match=problem):
        await images().check(TESTS, PYTHON, sandboxes)


@pytest.mark.asyncio
async def test_a_trial_that_does_not_end_in_time_tells_nothing_about_the_image() -> None:
    known = images()
    slow = Sandboxes("", status=9, kind=TerminationKind.LIMIT)
    with pytest.raises(SandboxError, match="could not be tried"):
        await known.check(TESTS, PYTHON, slow)
    await known.check(TESTS, PYTHON, Sandboxes("3.12.1 unittest pytest"))
