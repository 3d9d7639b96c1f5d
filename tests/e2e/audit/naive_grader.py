"""Naive graders behind HTTP on loopback: they run solution and tests as one program.

They are what the audit has to see through. Programs run in a temporary folder, isolated by nothing,
so only this project's own harmless cheats may be sent to them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_SECONDS = 20.0


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        told = _answer(self.path, body)
        answer = b"".join(json.dumps(line).encode() + b"\n" for line in told)
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *arguments: object) -> None:
        """Prints nothing."""


def _answer(path: str, body: dict[str, Any]) -> list[Any]:
    """Returns the objects of the answer, each of which is a line."""
    if path == "/execute":
        kind = "error" if _status(body["code"]) else "stdout"
        return [{"type": kind}, {"type": "end_of_execution"}]
    return [_object(path, body)]


def _object(path: str, body: dict[str, Any]) -> Any:
    if path == "/refuses":
        return {"result": {"score": 0.0}}
    if path == "/silent":
        return {"unknown": True}
    if path == "/run":
        code = _status(body["cmd"][0]["copyIn"]["program.py"]["content"])
        return [{"status": "Nonzero Exit Status" if code else "Accepted", "exitStatus": code}]
    if path == "/api/v2/execute":
        return {"run": {"code": _status(body["files"][0]["content"]), "signal": None}}
    if path == "/run_code":
        code = _status(body["code"])
        status = "Success" if code == 0 else "Failed"
        return {"status": status, "run_result": {"status": "Finished", "return_code": code}}
    # Executes the tests in the solution's namespace, and believes that nothing was raised.
    program = f"exec({body['solution']!r}, globals())\nexec({body['tests']!r}, globals())\n"
    return {"result": {"score": float(_status(program) == 0)}}


def _status(program: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-I", "-c", program]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, timeout=_SECONDS, check=False
        )
    return done.returncode


@contextmanager
def naive_grader() -> Iterator[str]:
    """Serves on a free port of loopback; yields the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
