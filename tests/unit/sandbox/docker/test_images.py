from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import docker
import pytest

from reward_server import runner
from reward_server.errors import SandboxError
from reward_server.runner.walls import policy
from reward_server.sandbox import runner_files
from reward_server.sandbox.docker import images
from reward_server.sandbox.local import container
from reward_server.sandbox.runner_command import RUNNER_FOLDER
from tests.support.engine import PYTHON_TAG, derived_image, own_tag

RUNNER_SOURCES = Path(runner.__file__).parent
SIZE_BOUND_BYTES = 140_000_000
ABSENT_IMAGE = "localhost:1/absent:latest"

Inside = Callable[[str], str]
Tool = Callable[[str], None]


def output(engine: docker.APIClient, image: str, code: str) -> str:
    """Runs code with an image's interpreter; gives what it prints."""
    host_config = engine.create_host_config(network_mode="none")
    created = engine.create_container(image, ["python3", "-c", code], host_config=host_config)["Id"]
    try:
        engine.start(created)
        status = engine.wait(created)["StatusCode"]
        printed = str(engine.logs(created).decode())
    finally:
        engine.remove_container(created, force=True)
    assert status == 0, printed
    return printed


@pytest.fixture
def inside(engine: docker.APIClient, python_image: str) -> Inside:
    """Runs code with the Python image's interpreter; gives what it prints."""
    return lambda code: output(engine, python_image, code)


@pytest.fixture
def runner_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a copy of the runner's files, which images are built of during a test."""
    copy = tmp_path / "runner"
    shutil.copytree(RUNNER_SOURCES, copy)
    monkeypatch.setattr(runner_files, "FOLDER", copy)
    return copy


@pytest.fixture
def mmdebstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """Puts a shell script where mmdebstrap is looked for."""

    def put(script: str) -> None:
        path = tmp_path / "mmdebstrap"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return put


# ------------------------------------------------------------------------------ what goes in


def test_the_digest_depends_on_every_name_and_every_byte(runner_copy: Path) -> None:
    seen = {images.runner_digest()}
    (runner_copy / "wire.py").rename(runner_copy / "wires.py")
    seen.add(images.runner_digest())
    (runner_copy / "start.py").write_bytes((runner_copy / "start.py").read_bytes() + b"\n")
    seen.add(images.runner_digest())
    (runner_copy / "more").mkdir()
    (runner_copy / "more" / "__init__.py").touch()
    seen.add(images.runner_digest())
    assert len(seen) == 4


def test_text_that_moves_to_the_next_file_changes_the_digest(runner_copy: Path) -> None:
    (runner_copy / "a.py").write_bytes(b"xb.py\0y")
    (runner_copy / "b.py").write_bytes(b"z")
    before = images.runner_digest()
    (runner_copy / "a.py").write_bytes(b"x")
    (runner_copy / "b.py").write_bytes(b"yz")
    assert images.runner_digest() != before


def test_what_is_not_source_leaves_the_digest_and_the_context_alone(runner_copy: Path) -> None:
    before = (images.runner_digest(), images.build_context("python"))
    (runner_copy / "__pycache__").mkdir(exist_ok=True)
    (runner_copy / "__pycache__" / "judge.cpython-311.pyc").write_bytes(b"compiled")
    for source in runner_copy.glob("*.py"):
        os.utime(source, (1, 1))
    assert (images.runner_digest(), images.build_context("python")) == before


def test_an_image_is_built_of_its_folder_and_the_runner_alone() -> None:
    with tarfile.open(fileobj=io.BytesIO(images.build_context("python"))) as context:
        entries = context.getmembers()
    sources = {
        f"runner/{path.relative_to(RUNNER_SOURCES)}" for path in RUNNER_SOURCES.rglob("*.py")
    }
    assert {entry.name for entry in entries} == {"Dockerfile", "prepare.sh", *sources}
    owners = {(entry.mtime, entry.uid, entry.uname, entry.mode) for entry in entries}
    assert owners == {(0, 0, "", 0o644)}


def test_a_build_that_downloads_trusts_whom_the_host_trusts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authorities = tmp_path / "authorities.pem"
    authorities.write_text("whom the host trusts")
    monkeypatch.setenv("SSL_CERT_FILE", str(authorities))
    with tarfile.open(fileobj=io.BytesIO(images.build_context("python-science"))) as context:
        file = context.extractfile(images.AUTHORITIES)
        assert file is not None
        assert file.read() == b"whom the host trusts"


def test_a_language_without_an_image_is_refused() -> None:
    with pytest.raises(SandboxError, match=r"no image 'cobol': there are .*python"):
        images.build_context("cobol")


# ------------------------------------------------------------------------------- what is built


def test_the_same_files_build_the_same_image(
    engine: docker.APIClient, base_image: str, python_image: str
) -> None:
    lines: list[str] = []
    again = images.build(
        engine, "python", base_image=base_image, tag=PYTHON_TAG, on_line=lines.append
    )
    assert again == python_image
    assert any(line.startswith("Step 1/") for line in lines)
    assert lines[-1] == f"Successfully tagged {PYTHON_TAG}"


