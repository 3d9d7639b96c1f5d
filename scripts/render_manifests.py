"""Renders the Helm chart, and writes `deploy/kustomize` from it, so that both say the same.

The chart's rules are a copy of Prometheus's own, which it writes, too.

    python -m scripts.render_manifests

`base` has what every profile shares, a profile's folder adds its settings and pods,
and `hpa`, `keda` and `monitoring` are components that an overlay may add.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from helm_python.chart import Chart

REPOSITORY = Path(__file__).resolve().parents[1]
CHART = REPOSITORY / "deploy" / "helm" / "reward-server"
ALERTS = REPOSITORY / "deploy" / "prometheus" / "alerts.yml"
KUSTOMIZE = REPOSITORY / "deploy" / "kustomize"
NAME = "reward-server"
PROFILES = ("restricted", "local", "gvisor")
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "hpa": {"autoscaling": {"kind": "hpa"}},
    "keda": {"autoscaling": {"kind": "keda"}},
    "monitoring": {"monitoring": {"enabled": True}},
}
_OF_A_PROFILE = ("ConfigMap", "Deployment")
_HEADER = "# Written by scripts/render_manifests.py from deploy/helm/reward-server: change that.\n"
_WITHOUT_REPLICAS = {
    "target": {"kind": "Deployment"},
    "patch": "- {op: remove, path: /spec/replicas}\n",
}

Manifest = dict[str, Any]


def values_of(profile: str) -> dict[str, Any]:
    """Returns the values that choose a profile; gVisor's pods have one runner each."""
    return {"profile": profile, **({"runners": {"count": 1}} if profile == "gvisor" else {})}


def rendered(values: Mapping[str, Any]) -> list[Manifest]:
    """Returns the objects of the chart, ordered by kind.

    Raises:
        helm_python.errors.HelmError: a value is unknown or wrong.
    """
    with Chart.load(CHART) as chart:
        chart.validate_schema(chart.merge_values(dict(values)))
        texts = chart.render(values=dict(values), name=NAME, namespace="rewards")
    found = [one for text in texts.values() for one in yaml.safe_load_all(text) if one]
    return sorted(found, key=lambda one: str(one["kind"]))


def files() -> dict[Path, str]:
    """Returns the contents of `deploy/kustomize`, by path."""
    made: dict[Path, str] = {}
    for profile in PROFILES:
        objects = rendered(values_of(profile))
        shared = [one for one in objects if one["kind"] not in _OF_A_PROFILE]
        made |= _folder("base", shared, {})
        own = [one for one in objects if one["kind"] in _OF_A_PROFILE]
        made |= _folder(profile, own, {"resources": ["../base"]})
    known = {one["kind"] for one in rendered({})}
    for name, values in OPTIONS.items():
        added = [one for one in rendered(values) if one["kind"] not in known]
        patches = {"patches": [_WITHOUT_REPLICAS]} if "autoscaling" in values else {}
        made |= _folder(name, added, patches, is_component=True)
    return made


def _folder(
    name: str, objects: Iterable[Manifest], more: Manifest, *, is_component: bool = False
) -> dict[Path, str]:
    named = {f"{one['kind'].lower()}.yaml": one for one in objects}
    kustomization = {
        "apiVersion": f"kustomize.config.k8s.io/{'v1alpha1' if is_component else 'v1beta1'}",
        "kind": "Component" if is_component else "Kustomization",
        **more,
        "resources": [*more.get("resources", ()), *named],
    }
    folder = KUSTOMIZE / name
    return {
        folder / file: _HEADER + yaml.safe_dump(one, sort_keys=False, width=100)
        for file, one in {"kustomization.yaml": kustomization, **named}.items()
    }


def main() -> None:
    """Writes the files."""
    (CHART / ALERTS.name).write_text(ALERTS.read_text())
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
