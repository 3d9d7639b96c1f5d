"""Tests of a repository run in the image that they name, on the repository that this image has."""

from __future__ import annotations

import asyncio
import difflib
import itertools
import re
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import docker
import pytest
import pytest_asyncio

from codereward.v1 import reward_service_pb2 as pb
from reward_server.app import App, running_app
from reward_server.domain import MEBIBYTE
from reward_server.errors import SandboxError
from reward_server.grading.repository.tree import TreeError
from reward_server.sandbox.docker import images
from reward_server.sandbox.docker.inventory import OWNER_LABEL
from reward_server.sandbox.docker.repositories import ImageRepositories
from reward_server.sandbox.owner import owner_id
from reward_server.settings import Settings
from tests.repository.harbor_folders import Folder
from tests.repository.tasks import (
    BASE,
    CART,
    FAIL_TO_PASS,
    FIXED_CART,
    GOLDEN_PATCH,
    HIDDEN,
    PASS_TO_PASS,
    archive,
)
from tests.support.common import PACKAGES, PYTHON, on_the_servers_loop
from tests.support.engine import derived_image, own_tag
from trainer_client import AsyncRewardClient, Score, tasks

pytestmark = on_the_servers_loop

TAG, OTHER_TAG = own_tag("shop"), own_tag("shop-fixed")
FOLDER, PYTHON_OF_TASK = "/testbed", "/opt/env/bin/python3"
SITE = "/opt/env/lib/python3.11/site-packages"
# The package that the repository needs is in the image alone.
NEEDS = "from prices import PRICES\n\n"
# What tests need to run: pytest with what it imports, without plug-ins of this interpreter.
INSTALLED = ("pytest", "_pytest", "py.py", "pluggy", "iniconfig", "packaging", "pygments")
TASK_FILES: Mapping[str, bytes | Path] = {
    **{
        f"repository/{'src/' if path.startswith('shop/') else ''}{path}": text.encode()
        for path, text in {**BASE, "shop/cart.py": NEEDS + CART, ".git/HEAD": "secret"}.items()
    },
    **{f"site/{name}": PACKAGES[0] / name for name in INSTALLED},
    **{f"site/{folder.name}": folder for folder in PACKAGES[0].glob("pluggy-*.dist-info")},
    "site/prices.py": b"PRICES = [3, 5]\n",
    "site/__editable__.shop.pth": f"{FOLDER}/src\n".encode(),
}
INSTRUCTIONS = f"""
COPY repository {FOLDER}
RUN python3 -m venv --without-pip /opt/env
COPY site {SITE}
"""
ABSOLUTE = f"""

def test_paths_of_the_image_lead_to_the_files_that_are_judged():
    import shop.cart
    with open("{FOLDER}/src/shop/cart.py") as file:
        assert "price * quantity" in file.read()
"""
NAME = "tests/test_cart.py::test_paths_of_the_image_lead_to_the_files_that_are_judged"
LIMITS = pb.Limits(cpu_time_seconds=60, wall_time_seconds=120)


def shop_tests(**changes: Any) -> pb.RepositoryTests:
    """Returns tests that run by pytest in the runner's own interpreter."""
    hidden = {path: text + ABSOLUTE for path, text in HIDDEN.items()}
    usual: dict[str, Any] = {
        "image": TAG,
        "image_folder": FOLDER,
        "text_test_files": hidden,
        "fail_to_pass": (*FAIL_TO_PASS, NAME),
        "pass_to_pass": PASS_TO_PASS,
        "framework": pb.FRAMEWORK_PYTEST,
        "import_paths": ["src"],
    }
    return pb.RepositoryTests(**{**usual, **changes})


def by_command(**changes: Any) -> pb.RepositoryTests:
    """Returns the same tests, by a command that imports what is installed."""

    def reported(names: tuple[str, ...]) -> list[str]:
        return [name.replace("/", ".").replace(".py::", "::") for name in names]

    argv = [PYTHON_OF_TASK, "-m", "pytest", "-q", "--junitxml={report}", "tests"]
    return shop_tests(
        **{
            "fail_to_pass": reported((*FAIL_TO_PASS, NAME)),
            "pass_to_pass": reported(PASS_TO_PASS),
            "framework": None,
            "command": pb.TestCommand(argv=argv, format=pb.REPORT_FORMAT_JUNIT_XML),
            "import_paths": [],
            **changes,
        }
    )


KINDS = {"framework": shop_tests, "command": by_command}


def request(tests: pb.RepositoryTests, cart: str = "", **files: str) -> pb.ScoreRequest:
    given = {path.replace("__", "/"): text for path, text in files.items()}
    if cart:
        given["src/shop/cart.py"] = NEEDS + cart
    return pb.ScoreRequest(repository=tests, text_files=given, limits=LIMITS)


