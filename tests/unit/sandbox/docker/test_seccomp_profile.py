"""The engines' seccomp profile follows the runner's policy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from reward_server.runner.walls import policy
from reward_server.runner.walls.policy import Action

pytest.importorskip("docker")
from reward_server.sandbox.docker.container import seccomp_profile

RUNNERS_OWN = {"mount", "clone", "prctl"}


def rules() -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(seccomp_profile())["syscalls"]
    return found


def names(action: str) -> set[str]:
    return {str(name) for rule in rules() if rule["action"] == action for name in rule["names"]}  # type: ignore[attr-defined]


def test_the_profile_is_up_to_date(repository: Path) -> None:
    script = repository / "scripts" / "generate_seccomp_profile.py"
    subprocess.run([sys.executable, str(script), "--check"], check=True, cwd=repository)


def test_what_a_candidate_may_not_call_the_container_may_not_either_but_to_build_walls() -> None:
    forbidden = {call.name for call in policy.SYSCALLS if call.action is not Action.IGNORE}
    assert forbidden - names("SCMP_ACT_ERRNO") == {"mount"}
    assert names("SCMP_ACT_ALLOW") == RUNNERS_OWN


def test_every_rule_says_why() -> None:
    assert all(rule["comment"] for rule in rules())
