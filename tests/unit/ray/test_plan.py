"""What the actors of a name are told."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import pytest

from reward_server.errors import SettingsError
from trainer_client.transport import ray_names


def plans() -> ModuleType:
    """Returns the module, whose package imports ray, which takes seconds."""
    return importlib.import_module("reward_server.ray.plan")


def plan(**fields: Any) -> Any:
    usual = {"name": "rewards", "nodes": 2, "cpus": 4, "resources": {}, "settings": {}, "token": ""}
    return plans().Plan(**{**usual, **fields})


def test_server_and_client_agree_on_names() -> None:
    assert plans().NAMESPACE == ray_names.NAMESPACE
    assert plans().actor_name("rewards") == ray_names.ACTOR_PREFIX + "rewards"


def test_settings_become_arguments_of_serve() -> None:
    settings = {
        "languages": ["python", "cpp"],
        "status_page": False,
        "default_limits": {"processes": 8},
        "audit_file": None,
        "workers": 3,
    }
    assert plan(settings=settings).arguments == [
        part
        for pair in (
            "port=0",
            "workers=3",
            "languages=python,cpp",
            "status_page=false",
            "default_limits.processes=8",
        )
        for part in ("--set", pair)
    ]


def test_a_server_has_as_many_slots_as_cpus_are_reserved_for_it() -> None:
    assert "workers=4" in plan().arguments
    assert plan(resources={"reward_node": 1.0}).bundles == [{"CPU": 4.0, "reward_node": 1.0}] * 2


def test_nodes_are_chosen_by_address() -> None:
    chosen = plan(nodes=("10.0.0.5", "10.0.0.6"))
    assert chosen.count == 2
    assert chosen.bundles[1] == {"CPU": 4.0, "node:10.0.0.6": 0.001}


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"name": "a b"}, "name: 'a b' must have 1 to 64"),
        ({"name": ""}, "name: '' must have"),
        ({"nodes": 0}, "nodes: at least one"),
        ({"cpus": 0}, "cpus: 0 is below 1"),
        ({"settings": {"host": "0.0.0.0"}}, "host cannot be set"),
    ],
)
def test_a_wrong_argument_is_named(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        plan(**fields)


def test_credentials_of_the_settings_are_used_and_no_others_are_made() -> None:
    names_credentials = plans().names_credentials
    assert names_credentials({"tls_certificate": "server.pem"})
    assert names_credentials({"insecure_public": True})
    assert not names_credentials({"insecure_public": False, "workers": 2})