@pytest.fixture(scope="module")
def shop_image(engine: docker.APIClient, base_image: str) -> Iterator[str]:
    """Yields the id of an image that was made of a task's image."""
    with derived_image(
        engine, base_image, own_tag("task-of-shop"), INSTRUCTIONS, TASK_FILES
    ) as task:
        yield images.adapt(
            engine, task, tag=TAG, folder=FOLDER, python=PYTHON_OF_TASK, preload=["pytest"]
        )
        engine.remove_image(TAG, force=True)


@pytest.fixture(scope="module")
def fixed_image(engine: docker.APIClient, shop_image: str) -> Iterator[str]:
    """Yields the name of an image whose repository has the right solution already."""
    cart = "/opt/codereward/repository/src/shop/cart.py"
    change = f"USER 0\nRUN sed -i 's/sum(price for/sum(price * quantity for/' {cart}\nUSER 65534"
    with derived_image(engine, TAG, OTHER_TAG, change) as name:
        yield name


def settings(images: tuple[str, ...], runtime: str) -> Settings:
    return Settings(
        port=0,
        workers=2,
        languages=PYTHON,
        backend="docker",
        runtime=runtime,
        images=images,
        maximum_limits={"cpu_time_seconds": 60, "wall_time_seconds": 120},
        session_memory_bytes=512 * MEBIBYTE,
        session_warm=0,
    )


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(python_image: str, shop_image: str, fixed_image: str) -> AsyncIterator[App]:
    async with running_app(settings((python_image, shop_image, fixed_image), "runc")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def client(app: App) -> AsyncIterator[AsyncRewardClient]:
    async with AsyncRewardClient(app.address, timeout_seconds=240) as made:
        yield made


async def scored(client: AsyncRewardClient, *requests: pb.ScoreRequest) -> list[Score]:
    return list(await client.score(requests))


def created(engine: docker.APIClient) -> list[str]:
    """Returns this process's containers that never started."""
    mine = {"label": f"{OWNER_LABEL}={owner_id()}", "status": "created"}
    return [found["Id"] for found in engine.containers(all=True, filters=mine)]


@pytest.mark.promise(
    "Tests import the files that are judged, not those of the image.", "Repositories"
)
@pytest.mark.parametrize("kind", KINDS)
async def test_the_files_that_are_judged_are_imported_and_not_those_of_the_image(
    kind: str, client: AsyncRewardClient, shop_image: str, engine: docker.APIClient
) -> None:
    """The editable installation names the image's own copy, without the change."""
    tests = KINDS[kind]()
    right, empty = await scored(client, request(tests, FIXED_CART), request(tests))
    assert (right.reward, right.verdict.name) == (1.0, "PASSED"), right
    assert (empty.reward, empty.verdict.name) == (0.0, "FAILED"), empty
    assert right.response.provenance.image_digest == shop_image
    assert right.response.provenance.language_version.startswith("3.11.")
    assert created(engine) == []


async def test_it_is_the_same_with_gvisor(shop_image: str, engine: docker.APIClient) -> None:
    """The image is the first of this server, and named nevertheless."""
    async with (
        running_app(settings((shop_image,), "runsc")) as running,
        AsyncRewardClient(running.address, timeout_seconds=240) as asking,
    ):
        for kind in KINDS:
            await test_the_files_that_are_judged_are_imported_and_not_those_of_the_image(
                kind, asking, shop_image, engine
            )


NO_REWARD = {
    "tests that always pass": {
        "tests/test_cart.py": "def test_quantities_count(): pass\ndef test_many_of_one(): pass\n"
    },
    "a hook of pytest": {
        "conftest.py": "def pytest_runtest_makereport(item, call): call.excinfo = None\n"
    },
    "a module that starts with Python": {"sitecustomize.py": "import os; os._exit(0)\n"},
    "a path of packages": {"src/x.pth": "import os; os._exit(0)\n"},
    "an exit": {"src/shop/cart.py": "import os; os._exit(0)\n"},
    "a package in the place of one of the image": {"src/prices.py": "import os; os._exit(0)\n"},
}


@pytest.mark.parametrize(
    ("attack", "kind"), [*itertools.product(NO_REWARD, ["framework"]), ("an exit", "command")]
)
async def test_what_an_agent_changes_besides_the_code_earns_nothing(
    attack: str, kind: str, client: AsyncRewardClient
) -> None:
    files = NO_REWARD[attack]
    asked = pb.ScoreRequest(repository=KINDS[kind](), text_files=files, limits=LIMITS)
    [told] = await scored(client, asked)
    assert told.reward == 0.0, told
    assert told.verdict.name not in ("PASSED", "INVALID_TASK"), told


async def test_a_completion_cannot_change_the_image_for_the_next_one(
    client: AsyncRewardClient,
) -> None:
    """Each of these would let the empty completion after it pass."""
    places = (
        f"{FOLDER}/src/shop/cart.py",
        "/opt/codereward/repository/src/shop/cart.py",
        f"{SITE}/shop/__init__.py",
        f"{SITE}/shop.py",
        "/tmp/shop.py",
    )
    poison = f"""
import os
for place in {places!r}:
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        open(place, "w").write({NEEDS + FIXED_CART!r})
    except OSError:
        pass
"""
    for tests in (shop_tests(), by_command()):
        [_] = await scored(client, request(tests, CART + poison))
        [empty] = await scored(client, request(tests))
        assert (empty.reward, empty.verdict.name) == (0.0, "FAILED"), empty


async def test_images_share_no_repository_and_no_verdict(client: AsyncRewardClient) -> None:
    """The one task is solved already in the second image."""
    first, second = await scored(
        client,
        request(shop_tests()),
        request(shop_tests(image=OTHER_TAG, fail_to_pass=FAIL_TO_PASS)),
    )
    assert (first.reward, second.reward) == (0.0, 1.0), (first, second)
    digests = [score.response.provenance.image_digest for score in (first, second)]
    assert digests[0] != digests[1]


async def test_an_archive_can_be_judged_in_an_image(client: AsyncRewardClient) -> None:
    base = {
        f"src/{path}" if path.startswith("shop/") else path: text for path, text in BASE.items()
    }
    tests = shop_tests(image_folder=None, archive=archive(base))
    right, empty = await scored(client, request(tests, FIXED_CART), request(tests))
    assert (right.reward, empty.reward) == (1.0, 0.0), (right, empty)


def patch_of_tests(path: str) -> str:
    """Returns the patch that makes the hidden tests of those of the repository."""
    lines = [text.splitlines(keepends=True) for text in (BASE[path], HIDDEN[path])]
    return "".join(difflib.unified_diff(*lines, f"a/{path}", f"b/{path}"))


@pytest.mark.parametrize("python", ["", PYTHON_OF_TASK], ids=["framework", "command"])
async def test_a_row_of_swe_bench_is_judged_in_its_image(
    python: str, client: AsyncRewardClient
) -> None:
    row = {
        "test_patch": patch_of_tests("tests/test_cart.py"),
        "FAIL_TO_PASS": list(FAIL_TO_PASS),
        "PASS_TO_PASS": list(PASS_TO_PASS),
    }
    paths = [] if python else ["src"]
    template = tasks.swe(row, image=TAG, image_folder=FOLDER, python=python, import_paths=paths)
    template.limits.CopyFrom(LIMITS)
    patch = GOLDEN_PATCH.replace("shop/cart.py", "src/shop/cart.py")
    right, empty = await scored(client, *(tasks.fill(template, text) for text in (patch, "None.")))
    assert (right.reward, right.verdict.name) == (1.0, "PASSED"), (
        right.message,
        right.stdout,
        right.stderr,
    )
    assert (empty.reward, empty.verdict.name) == (0.0, "FAILED"), empty


async def test_a_folder_of_harbor_whose_dockerfile_runs_commands_is_judged_in_its_image(
    client: AsyncRewardClient, tmp_path: Path
) -> None:
    """Its tests name files by absolute paths."""
    files = {
        "environment/Dockerfile": f"FROM python:3.11\nWORKDIR {FOLDER}\nRUN git clone . && make\n",
        "tests/test_outputs.py": HIDDEN["tests/test_cart.py"] + ABSOLUTE,
        "tests/helpers.py": BASE["tests/helpers.py"],
    }
    folder = Folder(files=files).write(tmp_path / "shop")
    task = tasks.harbor(
        folder, images={"shop": TAG}, from_image=True, import_paths=["src"], limits=LIMITS
    )
    async with client.session(image=task.image, memory_bytes=256 * MEBIBYTE) as session:
        copied = await session.exec(["cp", "-r", "/opt/codereward/repository/.", "."])
        assert copied.success, copied
        before = await session.score(task.template)
        # As in Harbor's container, a solution names its working folder.
        fix = "s/sum(price for/sum(price * quantity for/"
        assert (await session.exec(["sed", "-i", fix, f"{FOLDER}/src/shop/cart.py"])).success
        after = await session.score(task.template)
    assert (before.reward, after.reward) == (0.0, 1.0), (before.message, after.message, after.tests)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"image": "other"}, "FAILED_PRECONDITION.*'other' is not on offer here: .*shop:test-"),
        ({"image_folder": "/srv"}, "INVALID_ARGUMENT.*image_folder: '/srv' is not the repository"),
        ({"image": ""}, "INVALID_ARGUMENT.*repository.image: is absent"),
    ],
)
async def test_what_is_not_in_an_image_is_refused(
    changes: dict[str, Any], problem: str, client: AsyncRewardClient
) -> None:
    [told] = await scored(client, request(shop_tests(**changes)))
    assert re.search(problem, str(told.error)), told


