"""The actor that owns the server of one node.

It starts the server, starts it again if it ends, and tells the registry each second where it is.
If the node or the actor's process is lost, Ray starts the actor again, on another node if need be.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import Any

import ray

from reward_server.errors import StartError
from reward_server.ray.plan import Plan
from reward_server.ray.process import Serving, serving
from reward_server.ray.secrets import in_memory, make_identity

BEAT_SECONDS = 1.0
_PAUSE_SECONDS = 2.0
_START_SECONDS = 120.0


class ServerActor:
    """Owns a server for as long as the actor lives.

    Args:
        registry: the handle of the registry's actor.
        plan: what to serve.
        index: the server's number.
    """

    def __init__(self, registry: Any, plan: Plan, index: int) -> None:
        self._registry = registry
        self._plan = plan
        self._index = index
        self._host: str = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]  # untyped
        self._node_id = ray.get_runtime_context().get_node_id()
        self._decided = threading.Event()
        self._problem = ""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="server", daemon=True)
        self._thread.start()

    def problem(self, seconds: float) -> str:
        """Waits until the server serves; returns "" or why it does not."""
        if not self._decided.wait(seconds):
            return f"it does not serve within {seconds:.0f} s"
        return self._problem

    def stop(self) -> None:
        """Drains and ends the server."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._serve()
                self._problem = "the server ended; it is started again"
            except StartError as error:
                self._problem = str(error)
            self._tell({"problem": self._problem})
            self._decided.set()
            self._stopping.wait(_PAUSE_SECONDS)

    def _serve(self) -> None:
        """Starts the server, and returns when it has ended, by itself or because of `stop`."""
        arguments = [*self._plan.arguments, "--set", f"host={self._host}"]
        certificate = ""
        with ExitStack() as stack:
            if self._plan.token:
                # Each node makes its own key, so that no key crosses the network.
                identity = make_identity(self._host)
                certificate = identity.certificate.decode()
                paths = stack.enter_context(
                    in_memory(
                        tls_certificate=identity.certificate,
                        tls_key=identity.key,
                        token_file=f"{self._plan.token}\n".encode(),
                    )
                )
                for name, path in paths.items():
                    arguments += ["--set", f"{name}={path}"]
            server = stack.enter_context(
                serving(arguments, _START_SECONDS, self._plan.drain_seconds)
            )
            self._watch(server, certificate)

    def _watch(self, server: Serving, certificate: str) -> None:
        host = f"[{self._host}]" if ":" in self._host else self._host
        state = {
            "address": f"{host}:{server.port}",
            "certificate": certificate,
            "pid": server.process.pid,
        }
        self._problem = ""
        while server.lives and not self._stopping.is_set():
            self._tell(state)
            self._decided.set()
            self._stopping.wait(BEAT_SECONDS)
        self._tell({"problem": "the server stops"})

    def _tell(self, state: dict[str, Any]) -> None:
        """Tells the registry. What it is told may be lost while Ray starts it again; then the next
        beat counts."""
        self._registry.beat.remote(self._index, {"node_id": self._node_id, **state})
