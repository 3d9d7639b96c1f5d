from __future__ import annotations

import io
import json
import re
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import docker
import pytest
from typer.testing import CliRunner, Result

from reward_server.cli.images import images_app
from reward_server.errors import SandboxError, StartError
from reward_server.sandbox.docker import images
from tests.support.bills import complaint_of_schema
from tests.support.engine import CHECKOUT, PYTHON_TAG, derived_image, own_tag

Command = Callable[..., Result]

COMMANDS = (
    ("build",),
    ("adapt", "task", "--tag", "codereward-task"),
    ("list",),
    ("verify",),
    ("sbom", "codereward-python"),
)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments: CliRunner().invoke(images_app, list(arguments))


def test_a_build_tells_its_steps_and_names_its_image(
    run: Command, base_image: str, python_image: str
) -> None:
    result = run("build", "python", "--base-image", base_image, "--tag", PYTHON_TAG)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{PYTHON_TAG} {python_image}\n"
    assert f"{PYTHON_TAG}: Step 1/" in result.stderr


def test_the_image_of_python_is_built_by_default_under_its_own_name(
    run: Command, python_image: str, base_image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An engine may have an image of that name, which a server uses.
    assert images.default_tag("python") == "codereward-python"
    monkeypatch.setattr(images, "default_tag", own_tag)
    result = run("build", "--base-image", base_image)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{PYTHON_TAG} {python_image}\n"


def test_all_images_can_be_asked_for(
    run: Command, engine: docker.APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = []
    monkeypatch.setattr(images, "build", lambda _, name, **__: built.append(name) or "id")
    assert run("build", "--all").exit_code == 0
    assert built == list(images.names())


def test_an_image_of_a_task_is_adapted_as_the_options_say(
    run: Command, engine: docker.APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, object] = {}

    def adapt(_: docker.APIClient, image: str, **options: object) -> str:
        asked.update(options, image=image)
        del asked["on_line"]
        return "sha256:1"

    monkeypatch.setattr(images, "adapt", adapt)
    options = ("--folder", "/testbed", "--python", "/opt/env/bin/python", "--preload", "pytest")
    result = run("adapt", "task:1", "--tag", "ours", *options, "--language", "py")
    assert (result.exit_code, result.stdout) == (0, "ours sha256:1\n"), result.output
    assert asked == {
        "image": "task:1",
        "tag": "ours",
        "folder": "/testbed",
        "python": "/opt/env/bin/python",
        "preload": ("pytest",),
        "languages": ("python",),
    }
    assert run("adapt", "task:1").exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("--base-image", "debian", "--base-from-debootstrap"),
        ("python", "python", "--tag", "one-name"),
    ],
)
def test_options_that_exclude_each_other_are_wrong_usage(
    run: Command, engine: docker.APIClient, arguments: tuple[str, ...]
) -> None:
    assert run("build", *arguments).exit_code == 2


@pytest.mark.parametrize(
    "options",
    [
        ("--requirements", "{file}"),
        ("--name", "ours"),
        ("--preload", "six"),
        ("python", "--requirements", "{file}", "--name", "ours"),
        ("--all", "--requirements", "{file}", "--name", "ours"),
        ("--requirements", "{file}", "--name", "Not A Name"),
    ],
)
def test_options_of_an_image_of_ones_own_belong_together(
    run: Command, engine: docker.APIClient, tmp_path: Path, options: tuple[str, ...]
) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text("six\n")
    assert run("build", *(option.format(file=file) for option in options)).exit_code == 2


def test_an_image_of_ones_own_is_built_of_a_requirements_file(
    run: Command, engine: docker.APIClient, base_image: str, tmp_path: Path
) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text("six==1.17.0\n")
    name = f"of-a-test-{CHECKOUT}"
    own = ("--requirements", str(file), "--name", name, "--preload", "six")
    result = run("build", *own, "--base-image", base_image)
    assert result.exit_code == 0, result.output
    tag = f"codereward-{name}:latest"
    break_it = "USER root\nRUN echo 'import absent' >/opt/codereward/packages/of_a_test.py\n"
    break_it += (
        "RUN cd /opt/codereward/packages && echo of_a_test.py,, >>six-1.17.0.dist-info/RECORD\n"
    )
    try:
        assert engine.inspect_image(tag)["Config"]["Labels"][images.LANGUAGES_LABEL] == "python"
        tried = run("verify", tag, "--runtime", "runc")
        assert tried.exit_code == 0, tried.output
        with derived_image(engine, tag, own_tag("of-a-test", "broken"), break_it) as broken:
            tried = run("verify", broken, "--runtime", "runc")
        assert tried.exit_code == 1
        assert "the package six cannot be imported: of_a_test" in " ".join(
            re.sub("[│\\n]", " ", tried.output).split()
        )
    finally:
        engine.remove_image(tag, force=True)


def test_an_image_of_ones_own_has_no_name_of_the_projects(
    run: Command, engine: docker.APIClient, tmp_path: Path
) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text("six\n")
    result = run("build", "--requirements", str(file), "--name", "python")
    assert isinstance(result.exception, SandboxError)
    assert "choose another name" in str(result.exception)


