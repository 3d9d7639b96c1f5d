"""Serves a registry of metrics over HTTP, from threads of its own.

    /metrics      for Prometheus
    /healthz      200 while the event loop runs; 503 if it hangs, so that a restart helps
    /readyz       200 if new work is accepted; 503 during a drain or an outage, or with a full queue
    /             the status page, if it is offered, and /status.json with its figures

Every page is computed from the registry alone. If the registry holds the metrics of several
processes, the pages describe all of these processes.

Requests are small and their number is bounded, because the address may be public. No page accepts
anything but a path, and none changes anything.
"""

from __future__ import annotations

import ipaddress
import json
import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from reward_server.errors import StartError
from reward_server.telemetry import status

_MOST_REQUESTS = 16  # at once; each has a thread
_REQUEST_SECONDS = 10.0
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "connect-src 'self'",
        "img-src data:",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_ASSETS = {
    "/": ("status.html", "text/html; charset=utf-8"),
    "/status.css": ("status.css", "text/css; charset=utf-8"),
    "/status.js": ("status.js", "text/javascript; charset=utf-8"),
}


def serve_metrics(
    port: int,
    registry: CollectorRegistry,
    *,
    host: str = "127.0.0.1",
    status_page: bool | None = None,
) -> Callable[[], None]:
    """Serves a registry until the returned function is called.

    Args:
        port: TCP port.
        registry: what to serve.
        host: address to listen on.
        status_page: whether to serve the status page; by default only on a loopback address.

    Returns:
        A function that stops the export.

    Raises:
        StartError: the address cannot be used.
    """
    pages = _pages_by_path() if _is_wanted(host, status_page) else {}
    try:
        server = _Server(host, port, registry, pages)
    except OSError as error:
        raise StartError(
            f"metrics_port: cannot listen on {host} port {port}: {error.strerror}"
        ) from None
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()

    def close() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return close


def _is_wanted(host: str, status_page: bool | None) -> bool:
    if status_page is not None:
        return status_page
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _pages_by_path() -> dict[str, tuple[bytes, str]]:
    folder = files("reward_server.telemetry") / "page"
    return {path: ((folder / name).read_bytes(), kind) for path, (name, kind) in _ASSETS.items()}


class _Server(ThreadingHTTPServer):
    """Answers each request in a thread, and closes connections above the bound unread."""

    daemon_threads = True
    block_on_close = False

    def __init__(
        self,
        host: str,
        port: int,
        registry: CollectorRegistry,
        pages: dict[str, tuple[bytes, str]],
    ) -> None:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        self.address_family = found[0][0]
        self.registry = registry
        self.pages = pages
        self._places = threading.BoundedSemaphore(_MOST_REQUESTS)
        super().__init__((host, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Logs nothing, because callers may disconnect at any time."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _REQUEST_SECONDS
    server_version = "reward-server"
    sys_version = ""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/metrics":
            encode, kind = choose_encoder(self.headers.get("Accept", ""))
            self._answer(HTTPStatus.OK, encode(self.server.registry), kind)
        elif path in ("/healthz", "/readyz"):
            look = status.stalls if path == "/healthz" else status.obstacles
            self._verdict(look(self.server.registry.collect()))
        elif path == "/status.json" and self.server.pages:
            found = status.figures(self.server.registry.collect())
            self._answer(HTTPStatus.OK, json.dumps(found).encode(), "application/json")
        elif path in self.server.pages:
            body, kind = self.server.pages[path]
            self._answer(HTTPStatus.OK, body, kind)
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"not found\n", "text/plain")

    def do_HEAD(self) -> None:
        self.do_GET()

    def _verdict(self, problems: list[str]) -> None:
        code = HTTPStatus.SERVICE_UNAVAILABLE if problems else HTTPStatus.OK
        self._answer(code, ("; ".join(problems) or "ok").encode() + b"\n", "text/plain")

    def _answer(self, code: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Writes no line for each scrape."""
