"""What is TRL's business works with its previous minor version as well."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.tools import require_package

pytestmark = [pytest.mark.training, pytest.mark.exhaustive]

HERE = Path(__file__).parent
TESTS = [str(HERE / "test_trl_formats.py")]
COUNT = 6


@pytest.fixture(scope="module")
def previous_trl() -> Path:
    """Returns the folder of TRL's previous version; skips where it is absent."""
    return require_package("trl-previous", "trl")


def run_tests(folder: Path, report: Path) -> subprocess.CompletedProcess[str]:
    """Runs the tests with a folder before all installed packages."""
    paths = [path for path in sys.path if path and "site-packages" not in path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *paths])}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        *TESTS,
        "-p",
        "tests.e2e.support.without_triton",
    ]
    command += [f"--junit-xml={report}", "-o", "junit_family=xunit1"]
    command += [f"--basetemp={report.parent / 'tests'}"]
    return subprocess.run(
        command, env=environment, cwd=HERE.parents[2], capture_output=True, text=True, timeout=280
    )


def versions_of(report: Path) -> list[dict[str, str]]:
    """Reads what each test noted of the TRL that it ran with."""
    cases = ElementTree.parse(report).getroot().iter("testcase")
    return [{one.get("name"): one.get("value") for one in case.iter("property")} for case in cases]


def test_formats_and_reward_train_work_with_the_previous_minor_version(
    previous_trl, repository, tmp_path
):
    report = tmp_path / "report.xml"
    done = run_tests(previous_trl, report)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert f"{COUNT} passed" in done.stdout
    pinned = (repository / "scripts" / "previous_trl_requirements.txt").read_text()
    (version,) = re.findall(r"^trl==(.*)$", pinned, re.MULTILINE)
    file = str(previous_trl / "trl" / "__init__.py")
    assert versions_of(report) == [{"trl": version, "trl_file": file}] * COUNT
    installed = metadata.version("trl").split(".")
    assert [int(part) for part in version.split(".")[:2]] < [int(part) for part in installed[:2]]
