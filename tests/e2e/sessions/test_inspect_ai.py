"""inspect_ai's own checks of sandboxes, and an evaluation of an agent, run in sessions."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.e2e.support.programs import completed, run
from tests.support.tools import require_package
from trainer_client.local_server import LocalServer

# It makes users as root. A session has one user, who is not root, and can make no other.
NOT_APPLICABLE = {"test_exec_as_user"}
CHECKS = Path(__file__).parents[1] / "support" / "inspect_checks.py"


@pytest.fixture(scope="module")
def packages() -> Path:
    """Returns the folder of inspect_ai's packages; skips where it is absent."""
    return require_package("inspect", "inspect_ai")


def test_a_session_passes_inspect_ais_checks_of_sandboxes(
    packages: Path, lasting_server: LocalServer, tmp_path: Path
) -> None:
    report = tmp_path / "report.xml"
    options = ["-p", "no:randomly", "-p", "no:cacheprovider", "-c", "/dev/null"]
    options += ["-o", "asyncio_mode=auto", "-o", "asyncio_default_test_loop_scope=session"]
    arguments = ["-m", "pytest", "-q", f"--rootdir={tmp_path}", f"--junit-xml={report}", *options]
    done = completed([*arguments, str(CHECKS)], lasting_server, packages)
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = {case.get("name") for case in cases if len(case)}
    assert failed == NOT_APPLICABLE, done.stdout
    assert len(cases) >= 44


def test_an_evaluation_runs_its_tools_in_a_session(
    packages: Path, lasting_server: LocalServer
) -> None:
    example = "examples.adapters.inspect_ai"
    found = run(["-m", example], lasting_server, packages)
    assert (found["status"], found["score"]) == ("success", "C")
    listed, stopped, doubled = found["tools"]
    assert (listed, doubled) == ("3\n9\n", "18\n")
    assert "timed out" in stopped
