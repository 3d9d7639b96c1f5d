"""The Helm chart and the kustomize manifests: valid, the same, and with every protection."""

from __future__ import annotations

import copy
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from helm_python.chart import lint
from helm_python.errors import HelmError

from reward_server.sandbox.docker.container import SANDBOX_CAPABILITIES
from reward_server.sandbox.runner_command import OWN_CONTAINER, runner_command
from reward_server.settings import Settings, load_settings
from scripts.render_manifests import (
    ALERTS,
    CHART,
    KUSTOMIZE,
    OPTIONS,
    PROFILES,
    files,
    rendered,
    values_of,
)
from tests.support.sampling import sampled

VERSIONS = 4  # the newest
# Kinds of operators that a cluster may have, and the module with the operator's own schemas.
FOREIGN = {
    "PodMonitor": "cloudcoil.models.prometheus_operator.v1",
    "PrometheusRule": "cloudcoil.models.prometheus_operator.v1",
    "ScaledObject": "cloudcoil.models.keda.v1alpha1",
}
CHOICES: tuple[dict[str, Any], ...] = (
    {},
    {"autoscaling": {"kind": "hpa"}, "runtimeClassName": "own-class"},
    {
        "autoscaling": {"kind": "keda"},
        "monitoring": {"enabled": True},
        "nodeSelector": {"pool": "rewards"},
        "tolerations": [{"key": "rewards", "operator": "Exists", "effect": "NoSchedule"}],
        "networkPolicy": {"from": [{"podSelector": {"matchLabels": {"role": "trainer"}}}]},
        "seccompProfile": {"type": "Localhost", "localhostProfile": "reward-server.json"},
        "writableCgroup": True,
        "podAnnotations": {"io.kubernetes.cri-o.cgroup2-mount-hierarchy-rw": "true"},
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


@pytest.fixture(scope="module")
def kubernetes() -> ModuleType:
    """Returns the package with Kubernetes' schemas, whose import takes seconds."""
    return importlib.import_module("kubernetes_validate")


def newest(kubernetes: ModuleType) -> list[str]:
    versions = kubernetes.utils.all_versions()
    return sorted(versions, key=lambda text: tuple(map(int, text.split("."))))[-VERSIONS:]


@pytest.mark.parametrize("age", sampled(range(VERSIONS), VERSIONS - 1))
@pytest.mark.parametrize("profile", PROFILES)
def test_every_object_is_one_of_the_newest_versions(
    profile: str, age: int, kubernetes: ModuleType
) -> None:
    version = newest(kubernetes)[-1 - age]
    for choice in CHOICES:
        for one in rendered({**values_of(profile), **choice}):
            if one["kind"] not in FOREIGN:
                kubernetes.validate(one, version, strict=True)


@pytest.mark.parametrize("kind", FOREIGN)
def test_every_object_of_an_operator_is_one_that_it_knows(kind: str) -> None:
    one = of_kind(
        rendered({"monitoring": {"enabled": True}, "autoscaling": {"kind": "keda"}}), kind
    )
    model = vars(importlib.import_module(FOREIGN[kind]))[kind]
    assert known_part(model, one) == one
    wrong = copy.deepcopy(one)
    wrong["spec"]["trigger"] = []
    assert known_part(model, wrong) == one


def known_part(model: Any, one: dict[str, Any]) -> dict[str, Any]:
    """Returns what an operator's schema knows of an object, which it has to accept."""
    read = model.model_validate(one)
    return dict(read.model_dump(mode="json", by_alias=True, exclude_unset=True))


def test_the_rules_are_those_that_a_real_prometheus_evaluates_in_a_test() -> None:
    objects = rendered({"monitoring": {"enabled": True}})
    assert of_kind(objects, "PrometheusRule")["spec"] == yaml.safe_load(ALERTS.read_text())
    assert (CHART / ALERTS.name).read_text() == ALERTS.read_text()
    # The rules select a job, whose name the operator takes from this label of the pods.
    label = of_kind(objects, "PodMonitor")["spec"]["jobLabel"]
    pod = of_kind(objects, "Deployment")["spec"]["template"]["metadata"]
    assert pod["labels"][label] == "reward-server"
    assert 'job="reward-server"' in ALERTS.read_text()


def test_the_check_of_versions_finds_a_misspelt_field(kubernetes: ModuleType) -> None:
    wrong = copy.deepcopy(of_kind(rendered({}), "Deployment"))
    wrong["spec"]["template"]["spec"]["hostUser"] = False
    with pytest.raises(kubernetes.ValidationError):
        kubernetes.validate(wrong, newest(kubernetes)[-1], strict=True)


@pytest.mark.parametrize(
    "values",
    [
        {"replica": 3},
        {"profile": "privileged"},
        {"image": {"tags": "1"}},
        {"resources": {"limit": {}}},
        {"runners": {"counts": 2}},
        {"runners": {"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}},
        {"profile": "gvisor", "runners": {"count": 2}},
        {"podAnnotations": {"count": 1}},
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
    assert built(KUSTOMIZE / profile) == rendered(values_of(profile))


@pytest.mark.parametrize("option", OPTIONS)
def test_components_add_what_the_charts_values_add(option: str, tmp_path: Path) -> None:
    manifests = os.path.relpath(KUSTOMIZE, tmp_path.resolve())
    (tmp_path / "kustomization.yaml").write_text(
        f"resources: [{manifests}/local]\ncomponents: [{manifests}/{option}]\n"
    )
    assert built(tmp_path) == rendered({"profile": "local", **OPTIONS[option]})


@pytest.mark.parametrize("profile", PROFILES)
def test_no_pod_has_a_privilege_on_its_node(profile: str) -> None:
    pod = pod_of(rendered(values_of(profile)))
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    for container in containers_of(pod):
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"]["drop"] == ["ALL"]
        assert "privileged" not in context
        assert container["resources"]["limits"].keys() == {"cpu", "memory"}
        if container["name"] == "server" or profile != "gvisor":
            assert context["allowPrivilegeEscalation"] is False
            assert context["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("profile", ["restricted", "local"])
def test_pods_have_users_of_their_own_where_proc_is_unmasked(profile: str) -> None:
    """Kubernetes refuses an unmasked /proc without."""
    assert pod_of(rendered({"profile": profile}))["hostUsers"] is False


def test_only_in_gvisors_kernel_are_runners_root() -> None:
    """Kubernetes refuses pods under gVisor that have users of their own."""
    pod = pod_of(rendered(values_of("gvisor")))
    assert pod["runtimeClassName"] == "gvisor"
    assert "hostUsers" not in pod
    (runner,) = pod["initContainers"]
    added = tuple(runner["securityContext"]["capabilities"]["add"])
    assert added == SANDBOX_CAPABILITIES
    assert not {"procMount", "allowPrivilegeEscalation"} & runner["securityContext"].keys()


@pytest.mark.parametrize("profile", ["restricted", "gvisor"])
def test_runners_start_as_the_sandboxs_code_starts_them(profile: str) -> None:
    settings = {**OWN_CONTAINER, "sandbox_kernel": profile == "gvisor"}
    for runner in pod_of(rendered(values_of(profile)))["initContainers"]:
        socket = runner["command"][-2]
        assert runner["command"] == runner_command("python3", settings, listen=socket)
        assert runner["image"].startswith("codereward-")
        assert runner["startupProbe"]["exec"]["command"] == ["test", "-S", socket]


def test_a_pod_has_as_many_runners_as_asked_for() -> None:
    objects = rendered({"runners": {"count": 5}})
    runners = pod_of(objects)["initContainers"]
    text = of_kind(objects, "ConfigMap")["data"]["server.toml"]
    assert len(runners) == 5
    assert [one["command"][-2] in text for one in runners] == [True] * 5


@pytest.mark.parametrize(("given", "programs"), [("3Gi", 2048), ("1536Mi", 512), ("40Gi", 39936)])
def test_programs_leave_a_runner_memory(given: str, programs: int) -> None:
    limits = {"limits": {"cpu": "1", "memory": given}}
    objects = rendered({"runners": {"resources": limits}})
    text = of_kind(objects, "ConfigMap")["data"]["server.toml"]
    assert f"maximum_limits = {{memory_bytes = {programs << 20}}}\n" in text


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("drain", [1, 60, 600])
def test_a_pod_has_more_time_than_its_drain(profile: str, drain: int) -> None:
    objects = rendered({**values_of(profile), "drainSeconds": drain})
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
    values = {**values_of(profile), "settings": "queue_capacity = 99\n", **choice}
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
    if profile != "local":
        runners = pod_of(rendered(values))["initContainers"]
        assert [str(path) for path in settings.sockets] == [one["command"][-2] for one in runners]
    else:
        assert bool(settings.allow_missing) is not choice.get("writableCgroup", False)
