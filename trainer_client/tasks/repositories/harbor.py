"""Reads task folders of Harbor, as tests of a repository.

Harbor runs `tests/test.sh` in the agent's own container, and takes the reward from a file there.
This reader runs nothing. The repository is what the Dockerfile copies into its working folder, and
the tests are those that `test.sh` gives to pytest. If the Dockerfile or the script does more, the
task is refused, with the file, the line and the remedy.
"""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from codereward.toml_text import parse_toml
from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import TaskError
from trainer_client.tasks.repositories import dockerfile, harbor_script
from trainer_client.tasks.repositories.pytest_names import (
    NAMES_REMEDY,
    test_names,
    with_relative_paths,
)
from trainer_client.tasks.repositories.task_folder import (
    File,
    FolderError,
    decoded,
    files_below,
    text_of,
)

_TOML = "task.toml"
_INSTRUCTION = "instruction.md"
# With these, pytest may collect other tests, or conclude otherwise.
_TEST_SETTINGS = (
    *("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"),
    *("pyproject.toml", "tox.ini", "setup.cfg"),
)
_TEST_FILE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMG]?)(?:i?B?)?", re.IGNORECASE)
# Settings that decide how tests run, and that neither the server nor this reader has.
_UNKNOWN = (
    *(("verifier", "env"), ("environment", "env"), ("environment", "mcp_servers")),
    *(("environment", "gpus"), ("verifier", "environment"), ("steps",)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HarborTask:
    """A task of Harbor.

    Args:
        name: the name of its folder.
        instruction: the text of `instruction.md`.
        template: makes the requests; see `tasks.fill`.
        files: the repository before any changes, by path; none if it is in the image.
        executable: those of its files that can be executed.
        workdir: the folder of the repository in Harbor's container; instructions may name it.
        image: the image that the caller named for it, in which the tests run; "" if none.
        agent_seconds: the time that an agent has, if the task says so.
    """

    name: str
    instruction: str
    template: pb.ScoreRequest = field(repr=False)
    files: Mapping[str, bytes] = field(repr=False)
    executable: frozenset[str] = field(repr=False)
    workdir: str
    image: str
    agent_seconds: float | None


def harbor(
    folder: str | Path,
    *,
    images: Mapping[str, str] = MappingProxyType({}),
    from_image: bool = False,
    import_paths: Sequence[str] = (),
    fail_to_pass: Sequence[str] = (),
    command: pb.TestCommand | None = None,
    relative_paths: bool = False,
    limits: pb.Limits | None = None,
) -> HarborTask:
    """Reads a task folder of Harbor.

    All tests have to pass for a reward. If the Dockerfile copies no files, the repository is the
    file `instruction.md`.

    Args:
        folder: the folder with `task.toml`.
        images: images of the server that have what RUN, ENV and installed packages make, by the
            name of the task's folder or by the image in FROM. Tests run in the image; "" stands for
            the first of the server with Python.
        from_image: whether the repository is what the image has in WORKDIR, in place of what the
            Dockerfile copies there; see `reward-server images adapt --folder`.
        import_paths: folders from which tests can import besides the top, such as "src".
        fail_to_pass: names of the tests; empty if they are those of the files that `test.sh` names.
        command: runs the tests, in place of pytest; `test.sh` is then not read.
        relative_paths: whether paths below WORKDIR and /tests are made relative in tests. An
            execution has its files in another folder.
        limits: the limits of an execution; those of `task.toml` if None.

    Raises:
        TaskError: the task cannot be judged outside of the agent's container. The field is the file
            with the line.
        OSError: the folder cannot be read.
    """
    place = Path(folder)
    name = place.resolve().name
    try:
        settings = _settings(place)
        environment = files_below(place, "environment")
        context = _context(environment, settings, name, images)
        known = next((key for key in (name, context.image) if key in images), None)
        image = "" if known is None else images[known]
        if from_image and not image:
            raise FolderError(dockerfile.PLACE, "has no image: name the one with its WORKDIR")
        hidden = files_below(place, "tests")
        if command is None:
            names = list(fail_to_pass) or _names(hidden, context, has_image=known is not None)
        elif not (names := list(fail_to_pass)):
            raise FolderError("tests", f"are those of a command: {NAMES_REMEDY}")
        texts = with_relative_paths(
            _shown(hidden), "" if from_image else context.workdir, replaces=relative_paths
        )
        instruction = text_of(place, _INSTRUCTION)
        files = {} if from_image else context.files or {_INSTRUCTION: File(instruction.encode())}
        chosen = _limits(settings) if limits is None else limits
    except FolderError as error:
        raise TaskError("harbor", error.place, error.problem, row=name) from error
    tests = pb.RepositoryTests(
        image=image,
        test_files=texts,
        fail_to_pass=names,
        command=command,
        import_paths=import_paths,
        changeable_paths=["*"],
    )
    if from_image:
        tests.image_folder = context.workdir
    else:
        tests.archive = _archive(files)
    if command is None:
        tests.framework = pb.FRAMEWORK_PYTEST
    return HarborTask(
        name=name,
        instruction=instruction,
        template=pb.ScoreRequest(repository=tests, limits=chosen),
        files={path: file.content for path, file in files.items()},
        executable=frozenset(path for path, file in files.items() if file.executable),
        workdir=context.workdir,
        image=image,
        agent_seconds=_number(settings, "agent", "timeout_sec"),
    )


def _settings(folder: Path) -> Mapping[str, Any]:
    text = text_of(folder, _TOML)
    try:
        settings = parse_toml(text)
    except ValueError as error:
        raise FolderError(_TOML, f"is not TOML: {error}") from error
    version = str(settings.get("schema_version", settings.get("version", "1.0")))
    if version.split(".")[0] != "1":
        raise FolderError(_TOML, f"has version {version[:20]!r}; 1 is read")
    for path in _UNKNOWN:
        if _value(settings, *path):
            problem = f"{'.'.join(path)} has no equal here: remove it, or judge the task otherwise"
            raise FolderError(_TOML, problem)
    return settings


def _value(settings: Mapping[str, Any], *path: str) -> Any:
    value: Any = settings
    for part in path:
        if not isinstance(value, Mapping):
            raise FolderError(_TOML, f"{path[0]} is no table")
        value = value.get(part, {} if part != path[-1] else None)
    return value


def _number(settings: Mapping[str, Any], *path: str) -> float | None:
    value = _value(settings, *path)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        raise FolderError(_TOML, f"{'.'.join(path)} is {value!r}, and has to be a number above 0")
    return float(value)


def _limits(settings: Mapping[str, Any]) -> pb.Limits:
    """Returns the limits that a task declares."""
    limits = pb.Limits()
    if (seconds := _number(settings, "verifier", "timeout_sec")) is not None:
        cpus = _number(settings, "environment", "cpus") or 1.0
        limits.wall_time_seconds = seconds
        limits.cpu_time_seconds = seconds * max(1.0, cpus)
    if (megabytes := _number(settings, "environment", "memory_mb")) is not None:
        limits.memory_bytes = int(megabytes) << 20
    elif (size := _value(settings, "environment", "memory")) is not None:
        match = _SIZE.fullmatch(str(size))
        if match is None:
            raise FolderError(_TOML, f"environment.memory is {size!r}, and has to be as '2G'")
        limits.memory_bytes = int(float(match[1]) * _UNITS[match[2].upper()])
    return limits


def _context(
    environment: Mapping[str, File],
    settings: Mapping[str, Any],
    name: str,
    images: Mapping[str, str],
) -> dockerfile.Context:
    for path in ("docker-compose.yaml", "docker-compose.yml"):
        if path in environment:
            problem = "starts services, which an execution has not: judge the task otherwise"
            raise FolderError(f"environment/{path}", problem)
    if "Dockerfile" not in environment:
        built = _value(settings, "environment", "docker_image")
        problem = f"is absent, so that the files of {built!r} are unknown: add it" if built else ""
        raise FolderError(dockerfile.PLACE, problem or "is absent: add it")
    text = decoded(dockerfile.PLACE, environment["Dockerfile"].content)
    has_image = not images.keys().isdisjoint((name, _base_of(text)))
    return dockerfile.read_dockerfile(text, environment, has_image=has_image)


def _base_of(text: str) -> str:
    """Returns the image in the first FROM of a Dockerfile, or ""."""
    found = re.search(r"^\s*FROM\s+(?:--\S+\s+)*(\S+)", text, re.IGNORECASE | re.MULTILINE)
    return found[1] if found else ""


def _names(
    hidden: Mapping[str, File], context: dockerfile.Context, *, has_image: bool
) -> list[str]:
    """Returns the names of the tests that `test.sh` runs."""
    if "test.sh" not in hidden:
        raise FolderError(harbor_script.PLACE, f"is absent: {harbor_script.COMMAND_REMEDY}")
    for path in _TEST_SETTINGS:
        if path in hidden:
            problem = f"may have settings of pytest, which are not read: {NAMES_REMEDY}"
            raise FolderError(f"tests/{path}", problem)
    script = decoded(harbor_script.PLACE, hidden["test.sh"].content)
    names: list[str] = []
    for number, target in harbor_script.targets_of(script, context.workdir, has_image=has_image):
        path, _, within = target.partition("::")
        files = [one for one in sorted(hidden) if one == path or _is_below(one, path)]
        found = [
            test
            for file in files
            for test in test_names(f"tests/{file}", decoded(f"tests/{file}", hidden[file].content))
            if not within or f"{test}::".startswith(f"tests/{target}::")
        ]
        if not found:
            problem = f"{target or '/tests'!r} has no tests: {NAMES_REMEDY}"
            raise FolderError(f"{harbor_script.PLACE}:{number}", problem)
        names += found
    return list(dict.fromkeys(names))


def _is_below(path: str, folder: str) -> bool:
    below = not folder or path.startswith(f"{folder}/")
    return below and _TEST_FILE.fullmatch(path) is not None


def _shown(hidden: Mapping[str, File]) -> dict[str, File]:
    """Returns the hidden files that tests may read; the script is none of them."""
    return {path: file for path, file in hidden.items() if path != "test.sh"}


def _archive(files: Mapping[str, File]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as made:
        for path, file in sorted(files.items()):
            member = tarfile.TarInfo(path)
            member.size = len(file.content)
            member.mode = 0o755 if file.executable else 0o644
            made.addfile(member, io.BytesIO(file.content))
    return buffer.getvalue()
