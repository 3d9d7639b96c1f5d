"""What tests with a Docker Engine share: a connection, and the image of their containers."""

from __future__ import annotations

import gc
import hashlib
import io
import os
import tarfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType

import docker
import pytest

from reward_server.errors import SandboxError
from reward_server.languages import load_languages
from reward_server.sandbox.docker import images
from reward_server.sandbox.docker.container import connect

# Checkouts may share an engine, so each has tags of its own. They stay: with an image the engine
# would remove layers that the next build takes up.
CHECKOUT = hashlib.sha256(__file__.encode()).hexdigest()[:8]


def own_tag(name: str, kind: str = "test") -> str:
    """Returns the tag that this checkout gives to an image of tests."""
    return f"codereward-{name}:{kind}-{CHECKOUT}"


PYTHON_TAG, SCIENCE_TAG = own_tag("python"), own_tag("python-science")
BUILD_SECONDS = {"program_images": 900, "language_images": 3600}


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Gives the first test that needs an image the time to make it."""
    for item in items:
        used = set(BUILD_SECONDS) & set(getattr(item, "fixturenames", ()))
        if used and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(max(BUILD_SECONDS[name] for name in used)))


@pytest.fixture(scope="session")
def engine() -> Iterator[docker.APIClient]:
    """Yields a connection to the Docker Engine; if none answers, skips, or fails in CI."""
    try:
        client = connect()
    except SandboxError as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI is set, so an engine must run: {error}")
        pytest.skip("no Docker Engine")
    with closing(client):
        yield client


@pytest.fixture(scope="session")
def base_image(engine: docker.APIClient) -> str:
    """Returns the name of a base that needs no registry; made once for an engine."""
    if not engine.images(images.BASE_TAG):
        images.make_base(engine, images.BASE_TAG)
    return images.BASE_TAG


@pytest.fixture(scope="session")
def python_image(engine: docker.APIClient, base_image: str) -> str:
    """Returns the id of the Python image with the runner of this checkout."""
    return images.build(engine, "python", base_image=base_image, tag=PYTHON_TAG)


@pytest.fixture(scope="session")
def science_image(engine: docker.APIClient, base_image: str) -> str:
    """Returns the id of the Python image with scientific packages."""
    return images.build(engine, "python-science", base_image=base_image, tag=SCIENCE_TAG)


@pytest.fixture(scope="session")
def program_images(engine: docker.APIClient, base_image: str) -> tuple[str, ...]:
    """Returns the ids of the images of HumanEval-X's languages with this runner."""
    return tuple(
        images.build(engine, name, base_image=base_image, tag=own_tag(name))
        for name in ("python", "gcc", "jvm", "node", "go", "rust")
    )


@pytest.fixture(scope="session")
def language_images(
    engine: docker.APIClient, base_image: str, python_image: str
) -> tuple[str, ...]:
    """Returns the ids of images that have every language once, Python's first.

    Each is built with the runner of this checkout; the engine does only what changed since the
    last time.
    """
    others = sorted({language.image for language in load_languages().all} - {"python"})
    built = [
        images.build(engine, name, base_image=base_image, tag=own_tag(name)) for name in others
    ]
    return (python_image, *built)


@pytest.fixture
def dead_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Makes the environment name an engine that does not run; gives its address.

    The SDK leaves the socket of a failed connection to the garbage collector, which would complain
    of it during this test or another: it waits until the end, and is not listened to then.
    """
    address = "unix:///nonexistent/docker.sock"
    monkeypatch.setenv("DOCKER_HOST", address)
    gc.disable()
    yield address
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    gc.enable()


@contextmanager
def derived_image(
    engine: docker.APIClient,
    base: str,
    tag: str,
    instructions: str,
    files: Mapping[str, bytes | Path] = MappingProxyType({}),
) -> Iterator[str]:
    """Keeps an image that a Dockerfile's instructions make of another; gives its name.

    Args:
        engine: the engine.
        base: the other image.
        tag: the name of the image.
        instructions: the instructions after FROM.
        files: files and folders that instructions can copy, by path.
    """
    dockerfile = f"FROM {base}\n{instructions}\n".encode()
    events = engine.build(
        fileobj=_context({**files, "Dockerfile": dockerfile}),
        custom_context=True,
        tag=tag,
        network_mode="host",
        rm=True,
        forcerm=True,
        decode=True,
    )
    complaints = [event["error"] for event in events if "error" in event]
    assert complaints == []
    try:
        yield tag
    finally:
        engine.remove_image(tag, force=True)


def _context(files: Mapping[str, bytes | Path]) -> io.BytesIO:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as made:
        for path, content in files.items():
            if isinstance(content, Path):
                made.add(content, path)
                continue
            member = tarfile.TarInfo(path)
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    buffer.seek(0)
    return buffer