def test_the_list_tells_size_and_version(
    run: Command, engine: docker.APIClient, python_image: str
) -> None:
    label = "LABEL codereward.runner=0"
    with derived_image(engine, python_image, own_tag("python", "old"), label) as old:
        [other] = images.find(engine, old)
        told = run("list").stdout
    [this] = images.find(engine, PYTHON_TAG)
    facts = r" +│ python +│ +\d+ MB +│ "
    assert re.search(rf"{this.short_identifier}{facts}current", told)
    assert re.search(rf"{old} +│ {other.short_identifier}{facts}of another version", told)


def test_programs_get_a_list_in_json(run: Command, python_image: str) -> None:
    listed = json.loads(run("list", "--json").stdout)
    [this] = [image for image in listed if PYTHON_TAG in image["tags"]]
    assert this["id"] == python_image
    assert this["runner_digest"] == images.runner_digest()
    assert (this["languages"], this["is_current"]) == (["python"], True)
    assert this["size_bytes"] > 0


def test_an_image_that_runs_a_program_is_shown_with_its_start_time(
    run: Command, python_image: str
) -> None:
    result = run("verify", PYTHON_TAG, "--runtime", "runc")
    assert result.exit_code == 0, result.output
    assert re.search(r"works +│ +\d+ │ python 3\.\d+", result.stdout)


def test_an_image_with_another_runner_fails_and_the_others_are_tried(
    run: Command, engine: docker.APIClient, python_image: str
) -> None:
    label = "LABEL codereward.runner=0"
    with derived_image(engine, python_image, own_tag("python", "old"), label) as old:
        result = run("verify", PYTHON_TAG, old, "--runtime", "runc")
    assert result.exit_code == 1
    assert re.search(rf"{old} +│ fails .*has the runner of another version", result.stdout)
    assert re.search(rf"{PYTHON_TAG} +│ works", result.stdout)


def test_an_image_whose_interpreter_is_gone_fails(
    run: Command, engine: docker.APIClient, python_image: str
) -> None:
    remove = "USER root\nRUN rm /usr/bin/python3*\nUSER 65534:65534"
    with derived_image(engine, python_image, own_tag("python", "broken"), remove) as broken:
        result = run("verify", broken, "--runtime", "runc")
    assert result.exit_code == 1
    assert re.search(rf"{broken} +│ fails .*the engine did not start a container", result.stdout)


def test_an_unknown_runtime_is_told_in_the_engines_words(run: Command, python_image: str) -> None:
    result = run("verify", PYTHON_TAG, "--runtime", "no-such-runtime")
    assert result.exit_code == 1
    assert "no-such-runtime" in result.stdout


def test_an_image_that_the_engine_does_not_have_is_named(
    run: Command, engine: docker.APIClient
) -> None:
    result = run("verify", "codereward-python:absent")
    assert isinstance(result.exception, SandboxError)
    assert "no image of ours named codereward-python:absent" in str(result.exception)


def test_the_bill_of_materials_is_valid_and_names_what_is_installed(
    run: Command, engine: docker.APIClient, python_image: str
) -> None:
    metadata = "Metadata-Version: 2.1\\nName: gear.box\\nVersion: 1.5\\n\\nName: no header\\n"
    add = f"""USER root
RUN dpkg-query --show --showformat 'pkg:deb/debian/${{Package}}\\n' >/opt/packages
RUN mkdir -p /opt/p/gear.dist-info && printf '{metadata}' >/opt/p/gear.dist-info/METADATA
USER 65534:65534"""
    with derived_image(engine, python_image, own_tag("python", "more"), add) as more:
        result = run("sbom", more)
        listed = file_of(engine, more, "/opt/packages").split()
    assert result.exit_code == 0, result.output
    assert complaint_of_schema(result.stdout) is None
    bill = json.loads(result.stdout)
    assert bill["metadata"]["component"]["name"] == more
    urls = [component["purl"] for component in bill["components"]]
    assert "pkg:pypi/gear.box@1.5" in urls
    names = [unquote(url).partition("@")[0] for url in urls if url.startswith("pkg:deb/")]
    assert sorted(names) == sorted(listed)
    [libc] = [url for url in urls if "/libc6@" in url]
    assert libc.endswith("?arch=amd64&distro=debian-12")


def file_of(engine: docker.APIClient, image: str, path: str) -> str:
    created = engine.create_container(image, ["true"], network_disabled=True)["Id"]
    try:
        pieces, _ = engine.get_archive(created, path)
        with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as archive:
            file = archive.extractfile(archive.next())
            return file.read().decode()
    finally:
        engine.remove_container(created, force=True)


@pytest.mark.usefixtures("dead_engine")
@pytest.mark.parametrize("command", COMMANDS)
def test_an_engine_that_does_not_answer_is_told(run: Command, command: tuple[str, ...]) -> None:
    result = run(*command)
    assert isinstance(result.exception, SandboxError)
    assert "the Docker Engine does not answer" in str(result.exception)


@pytest.mark.parametrize("command", COMMANDS)
def test_without_the_sdk_the_extra_is_named(
    run: Command, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "reward_server.sandbox.docker.container", raising=False)
    monkeypatch.setitem(sys.modules, "docker", None)
    result = run(*command)
    assert isinstance(result.exception, StartError)
    assert "pip install '.[docker]' in a checkout" in str(result.exception)
