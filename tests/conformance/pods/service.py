"""A pod's server as its clients see it: from outside of its containers, with TLS and a token."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.conformance.pods.pod import Pod
from tests.rpc.certificates import Authority

TOKEN = "a-token-of-the-pods-clients-0123456789"
ANSWER_SECONDS = 600.0

Task = Mapping[str, Any]
Result = dict[str, Any]


class Service:
    """Grades tasks with a pod's server.

    Args:
        pod: gets the secrets that the manifest names.
        folder: an empty folder for the clients' files.
    """

    def __init__(self, pod: Pod, folder: Path) -> None:
        self._pod = pod
        self._folder = folder
        self._authority = Authority(folder, "authority")
        pair = self._authority.issue("server")
        tls = {"tls.crt": pair.certificate.read_text(), "tls.key": pair.key.read_text()}
        pod.write_secret("reward-server-tls", tls)
        pod.write_secret("reward-server-tokens", {"tokens": f"{TOKEN}\n"})
        (folder / "token").write_text(TOKEN)

    def begin(self, tasks: Iterable[Task], *, patience_seconds: float = 60.0) -> Grading:
        """Starts a client that sends the tasks, on this machine but in the pod's network."""
        number = len(list(self._folder.glob("tasks-*")))
        given, found = self._folder / f"tasks-{number}", self._folder / f"results-{number}"
        given.write_text("".join(f"{json.dumps(task)}\n" for task in tasks))
        command = (
            *("nsenter", f"--net=/proc/{self._pod.pid('server')}/ns/net"),
            *(sys.executable, "-c", "from reward_server.cli import main; main()"),
            *("grade", given, "--out", found, "--target", "127.0.0.1:50051"),
            *("--token-file", self._folder / "token", "--tls-ca", self._authority.certificate),
            *("--timeout", str(patience_seconds), "--json"),
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return Grading(
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True), found
        )

    def grade(self, tasks: Iterable[Task], *, patience_seconds: float = 60.0) -> list[Result]:
        """Returns the results of the tasks, in their order."""
        return self.begin(tasks, patience_seconds=patience_seconds).results()


class Grading:
    """A client at work; `close` ends it, if it has not ended by itself."""

    def __init__(self, process: subprocess.Popen[str], found: Path) -> None:
        self._process = process
        self._found = found

    def results(self) -> list[Result]:
        """Waits for the client's end, and returns what it wrote."""
        try:
            self._process.communicate(timeout=ANSWER_SECONDS)
        finally:
            self.close()
        return [json.loads(line) for line in self._found.read_text().splitlines()]

    def close(self) -> None:
        """Ends the client."""
        self._process.kill()
        self._process.communicate()
