"""In a pod where the server would not start, `doctor` prints the fields after which it starts.

A run takes one of the pods; REWARD_SERVER_TEST_ALL=1 takes all.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from reward_server.sandbox.container_options import LIMITS
from scripts.render_manifests import rendered
from tests.conformance.pods.inside import told_by_doctor
from tests.conformance.pods.pod import NEEDS_RUNC, running_pod
from tests.support.sampling import sampled

pytestmark = NEEDS_RUNC

ROOT = {"runAsUser": 0, "runAsGroup": 0}
UNFILTERED = {"seccompProfile": {"type": "Unconfined"}}
UNMASKED = {"procMount": "Unmasked"}
BARE = {"capabilities": {"drop": ["ALL"]}, "allowPrivilegeEscalation": False}
ADMIN = {"capabilities": {"add": ["SYS_ADMIN"]}}
HOST = "hostUsers: false"
USER = "securityContext.runAsUser: 1000"
FILTER = "securityContext.seccompProfile: {type: Unconfined}"
MASK = "securityContext.procMount: Unmasked"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A pod as somebody might start the server in one.

    Args:
        host_users: whether its users are the host's.
        context: the container's security context.
        lines: the fields that it lacks.
    """

    host_users: bool = False
    context: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()


SHAPES = {
    "nothing set": Shape(host_users=True, context=ROOT, lines=(HOST, USER, FILTER, MASK)),
    "an ordinary user": Shape(context={**UNFILTERED, **UNMASKED, **BARE}),
    "root of the host": Shape(
        host_users=True, context={**ROOT, **UNFILTERED}, lines=(HOST, USER, MASK)
    ),
    "root with default rights": Shape(context={**ROOT, **UNFILTERED, **UNMASKED}, lines=(USER,)),
    "root without rights": Shape(context={**ROOT, **UNFILTERED, **UNMASKED, **BARE}, lines=(USER,)),
    "root that may mount": Shape(context={**ROOT, **UNFILTERED, **UNMASKED, **ADMIN}),
    "root that may mount, under masks": Shape(
        context={**ROOT, **UNFILTERED, **ADMIN}, lines=(USER, MASK)
    ),
    "a masked /proc": Shape(context={**UNFILTERED, **BARE}, lines=(MASK,)),
    "the default filter": Shape(context={**UNMASKED, **BARE}, lines=(FILTER,)),
    "PodSecurity restricted": Shape(host_users=True, context=BARE, lines=(HOST, FILTER, MASK)),
}


def manifest(shape: Shape, lines: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Returns the objects with a pod of this shape, to which lines that `doctor` printed are
    added."""
    objects = copy.deepcopy(rendered({"profile": "local"}))
    (deployment,) = (one for one in objects if one["kind"] == "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    pod["hostUsers"] = shape.host_users
    context = {"readOnlyRootFilesystem": True, **shape.context}
    for line in lines:
        (name, value), *_ = yaml.safe_load(line).items()
        place = context if name.startswith("securityContext.") else pod
        place[name.removeprefix("securityContext.")] = value
    pod["containers"][0]["securityContext"] = context
    return objects


# A sample is the pod that lacks every field.
@pytest.mark.parametrize("name", sampled(list(SHAPES), len(SHAPES)))
def test_the_printed_fields_are_those_that_a_pod_lacks_and_mend_it(name: str) -> None:
    shape = SHAPES[name]
    with running_pod({}, manifest(shape)) as pod:
        told = told_by_doctor(pod, "server")
    assert told["pod"]["profile"] == ("restricted" if shape.lines else "local")
    assert tuple(told["pod"]["lines"]) == shape.lines
    assert tuple(told["pod"]["allow_missing"]) == LIMITS
    assert_no_word_of_other_places(told)
    if shape.lines:
        with running_pod({}, manifest(shape, shape.lines)) as pod:
            mended = told_by_doctor(pod, "server")
        assert sorted(mended["refused"]) == sorted(LIMITS), mended
        assert (mended["pod"]["profile"], mended["pod"]["lines"]) == ("local", [])


def assert_no_word_of_other_places(told: Mapping[str, Any]) -> None:
    """No remedy names what a pod has not, such as systemd."""
    for wall in told["walls"]:
        assert "systemd-run" not in wall["detail"]
        assert "/sys/fs/cgroup:rw" not in wall["detail"]
