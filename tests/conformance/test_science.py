"""The Python image with scientific packages: what it promises beyond the plain one."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import docker
import pytest
import pytest_asyncio

from reward_server.domain import MEBIBYTE, Ending, LimitKind
from reward_server.sandbox.docker import images
from reward_server.sandbox.docker.container import DockerOptions, DockerSandboxes
from tests.conformance.suite.checks import judge, judgement, output_of, run
from tests.conformance.suite.shelf import Shelf
from tests.e2e.insertion import rows
from tests.support.sampling import sampled
from trainer_client import AsyncRewardClient, Integrity, tasks
from trainer_client.local_server import LocalServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

FOLDER = images.IMAGES / "python-science"
IMPORTS = (
    *("bs4", "hypothesis", "matplotlib.pyplot", "networkx", "numpy", "pandas", "pytest"),
    *("requests", "scipy.stats", "sklearn.linear_model", "sympy", "math_verify"),
)
ALL_IMPORTED = {
    "cpu_time_seconds": 30.0,
    "wall_time_seconds": 60.0,
    "memory_bytes": 1024 * MEBIBYTE,
}
ARRAYS = """
import numpy as np

def check(candidate):
    given = np.arange(6.0).reshape(2, 3)
    got = candidate(given, 2)
    assert isinstance(got, np.ndarray) and got.dtype == given.dtype
    assert np.array_equal(got, given * 2)
    assert candidate(np.float32(1.5), 2) == 3.0
"""
DRAWING = """
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.savefig('drawing.png')
print(plt.get_backend(), open('drawing.png', 'rb').read(4))
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shelf(engine: docker.APIClient, science_image: str) -> AsyncIterator[Shelf]:
    options = DockerOptions(image=science_image, runtime="runc")
    made = Shelf(lambda: DockerSandboxes(engine, options)(0))
    yield made
    await made.clear()


async def test_every_package_is_there_in_its_pinned_version(shelf: Shelf) -> None:
    source = f"""
import importlib.metadata, json
for name in {IMPORTS!r}: importlib.import_module(name)
found = importlib.metadata.distributions()
print(json.dumps({{each.name.lower().replace('_', '-'): each.version for each in found}}))
"""
    said = await output_of(await shelf.take(), source, **ALL_IMPORTED)
    found = json.loads(said)
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)", read("requirements.txt"), re.MULTILINE))
    assert {name: found.get(name) for name in pinned} == pinned
    assert {*read("requirements.in").split()} <= {*pinned}


def read(name: str) -> str:
    return Path(FOLDER / name).read_text("utf-8")


async def test_what_the_image_declares_is_warm(shelf: Shelf) -> None:
    warm = json.loads(read("image.json"))["preload"]
    assert {"numpy", "pandas"} <= {*warm}
    source = f"import sys; print(*(name for name in {warm!r} if name in sys.modules))"
    assert (await output_of(await shelf.take(), source)).split() == warm


async def test_programs_that_a_program_starts_find_the_packages(shelf: Shelf) -> None:
    source = "import os, sys; os.execv(sys.executable, ['python3', '-c', 'import numpy; print(1)'])"
    assert await output_of(await shelf.take(), source) == "1\n"


async def test_arrays_cross_between_tests_and_solution(shelf: Shelf) -> None:
    right = "def f(array, factor):\n    return array * factor"
    wrong = "def f(array, factor):\n    return array + factor"
    outcomes = [
        [test.outcome.name for test in (await judge(await shelf.take(), work)).tests]
        for work in (judgement(source, test_code=ARRAYS) for source in (right, wrong))
    ]
    assert outcomes == [["PASSED"], ["FAILED"]]


async def test_a_drawing_is_made_without_a_screen(shelf: Shelf) -> None:
    said = await output_of(await shelf.take(), DRAWING)
    assert said.split(maxsplit=1) == ["Agg", "b'\\x89PNG'\n"]


async def test_numerical_libraries_work_in_one_thread(shelf: Shelf) -> None:
    source = """
import os
import numpy as np
np.linalg.inv(np.random.rand(400, 400))
print(len(os.listdir('/proc/self/task')))
"""
    assert await output_of(await shelf.take(), source) == "1\n"


async def test_what_is_warm_does_not_count_against_a_programs_memory(shelf: Shelf) -> None:
    fits, does_not = (f"bytearray({size} << 20)" for size in (50, 100))
    sandbox = await shelf.take()
    assert (await run(sandbox, fits, memory_bytes=64 * MEBIBYTE)).ending is Ending.COMPLETED
    stopped = await run(sandbox, does_not, memory_bytes=64 * MEBIBYTE)
    assert stopped.limits_hit == (LimitKind.MEMORY,)
    await shelf.clear()


async def test_pieces_of_code_for_its_libraries_are_judged_apart_from_their_tests(
    science_image: str, tmp_path: Path
) -> None:
    options = ("--backend=docker", f"--set=images={science_image}", "--set=languages=python")
    problems = sampled((rows.PANDAS, rows.SCIPY, rows.SKLEARN), 3)
    requests = [
        tasks.fill(tasks.ds1000(problem.row), text)
        for problem in problems
        for text in (problem.right, problem.wrong, "pass")
    ]
    with LocalServer(tmp_path / "server.log", options) as server:
        async with AsyncRewardClient(server.target) as client:
            scores = await client.score(requests)
    assert [score.reward for score in scores] == [1.0, 0.0, 0.0] * len(problems), scores
    assert {score.integrity for score in scores} == {Integrity.ISOLATED}
