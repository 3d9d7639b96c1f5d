"""What this project's own commands and tests say inside a pod's container."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from tests.conformance.pods.pod import Pod
from tests.conformance.pods.spec import REPOSITORY
from tests.conformance.suite.checks import CHECKS, NEEDING
from tests.support.sampling import sampled

SAMPLE = 8  # every eighth check that needs no wall of `NEEDING`
HOME = "HOME=/tmp"
# What decides how many tests run, and whether one may be skipped.
PASSED_ON = ("REWARD_SERVER_TEST_ALL", "CI")


def told_by_doctor(pod: Pod, name: str, *options: str) -> dict[str, Any]:
    """Returns the report of `reward-server doctor` in a container."""
    told = pod.run(name, "reward-server", "doctor", "--json", *options)
    assert told.returncode in (0, 1), told.stdout + told.stderr
    report: dict[str, Any] = json.loads(told.stdout)
    assert report["ok"] is (told.returncode == 0)
    return report


def standing_walls(pod: Pod, name: str, waived: Sequence[str]) -> dict[str, bool]:
    """Returns whether each wall stands, for a container in which the server starts."""
    report = told_by_doctor(pod, name, "--allow-missing", ",".join(waived))
    assert report["ok"], report
    return {wall["name"]: wall["standing"] for wall in report["walls"]}


def failed_checks(
    pod: Pod, name: str, waived: Sequence[str], sockets: Sequence[str] = ()
) -> set[str]:
    """Returns the conformance checks that fail in a container; a run takes some of them."""
    needing = [check for checks in NEEDING.values() for check in checks]
    others = [check for check in CHECKS if check not in needing]
    chosen = [check.__name__ for check in (*needing, *sampled(others, SAMPLE))]
    command = (sys.executable, "-m", "tests.conformance.suite.all_checks")
    told = pod.run(name, *command, ",".join(waived), ",".join(sockets), ",".join(chosen))
    assert told.returncode == 0, told.stderr
    problems: dict[str, str] = json.loads(told.stdout)
    assert problems.keys() == set(chosen)
    return {check for check, problem in problems.items() if problem}


def attack_tests_not_passed(pod: Pod, name: str, waived: Sequence[str], path: str) -> list[str]:
    """Runs tests of this project in a container; returns what did not pass, with its reason."""
    pytest = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not engine")
    place = (f"--rootdir={REPOSITORY}", "-c", f"{REPOSITORY}/pyproject.toml")
    waive = f"REWARD_SERVER_ALLOW_MISSING={','.join(waived)}"
    passed_on = [f"{key}={os.environ[key]}" for key in PASSED_ON if key in os.environ]
    report = f"{path.replace('/', '-')}.xml"
    command = (*pytest, *place, f"--junitxml=/shared/{report}", f"{REPOSITORY}/{path}")
    told = pod.run(name, *command, env=(HOME, waive, *passed_on))
    assert told.returncode in (0, 1), told.stdout[-2000:] + told.stderr[-2000:]
    cases = list(ElementTree.parse(pod.shared / report).iter("testcase"))
    assert cases
    return [
        f"{case.get('classname')}.{case.get('name')}: {one.tag}: {one.get('message')}"
        for case in cases
        for one in case
        if one.tag in ("failure", "error")
    ]


def reached(pod: Pod, socket: str, folder: str) -> set[str]:
    """Returns what a program of a runner reaches in the pod's network; see `reaching`."""
    told = pod.run(
        "server", sys.executable, "-m", "tests.conformance.pods.reaching", socket, folder
    )
    assert told.returncode == 0, told.stdout + told.stderr
    return set(json.loads(told.stdout))
