"""Rows of SWE-bench's shape, judged by a real server with pytest in its sandboxes."""

from __future__ import annotations

import difflib
import json

import pytest

from codereward.v1 import reward_service_pb2 as pb
from tests.e2e.conftest import PYTHON
from tests.repository.tasks import (
    BASE,
    FAIL_TO_PASS,
    GOLDEN_PATCH,
    HIDDEN,
    PASS_TO_PASS,
    archive,
)
from tests.support.common import PACKAGES
from trainer_client import RewardClient, TaskError, Verdict, tasks
from trainer_client.local_server import LocalServer

PATH = "tests/test_cart.py"
NEW_FILE = """diff --git a/tests/more.py b/tests/more.py
new file mode 100644
--- /dev/null
+++ b/tests/more.py
@@ -0,0 +1,2 @@
+ONE = 1
+TWO = 2
\\ No newline at end of file
"""


def patch_of(before: str, after: str) -> str:
    lines = (before.splitlines(keepends=True), after.splitlines(keepends=True))
    head = f"diff --git a/{PATH} b/{PATH}\n"
    return head + "".join(difflib.unified_diff(*lines, f"a/{PATH}", f"b/{PATH}"))


TEST_PATCH = patch_of(BASE[PATH], HIDDEN[PATH])
ROW = {
    "instance_id": "shop__shop-1",
    "repo": "shop/shop",
    "base_commit": "0" * 40,
    "patch": GOLDEN_PATCH,
    "test_patch": TEST_PATCH + NEW_FILE,
    "FAIL_TO_PASS": json.dumps(FAIL_TO_PASS),
    "PASS_TO_PASS": list(PASS_TO_PASS),
}


def test_a_patch_of_tests_becomes_the_files_that_it_makes() -> None:
    request = tasks.swe(ROW, archive=archive(BASE))
    assert dict(request.repository.text_test_files) == {
        PATH: HIDDEN[PATH],
        "tests/more.py": "ONE = 1\nTWO = 2",
    }
    assert tuple(request.repository.fail_to_pass) == FAIL_TO_PASS
    assert tuple(request.repository.pass_to_pass) == PASS_TO_PASS


def test_the_files_of_the_right_patch_may_be_changed() -> None:
    deleted = "--- a/old[1].py\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x = 1\n"
    request = tasks.swe({**ROW, "patch": GOLDEN_PATCH + deleted}, archive=archive(BASE))
    assert list(request.repository.changeable_paths) == ["shop/cart.py", "old[[]1].py"]
    assert not tasks.swe({**ROW, "patch": ""}, archive=archive(BASE)).repository.changeable_paths


IN_IMAGE = {"image": "codereward-shop", "image_folder": "/testbed"}


def test_a_row_in_an_image_keeps_its_patch_of_tests_for_the_server() -> None:
    tests = tasks.swe(ROW, **IN_IMAGE, import_paths=["src"]).repository
    assert (tests.WhichOneof("base"), tests.image_folder) == ("image_folder", "/testbed")
    assert (tests.image, tests.test_patch) == ("codereward-shop", ROW["test_patch"])
    assert (tests.framework, list(tests.import_paths)) == (pb.FRAMEWORK_PYTEST, ["src"])
    assert not tests.text_test_files


def test_an_interpreter_of_the_image_reports_tests_by_its_own_names() -> None:
    names = ["tests/test_a.py::TestX::test_y[a::b/c.py]", "tests/test_b.py::test_z"]
    row = {**ROW, "FAIL_TO_PASS": names, "PASS_TO_PASS": ["tests/test_a.py::test_w"]}
    tests = tasks.swe(
        row, **IN_IMAGE, python="/opt/env/bin/python", import_paths=["src"]
    ).repository
    assert list(tests.fail_to_pass) == [
        "tests.test_a.TestX::test_y[a::b/c.py]",
        "tests.test_b::test_z",
    ]
    assert list(tests.pass_to_pass) == ["tests.test_a::test_w"]
    assert list(tests.command.argv) == [
        *("/opt/env/bin/python", "-m", "pytest", "--junitxml={report}"),
        *("tests/test_a.py", "tests/test_b.py"),
    ]
    assert (dict(tests.command.environment), list(tests.import_paths)) == (
        {"PYTHONPATH": "src"},
        [],
    )


