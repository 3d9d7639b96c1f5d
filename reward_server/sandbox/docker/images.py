"""Images with a runner inside: how they are made, found, and distinguished by version.

An image has two labels: its languages, and the digest of the runner's source text. A runner and a
server of different versions may misunderstand each other, so the server refuses such an image
before it makes a container from it.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import ssl
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docker
import docker.errors
import requests

import reward_server
from reward_server.errors import SandboxError
from reward_server.languages import load_languages
from reward_server.sandbox import runner_files
from reward_server.sandbox.docker.inventory import ENGINE_FAILURES, told

LANGUAGES_LABEL = "codereward.languages"
RUNNER_LABEL = "codereward.runner"
REPOSITORY_LABEL = "codereward.repository"
BASE_IMAGE = "debian:bookworm-slim"
BASE_SUITE = "bookworm"
AUTHORITIES = "authorities.pem"
BASE_TAG = f"codereward-base:{BASE_SUITE}"  # tag of a base made without a registry
IMAGES = Path(reward_server.__file__).resolve().parent.parent / "sandbox_images"

_PREPARATION = "prepare.sh"
_DOCKERFILE = "Dockerfile"
_PACKAGES_DOCKERFILE = "packages.Dockerfile"  # of folders that have a requirements.txt
_ADAPTED_DOCKERFILE = "adapted.Dockerfile"
_ADAPTATION = "adapt.py"
_PLACE = re.compile(r"(?:/[\w.+@-]+)+")  # a path that needs no quotes in a Dockerfile
_REQUIREMENTS = "requirements.txt"
_DECLARATION = "image.json"
_PACKAGES_FOLDER = "/opt/codereward/packages"
_COMPLAINT_LINES = 5
_BASE_COMMAND = (
    "mmdebstrap",
    "--variant=minbase",
    "--include=python3,ca-certificates",
    # This avoids the package that merges an old /usr, and Perl, which it needs.
    "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    "--dpkgopt=path-include=/usr/share/doc/*/copyright",
    "--dpkgopt=path-exclude=/usr/share/info/*",
    "--dpkgopt=path-exclude=/usr/share/locale/*",
    "--dpkgopt=path-exclude=/usr/share/man/*",
    # These two files are copies of the host's.
    '--customize-hook=rm -f "$1/etc/hostname" "$1/etc/resolv.conf"',
)

Listener = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxImage:
    """An image with a runner that an engine has.

    Args:
        identifier: identifies its content.
        tags: its names; empty if a newer image has taken its name.
        languages: canonical names of its languages.
        runner_digest: digest of the runner inside.
        size_bytes: size of all its layers.
        folder: path of the repository that it has; empty if it has none.
    """

    identifier: str
    tags: tuple[str, ...]
    languages: tuple[str, ...]
    runner_digest: str
    size_bytes: int
    folder: str = ""

    @property
    def name(self) -> str:
        """Its first tag, or the start of its identifier if it has none."""
        return self.tags[0] if self.tags else self.short_identifier

    @property
    def short_identifier(self) -> str:
        """The start of its identifier, as Docker's own tools show it."""
        return self.identifier.removeprefix("sha256:")[:12]

    @property
    def is_current(self) -> bool:
        """Whether its runner is this server's version."""
        return self.runner_digest == runner_digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """What an image of Python has besides its interpreter.

    Args:
        requirements: a requirements file, as pip reads it, which names no other file.
        preload: modules that each container imports once, before the first execution.
    """

    requirements: bytes
    preload: tuple[str, ...] = ()

    @property
    def declaration(self) -> bytes:
        """The file in which an image tells its runner about packages."""
        declared = {
            "packages": [_PACKAGES_FOLDER],
            "preload": list(self.preload),
            "environment": {"PYTHONPATH": _PACKAGES_FOLDER},
        }
        return json.dumps(declared, indent=2).encode()


def runner_digest() -> str:
    """Computes the digest of the runner's source, over its files' names and contents."""
    digest = hashlib.sha256()
    for name, content in runner_files.sources():
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def names() -> tuple[str, ...]:
    """Returns the names of the images that can be built."""
    found = {*IMAGES.glob(f"*/{_DOCKERFILE}"), *IMAGES.glob(f"*/{_REQUIREMENTS}")}
    return tuple(sorted(path.parent.name for path in found))


