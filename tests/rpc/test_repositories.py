"""Tests of a repository cross the wire, and a wrong field is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from codereward.request_json import parse_message
from codereward.v1 import reward_service_pb2 as pb
from reward_server.domain import Framework, ImageInfo, ReportFormat, RepositoryTests, TestCommand
from reward_server.errors import InvalidRequestError, UnsupportedError
from reward_server.languages import load_languages
from reward_server.rpc import repositories
from tests.repository.tasks import BASE, FAIL_TO_PASS, HIDDEN, PASS_TO_PASS, archive, encoded

PYTHON = load_languages().find("python").with_frameworks(("unittest",))
ARCHIVE = archive(BASE)
IMAGES = (
    ImageInfo(name="plain", digest="sha256:1", languages=("python",)),
    ImageInfo(
        name="shop",
        aliases=("shop:latest",),
        digest="sha256:2",
        languages=("python",),
        folder="/testbed",
    ),
    ImageInfo(name="native", digest="sha256:3", languages=("cpp",)),
)


def _given(**changes: Any) -> pb.RepositoryTests:
    usual: dict[str, Any] = {
        "archive": ARCHIVE,
        "text_test_files": HIDDEN,
        "fail_to_pass": FAIL_TO_PASS,
        "pass_to_pass": PASS_TO_PASS,
        "framework": pb.FRAMEWORK_UNITTEST,
    }
    return pb.RepositoryTests(**{**usual, **changes})


COMMAND = {"argv": ["node", "--test"], "format": pb.REPORT_FORMAT_TAP}


def _command(**changes: Any) -> pb.RepositoryTests:
    command = pb.TestCommand(**{**COMMAND, **changes})
    return _given(framework=None, command=command)


def test_a_task_is_converted() -> None:
    assert repositories.tests(_given(import_paths=["src"]), PYTHON, IMAGES) == RepositoryTests(
        archive=ARCHIVE,
        test_files=encoded(HIDDEN),
        fail_to_pass=FAIL_TO_PASS,
        pass_to_pass=PASS_TO_PASS,
        runner=Framework.UNITTEST,
        import_paths=("src",),
    )
    converted = repositories.tests(_command(environment={"CI": "1"}), PYTHON, IMAGES)
    assert converted.runner == TestCommand(
        argv=("node", "--test"), format=ReportFormat.TAP, environment=(("CI", "1"),)
    )


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (_given(archive=None), "base: is absent; set archive, folder or image_folder"),
        (_given(archive=b""), "archive: is empty"),
        (_given(archive=None, folder="../up"), "folder: does not stay"),
        (_given(archive=None, folder="a/b"), "folder: is no plain name"),
        (_given(archive=None, image_folder="/testbed"), "image: is absent"),
        (
            _given(archive=None, image_folder="/srv", image="shop"),
            "image_folder: '/srv' is not the repository of shop: its repository is '/testbed'",
        ),
        (
            _given(archive=None, image_folder="/srv", image="plain"),
            "'/srv' is not the repository of plain: it has none; make the image",
        ),
        (_given(archive=None, image_folder="", image="plain"), "image_folder: '' is not"),
        (_given(framework=None), "runner: is absent"),
        (_given(framework=pb.FRAMEWORK_GO_TEST), "framework: is neither"),
        (_given(fail_to_pass=[]), "fail_to_pass: is absent"),
        (_given(fail_to_pass=["test_x"]), r"fail_to_pass\[0\]: is no name such as"),
        (_given(pass_to_pass=["../x.py::y"]), r"pass_to_pass\[0\]: does not stay"),
        (_given(pass_to_pass=[FAIL_TO_PASS[0]]), "which fail_to_pass has already"),
        (_given(must_fail=["tests/x.py::y"]), "must_fail: needs a command"),
        (_given(fail_to_pass=["x" * 2000]), r"fail_to_pass\[0\]: has 2000 bytes"),
        (_given(protected_paths=[""]), r"protected_paths\[0\]: is empty"),
        (_given(changeable_paths=["a", ""]), r"changeable_paths\[1\]: is empty"),
        (_given(import_paths=["/src"]), r"import_paths\[0\]: does not stay"),
        (_given(text_test_files={"../x": ""}), r'text_test_files\["../x"\]: does not stay'),
        (_command(argv=[]), r"command\.argv: names no executable"),
        (_command(argv=["a\0"]), r"command\.argv\[0\]: holds a null"),
        (_command(format=0), r"command\.format: 0 is not known"),
        (_command(environment={"A=B": ""}), r"command\.environment: 'A=B' is no name"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_wrong_field_is_named(given: pb.RepositoryTests, problem: str) -> None:
    with pytest.raises(InvalidRequestError, match=problem):
        repositories.tests(given, PYTHON, IMAGES)


@pytest.mark.parametrize("name", ["shop", "shop:latest"])
def test_an_image_is_known_by_its_content_whatever_it_is_called(name: str) -> None:
    given = _given(archive=None, image_folder="/testbed", image=name)
    converted = repositories.tests(given, PYTHON, IMAGES)
    assert (converted.image, converted.image_folder) == ("sha256:2", "/testbed")
    assert not converted.archive


@pytest.mark.parametrize(
    ("name", "images", "problem"),
    [
        ("other", IMAGES, "repository.image: 'other' is not on offer here: plain, shop, native"),
        ("native", IMAGES, "repository.image: native has no python"),
        ("shop", (), "'shop' is not on offer.*from no images: leave the field empty, or start"),
    ],
)
def test_an_image_that_is_not_there_is_refused(
    name: str, images: tuple[ImageInfo, ...], problem: str
) -> None:
    with pytest.raises(UnsupportedError, match=problem):
        repositories.tests(_given(image=name), PYTHON, images)


def test_a_named_image_may_have_a_framework_that_the_first_one_lacks() -> None:
    given = _given(image="shop", framework=pb.FRAMEWORK_PYTEST)
    assert repositories.tests(given, PYTHON, IMAGES).runner is Framework.PYTEST


def test_a_framework_that_the_sandboxes_lack_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="PYTEST is not offered for javascript"):
        repositories.tests(
            _given(framework=pb.FRAMEWORK_PYTEST), load_languages().find("javascript"), ()
        )


def test_the_json_form_takes_a_task() -> None:
    task: Mapping[str, Any] = {
        "folder": "shop-1",
        "text_test_files": HIDDEN,
        "fail_to_pass": list(FAIL_TO_PASS),
        "framework": "FRAMEWORK_PYTEST",
    }
    request = parse_message({"repository": task}, pb.ScoreRequest)
    assert request.WhichOneof("tests") == "repository"
    assert dict(request.repository.text_test_files) == HIDDEN
