"""Pods of the Kubernetes profile `local`, shaped as a kubelet shapes them, with plain `runc`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from reward_server.domain import FunctionTests
from scripts.render_manifests import rendered
from tests.attacks.attack import Attack
from tests.attacks.corpus import ATTACKS
from tests.e2e.support.rows import solved_task
from tests.support.sampling import TAKES_ALL, sampled

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to start containers with runc"),
    pytest.mark.skipif(shutil.which("runc") is None, reason="needs runc"),
]

UID = 1000
FIRST, IDS = 1_700_000_000, 65_536  # the pod's users on the host
SAMPLE = 8  # every eighth task in an ordinary run
LIMITS = ("memory-limit", "process-limit", "cpu-limit")
# What a container runtime covers in /proc, unless `procMount` is Unmasked.
MASKED = ("/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/scsi")
SYSTEM = ("/usr", "/etc/alternatives", "/etc/ld.so.cache", "/etc/passwd", "/etc/group")


class Pod:
    """Runs commands of this checkout in containers with the security context of the manifests.

    Args:
        folder: an empty folder that everybody may enter.
        repository: the checkout.
    """

    def __init__(self, folder: Path, repository: Path) -> None:
        self._folder = folder
        self._repository = repository
        self.shared = folder / "shared"
        self._root = folder / "rootfs"
        for path in (self.shared, self._root, self._root / "mnt"):
            path.mkdir()
        self.shared.chmod(0o777)
        for path in (self._root, self._root / "mnt"):
            os.chown(path, FIRST, FIRST)  # runc makes mount points as the pod's root
        for name in ("bin", "sbin", "lib", "lib32", "lib64"):
            if os.path.islink(f"/{name}"):
                (self._root / name).symlink_to(os.readlink(f"/{name}"))

    def run(self, *arguments: str, masked: bool = False) -> subprocess.CompletedProcess[str]:
        """Runs `reward-server` in a container of its own."""
        code = "from reward_server.cli import main; main()"
        command = [sys.executable, "-c", code, *arguments]
        (self._folder / "config.json").write_text(json.dumps(self._config(command, masked=masked)))
        name = f"reward-server-test-{os.getpid()}"
        return subprocess.run(
            ["runc", "--root", self._folder / "state", "run", "--bundle", self._folder, name],
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )

    def _config(self, command: Sequence[str], *, masked: bool) -> dict[str, Any]:
        context = security_context()
        assert context["procMount"] == "Unmasked"
        assert context["seccompProfile"]["type"] == "Unconfined"
        mapping = [{"containerID": 0, "hostID": FIRST, "size": IDS}]
        kinds = ("pid", "network", "ipc", "uts", "mount", "user", "cgroup")
        return {
            "ociVersion": "1.0.2",
            "hostname": "pod",
            "root": {"path": str(self._root), "readonly": context["readOnlyRootFilesystem"]},
            "process": {
                "args": list(command),
                "cwd": "/",
                "env": [
                    "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                    "PYTHONDONTWRITEBYTECODE=1",
                    f"PYTHONPATH={self._repository}:{self._repository}/proto",
                ],
                "user": {"uid": UID, "gid": UID},
                "capabilities": {},
                "noNewPrivileges": not context["allowPrivilegeEscalation"],
            },
            "mounts": list(self._mounts()),
            "linux": {
                "namespaces": [{"type": kind} for kind in kinds],
                "uidMappings": mapping,
                "gidMappings": mapping,
                "maskedPaths": list(MASKED) if masked else [],
                "readonlyPaths": ["/proc/sys", "/proc/irq"] if masked else [],
            },
        }

    def _mounts(self) -> Iterator[Mapping[str, Any]]:
        yield {"destination": "/proc", "type": "proc", "source": "proc"}
        options = ["nosuid", "mode=755", "size=65536k"]
        yield {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": options}
        for path in ("/run", "/tmp", "/var/tmp"):
            options = ["nosuid", "nodev", "mode=1777"]
            yield {"destination": path, "type": "tmpfs", "source": "tmpfs", "options": options}
        prefixes = (sys.base_prefix, sys.prefix, str(self._repository), *_added_paths())
        for path in dict.fromkeys((*SYSTEM, *prefixes)):
            if os.path.exists(path) and not (path != "/usr" and path.startswith("/usr/")):
                options = ["rbind", "ro", "nosuid"]
                yield {"destination": path, "type": "bind", "source": path, "options": options}
        options = ["bind", "rw"]
        yield {
            "destination": "/shared",
            "type": "bind",
            "source": str(self.shared),
            "options": options,
        }


def _added_paths() -> list[str]:
    """Returns the folders that a file of this environment adds to its packages."""
    found = Path(sysconfig.get_path("purelib")).glob("*.pth")
    lines = [line for file in found for line in file.read_text().splitlines()]
    return [line for line in lines if line.startswith("/") and line.endswith("site-packages")]


def security_context() -> dict[str, Any]:
    """Returns the one of the server's container in the profile `local`."""
    objects = rendered({"profile": "local"})
    (deployment,) = (one for one in objects if one["kind"] == "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    assert pod["hostUsers"] is False
    assert pod["securityContext"]["runAsUser"] == UID
    (container,) = pod["containers"]
    return dict(container["securityContext"])


@pytest.fixture
def pod(repository: Path) -> Iterator[Pod]:
    folder = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="reward-server-pod-"))
    folder.chmod(0o755)
    yield Pod(folder, repository)
    shutil.rmtree(folder)