def default_tag(name: str) -> str:
    """Returns the tag under which the server looks for an image."""
    return f"codereward-{name}"


def languages_of(name: str) -> tuple[str, ...]:
    """Returns the languages of one of the project's images."""
    return tuple(one.name for one in load_languages().all if name in (one.image, *one.also_in))


def build(
    engine: docker.APIClient,
    name: str,
    *,
    base_image: str = BASE_IMAGE,
    tag: str | None = None,
    on_line: Listener = lambda _: None,
) -> str:
    """Builds an image; returns its id.

    Args:
        engine: the engine.
        name: one of `names()`.
        base_image: the image to build upon: Debian or a derivative.
        tag: the image's tag; `default_tag` if None.
        on_line: called with each line of the build's progress.

    Raises:
        SandboxError: the build failed; the message is the engine's.
    """
    arguments = {"BASE_IMAGE": base_image}
    if (IMAGES / name / _REQUIREMENTS).is_file():
        arguments["LEAVE_OUT"] = "tests"
    recipe = _Recipe(
        name=name,
        context=build_context(name),
        languages=languages_of(name),
        arguments=arguments,
    )
    return _built(engine, recipe, tag or default_tag(name), on_line)


def build_with_packages(
    engine: docker.APIClient,
    name: str,
    packages: Packages,
    *,
    base_image: str = BASE_IMAGE,
    tag: str | None = None,
    on_line: Listener = lambda _: None,
) -> str:
    """Builds an image of Python with packages of the caller's choice; returns its id.

    Args:
        engine: the engine.
        name: the image's name, which is none of `names()`.
        packages: what it has.
        base_image: the image to build upon: Debian or a derivative.
        tag: the image's tag; `default_tag` if None.
        on_line: called with each line of the build's progress.

    Raises:
        SandboxError: the name is one of the project's images, or the build failed.
    """
    if name in names():
        raise SandboxError(f"{name!r} is an image of this project: choose another name")
    recipe = _Recipe(
        name=name,
        context=packages_context(packages),
        languages=languages_of("python"),
        arguments={"BASE_IMAGE": base_image},
    )
    return _built(engine, recipe, tag or default_tag(name), on_line)


def adapt(
    engine: docker.APIClient,
    task_image: str,
    *,
    tag: str,
    folder: str = "",
    python: str = "",
    preload: Sequence[str] = (),
    languages: Sequence[str] = ("python",),
    on_line: Listener = lambda _: None,
) -> str:
    """Builds an image of the image of a task, with the runner; returns its id.

    Args:
        engine: the engine.
        task_image: the image of the task: Debian or a derivative, or with Python 3.11 or later.
        tag: the new image's tag.
        folder: the absolute path of the repository in it; empty if it has none.
        python: the path of the interpreter whose packages tests import; `python3` if empty.
        preload: modules that each container imports once, before the first execution.
        languages: canonical names of the languages that it has.
        on_line: called with each line of the build's progress.

    Raises:
        SandboxError: a path cannot be used, or the build failed.
    """
    for path in filter(None, (folder, python)):
        if not _PLACE.fullmatch(path) or not {".", ".."}.isdisjoint(path.split("/")):
            raise SandboxError(f"{path!r} is no absolute path of letters, digits, and /_.+@-")
    contents = {
        _DOCKERFILE: (IMAGES / _ADAPTED_DOCKERFILE).read_bytes(),
        _ADAPTATION: (IMAGES / _ADAPTATION).read_bytes(),
    }
    arguments = {"BASE_IMAGE": task_image, "FOLDER": folder, "PRELOAD": " ".join(preload)}
    if python:
        arguments["PYTHON_FOLDER"] = python.rpartition("/")[0]
    recipe = _Recipe(
        name=tag,
        context=_completed(contents),
        languages=tuple(languages),
        arguments=arguments,
        labels={REPOSITORY_LABEL: folder} if folder else {},
    )
    built = _built(engine, recipe, tag, on_line)
    # A volume could be written, and would keep files from one execution to the next.
    if volumes := engine.inspect_image(built)["Config"]["Volumes"]:
        engine.remove_image(tag, force=True)
        raise SandboxError(f"{task_image} has volumes: {', '.join(volumes)}; make it without them")
    return built


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recipe:
    """What an engine needs to build an image.

    Args:
        name: the image's name, for messages.
        context: an archive of files.
        languages: canonical names of its languages.
        arguments: arguments of the Dockerfile.
        labels: labels besides those that every image has.
    """

    name: str
    context: bytes
    languages: tuple[str, ...]
    arguments: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)


