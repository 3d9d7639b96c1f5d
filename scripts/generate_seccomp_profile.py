"""Writes the seccomp profile of containers, in the engines' format, from the runner's policy.

    python scripts/generate_seccomp_profile.py [--check]

The container's own processes are the runner's, which makes namespaces and mounts for each
execution. The runner's filter, on top of this profile, confines a candidate.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from reward_server.runner.walls import policy
from reward_server.runner.walls.policy import Action, ArgumentRule, Test

PROFILE = Path(__file__).parents[1] / "reward_server/sandbox/docker/seccomp.json"
RUNNERS_OWN = {"mount": "the runner gives each execution a file tree of its own"}
JUDGED_BY_THE_RUNNER = {
    policy.CLONE.name: "the runner puts each execution into new namespaces",
    policy.PRCTL.name: "the runner gives each execution its filter",
}
_EPERM, _ENOSYS = 1, 38
_ERRORS = {Action.KILL: _EPERM, Action.DENY: _EPERM, Action.ABSENT: _ENOSYS}  # no others occur


_RULES = [
    one
    for one in policy.ARGUMENT_RULES
    if one.call.name not in JUDGED_BY_THE_RUNNER and one.call.action in _ERRORS
]


def profile() -> dict[str, Any]:
    """Returns the profile."""
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "archMap": [
            {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": []},
            {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": []},
        ],
        "syscalls": [
            *(
                _denied(call.name, call.reason, _ERRORS[call.action])
                for call in policy.SYSCALLS
                if call.name not in RUNNERS_OWN and call.action in _ERRORS
            ),
            *(_allowed(name, reason) for name, reason in RUNNERS_OWN.items()),
            *(_allowed(name, reason) for name, reason in JUDGED_BY_THE_RUNNER.items()),
            *(rule for one in _RULES for rule in _refusals(one)),
        ],
    }


def _refusals(rule: ArgumentRule) -> list[dict[str, Any]]:
    """Returns a refusal for each value that a rule names, or one for all values but some."""
    conditions = [_condition(rule, value) for value in rule.values]
    groups = [conditions] if rule.test is Test.IS_NOT else [[one] for one in conditions]
    error = _ERRORS[rule.call.action]
    return [_denied(rule.call.name, rule.call.reason, error, *group) for group in groups]


def _condition(rule: ArgumentRule, value: int) -> dict[str, Any]:
    if rule.test is Test.ANY_BIT:
        masked = {"value": value, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}
        assert value & (value - 1) == 0, "a mask of several bits needs a rule for each"
        return {"index": rule.argument, **masked}
    op = "SCMP_CMP_NE" if rule.test is Test.IS_NOT else "SCMP_CMP_EQ"
    return {"index": rule.argument, "value": value, "op": op}


def _denied(name: str, reason: str, error: int, *conditions: dict[str, Any]) -> dict[str, Any]:
    return {
        "names": [name],
        "action": "SCMP_ACT_ERRNO",
        "errnoRet": error,
        "args": list(conditions),
        "comment": reason,
    }


def _allowed(name: str, reason: str) -> dict[str, Any]:
    return {"names": [name], "action": "SCMP_ACT_ALLOW", "args": [], "comment": reason}


def text() -> str:
    """Returns the file's content."""
    return json.dumps(profile(), indent=1) + "\n"


def main() -> None:
    """Writes the file, or reports whether it is up to date."""
    if "--check" not in sys.argv[1:]:
        PROFILE.write_text(text())
    elif PROFILE.read_text() != text():
        sys.exit(f"{PROFILE} is out of date: run {Path(__file__).name}")


if __name__ == "__main__":
    main()
