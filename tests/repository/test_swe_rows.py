"""Rows of SWE-bench's shape, judged by a real server with pytest in its sandboxes."""

from __future__ import annotations

import difflib
import json

import pytest

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
    with LocalServer(log, settings) as server, RewardClient(server.target) as client:
        good, bad = client.score(
            [tasks.fill(template, text) for text in (GOLDEN_PATCH, "Nothing.")]
        )
    assert (good.verdict, good.reward) == (Verdict.PASSED, 1.0), good
    assert (bad.verdict, bad.reward) == (Verdict.FAILED, 0.0), bad
