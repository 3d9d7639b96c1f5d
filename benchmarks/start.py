"""Time from the start of a server to its first verdict.

    python -m benchmarks.start --times 10
    python -m benchmarks.start --times 10 --image codereward-server

The first form runs `reward-server serve` of this checkout. Its modules are compiled before, as an
installation compiles them. The second form starts containers of the server's image as the
documentation does for an ordinary user; the elapsed time includes the engine's part. Processor
time is that of the server and its descendants when the verdict is there; it depends less on what
else the machine does.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import grpc

from benchmarks.measure.served import tree_usage
from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as rpc
from trainer_client.local_server import free_port

REPOSITORY = Path(__file__).resolve().parent.parent
SERVE = (sys.executable, "-c", "from reward_server.cli import main; main()", "serve")
REQUEST = pb.ScoreRequest(
    completion="def double(x): return x + x",
    function=pb.FunctionTests(entry_point="double", asserts=["assert double(3) == 6"]),
)
PATIENCE_SECONDS = 120.0

Start = Callable[[int], AbstractContextManager[Callable[[], int]]]


def measured(start: Start) -> dict[str, float]:
    """Starts a server on a free port and asks it for a verdict; returns the figures."""
    port = free_port()
    began = time.monotonic()
    with start(port) as pid, grpc.insecure_channel(f"127.0.0.1:{port}", _OPTIONS) as channel:
        stub = rpc.RewardServiceStub(channel)
        answer = stub.Score(REQUEST, timeout=PATIENCE_SECONDS, wait_for_ready=True)
        seconds = time.monotonic() - began
        assert answer.verdict == pb.VERDICT_PASSED, answer
        return {"seconds": seconds, "cpu_seconds": tree_usage(pid()).total}


# The client looks for the server often, so that its pauses are no part of the figures.
_OPTIONS = [(f"grpc.{name}_reconnect_backoff_ms", 20) for name in ("initial", "min", "max")]


@contextmanager
def local(arguments: list[str], port: int) -> Iterator[Callable[[], int]]:
    """Runs `reward-server serve` of this checkout; gives a function that returns its process id."""
    command = [*SERVE, "--port", str(port), *arguments]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=quiet, stderr=quiet) as server:
        try:
            yield lambda: server.pid
        finally:
            server.terminate()


@contextmanager
def contained(image: str, arguments: list[str], port: int) -> Iterator[Callable[[], int]]:
    """Runs a container of an image; gives a function that returns its first process id."""
    name = f"codereward-start-{uuid.uuid4().hex}"
    options, command = documented()
    variables = ["--env", f"REWARD_SERVER_METRICS_PORT={free_port()}", "--name", name]
    start = ["docker", "run", "--detach", *variables, *options, image]
    serve = [*command, "--port", str(port), *arguments]
    subprocess.run([*start, *serve], cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)
    try:
        yield lambda: int(told("docker", "inspect", "-f", "{{.State.Pid}}", name))
    finally:
        told("docker", "rm", "--force", name)


def documented() -> tuple[list[str], list[str]]:
    """Returns the options and the command with which the documentation starts the image."""
    text = (REPOSITORY / "docs/how-to/deploy.md").read_text()
    [line, *_] = re.findall(r"^docker run (?:.*\\\n)*.*$", text, re.MULTILINE)
    words = shlex.split(line.replace("\\\n", " "))
    name, image = words.index("--name"), words.index("codereward-server")
    return [*words[2:name], *words[name + 2 : image]], words[image + 1 :]


def told(*command: str) -> str:
    """Runs a command; returns its output."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Prints the figures of several starts as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--image")
    parser.add_argument("arguments", nargs="*", help="arguments of `reward-server serve`, after --")
    given = parser.parse_args()
    start = partial(contained, given.image) if given.image else local
    for package in ("reward_server", "proto") if start is local else ():
        compileall.compile_dir(REPOSITORY / package, quiet=1)
    before = os.getloadavg()[0]
    figures = [measured(partial(start, given.arguments)) for _ in range(given.times)]
    described = {
        name: {"median": round(statistics.median(values), 2), "most": round(max(values), 2)}
        for name in figures[0]
        for values in [[one[name] for one in figures]]
    }
    load = [round(before, 1), round(os.getloadavg()[0], 1)]
    print(json.dumps({"times": given.times, **described, "load": load}))


if __name__ == "__main__":
    main()
