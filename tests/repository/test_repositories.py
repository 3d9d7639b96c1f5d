"""Repositories are judged by frameworks and by commands, with the changes that count."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from pathlib import Path

import pytest

import reward_server.evaluation.graders.repository.repositories as repositories_module
from reward_server.domain import (
    Assessment,
    Framework,
    Integrity,
    ReportFormat,
    RepositoryTests,
    RewardPolicy,
    RewardPolicyKind,
    Submission,
    TestCommand,
    TestOutcome,
    Verdict,
)
from reward_server.errors import InvalidRequestError, UnsupportedError
from reward_server.evaluation.graders.repository.repositories import Repositories, read_folder
from reward_server.grading.copies.copies import WHOLE
from reward_server.grading.repository.tree import Tree, TreeError, read_archive
from tests.repository.tasks import (
    BASE,
    CART,
    FAIL_TO_PASS,
    FIXED_CART,
    GOLDEN_PATCH,
    HIDDEN,
    PASS_TO_PASS,
    archive,
    encoded,
)
from tests.support.common import FILE_LIMITS, Judge, is_refused, on_the_servers_loop

pytestmark = on_the_servers_loop

PYTEST = RepositoryTests(
    archive=archive(BASE),
    test_files=encoded(HIDDEN),
    fail_to_pass=FAIL_TO_PASS,
    pass_to_pass=PASS_TO_PASS,
    runner=Framework.PYTEST,
)
UNITTEST = replace(
    PYTEST,
    archive=archive({f"src/{path}": text for path, text in BASE.items() if "shop" in path}),
    test_files=encoded(
        {
            "tests/test_cart.py": "import unittest\nfrom shop.cart import total\n\n\n"
            "class Carts(unittest.TestCase):\n    def test_total(self):\n"
            "        self.assertEqual(total([(3, 2)]), 6)\n"
        }
    ),
    fail_to_pass=("tests/test_cart.py::Carts::test_total",),
    pass_to_pass=(),
    runner=Framework.UNITTEST,
    import_paths=("src",),
)
REPORTER = """import sys, traceback
sys.path.insert(0, ".")
lines = ["TAP version 13"]
import tests.checks as checks
for name in sorted(vars(checks)):
    if name.startswith("check_"):
        try:
            getattr(checks, name)()
            lines.append(f"ok - {name}")
        except Exception:
            lines.append(f"not ok - {name}")
print("\\n".join(lines))
if len(sys.argv) > 1:
    cases = "".join(
        f'<testcase name="{line.split(" - ")[1]}">'
        + "<failure/>" * line.startswith("not") + "</testcase>"
        for line in lines[1:]
    )
    open(sys.argv[1], "w").write(f"<testsuite>{cases}</testsuite>")
sys.exit(any(line.startswith("not") for line in lines))
"""
CHECKS = """from shop.cart import discount, total


def check_discount():
    assert discount(200, 10) == 180


def check_total():
    assert total([(3, 2)]) == 6


def check_3f9a():
    assert total([(3, 2)]) == 7