def _built(engine: docker.APIClient, recipe: _Recipe, tag: str, on_line: Listener) -> str:
    try:
        events = engine.build(
            fileobj=io.BytesIO(recipe.context),
            custom_context=True,
            tag=tag,
            buildargs=dict(recipe.arguments),
            labels={
                LANGUAGES_LABEL: " ".join(recipe.languages),
                RUNNER_LABEL: runner_digest(),
                **recipe.labels,
            },
            network_mode="host",  # an engine may have no network bridge
            rm=True,
            forcerm=True,
            decode=True,
        )
        return _follow(events, on_line)
    except ENGINE_FAILURES as error:
        raise SandboxError(f"the engine did not build the {recipe.name} image: {error}") from error


def build_context(name: str) -> bytes:
    """Packs the files from which an image is built; the same files give the same bytes.

    Raises:
        SandboxError: there is no such image.
    """
    if name not in names():
        raise SandboxError(f"no image {name!r}: there are {', '.join(names())}")
    folder = IMAGES / name
    files = [(path.relative_to(folder).as_posix(), path) for path in folder.rglob("*")]
    return _completed({inside: path.read_bytes() for inside, path in files if path.is_file()})


def packages_context(packages: Packages) -> bytes:
    """Packs the files from which an image with packages of the caller's choice is built."""
    return _completed({_REQUIREMENTS: packages.requirements, _DECLARATION: packages.declaration})


def _completed(contents: dict[str, bytes]) -> bytes:
    """Packs the files of one image with those that every image needs."""
    if _DOCKERFILE not in contents:
        contents[_DOCKERFILE] = (IMAGES / _PACKAGES_DOCKERFILE).read_bytes()
    contents[_PREPARATION] = (IMAGES / _PREPARATION).read_bytes()
    contents |= {f"runner/{inside}": content for inside, content in runner_files.sources()}
    if AUTHORITIES in contents[_DOCKERFILE].decode():
        contents[AUTHORITIES] = _authorities()
    return _packed(contents)


def make_base(
    engine: docker.APIClient,
    tag: str,
    *,
    suite: str = BASE_SUITE,
    on_line: Listener = lambda _: None,
) -> str:
    """Makes a base image from Debian's packages, without a registry; returns its id.

    Args:
        engine: the engine that gets the image.
        tag: the image's tag.
        suite: Debian's release.
        on_line: called with each line of the progress.

    Raises:
        SandboxError: mmdebstrap is missing or failed, or the engine refused its result.
    """
    if shutil.which(_BASE_COMMAND[0]) is None:
        raise SandboxError("mmdebstrap is not installed; on Debian: apt-get install mmdebstrap")
    with tempfile.NamedTemporaryFile(suffix=".tar") as archive:
        _debootstrap(suite, archive.fileno(), on_line)
        on_line("importing the archive into the engine")
        try:
            return _imported(engine, archive.name, tag)
        except ENGINE_FAILURES as error:
            raise SandboxError(f"the engine did not import the base: {error}") from error


def find(engine: docker.APIClient, name: str | None = None) -> tuple[SandboxImage, ...]:
    """Lists an engine's images that have a runner, by name.

    Args:
        engine: the engine.
        name: a name, with or without a tag, to find only matching images; None for all.

    Raises:
        SandboxError: the engine does not list its images.
    """
    try:
        found = engine.images(name, filters={"label": [LANGUAGES_LABEL, RUNNER_LABEL]})
    except ENGINE_FAILURES as error:
        raise SandboxError(f"the engine does not list its images: {error}") from error
    return tuple(sorted(map(_described, found), key=lambda image: image.name))