async def test_a_framework_that_an_image_lacks_is_refused_by_its_name(
    client: AsyncRewardClient,
) -> None:
    [plain, *_] = (await client.server_info()).images
    tests = shop_tests(image=plain, image_folder=None, archive=archive(BASE))
    [told] = await scored(client, request(tests))
    problem = f"FAILED_PRECONDITION.*PYTEST is not offered in {plain}, whose python 3"
    assert re.search(problem, str(told.error)), told


async def test_a_session_in_the_image_is_judged_on_its_repository(
    client: AsyncRewardClient,
) -> None:
    async with client.session(image=TAG, memory_bytes=256 * MEBIBYTE) as session:
        copied = await session.exec(["cp", "-r", "/opt/codereward/repository/.", "."])
        assert copied.success, copied
        assert not (await session.exec(["ls", "/opt/codereward/repository/.git"])).success
        imported = [PYTHON_OF_TASK, "-c", "import shop.cart; print(shop.cart.total([(3, 2)]))"]
        assert (await session.exec(imported)).stdout == b"3\n"
        before = await session.score(pb.ScoreRequest(repository=shop_tests(), limits=LIMITS))
        fix = "s/sum(price for/sum(price * quantity for/"
        assert (await session.exec(["sed", "-i", fix, "src/shop/cart.py"])).success
        # The installation leads to the files of the session.
        assert (await session.exec(imported)).stdout == b"6\n"
        after = await session.score(pb.ScoreRequest(repository=by_command(), limits=LIMITS))
    assert (before.reward, after.reward) == (0.0, 1.0), (before.message, after.message, after.tests)