"""
COMMAND = replace(
    PYTEST,
    test_files=encoded({"tests/checks.py": CHECKS, "tests/report.py": REPORTER}),
    fail_to_pass=("check_total",),
    pass_to_pass=("check_discount",),
    must_fail=("check_3f9a",),
    runner=TestCommand(argv=("python3", "tests/report.py"), format=ReportFormat.TAP),
)
TO_FILE = replace(
    COMMAND,
    runner=TestCommand(
        argv=("python3", "tests/report.py", "{report}"), format=ReportFormat.JUNIT_XML
    ),
)


def _submission(
    tests: RepositoryTests, completion: str = "", files: dict[str, str] | None = None
) -> Submission:
    return Submission(
        completion=completion, tests=tests, limits=FILE_LIMITS, files=encoded(files or {})
    )


def _outcomes(assessment: Assessment) -> list[TestOutcome]:
    return [test.outcome for test in assessment.tests]


@pytest.mark.parametrize("tests", [UNITTEST, COMMAND, TO_FILE], ids=["unittest", "tap", "junit"])
async def test_a_right_solution_earns_the_reward_and_an_empty_one_does_not(
    tests: RepositoryTests, judge_of_files: Judge
) -> None:
    path = "src/shop/cart.py" if tests is UNITTEST else "shop/cart.py"
    right = await judge_of_files.score(_submission(tests, files={path: FIXED_CART}))
    assert (right.reward, right.integrity) == (1.0, Integrity.SHARED), right
    wrong = await judge_of_files.score(_submission(tests))
    assert (wrong.reward, wrong.verdict) == (0.0, Verdict.FAILED), wrong


async def test_a_patch_in_chat_is_applied_and_the_share_is_that_of_new_tests(
    judge_of_files: Judge,
) -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.FRACTION)
    chat = f"The quantity was ignored.\n\n```diff\n{GOLDEN_PATCH}```\n"
    right = await judge_of_files.score(replace(_submission(PYTEST, chat), reward_policy=policy))
    assert right.reward == 1.0, right
    half = CART.replace("sum(price for price", "26 if len(items) == 2 else sum(9 * price for price")
    files = {"shop/cart.py": half}
    some = await judge_of_files.score(
        replace(_submission(PYTEST, files=files), reward_policy=policy)
    )
    assert some.reward == 0.5, some
    empty = await judge_of_files.score(replace(_submission(PYTEST), reward_policy=policy))
    assert empty.reward == 0.0, empty
    broken = FIXED_CART.replace("amount -", "amount +")
    worse = await judge_of_files.score(
        replace(_submission(PYTEST, files={"shop/cart.py": broken}), reward_policy=policy)
    )
    assert worse.reward == 0.0, worse


async def test_a_patch_that_does_not_fit_fails_without_an_execution(judge_of_files: Judge) -> None:
    patch = GOLDEN_PATCH.replace("price for", "cost for")
    told = await judge_of_files.score(_submission(PYTEST, patch))
    assert (told.verdict, told.reward) == (Verdict.COMPILE_ERROR, 0.0)
    assert "does not fit 'shop/cart.py'" in told.message


async def test_a_file_in_the_place_of_a_folder_fails_without_an_execution(
    judge_of_files: Judge,
) -> None:
    told = await judge_of_files.score(_submission(PYTEST, files={"shop/cart.py/x.py": ""}))
    assert (told.verdict, told.reward) == (Verdict.COMPILE_ERROR, 0.0), told
    assert "'shop/cart.py' is a file and a folder" in told.message


_FORGING = "print('ok - check_total\\nok - check_discount', flush=True)\nimport os\n"
_EQUAL = "class Any:\n    def __eq__(self, other):\n        return True\n\n"
_EQUAL += (
    "def total(items):\n    return Any()\n\ndef discount(amount, percent):\n    return Any()\n"
)


WITH_HELPER = replace(
    PYTEST,
    test_files=encoded(
        {
            "test_all.py": "from checks import check\nfrom shop.cart import total\n\n\n"
            "def test_total():\n    check(total([(3, 2)]), 6)\n",
            "checks.py": "def check(actual, expected):\n    assert actual == expected\n",
        }
    ),
    fail_to_pass=("test_all.py::test_total",),
    pass_to_pass=(),
)
_NO_CHECK = "def check(actual, expected):\n    pass\n"


@pytest.mark.parametrize("path", ["checks/__init__.py", "src/checks.py"])
async def test_a_module_in_the_place_of_a_hidden_helper_earns_nothing(
    path: str, judge_of_files: Judge
) -> None:
    tests = replace(WITH_HELPER, import_paths=("src",))
    told = await judge_of_files.score(_submission(tests, files={path: _NO_CHECK}))
    assert is_refused(told), told
    right = {path: _NO_CHECK, "shop/cart.py": FIXED_CART}
    assert (await judge_of_files.score(_submission(tests, files=right))).reward == 1.0


@pytest.mark.parametrize("path", ["checks/unit/helper.py", "checks/__init__.py"])
async def test_a_module_that_pytest_would_import_for_a_hidden_helper_earns_nothing(
    path: str, judge_of_files: Judge
) -> None:
    hidden = {
        "checks/conftest.py": "",
        "checks/helper.py": "def check(actual, expected):\n    assert actual == expected\n",
        "checks/unit/test_all.py": "from helper import check\nfrom shop.cart import total\n\n\n"
        "def test_total():\n    check(total([(3, 2)]), 6)\n",
    }
    tests = replace(
        WITH_HELPER,
        test_files=encoded(hidden),
        fail_to_pass=("checks/unit/test_all.py::test_total",),
    )
    forged = "import sys\n\nsys.modules['helper'] = sys.modules[__name__]\n\n\n" + _NO_CHECK
    told = await judge_of_files.score(_submission(tests, files={path: forged}))
    assert is_refused(told), told
    right = {path: forged, "shop/cart.py": FIXED_CART}
    assert (await judge_of_files.score(_submission(tests, files=right))).reward == 1.0


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", "# [tool.pytest.ini_options]\n"),
        ("pyproject.toml", "[project]\ndescription = '[tool.pytest]'\n"),
        ("tox.ini", "[tox]\nenvlist = [pytest]\n"),
        ("tox.ini", "# [pytest]\n[tox]\n"),
        ("pyproject.toml", None),
    ],
)
async def test_words_in_another_file_do_not_switch_the_settings_off(
    path: str, text: str | None, judge_of_files: Judge
) -> None:
    settings = "[tool:pytest]\nfilterwarnings = error\n"
    tests = replace(PYTEST, archive=archive({**BASE, "setup.cfg": settings}))
    warns = FIXED_CART.replace("    return", "    warnings.warn('old')\n    return")
    files = {"shop/cart.py": f"import warnings\n{warns}"} | ({path: text} if text else {})
    assert is_refused(await judge_of_files.score(_submission(tests, files=files)))
    files["shop/cart.py"] = FIXED_CART
    assert (await judge_of_files.score(_submission(tests, files=files))).reward == 1.0


async def test_a_helper_that_is_code_of_the_repository_is_protected_by_the_task(
    judge_of_files: Judge,
) -> None:
    base = {**BASE, "shop/checks.py": dict(WITH_HELPER.test_files)["checks.py"].decode()}
    hidden = {"test_all.py": dict(WITH_HELPER.test_files)["test_all.py"].decode()}
    hidden["test_all.py"] = hidden["test_all.py"].replace("from checks", "from shop.checks")
    tests = replace(WITH_HELPER, archive=archive(base), test_files=encoded(hidden))
    files = {"shop/checks.py": _NO_CHECK}
    open_one = await judge_of_files.score(_submission(tests, files=files))
    assert (open_one.reward, open_one.integrity) == (1.0, Integrity.SHARED)
    protected = replace(tests, protected_paths=("shop/checks.py",))
    assert is_refused(await judge_of_files.score(_submission(protected, files=files)))


@pytest.mark.parametrize(
    ("cart", "said"),
    [
        ("import os\nos._exit(0)\n", "no report"),
        (f"{_FORGING}os._exit(0)\n", "which it cannot"),
        (f"print('ok - check_3f9a')\n{_FORGING}os._exit(0)\n", "which it cannot"),
        (_EQUAL, "which it cannot"),
    ],
    ids=["leaves", "without the test that fails", "all pass", "equal"],
)
async def test_a_report_that_cannot_be_is_refused(
    cart: str, said: str, judge_of_files: Judge
) -> None:
    told = await judge_of_files.score(_submission(COMMAND, files={"shop/cart.py": cart}))
    assert is_refused(told), told
    assert said in told.message


async def test_a_report_of_passes_needs_a_status_that_agrees(judge_of_files: Judge) -> None:
    tests = replace(COMMAND, must_fail=())
    files = {"shop/cart.py": f"{_FORGING}os._exit(3)\n"}
    told = await judge_of_files.score(_submission(tests, files=files))
    assert is_refused(told), told
    assert "exited with status 3" in told.message


async def test_a_report_that_was_there_before_is_not_read(judge_of_files: Judge) -> None:
    forged = (
        "<testsuite><testcase name='check_total'/><testcase name='check_discount'/></testsuite>"
    )
    names = ("report.xml", ".report.out", "{report}")
    files = dict.fromkeys(names, forged) | {"shop/cart.py": "import os\nos._exit(0)\n"}
    told = await judge_of_files.score(_submission(replace(TO_FILE, must_fail=()), files=files))
    assert is_refused(told), told


async def test_an_executable_that_is_missing_is_the_tasks_fault(judge_of_files: Judge) -> None:
    runner = TestCommand(argv=("no-such-runner",), format=ReportFormat.TAP)
    told = await judge_of_files.score(_submission(replace(COMMAND, runner=runner)))
    assert (told.verdict, told.reward) == (Verdict.INVALID_TASK, None)
    assert "no-such-runner" in told.message
    own = replace(COMMAND, runner=replace(runner, argv=("python3", "tests/report.py")))
    cart = "import os, sys\nsys.stderr.write('python3: No such file')\nos._exit(127)\n"
    told = await judge_of_files.score(_submission(own, files={"shop/cart.py": cart}))
    assert is_refused(told), told


async def test_tests_that_import_a_missing_package_are_the_tasks_fault(
    judge_of_files: Judge,
) -> None:
    hidden = {"tests/test_cart.py": "import no_such_package\n" + HIDDEN["tests/test_cart.py"]}
    tests = replace(PYTEST, test_files=encoded(hidden))
    told = await judge_of_files.score(_submission(tests, GOLDEN_PATCH))
    assert (told.verdict, told.reward) == (Verdict.INVALID_TASK, None)
    assert "the repository needs an empty file no_such_package.py" in told.message
    # A solution cannot make its task invalid.
    gone = replace(_submission(PYTEST), files=encoded({"x.py": ""}), is_whole=True)
    assert is_refused(await judge_of_files.score(gone))


async def test_a_module_that_solutions_make_is_an_empty_file_of_the_repository(
    judge_of_files: Judge,
) -> None:
    hidden = {
        "tests/test_x.py": "import pricing\n\n\ndef test_x():\n    assert pricing.cost(2) == 6\n"
    }
    tests = replace(
        PYTEST,
        archive=archive({**BASE, "pricing.py": ""}),
        test_files=encoded(hidden),
        fail_to_pass=("tests/test_x.py::test_x",),
        pass_to_pass=(),
    )
    patch = "--- /dev/null\n+++ b/pricing.py\n@@ -0,0 +1,2 @@\n+def cost(x):\n+    return 3 * x\n"
    assert (await judge_of_files.score(_submission(tests, patch))).reward == 1.0
    assert is_refused(await judge_of_files.score(_submission(tests)))


async def test_more_integrity_than_there_is_is_refused(judge_of_files: Judge) -> None:
    submission = replace(_submission(PYTEST), require_integrity=Integrity.ISOLATED)
    with pytest.raises(UnsupportedError, match="one process with the repository's code"):
        await judge_of_files.score(submission)


TEST_PATCH = """--- a/tests/test_cart.py
+++ b/tests/test_cart.py
@@ -1 +1 @@
-from shop.cart import discount
+from shop.cart import discount, total
@@ -5 +5,5 @@
     assert discount(200, 10) == 180
