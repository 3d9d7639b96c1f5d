"""What an engine says of a runtime tells whether the container has a kernel of its own."""

from __future__ import annotations

from typing import Any

import pytest

from reward_server.sandbox.docker.runtimes import Runtime, describe

GVISOR = Runtime(is_sandbox_kernel=True)
LINUX = Runtime()


@pytest.mark.parametrize(
    ("known", "described"),
    [
        ({"path": "runc"}, LINUX),
        ({"path": "/usr/bin/crun", "runtimeArgs": ["--debug"]}, LINUX),
        ({"runtimeType": "io.containerd.kata.v2"}, LINUX),
        ({"path": "/opt/not-runsc"}, LINUX),
        ({"path": "/usr/bin/runsc"}, GVISOR),
        ({"path": "runsc", "runtimeArgs": None}, GVISOR),
        ({"runtimeType": "io.containerd.runsc.v1"}, GVISOR),
        (
            {"path": "/usr/bin/runsc", "runtimeArgs": ["--network=none", "--ignore-cgroups"]},
            Runtime(is_sandbox_kernel=True, ignores_limits=True),
        ),
        ({}, LINUX),
    ],
)
def test_a_runtime_is_told_by_its_program(known: dict[str, Any], described: Runtime) -> None:
    assert describe({"Runtimes": {"this": known}}, "this") == described


def test_without_a_name_it_is_the_engines_default() -> None:
    info = {"Runtimes": {"runc": {"path": "runc"}, "safe": {"path": "runsc"}}}
    assert describe({**info, "DefaultRuntime": "safe"}, "") == GVISOR
    assert describe({**info, "DefaultRuntime": "runc"}, "") == LINUX


def test_a_runtime_that_the_engine_does_not_know_gets_no_rights() -> None:
    assert describe({"Runtimes": {"runsc": {"path": "runsc"}}}, "runsc-of-mine") == LINUX
    assert describe({}, "runsc") == LINUX