@pytest.mark.parametrize(
    "base",
    [{}, {"archive": b"x", **IN_IMAGE}, {"image_folder": "/testbed"}, {"image": "shop"}],
    ids=["none", "both", "no image", "no folder"],
)
def test_a_row_needs_one_repository(base: dict[str, object]) -> None:
    with pytest.raises(TaskError, match="needs an archive, or an image with the folder"):
        tasks.swe(ROW, **base)


NOT_OF_PYTEST = [
    "test_y (shop.tests.Carts)",
    "test_y",
    "TestCart/total",
    "Carts > counts quantities",
    "tests/test_cart.py::",
    "tests/test_cart.py::test_y[two",
    "tests/cart.spec.js::counts",
]


@pytest.mark.parametrize("name", NOT_OF_PYTEST)
@pytest.mark.parametrize("field", ["FAIL_TO_PASS", "PASS_TO_PASS"])
@pytest.mark.parametrize("python", ["", "/opt/env/bin/python"])
def test_a_test_whose_name_is_not_that_of_pytest_is_refused(
    field: str, name: str, python: str
) -> None:
    row = {**ROW, field: [FAIL_TO_PASS[0], name]}
    with pytest.raises(TaskError, match="pytest prints names such as") as caught:
        tasks.swe(row, **IN_IMAGE, python=python)
    assert caught.value.field == f"{field}[1]"


def test_a_name_that_is_listed_twice_counts_once() -> None:
    both = [*FAIL_TO_PASS, *FAIL_TO_PASS]
    row = {**ROW, "FAIL_TO_PASS": both, "PASS_TO_PASS": [*PASS_TO_PASS, *both]}
    tests = tasks.swe(row, archive=archive(BASE)).repository
    assert tuple(tests.fail_to_pass) == FAIL_TO_PASS
    assert tuple(tests.pass_to_pass) == PASS_TO_PASS


@pytest.mark.parametrize("patch", [{}, {"test_patch": ""}, {"test_patch": None}])
def test_a_row_of_swe_smith_has_its_tests_in_the_repository(patch: dict[str, object]) -> None:
    row = {key: value for key, value in ROW.items() if key != "test_patch"} | patch
    tests = tasks.swe(row, archive=archive({**BASE, **HIDDEN})).repository
    assert not tests.text_test_files
    assert tuple(tests.fail_to_pass) == FAIL_TO_PASS


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"FAIL_TO_PASS": "[]"}, "FAIL_TO_PASS"),
        ({"FAIL_TO_PASS": "no JSON"}, "FAIL_TO_PASS"),
        ({"PASS_TO_PASS": [1]}, "PASS_TO_PASS[0]"),
        ({"test_patch": TEST_PATCH.replace("import discount", "import other", 1)}, "test_patch"),
        ({"test_patch": TEST_PATCH.replace("test_cart", "test_absent")}, "test_patch"),
        ({"test_patch": TEST_PATCH[:-60]}, "test_patch"),
    ],
)
def test_a_wrong_row_is_refused_with_the_name_of_its_field(
    change: dict[str, object], field: str
) -> None:
    with pytest.raises(TaskError) as caught:
        tasks.swe({**ROW, **change}, archive=archive(BASE))
    assert caught.value.field == field


def test_the_rows_patch_passes_and_no_change_does_not(tmp_path_factory) -> None:
    log = tmp_path_factory.mktemp("server") / "server.log"
    packages = f"sandbox_packages={PACKAGES[0]}"
    settings = (*PYTHON, "--set", packages, "--set", "sandbox_preload=pytest")
    template = tasks.swe(ROW, archive=archive(BASE))
    smith = tasks.swe({**ROW, "test_patch": None}, archive=archive({**BASE, **HIDDEN}))
    with LocalServer(log, settings) as server, RewardClient(server.target) as client:
        scores = client.score(
            [
                tasks.fill(one, text)
                for one in (template, smith)
                for text in (GOLDEN_PATCH, "Nothing.")
            ]
        )
    for good, bad in (scores[:2], scores[2:]):
        assert (good.verdict, good.reward) == (Verdict.PASSED, 1.0), good
        assert (bad.verdict, bad.reward) == (Verdict.FAILED, 0.0), bad