+
+
+def test_total():
+    assert total([(3, 2)]) == 6
"""
WITH_PATCH = replace(
    PYTEST,
    test_files=(),
    test_patch=TEST_PATCH,
    fail_to_pass=("tests/test_cart.py::test_total",),
    pass_to_pass=("tests/test_cart.py::test_discount",),
)


async def test_a_patch_of_tests_makes_hidden_files(judge_of_files: Judge) -> None:
    right = await judge_of_files.score(_submission(WITH_PATCH, GOLDEN_PATCH))
    assert right.reward == 1.0, right
    # A completion cannot change what the patch is applied to.
    files = {"tests/test_cart.py": "def test_total(): pass\ndef test_discount(): pass\n"}
    assert is_refused(await judge_of_files.score(_submission(WITH_PATCH, files=files)))
    own = replace(WITH_PATCH, test_files=encoded(HIDDEN), fail_to_pass=FAIL_TO_PASS)
    assert (await judge_of_files.score(_submission(own, GOLDEN_PATCH))).reward == 1.0


HOOK = "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef old():\n    raise RuntimeError\n"
REMOVED = "".join(
    f"diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n"
    f"@@ -1,{len(HOOK.splitlines())} +0,0 @@\n"
    + "".join(f"-{line}\n" for line in HOOK.splitlines())
    for path in ("tests/conftest.py", "shop/hook.py")
)
RENAMED = """diff --git a/tests/test_cart.py b/shop/goods.py
similarity index 100%
rename from tests/test_cart.py
rename to shop/goods.py
"""
WITH_REMOVED = replace(
    WITH_PATCH,
    archive=archive({**BASE, "tests/conftest.py": HOOK, "shop/hook.py": HOOK}),
    test_patch=TEST_PATCH + REMOVED,
)


@pytest.mark.parametrize(
    ("patch", "files"),
    [
        (GOLDEN_PATCH, {}),
        (GOLDEN_PATCH + RENAMED, {}),
        (GOLDEN_PATCH + REMOVED, {}),
        (GOLDEN_PATCH, {"tests/conftest.py": HOOK, "tests/test_cart.py/x.py": ""}),
    ],
    ids=["golden", "a test renamed", "the same files removed", "files in the way"],
)
async def test_files_that_a_patch_of_tests_removes_are_gone(
    patch: str, files: dict[str, str], judge_of_files: Judge
) -> None:
    found = await judge_of_files.score(_submission(WITH_REMOVED, patch, files))
    assert found.reward == 1.0, found
    assert is_refused(await judge_of_files.score(_submission(WITH_REMOVED, "", files)))


async def test_a_file_that_a_patch_of_tests_removes_cannot_be_kept(
    judge_of_files: Judge,
) -> None:
    test = TEST_PATCH.replace("+def test_total():\n", "+def test_total():\n+    import shop.hook\n")
    needs = replace(WITH_REMOVED, test_patch=test.replace("+5 @@", "+6 @@") + REMOVED)
    assert test != TEST_PATCH
    kept = _submission(needs, GOLDEN_PATCH, {"shop/hook.py": "x = 1\n"})
    assert is_refused(await judge_of_files.score(kept))


async def test_a_patch_of_tests_makes_files_executable(judge_of_files: Judge) -> None:
    script = """diff --git a/tests/run b/tests/run
