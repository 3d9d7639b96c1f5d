"""A Docker Engine of a test's own, which may be stopped, killed and starved."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import docker

from reward_server.sandbox.docker.container import OWNER_LABEL

START_SECONDS = 120.0
SIZE = "640m"  # holds the Python image twice, as an archive and as files
CONFIGURATION = {"bridge": "none", "iptables": False, "ip6tables": False}


@dataclass(kw_only=True)
class OwnEngine:
    """An engine whose files lie in a folder."""

    folder: Path
    process: subprocess.Popen[bytes] = field(init=False)
    client: docker.APIClient = field(init=False)

    @property
    def data(self) -> Path:
        """Where its images and containers are, in a file system that is easily filled."""
        return self.folder / "data"

    @property
    def address(self) -> str:
        return f"unix://{self.folder}/socket"

    def start(self) -> None:
        """Starts it and waits until it answers."""
        configuration = self.folder / "docker.json"
        configuration.write_text(json.dumps(CONFIGURATION))
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *("dockerd", "--config-file", configuration, "-H", self.address),
                    *("--data-root", self.data, "--exec-root", self.folder / "exec"),
                    *("--pidfile", self.folder / "pid"),
                ],
                stdout=log,
                stderr=log,
            )
        while not self._answers():
            assert self.process.poll() is None, self.log()
            time.sleep(0.05)
        self.client = docker.APIClient(self.address, version="auto", timeout=START_SECONDS)

    def _answers(self) -> bool:
        # Not asked through the SDK, which leaves sockets of failed connections behind.
        with socket.socket(socket.AF_UNIX) as asking, contextlib.suppress(OSError):
            asking.connect(str(self.folder / "socket"))
            return True
        return False

    def log(self) -> str:
        """Returns the end of what it said."""
        return (self.folder / "log").read_text()[-4000:]

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self, number: signal.Signals) -> None:
        """Ends it with a signal, and with SIGKILL its containerd too."""
        self.client.close()
        self.process.send_signal(number)
        self.process.wait(START_SECONDS)
        if number is signal.SIGKILL:
            pid = self.folder / "exec/containerd/containerd.pid"
            os.kill(int(pid.read_text()), number)
            pid.unlink()  # or it counts as running until its new parent reaps it

    def containers(self) -> set[str]:
        """Lists the containers of servers, by id.

        An engine that was killed while it removed a container may list it for as long as it runs,
        as dead and without a name, and say of every request about it that there is no such
        container. Nothing is left of it: no file, mount, process or control group.
        """
        found = self.client.containers(all=True, filters={"label": OWNER_LABEL})
        return {container["Id"] for container in found if self._exists(container["Id"])}

    def _exists(self, container: str) -> bool:
        with contextlib.suppress(docker.errors.NotFound):
            self.client.inspect_container(container)
            return True
        return False

    def kill_containers(self) -> None:
        for container in self.containers():
            with contextlib.suppress(docker.errors.APIError):  # it may be gone meanwhile
                self.client.kill(container)

    def processes(self) -> list[str]:
        """Finds what it started and what runs in its containers, by their command lines."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if str(self.folder) in command:
                    found.append(f"{path.name} {command}")
        return found

    def container_mounts(self) -> list[str]:
        """Lists the mounts of containers' file systems."""
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
        points = [line.split()[4] for line in lines]
        return [point for point in points if point.startswith(f"{self.data}/overlay2/")]


@contextlib.contextmanager
def own_engine(folder: Path) -> Iterator[OwnEngine]:
    """Keeps an engine, and removes all that it leaves."""
    engine = OwnEngine(folder=folder)
    engine.data.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "own", engine.data], check=True)
    try:
        engine.start()
        yield engine
    finally:
        if engine.process.poll() is None:
            engine.signal(signal.SIGCONT)
            engine.end(signal.SIGTERM)
        for process in engine.processes():
            os.kill(int(process.split()[0]), signal.SIGKILL)
        subprocess.run(["umount", "-R", "-l", engine.data], check=True)


def copy_image(source: docker.APIClient, name: str, engine: OwnEngine) -> None:
    """Gives an engine another's image."""
    engine.client.load_image(source.get_image(name))
