"""A pod on this machine: the containers of a manifest, in the namespaces and volumes they share.

It plays the kubelet and the container runtime, with plain `runc`: it starts containers, repeats
their probes, restarts them, and removes what they had. What differs from a node: no network plug-in
connects pods, and a volume's files belong to the pod's users on disk, because this `runc` cannot
map the users of a mount.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.render_manifests import rendered
from tests.conformance.pods import gvisor, spec
from tests.support.tools import needs

PREFIX = "reward-server-pod-"
PAUSE = "pause"
POLL_SECONDS = 0.1
# What a server writes when it serves. A probe before that takes time from its start.
SERVER, SERVING = "server", '"address"'
RUN_SECONDS = 3600.0
CGROUPS = Path("/sys/fs/cgroup")
_OF_VERSION_2 = "$place/cgroup.subtree_control $place/cgroup.threads"

NEEDS_RUNC = needs("root", "runc")

Done = subprocess.CompletedProcess[str]


class Pod:
    """A pod; see `running_pod`.

    Args:
        folder: an empty folder that everybody may enter.
        objects: the chart's objects; the pod is that of its Deployment.
    """

    def __init__(self, folder: Path, objects: Sequence[Mapping[str, Any]]) -> None:
        self._objects = {str(one["kind"]): one for one in objects}
        self.template = self._objects["Deployment"]["spec"]["template"]["spec"]
        self.name = folder.name
        self._in_gvisor = self.template.get("runtimeClassName") == "gvisor"
        self._folder = folder
        self._owner = spec.on_host(self.template, 0)
        for name in ("server", "sandbox"):
            spec.make_root(folder / name, self._owner, sandboxes=name == "sandbox")
        for name in ("shared", "secrets", "volumes", "bundles", "processes"):
            (folder / name).mkdir()
        self.shared = folder / "shared"
        self.shared.chmod(0o777)
        (folder / "hosts").write_text("# Kubernetes-managed hosts file.\n127.0.0.1 localhost\n")

    # ------------------------------------------------------------------------------- containers

    def container(self, name: str) -> dict[str, Any]:
        """Returns a container of the manifest."""
        everyone = (*self.template.get("initContainers", ()), *self.template["containers"])
        (found,) = (one for one in everyone if one["name"] == name)
        return dict(found)

    def add(self, name: str, added: str, changes: Mapping[str, Any]) -> None:
        """Adds a container to the manifest, like the one named except for some fields."""
        self.template["initContainers"].append({**self.container(name), **changes, "name": added})

    def run(self, name: str, *command: str, env: Sequence[str] = ()) -> Done:
        """Runs a command to its end in a container of its own, made like the one named."""
        made = f"{name}-{secrets.token_hex(3)}"
        bundle = self._bundle(made, name, command, env)
        return self._runtime("run", "--bundle", str(bundle), self._id(made), check=False)

    def start(self, name: str) -> None:
        """Starts a container as the manifest says, and waits for its startup probe."""
        container = self.container(name)
        self._start(name, name, container["command"])
        if name == SERVER:
            self._wait_until(name, lambda: SERVING in self.log(name))
        if "startupProbe" in container:
            self._wait_for(name, container["startupProbe"])

    def execute(self, name: str, *command: str) -> Done:
        """Runs a command inside a running container, as exec probes do."""
        file = self._folder / "processes" / secrets.token_hex(4)
        file.write_text(json.dumps(self._process(name, command, ())))
        return self._runtime("exec", "--process", str(file), self._id(name), check=False)

    def _wait_for(self, name: str, probe: Mapping[str, Any]) -> None:
        self._wait_until(
            name, lambda: self.execute(name, *probe["exec"]["command"]).returncode == 0
        )

    def _wait_until(self, name: str, condition: Callable[[], bool]) -> None:
        while not condition():
            assert self.is_running(name), self.log(name)
            time.sleep(POLL_SECONDS)

    def kill(self, name: str) -> None:
        """Kills a container's first process, and with it all of the container's."""
        self._runtime("kill", self._id(name), "KILL")

    def stop(self, name: str) -> None:
        """Ends and removes a container."""
        self._runtime("delete", "--force", self._id(name))

    def restart(self, name: str) -> None:
        """Starts a container that ended anew, as a kubelet does."""
        self.stop(name)
        self.start(name)

    def is_running(self, name: str) -> bool:
        """Returns True if a container's first process lives."""
        told = self._runtime("state", self._id(name), check=False)
        return told.returncode == 0 and json.loads(told.stdout)["status"] == "running"

    def pid(self, name: str) -> int:
        """Returns the number of a container's first process on this machine."""
        return int(json.loads(self._runtime("state", self._id(name)).stdout)["pid"])

    def processes(self, name: str) -> set[int]:
        """Returns the numbers that a container's processes have on this machine."""
        files = [file for place in self._cgroups() for file in place.glob(f"{name}/cgroup.procs")]
        return {int(pid) for file in files for pid in file.read_text().split()}

    def log(self, name: str) -> str:
        """Returns what a started container wrote."""
        return (self._folder / "bundles" / name / "log").read_text()

    def write_secret(self, name: str, files: Mapping[str, str]) -> None:
        """Makes a Secret; the pod's group may read it."""
        folder = self._folder / "secrets" / name
        folder.mkdir(exist_ok=True)
        self._write(folder, files)

    # ------------------------------------------------------------------------- start and end

    def open(self) -> None:
        """Makes the pod's namespaces, which its containers share."""
        self._start(PAUSE, self.template["containers"][0]["name"], ("/usr/bin/sleep", "infinity"))

    def close(self) -> None:
        """Ends the containers and removes what they had; nothing of it may be left."""
        running = self._running()
        for name in running[:-1]:  # so that `delete` waits for all of them at once
            self._runtime("kill", name, "KILL", check=False)
        for name in running:
            self._runtime("delete", "--force", name)
        left = self._running()
        for place in self._cgroups():
            for folder, _, _ in os.walk(place, topdown=False):
                os.rmdir(folder)
        assert (left, self._cgroups()) == ([], [])

    def _running(self) -> list[str]:
        """Lists the containers; the one that holds the namespaces comes last."""
        told = self._runtime("list", "--quiet")
        return sorted(told.stdout.split(), key=lambda name: name.endswith(PAUSE))

    def _cgroups(self) -> list[Path]:
        return [
            place
            for place in (CGROUPS / self.name, *CGROUPS.glob(f"*/{self.name}"))
            if place.is_dir()
        ]

    # ------------------------------------------------------------------------- how it is made

    def _id(self, made: str) -> str:
        return f"{self.name}-{made}"

    def _start(self, made: str, name: str, command: Sequence[str]) -> None:
        bundle = self._bundle(made, name, command, ())
        with (bundle / "log").open("w") as log:
            command = ("run", "--detach", "--bundle", str(bundle), self._id(made))
            told = self._runtime(*command, output=log, check=False)
        assert told.returncode == 0, self.log(made)

    def _bundle(self, made: str, name: str, command: Sequence[str], env: Sequence[str]) -> Path:
        is_first = made == PAUSE
        holder = None if is_first or self._in_gvisor else self.pid(PAUSE)
        container = self.container(name)
        if is_first:
            container["volumeMounts"] = ()
        is_local = name == "server" and self.delegates
        sandboxes = spec.has_sandbox_image(container)
        config: dict[str, Any] = {
            "ociVersion": "1.0.2",
            "process": self._process(name, command, env),
            "root": {
                "path": str(self._folder / ("sandbox" if sandboxes else "server")),
                "readonly": container["securityContext"]["readOnlyRootFilesystem"],
            },
            # Folders before what is in them: this checkout may lie in a volume's, such as /tmp.
            "mounts": sorted(
                (
                    *spec.system_mounts(writable_cgroup=is_local),
                    *spec.image_mounts(sandboxes=sandboxes),
                    *self._mounts(container),
                ),
                key=lambda mount: str(mount["destination"]).count("/"),
            ),
            "linux": {
                **spec.linux(self.template, container, holder),
                "cgroupsPath": f"/{self.name}/{made}",
            },
        }
        if is_first:
            config["hostname"] = "pod"
        if is_local:
            config["hooks"] = self._delegation(made, config["process"]["user"]["uid"])
        if self._in_gvisor:
            hints = self._objects["Deployment"]["spec"]["template"]["metadata"]["annotations"]
            sandbox = None if is_first else self._id(PAUSE)
            config = gvisor.adapted(config, sandbox, hints, self._folder / "volumes")
        bundle = self._folder / "bundles" / made
        bundle.mkdir(exist_ok=True)
        (bundle / "config.json").write_text(json.dumps(config))
        return bundle

    @property
    def delegates(self) -> bool:
        """Whether the container with sandboxes gets a control group that it may write."""
        text = self._objects["ConfigMap"]["data"]["server.toml"]
        return 'backend = "local"' in text and "allow_missing" not in text

    def _delegation(self, made: str, uid: int) -> dict[str, Any]:
        """Gives a container's control groups to its user, as `runc` does with systemd's driver."""
        owner = spec.on_host(self.template, uid)
        script = (
            f"for place in {CGROUPS}/{self.name}/{made} {CGROUPS}/*/{self.name}/{made}; do "
            "test -d $place || continue; "
            f"for file in $place $place/cgroup.procs {_OF_VERSION_2}; do "
            f"test ! -e $file || chown {owner}:{owner} $file; done; done"
        )
        return {"createRuntime": [{"path": "/bin/sh", "args": ["sh", "-c", script]}]}

    def _process(self, name: str, command: Sequence[str], env: Sequence[str]) -> dict[str, Any]:
        return spec.process(self.template, self.container(name), command, env)

    def _mounts(self, container: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        volumes = {one["name"]: one for one in self.template["volumes"]}
        yield spec.bound(self._folder / "hosts", "/etc/hosts", "ro")
        yield spec.bound(self.shared, "/shared", "rw")
        for mount in container["volumeMounts"]:
            source = self._volume(volumes[mount["name"]])
            if part := mount.get("subPath"):
                source /= part
                self._make_shared(source)
            yield spec.bound(source, mount["mountPath"], "ro" if mount.get("readOnly") else "rw")

    def _volume(self, volume: Mapping[str, Any]) -> Path:
        if "secret" in volume:
            secret = self._folder / "secrets" / str(volume["secret"]["secretName"])
            secret.mkdir(exist_ok=True)
            return secret
        made = self._folder / "volumes" / str(volume["name"])
        if "configMap" in volume:
            made.mkdir(exist_ok=True)
            self._write(made, self._objects["ConfigMap"]["data"])
        elif "emptyDir" in volume:
            self._make_shared(made)
        return made

    def make_folder(self, volume: str, name: str) -> None:
        """Makes a folder in a volume, as the mount of a part of it does."""
        self._make_shared(self._folder / "volumes" / volume / name)

    def _make_shared(self, folder: Path) -> None:
        """Makes a folder as that of an emptyDir: of root and the pod's group, which hands it on."""
        if not folder.exists():
            folder.mkdir()
            os.chown(folder, self._owner, self._group)
            folder.chmod(0o2777)

    def _write(self, folder: Path, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (folder / name).write_text(text)
            os.chown(folder / name, self._owner, self._group)
            (folder / name).chmod(0o440)

    @property
    def _group(self) -> int:
        return spec.on_host(self.template, int(self.template["securityContext"]["fsGroup"]))

    def _runtime(self, *arguments: str, output: Any = subprocess.PIPE, check: bool = True) -> Done:
        runtime = gvisor.COMMAND if self._in_gvisor else ("runc",)
        command = (*runtime, "--root", str(self._folder / "state"), *arguments)
        told = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert told.returncode == 0 or not check, (arguments, told.stdout, told.stderr)
        return told


@contextlib.contextmanager
def running_pod(
    values: Mapping[str, Any], objects: Sequence[Mapping[str, Any]] = ()
) -> Iterator[Pod]:
    """Makes the pod of the chart with these values, or of these objects, for a block's length."""
    prefix = f"{PREFIX}{os.getpid()}-"
    folder = Path(tempfile.mkdtemp(dir="/var/tmp", prefix=prefix))
    folder.chmod(0o755)
    try:
        pod = Pod(folder, objects or rendered(values))
        try:
            pod.open()
            yield pod
        finally:
            pod.close()
    finally:
        shutil.rmtree(folder)