def test_all_walls_but_the_limits_stand_in_a_pod_without_a_capability(pod: Pod) -> None:
    told = pod.run("doctor", "--json", "--allow-missing", ",".join(LIMITS))
    assert told.returncode == 0, told.stdout + told.stderr
    walls = {wall["name"]: wall["standing"] for wall in json.loads(told.stdout)["walls"]}
    assert {name for name, standing in walls.items() if not standing} <= {*LIMITS, "landlock"}


def test_a_masked_proc_is_what_a_pod_must_not_have(pod: Pod) -> None:
    told = pod.run("doctor", "--json", "--allow-missing", ",".join(LIMITS), masked=True)
    assert told.returncode == 1, told.stdout + told.stderr
    (wall,) = (one for one in json.loads(told.stdout)["walls"] if one["name"] == "container")
    assert not wall["standing"]
    assert "procMount: Unmasked" in wall["detail"]


def test_a_pod_without_a_capability_judges_humaneval(pod: Pod, data_folder: Path) -> None:
    lines = (data_folder / "HumanEval.jsonl").read_text().splitlines()
    chosen = lines if TAKES_ALL else lines[::SAMPLE]
    with (pod.shared / "tasks.jsonl").open("w") as file:
        file.writelines(json.dumps(solved_task(json.loads(line))) + "\n" for line in chosen)
    files = ("/shared/tasks.jsonl", "--out", "/shared/out.jsonl")
    graded = pod.run("grade", *files, "--json", "--allow-missing", ",".join(LIMITS))
    assert graded.returncode == 0, graded.stdout + graded.stderr
    assert json.loads(graded.stdout)["verdicts"] == {"PASSED": len(chosen)}


def test_a_pod_without_a_capability_rewards_no_attack(pod: Pod) -> None:
    plain = [one for one in ATTACKS if _is_plain(one)]
    assert len(plain) > 50
    chosen = sampled(plain, 4)
    with (pod.shared / "attacks.jsonl").open("w") as file:
        file.writelines(json.dumps(_request(attack)) + "\n" for attack in chosen)
    files = ("/shared/attacks.jsonl", "--out", "/shared/out.jsonl")
    graded = pod.run("grade", *files, "--json", "--allow-missing", ",".join(LIMITS))
    lines = (pod.shared / "out.jsonl").read_text().splitlines()
    results = [json.loads(line) for line in lines]
    assert len(results) == len(chosen), graded.stdout + graded.stderr
    judged = [one for one in results if not one["error"]]
    assert {one["error"]["status"] for one in results if one["error"]} <= {"FAILED_PRECONDITION"}
    assert len(judged) > len(results) * 3 / 4
    assert [one["id"] for one in judged if one["verdict"] == "PASSED" or one["reward"] != 0] == []


def _is_plain(attack: Attack) -> bool:
    tests = attack.problem.tests
    return isinstance(tests, FunctionTests) and attack.plant is None


def _request(attack: Attack) -> dict[str, Any]:
    tests = attack.problem.tests
    assert isinstance(tests, FunctionTests)
    return {
        "id": attack.name,
        "prompt": attack.problem.prompt,
        "completion": attack.completion,
        "extraction": "EXTRACTION_NONE",
        # Tests that live with a solution by their text are not judged so: that is no reward.
        "require_integrity": "INTEGRITY_ISOLATED",
        "function": {
            "entry_point": tests.entry_point,
            "test_code": tests.test_code,
            "asserts": list(tests.asserts),
            "setup_code": tests.setup_code,
        },
    }