new file mode 100755
--- /dev/null
+++ b/tests/run
@@ -0,0 +1,2 @@
+#!/bin/sh
+exec python3 tests/report.py
"""
    runner = replace(COMMAND.runner, argv=("sh", "-c", "tests/run"))
    tests = replace(COMMAND, test_patch=script, runner=runner)
    assert (await judge_of_files.score(_submission(tests, GOLDEN_PATCH))).reward == 1.0


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"archive": b"none"}, r"repository\.archive: is no tar archive"),
        ({"archive": b"", "folder": "none"}, r"repository\.folder: 'none' is no folder"),
        ({"fail_to_pass": ("tests/test_x.py::test_y",)}, "neither in the repository nor"),
        (
            {"test_patch": TEST_PATCH.replace("import discount\n", "import other\n")},
            r"repository\.test_patch: the patch does not fit 'tests/test_cart.py'",
        ),
        ({"test_patch": "none"}, r"repository\.test_patch: adds and changes no file"),
    ],
)
async def test_a_task_that_does_not_hold_together_is_refused(
    changes: dict[str, object], problem: str, judge_of_files: Judge
) -> None:
    with pytest.raises(InvalidRequestError, match=problem):
        await judge_of_files.score(_submission(replace(PYTEST, **changes)))  # type: ignore[arg-type]


async def test_a_folder_of_the_server_is_read_within_its_links(tmp_path: Path) -> None:
    for path, text in {**BASE, ".git/config": "secret"}.items():
        place = tmp_path / "shop-1" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    named = replace(PYTEST, archive=b"", folder="shop-1")
    repositories = Repositories(tmp_path, kept_bytes=1)
    repository = await repositories.of(named)
    assert repository.base.files == {path: text.encode() for path, text in BASE.items()}
    assert (await repositories.of(PYTEST)).base.files == repository.base.files
    (tmp_path / "shop-1" / "link").symlink_to("/etc/passwd")
    with pytest.raises(TreeError, match="the link 'link' leads to no file of it"):
        read_folder(tmp_path / "shop-1")


async def test_a_burst_of_one_task_reads_its_repository_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = list[bytes]()

    def noted(archive: bytes) -> Tree:
        read.append(archive)
        return read_archive(archive)

    monkeypatch.setattr(repositories_module, "read_archive", noted)
    repositories = Repositories()
    found = await asyncio.gather(*(repositories.of(PYTEST) for _ in range(8)))
    assert len(read) == 1
    assert all(one is found[0] for one in found)


async def test_repositories_are_kept_by_the_memory_that_their_tests_take() -> None:
    """A character of a Python test takes some 440 bytes, and an archive is as large as it is."""
    lines = "".join(f"x{number} = {number}\n" for number in range(200))
    hidden = {"tests/test_cart.py": HIDDEN["tests/test_cart.py"] + lines}
    repositories = Repositories(kept_bytes=1_500_000)
    tasks = [
        replace(PYTEST, test_files=encoded(hidden | {"note.txt": str(number)}))
        for number in range(3)
    ]
    first = [await repositories.of(task) for task in tasks]
    again = [await repositories.of(task) for task in reversed(tasks)]
    assert again[0] is first[2]
    assert again[-1] is not first[0]


async def test_a_value_that_a_repositorys_own_tests_show_becomes_another_one_of_theirs() -> None:
    old = "def test_old():\n    assert total(1) == 4127 and total(2) == 9355\n"
    new = "from shop.cart import total\n\n\ndef test_new():\n    assert total([]) == 4127\n"
    tests = replace(
        PYTEST,
        archive=archive({**BASE, "tests/test_old.py": old}),
        test_files=encoded({"tests/test_new.py": new}),
        fail_to_pass=("tests/test_new.py::test_new",),
        pass_to_pass=(),
    )
    python = (await Repositories().of(tests)).python
    assert python is not None
    copies = python.plan.copies
    assert copies is not None
    for seed in range(5):
        changed = copies.perturbed_files(dict.fromkeys(copies.units, WHOLE), random.Random(seed))
        assert "total([]) == 9355" in dict(changed)["tests/test_new.py"]