# --------------------------------------------------------------------------- images themselves


async def test_a_repository_above_the_bounds_is_refused(
    engine: docker.APIClient, shop_image: str
) -> None:
    kept = "/opt/codereward/repository"
    grown = f"USER 0\nRUN truncate -s 65M {kept}/large && ln -s /etc/passwd {kept}/link"
    with derived_image(engine, TAG, own_tag("shop-large"), grown) as name:
        repositories = ImageRepositories(engine)
        with pytest.raises(TreeError, match=r"more than \d+ bytes together"):
            await repositories.read(name)
    with derived_image(engine, TAG, own_tag("shop-link"), grown[:7] + _LINK) as name:
        with pytest.raises(TreeError, match="the link 'link' leads to no file of it"):
            await repositories.read(name)
        with pytest.raises(SandboxError, match="the engine does not send"):
            await repositories.read(own_tag("shop-none"))
    assert created(engine) == []
    await repositories.aclose()


_LINK = "RUN ln -s /etc/passwd /opt/codereward/repository/link"


async def test_a_reader_that_is_cancelled_leaves_no_container(
    engine: docker.APIClient, shop_image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, goes_on = threading.Event(), threading.Event()
    get = engine.get

    def slow(url: str, **options: Any) -> Any:
        if url.endswith("/archive"):
            reached.set()
            assert goes_on.wait(60)
        return get(url, **options)

    monkeypatch.setattr(engine, "get", slow)
    repositories = ImageRepositories(engine)
    reading = asyncio.create_task(repositories.read(shop_image))
    assert await asyncio.to_thread(reached.wait, 60)
    # A janitor removes what has this label, if the server is killed now.
    assert len(created(engine)) == 1
    reading.cancel()
    goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert created(engine) == []
    await repositories.aclose()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"folder": "/none"}, "non-zero code"),
        ({"folder": "/usr/lib"}, "non-zero code"),
        ({"folder": "/test bed"}, "is no absolute path"),
        ({"folder": "/a/../usr"}, "is no absolute path"),
        ({}, "has volumes: /data"),
    ],
)
async def test_an_image_that_cannot_be_adapted_is_refused(
    options: dict[str, str], problem: str, engine: docker.APIClient, base_image: str
) -> None:
    said: list[str] = []

    def adapt() -> None:
        with derived_image(engine, base_image, own_tag("task-with-volume"), "VOLUME /data") as name:
            tag = own_tag("none")
            images.adapt(engine, name, tag=tag, **options, on_line=said.append)

    with pytest.raises(SandboxError, match=problem):
        await asyncio.to_thread(adapt)
    if problem == "non-zero code":
        assert "the image cannot be adapted" in "\n".join(said)
    assert not engine.images(own_tag("none"))
