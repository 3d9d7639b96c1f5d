"""Runs a reward server on this machine for as long as a program needs it.

The server ends together with its program, even after `kill -9`: it reads from a pipe that the
kernel then closes.
"""

from __future__ import annotations

import contextlib
import random
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

_random = random.Random()  # not the global generator, which programs seed
_START_SECONDS = 60.0
_STOP_SECONDS = 40.0
_SHOWN_LINES = 20
_EPHEMERAL_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
_FIRST_PORT = 10_000
_PORTS_TRIED = 64


class ServerStartError(Exception):
    """The server did not start; the message holds the end of its log."""


class LocalServer:
    """`reward-server serve` on a free loopback port; a restart keeps the port.

    Args:
        log: the file for the server's output.
        arguments: further arguments of `serve`.
    """

    def __init__(self, log: Path, arguments: Sequence[str] = ()) -> None:
        self._log = log
        self._port = free_port()
        self._arguments = list(arguments)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def target(self) -> str:
        """The server's address."""
        return f"127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """The process id of the running server."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Starts the server and waits until its health service reports SERVING.

        Raises:
            ServerStartError: the server ended, or did not serve in time.
        """
        command = str(Path(sys.executable).with_name("reward-server"))
        address = ["--host", "127.0.0.1", "--port", str(self._port)]
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as output:
            self._process = _started(
                [command, "serve", "--until-stdin-ends", *address, *self._arguments], output
            )
        self._wait(self._process)

    def stop(self) -> None:
        """Ends the server with SIGTERM; kills it if that takes too long."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._forget(self._process)

    def kill(self) -> None:
        """Kills the server without a warning."""
        if self._process is not None:
            self._process.kill()
            self._forget(self._process)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _forget(self, process: subprocess.Popen[bytes]) -> None:
        # Waits for the process, and closes the pipe.
        process.communicate()
        self._process = None

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        # A proxy from the environment variables must not be used for this machine.
        options = [("grpc.enable_http_proxy", 0)]
        with grpc.insecure_channel(self.target, options=options) as channel:
            health = health_pb2_grpc.HealthStub(channel)
            while not _is_serving(health):
                if process.poll() is not None:
                    raise ServerStartError(f"it ended with {process.returncode}\n{self._end()}")
                if time.monotonic() > deadline:
                    raise ServerStartError(f"it does not serve in time\n{self._end()}")

    def _end(self) -> str:
        """Returns the end of the log."""
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-_SHOWN_LINES:])


def _started(command: Sequence[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    # Its input ends with this process. A signal on the parent's death would come too early: when
    # the thread ends that started the server.
    try:
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT
        )
    except OSError as error:
        raise ServerStartError(f"{command[0]}: {error.strerror}") from error


def _is_serving(health: health_pb2_grpc.HealthStub) -> bool:
    # Waiting for the connection limits the rate of attempts.
    try:
        answer = health.Check(health_pb2.HealthCheckRequest(), timeout=0.2, wait_for_ready=True)
    except grpc.RpcError:
        return False
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


def free_port() -> int:
    """Returns a loopback port that nothing listens on.

    If possible, the port lies below the kernel's ephemeral range. The kernel may assign a port of
    that range to another connection or server before the caller binds it.
    """
    names = range(_FIRST_PORT, _first_ephemeral_port())
    for port in _random.sample(names, min(_PORTS_TRIED, len(names))):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        chosen: int = probe.getsockname()[1]
        return chosen


def _first_ephemeral_port() -> int:
    try:
        return int(_EPHEMERAL_PORTS.read_text().split()[0])
    except OSError:
        return _FIRST_PORT
