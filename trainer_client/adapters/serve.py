"""A small HTTP server for trainers that request rewards over HTTP.

    python -m trainer_client.adapters.serve --port 5000

    POST /get_reward    OpenRLHF: {"query": [..], "prompts": [..], "labels": [..]}
                        -> {"rewards": [..], "scores": [..], "extra_logs": {"passed": [..]}}
    POST /remote_rm     slime: {"prompt": .., "response": .., "label": ..} -> the reward
    GET /health         -> {"status": "serving"}

A completion that was not judged gets status 503, or 422 if another attempt is of no use, and a
reason, but never a reward. The standard library's server is enough: each of its threads parses a
few kilobytes and then waits for the reward server, which does the work. It supports neither TLS
nor credentials, so run it on the loopback interface of the trainer's machine.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Annotated, Any

import typer

from trainer_client.adapters.common import missing_rewards
from trainer_client.adapters.common.judge import Judge
from trainer_client.adapters.common.missing_rewards import Choice
from trainer_client.adapters.common.responses import without_end
from trainer_client.adapters.common.settings import read_settings
from trainer_client.adapters.openrlhf import judge_queries
from trainer_client.errors import ConfigError, RewardLostError
from trainer_client.score import Score

MAXIMUM_BODY_BYTES = 64 << 20
_IDLE_SECONDS = 60.0
_logger = logging.getLogger(__name__)


class BadRequestError(Exception):
    """A request that cannot be read; the message gives the reason."""


class RewardServer(ThreadingHTTPServer):
    """Answers each connection in a thread of its own.

    Args:
        address: host and port; port 0 takes a free one.
        judge: judges completions.
        choice: the substitute for a missing reward.
    """

    daemon_threads = True
    # A trainer may request all rewards of a step at once, each on its own connection.
    request_queue_size = 1024

    def __init__(self, address: tuple[str, int], judge: Judge, choice: Choice = "raise") -> None:
        super().__init__(address, _Handler)
        self._routes: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
            "/get_reward": self._get_reward,
            "/remote_rm": self._remote_rm,
        }
        self._judge = judge
        self._choice = choice

    def answer(self, path: str, body: bytes) -> tuple[HTTPStatus, Any]:
        """Answers a POST request with a status and the value of the JSON body."""
        if path not in self._routes:
            return HTTPStatus.NOT_FOUND, {"error": f"no {path}; there are {[*self._routes]}"}
        try:
            return HTTPStatus.OK, self._routes[path](_object(body))
        except BadRequestError as error:
            return HTTPStatus.BAD_REQUEST, {"error": str(error)}
        except _MissingRewardError as error:
            return error.status, {"error": str(error)}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Reports the error, unless the trainer has closed the connection."""
        if isinstance(sys.exception(), ConnectionError):
            _logger.debug("%s has left", client_address)
        else:
            _logger.exception("no answer to %s", client_address)

    def _get_reward(self, request: Mapping[str, Any]) -> dict[str, Any]:
        queries, prompts, labels = (_list(request, key) for key in ("query", "prompts", "labels"))
        if not len(queries) == len(prompts) == len(labels):
            raise BadRequestError("query, prompts and labels must have as many items")
        if not all(isinstance(text, str) for text in [*queries, *prompts]):
            raise BadRequestError("query and prompts must hold text")
        scores = judge_queries(self._judge, queries, prompts, labels)
        rewards = [self._number(found) for found in scores]
        passed = [missing_rewards.passed(found) for found in scores]
        return {"rewards": rewards, "scores": rewards, "extra_logs": {"passed": passed}}

    def _remote_rm(self, request: Mapping[str, Any]) -> float:
        response = request.get("response")
        if not isinstance(response, str):
            raise BadRequestError("response must be text")
        (found,) = self._judge.score_blocking([without_end(response)], [request.get("label")])
        return self._number(found)

    def _number(self, found: Score) -> float:
        try:
            return missing_rewards.number(found, self._choice)
        except RewardLostError as error:
            raise _MissingRewardError(found, str(error)) from error


class _MissingRewardError(Exception):
    def __init__(self, found: Score, message: str) -> None:
        super().__init__(message)
        passing = found.error is not None and not found.error.permanent
        self.status = HTTPStatus.SERVICE_UNAVAILABLE if passing else HTTPStatus.UNPROCESSABLE_ENTITY


class _Handler(BaseHTTPRequestHandler):
    server: RewardServer
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAXIMUM_BODY_BYTES:
            # The end of the body is unknown, and so is the start of the next request.
            self.close_connection = True
            problem = f"Content-Length must be given, and at most {MAXIMUM_BODY_BYTES}"
            self._send(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": problem})
            return
        self._send(*self.server.answer(self.path, self.rfile.read(int(length))))

    def do_GET(self) -> None:
        known = self.path == "/health"
        status = HTTPStatus.OK if known else HTTPStatus.NOT_FOUND
        self._send(status, {"status": "serving"} if known else {"error": f"no {self.path}"})

    def log_message(self, format: str, *args: object) -> None:
        _logger.debug(format, *args)

    def _send(self, status: HTTPStatus, answer: Any) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"the body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadRequestError("the body must be a JSON object")
    return value


def _list(request: Mapping[str, Any], key: str) -> list[Any]:
    value = request.get(key)
    if not isinstance(value, list):
        raise BadRequestError(f"{key} must be a list")
    return value


def main(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 5000,
) -> None:
    """Serves rewards over HTTP; the CODEREWARD_* environment variables configure it."""
    try:
        settings = read_settings()
        judge = settings.judge()
    except ConfigError as error:
        raise SystemExit(f"error: {error}") from None
    with RewardServer((host, port), judge, settings.unjudged) as server:
        typer.echo(f"serving on http://{host}:{server.server_port}")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("stopped")


if __name__ == "__main__":
    typer.run(main)
