"""Fork handlers of modules, which run in forks of a program and not in those of the zygote."""

from __future__ import annotations

import os
import subprocess
import sys

from reward_server.runner.supervisor import fork_hooks


def seen_in_a_fork(seen: list[str]) -> list[str]:
    """Forks; returns what the handlers noted in the child, and what before and in the parent."""
    seen.clear()
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, ",".join(seen).encode())
        os._exit(0)
    os.wait()
    os.close(writing)
    with open(reading) as told:
        return [*told.read().split(","), "|", *seen]


def hold_and_fork() -> None:
    seen: list[str] = []
    fork_hooks.hold_handlers()
    for name in ("first", "second"):
        os.register_at_fork(
            before=lambda name=name: seen.append(f"before {name}"),
            after_in_child=lambda name=name: seen.append(f"child {name}"),
            after_in_parent=lambda name=name: seen.append(f"parent {name}"),
        )
    assert seen_in_a_fork(seen) == ["", "|"]
    fork_hooks.hand_over_handlers()
    os.register_at_fork(after_in_child=lambda: seen.append("child third"))
    before = ["before second", "before first"]
    in_child = ["child first", "child second", "child third"]
    in_parent = ["parent first", "parent second"]
    assert seen_in_a_fork(seen) == [*before, *in_child, "|", *before, *in_parent]


def test_held_handlers_run_as_usual_once_they_are_handed_over() -> None:
    script = f"from {__name__} import hold_and_fork; hold_and_fork()"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