def choose(engine: docker.APIClient, wanted: Sequence[str]) -> tuple[SandboxImage, ...]:
    """Finds the images that a server uses, the most wanted first.

    Args:
        engine: the engine.
        wanted: tags, digests or ids, all of which must be usable; if empty, the usable images that
            have their default tags.

    Raises:
        SandboxError: one cannot be used, or there is none.
    """
    if wanted:
        return tuple(require(engine, one) for one in wanted)
    tags = [default_tag(name) for name in ("python", *names())]
    found = {image.name.partition(":")[0]: image for image in find(engine) if image.is_current}
    chosen = tuple(found[tag] for tag in dict.fromkeys(tags) if tag in found)
    if not chosen:
        raise SandboxError(
            "the engine has no image of ours, or none with the runner of this version: "
            "build them with `reward-server images build`"
        )
    return chosen


def require(engine: docker.APIClient, name: str) -> SandboxImage:
    """Describes a usable image: one with this server's version of the runner.

    Args:
        engine: the engine.
        name: a name, a digest or an id. The id in the answer identifies the content, even if the
            name is given to another image later.

    Raises:
        SandboxError: it has another runner, or none, or the engine does not have the image.
    """
    try:
        found = engine.inspect_image(name)
    except docker.errors.ImageNotFound:
        raise SandboxError(
            f"the engine has no image {name!r}: build it with `reward-server images build`"
        ) from None
    except ENGINE_FAILURES as error:
        raise SandboxError(f"the engine cannot tell of image {name!r}: {told(error)}") from error
    labels = found["Config"]["Labels"] or {}
    if RUNNER_LABEL not in labels or LANGUAGES_LABEL not in labels:
        problem = "has no runner"
    elif labels[RUNNER_LABEL] != runner_digest():
        problem = "has the runner of another version"
    else:
        return _described({**found, "Labels": labels})
    raise SandboxError(f"image {name} {problem}; rebuild it with `reward-server images build`")


def _authorities() -> bytes:
    """Reads the certificates that this host trusts, so that a build can reach the same servers."""
    host = ssl.get_default_verify_paths().cafile
    return Path(host or requests.utils.DEFAULT_CA_BUNDLE_PATH).read_bytes()


def _packed(contents: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(contents):
            entry = tarfile.TarInfo(name)
            entry.size = len(contents[name])
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(contents[name]))
    return buffer.getvalue()


def _follow(events: Iterable[Mapping[str, Any]], on_line: Listener) -> str:
    """Reports a build's events line by line; returns the id of the image."""
    identifier = ""
    for event in events:
        if "error" in event:
            raise SandboxError(f"the image was not built: {str(event['error']).strip()}")
        for line in str(event.get("stream", event.get("status", ""))).splitlines():
            if line.strip():
                on_line(line.strip())
        identifier = event.get("aux", {}).get("ID", identifier)
    if not identifier:
        raise SandboxError("the image was not built: the engine ended without a word")
    return identifier


def _debootstrap(suite: str, output: int, on_line: Listener) -> None:
    """Writes a root file system as a tar archive to a descriptor."""
    command = [*_BASE_COMMAND, suite, "-"]
    said: list[str] = []
    with subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            said.append(line.strip())
            on_line(line.strip())
    if process.returncode != 0:
        end = "; ".join(said[-_COMPLAINT_LINES:])
        raise SandboxError(f"mmdebstrap failed with exit status {process.returncode}: {end}")


def _imported(engine: docker.APIClient, archive: str, tag: str) -> str:
    repository, version = docker.utils.parse_repository_tag(tag)
    said = engine.import_image_from_file(archive, repository, version or "latest")
    last = json.loads(said.splitlines()[-1])
    if "error" in last:
        raise SandboxError(f"the engine did not import the base: {last['error']}")
    return str(last["status"])


def _described(image: Mapping[str, Any]) -> SandboxImage:
    tags = tuple(tag for tag in image["RepoTags"] or () if tag != "<none>:<none>")
    return SandboxImage(
        identifier=image["Id"],
        tags=tags,
        languages=tuple(image["Labels"][LANGUAGES_LABEL].split()),
        runner_digest=image["Labels"][RUNNER_LABEL],
        size_bytes=image["Size"],
        folder=image["Labels"].get(REPOSITORY_LABEL, ""),
    )
