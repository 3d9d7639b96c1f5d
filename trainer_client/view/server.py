"""Serves a live page of runs on loopback.

What this stops: other machines (it listens on 127.0.0.1 only), other users of the machine and pages
of other sites (every path begins with a random token; no answer allows another origin to read it),
and names that resolve to 127.0.0.1 (the header Host must name loopback). What it does not stop:
programs of the same user, who can read the runs' files anyway.

    /TOKEN/            the page
    /TOKEN/state       what it shows of the selected runs, as JSON
    /TOKEN/figure      a figure
    /TOKEN/completions a page of the list of completions that a query finds
    /TOKEN/names       the names by which completions can be chosen
    /TOKEN/completion  a completion with its texts
    /TOKEN/group       the completions of a prompt

Nothing can be changed over it.
"""

from __future__ import annotations

import dataclasses
import hmac
import json
import re
import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from markupsafe import Markup

from trainer_client.errors import ConfigError
from trainer_client.report.rendering import policy, rendered, template
from trainer_client.view.live import LiveRuns
from trainer_client.view.queries import Wanted

_HOST = "127.0.0.1"
_MOST_REQUESTS = 32  # at once; each has a thread
_REQUEST_SECONDS = 30.0
_DIGITS = re.compile(r"[0-9]{1,9}")
_LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?")
_SOURCES = ("img-src 'self' data:", "connect-src 'self'", "frame-ancestors 'none'")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
Query = Mapping[str, str]
# Media type and content; None if there is nothing of this name.
Answer = tuple[str, bytes] | None


class ViewServer:
    """Serves runs until it is closed.

    Args:
        runs: the runs.
        port: TCP port; 0 for any free one.

    Raises:
        ConfigError: the port cannot be used.
    """

    def __init__(self, runs: LiveRuns, port: int = 0) -> None:
        self.token = secrets.token_urlsafe(24)
        page = _Page()
        answers: dict[str, Callable[[Query], Answer]] = {
            "": lambda query: ("text/html; charset=utf-8", page.content),
            "state": lambda query: _json(runs.state(_selection(query), query.get("mode", ""))),
            "figure": lambda query: runs.picture(
                _selection(query),
                query.get("mode", ""),
                query.get("name", ""),
                dark=query.get("scheme") == "dark",
            ),
            "completions": lambda query: _json(
                runs.completions(_selection(query), _wanted(query), _number(query, "first"))
            ),
            "names": lambda query: _json(runs.names(_selection(query))),
            "completion": lambda query: _json(runs.completion(*_numbers(query, "place"))),
            "group": lambda query: _json(runs.group(*_numbers(query, "group"))),
        }
        try:
            self._server = _Server(port, self.token, page.policy, answers)
        except OSError as error:
            raise ConfigError(f"--port: cannot listen on {_HOST} port {port}: {error}") from None
        self._thread = threading.Thread(target=self._server.serve_forever, name="view", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address of the page, with the token without which nothing is answered."""
        return f"http://{_HOST}:{self._server.server_port}/{self.token}/"

    def close(self) -> None:
        """Ends the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Page:
    """The page, which is the same for all runs: it asks for all that it shows."""

    def __init__(self) -> None:
        style = template("page.css") + template("view.css", "trainer_client.view")
        script = template("shared.js") + template("view.js", "trainer_client.view")
        values = {"style": Markup(style), "script": Markup(script)}
        self.content = rendered(template("view.html", "trainer_client.view"), values).encode()
        self.policy = policy(style, script, _SOURCES)


def _selection(query: Query) -> tuple[int, ...]:
    """Returns the runs that a query names by number."""
    return tuple(int(part) for part in query.get("runs", "").split(".") if _DIGITS.fullmatch(part))


def _wanted(query: Query) -> Wanted:
    names = (field.name for field in dataclasses.fields(Wanted))
    return Wanted(**{name: query[name] for name in names if name in query})


def _number(query: Query, name: str) -> int:
    """Returns a number of a query, or 0 for anything else."""
    found = query.get(name, "")
    return int(found) if _DIGITS.fullmatch(found) else 0


def _numbers(query: Query, last: str) -> tuple[int, int, int]:
    return _number(query, "run"), _number(query, "step"), _number(query, last)


def _json(value: object) -> Answer:
    """Returns a value as JSON, and nothing for None."""
    if value is None:
        return None
    return "application/json", json.dumps(value, separators=(",", ":")).encode()


class _Server(ThreadingHTTPServer):
    """Answers each request in a thread, and closes connections above the bound unread."""

    daemon_threads = True
    block_on_close = False

    def __init__(
        self,
        port: int,
        token: str,
        page_policy: str,
        answers: Mapping[str, Callable[[Query], Answer]],
    ) -> None:
        self.token, self.policy, self.answers = token, page_policy, answers
        self._places = threading.BoundedSemaphore(_MOST_REQUESTS)
        super().__init__((_HOST, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
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
    server_version = "reward-train"
    sys_version = ""

    def do_GET(self) -> None:
        if not _LOOPBACK.fullmatch(self.headers.get("Host", "")):
            self._answer(HTTPStatus.MISDIRECTED_REQUEST, _text("open it as 127.0.0.1 or localhost"))
            return
        address = urlsplit(self.path)
        token, _, name = address.path.removeprefix("/").partition("/")
        find = self.server.answers.get(name)
        if not hmac.compare_digest(token.encode(), self.server.token.encode()) or find is None:
            self._answer(HTTPStatus.NOT_FOUND, _text("not found: use the address with its token"))
            return
        if address.path == f"/{token}":
            self._answer(HTTPStatus.PERMANENT_REDIRECT, _text("see /"), location=f"/{token}/")
            return
        query = {key: values[-1] for key, values in parse_qs(address.query).items()}
        try:
            found = find(query)
        except Exception as error:  # noqa: BLE001 - the page shows it, and asks again
            problem = _text(f"{type(error).__name__}: {error}")
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, problem)
            return
        status = HTTPStatus.OK if found is not None else HTTPStatus.NOT_FOUND
        self._answer(status, found or _text("not found"))

    def _answer(self, status: HTTPStatus, answer: tuple[str, bytes], *, location: str = "") -> None:
        kind, body = answer
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", self._policy(kind))
        if location:
            self.send_header("Location", location)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _policy(self, kind: str) -> str:
        """Returns the page's policy; what is no page may do nothing at all."""
        if kind.startswith("text/html"):
            return self.server.policy
        return "default-src 'none'; style-src 'unsafe-inline'; sandbox"

    def log_message(self, format: str, *arguments: object) -> None:
        """Writes no line for each request."""


def _text(words: str) -> tuple[str, bytes]:
    return "text/plain; charset=utf-8", f"{words}\n".encode()