def test_an_engine_lists_an_image_with_what_is_in_it(
    engine: docker.APIClient, python_image: str
) -> None:
    [found] = images.find(engine, PYTHON_TAG)
    assert found.identifier in {image.identifier for image in images.find(engine)}
    assert (found.identifier, found.languages) == (python_image, ("python",))
    assert (found.runner_digest, found.is_current) == (images.runner_digest(), True)
    assert 0 < found.size_bytes < SIZE_BOUND_BYTES


def test_the_image_has_the_runner_compiled(inside: Inside) -> None:
    printed = inside(
        f"from pathlib import Path; runner = Path({RUNNER_FOLDER!r})\n"
        "print(*(path.stem for path in runner.rglob('*.py')))\n"
        "print(*(path.name.split('.')[0] for path in runner.rglob('__pycache__/*.pyc')))"
    )
    sources, compiled = (set(line.split()) for line in printed.splitlines())
    assert sources == compiled == {path.stem for path in RUNNER_SOURCES.rglob("*.py")}


def test_no_program_of_the_image_raises_privileges(inside: Inside) -> None:
    printed = inside(
        "import subprocess\n"
        "command = 'find / -xdev -type f -perm /6000; id -u; id -g; id -G'\n"
        "print(subprocess.run(command, shell=True, capture_output=True, text=True).stdout)"
    )
    assert printed.split() == ["65534"] * 3


def test_the_image_has_the_account_and_the_folders_of_the_local_sandbox(inside: Inside) -> None:
    printed = inside(
        "import os, json, pathlib\n"
        "texts = {p: pathlib.Path(p).read_text() for p in ('/etc/passwd', '/etc/group')}\n"
        f"print(json.dumps([texts, os.readlink('/tmp'), os.listdir({policy.BOX!r})]))"
    )
    texts, link, box = json.loads(printed)
    for path, text in texts.items():
        same_id = [line for line in text.splitlines() if f":x:{policy.INNER_ID}:" in line]
        assert same_id == [container._ACCOUNTS[path].strip()]
    assert (f"/{link}", box) == (policy.TMP_FOLDER, [])


def test_a_base_without_an_interpreter_gets_one(engine: docker.APIClient, base_image: str) -> None:
    tag = own_tag("python", "from-bare")
    remove = "RUN apt-get purge --yes python3.11-minimal libpython3.11-minimal\n"
    with derived_image(engine, base_image, own_tag("base", "bare"), remove) as bare:
        identifier = images.build(engine, "python", base_image=bare, tag=tag)
    try:
        code = "import json, os; print(json.dumps(os.listdir('/var/lib/apt/lists')))"
        assert output(engine, identifier, code) == "[]\n"
    finally:
        engine.remove_image(identifier, force=True)


def test_an_absent_base_is_told_in_the_engines_words(engine: docker.APIClient) -> None:
    with pytest.raises(SandboxError, match=r"the image was not built: .*localhost:1"):
        images.build(engine, "python", base_image=ABSENT_IMAGE, tag=own_tag("python", "never"))
    assert images.find(engine, own_tag("python", "never")) == ()


def test_a_failing_step_is_told_in_the_engines_words(
    engine: docker.APIClient, base_image: str, runner_copy: Path
) -> None:
    (runner_copy / "broken.py").write_text("def (:\n")
    with pytest.raises(SandboxError, match=r"not built: .*prepare.sh.* returned a non-zero code"):
        images.build(engine, "python", base_image=base_image, tag=own_tag("python", "never"))


# ---------------------------------------------------------------------- what may be started


def test_an_image_without_a_runner_is_refused(engine: docker.APIClient, base_image: str) -> None:
    with pytest.raises(SandboxError, match=f"{base_image} has no runner; rebuild"):
        images.require(engine, base_image)
    assert images.find(engine, base_image) == ()


# ------------------------------------------------------------------- a base without a registry


def test_what_mmdebstrap_writes_becomes_an_image(
    engine: docker.APIClient, mmdebstrap: Tool, tmp_path: Path
) -> None:
    (tmp_path / "etc").mkdir()
    mmdebstrap(f'echo "$@" >&2; tar -C {tmp_path} -c etc')
    lines: list[str] = []
    made = images.make_base(engine, own_tag("base", "tiny"), suite="sid", on_line=lines.append)
    try:
        assert made == engine.inspect_image(own_tag("base", "tiny"))["Id"]
        assert "--include=python3,ca-certificates" in lines[0]
        assert lines[0].endswith(" sid -")
    finally:
        engine.remove_image(made, force=True)


def test_mmdebstraps_complaint_is_passed_on(engine: docker.APIClient, mmdebstrap: Tool) -> None:
    mmdebstrap("echo E: no such mirror >&2; exit 25")
    with pytest.raises(SandboxError, match="exit status 25: E: no such mirror"):
        images.make_base(engine, own_tag("base", "never"))


def test_an_archive_that_is_none_becomes_no_image(
    engine: docker.APIClient, mmdebstrap: Tool
) -> None:
    mmdebstrap("echo this is no archive")
    with pytest.raises(SandboxError, match="the engine did not import the base"):
        images.make_base(engine, own_tag("base", "never"))
    assert engine.images(own_tag("base", "never")) == []


def test_a_missing_mmdebstrap_is_named(
    engine: docker.APIClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="apt-get install mmdebstrap"):
        images.make_base(engine, own_tag("base", "never"))
