"""The Helm chart and the kustomize manifests: valid, the same, and with every protection."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from helm_python.chart import lint
from helm_python.errors import HelmError
from kubernetes_validate.utils import all_versions

from reward_server.settings import Settings, load_settings
from scripts.render_manifests import CHART, KUSTOMIZE, OPTIONS, PROFILES, files, rendered

VERSIONS = sorted(all_versions(), key=lambda text: tuple(map(int, text.split("."))))[-4:]
# Kinds of operators that a cluster may have; their schemas are not Kubernetes's.
FOREIGN = ("PodMonitor", "PrometheusRule", "ScaledObject")
CHOICES: tuple[dict[str, Any], ...] = (
    {},
    {"autoscaling": {"kind": "hpa"}, "runtimeClassName": "gvisor"},
    {
        "autoscaling": {"kind": "keda"},
        "monitoring": {"enabled": True},
        "nodeSelector": {"pool": "rewards"},
        "tolerations": [{"key": "rewards", "operator": "Exists", "effect": "NoSchedule"}],
        "networkPolicy": {"from": [{"podSelector": {"matchLabels": {"role": "trainer"}}}]},
        "seccompProfile": {"type": "Localhost", "localhostProfile": "reward-server.json"},
        "writableCgroup": True,
        "runners": {"count": 5},
        "imagePullSecrets": [{"name": "registry"}],
    },
)


def of_kind(objects: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    (found,) = (one for one in objects if one["kind"] == kind)
    return found


def pod_of(objects: list[dict[str, Any]]) -> dict[str, Any]:
    return dict(of_kind(objects, "Deployment")["spec"]["template"]["spec"])


def containers_of(pod: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from (*pod["containers"], *pod.get("initContainers", ()))


def built(folder: Path) -> list[dict[str, Any]]:
    kubectl = Path(sys.executable).with_name("kubectl")
    told = subprocess.run(
        [kubectl, "kustomize", folder], capture_output=True, text=True, check=False, timeout=60
    )
    assert told.returncode == 0, told.stderr
    return sorted(yaml.safe_load_all(told.stdout), key=lambda one: str(one["kind"]))


def test_the_chart_has_no_fault_that_helm_finds() -> None:
    told = lint(CHART)
    assert told["errors"] == []
    assert [one for one in told["messages"] if "icon" not in one["error"]] == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("profile", PROFILES)
def test_every_object_is_one_of_the_newest_versions(profile: str, version: str) -> None:
    for choice in CHOICES:
        for one in rendered({"profile": profile, **choice}):
            if one["kind"] not in FOREIGN:
                kubernetes_validate.validate(one, version, strict=True)


def test_the_check_of_versions_finds_a_misspelt_field() -> None:
    wrong = copy.deepcopy(of_kind(rendered({}), "Deployment"))
    wrong["spec"]["template"]["spec"]["hostUser"] = False
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


@pytest.mark.parametrize(
    "values",
    [
        {"replica": 3},
        {"profile": "privileged"},
        {"image": {"tags": "1"}},
        {"resources": {"limit": {}}},
        {"runners": {"counts": 2}},
        {"autoscaling": {"kind": "vpa"}},
        {"networkPolicy": {"form": []}},
        {"seccompProfile": {"type": "RuntimeDefault"}},
        {"seccompProfile": {"type": "Localhost"}},
        {"tolerations": [{"keys": "a"}]},
        {"monitoring": {"enable": True}},
        {"drainSeconds": 0},
    ],
    ids=json.dumps,
)
def test_a_misspelt_value_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(HelmError):
        rendered(values)


def test_kustomize_is_written_from_the_chart() -> None:
    wanted = files()
    assert set(wanted) == set(KUSTOMIZE.rglob("*.yaml"))
    for path, text in wanted.items():
        assert path.read_text() == text, f"run `python -m scripts.render_manifests`: {path}"


@pytest.mark.parametrize("profile", PROFILES)
def test_chart_and_kustomize_build_the_same_objects(profile: str) -> None:
    assert built(KUSTOMIZE / profile) == rendered({"profile": profile})


@pytest.mark.parametrize("option", OPTIONS)
def test_components_add_what_the_charts_values_add(option: str, tmp_path: Path) -> None:
    manifests = os.path.relpath(KUSTOMIZE, tmp_path.resolve())
    (tmp_path / "kustomization.yaml").write_text(
        f"resources: [{manifests}/local]\ncomponents: [{manifests}/{option}]\n"
    )
    assert built(tmp_path) == rendered({"profile": "local", **OPTIONS[option]})


@pytest.mark.parametrize("profile", PROFILES)
def test_no_pod_has_a_privilege(profile: str) -> None:
    pod = pod_of(rendered({"profile": profile}))
    assert pod["hostUsers"] is False
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    for container in containers_of(pod):
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert "privileged" not in context
        assert container["resources"]["limits"].keys() == {"cpu", "memory"}


def test_the_server_of_the_restricted_profile_makes_no_sandbox() -> None:
    pod = pod_of(rendered({"profile": "restricted"}))
    (server,) = pod["containers"]
    assert not {"procMount", "seccompProfile"} & server["securityContext"].keys()
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for number, runner in enumerate(pod["initContainers"]):
        assert runner["restartPolicy"] == "Always"
        mounts = {mount["name"]: mount for mount in runner["volumeMounts"]}
        assert set(mounts) == {"sockets", f"scratch-{number}"}
        assert mounts["sockets"]["subPath"] == str(number)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("drain", [1, 60, 600])
def test_a_pod_has_more_time_than_its_drain(profile: str, drain: int) -> None:
    objects = rendered({"profile": profile, "drainSeconds": drain})
    pod = pod_of(objects)
    pause = pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod["terminationGracePeriodSeconds"] > drain + pause + 10
    assert f"drain_seconds = {drain}\n" in of_kind(objects, "ConfigMap")["data"]["server.toml"]


def test_nothing_leaves_a_pod() -> None:
    policy = of_kind(rendered({}), "NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy["egress"] == []
    assert [rule["ports"][0]["port"] for rule in policy["ingress"]] == ["grpc", "metrics"]
    assert all(rule["from"] for rule in policy["ingress"])


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("choice", CHOICES)
def test_the_server_accepts_the_settings_of_every_profile(
    profile: str, choice: dict[str, Any], tmp_path: Path
) -> None:
    values = {"profile": profile, "settings": "queue_capacity = 99\n", **choice}
    text = of_kind(rendered(values), "ConfigMap")["data"]["server.toml"]
    for name in ("tls/tls.crt", "tls/tls.key", "tokens/tokens"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("-")
    file = tmp_path / "server.toml"
    file.write_text(text.replace("/run/secrets", str(tmp_path)))
    settings = load_settings({}, file)
    assert isinstance(settings, Settings)
    assert settings.queue_capacity == 99
    assert settings.metrics_host == "0.0.0.0"
    if profile == "restricted":
        runners = pod_of(rendered(values))["initContainers"]
        assert [str(path) for path in settings.sockets] == [one["command"][-1] for one in runners]
    else:
        assert bool(settings.allow_missing) is not choice.get("writableCgroup", False)
