"""An interpreter for each episode, with a real server."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import time

import grpc
import pytest

from codereward.v1 import session_service_pb2 as session_pb2
from codereward.v1.session_service_pb2_grpc import SessionServiceStub
from tests.e2e.conftest import PYTHON
from trainer_client import LazyRequest, tasks
from trainer_client.local_server import LocalServer
from trainer_client.trl.environments import PythonEnvironment, environment_reward

MEBIBYTE = 1 << 20
PATIENCE_SECONDS = 300
SESSION = {"memory_bytes": 128 * MEBIBYTE, "processes": 32}
TEMPLATES = {
    "double": tasks.from_json({"function": {"asserts": ["assert double(31) == 62"]}}),
}
RIGHT = "```python\ndef double(x):\n    return 2 * x\n```"
LEAVES = """
import sys
from trainer_client import tasks
from trainer_client.trl.environments import PythonEnvironment, environment_reward
task = {"double": tasks.from_json({"function": {"asserts": ["assert double(31) == 62"]}})}
reward = environment_reward(sys.argv[1], task=task)
environment = PythonEnvironment(reward, session={"memory_bytes": 128 << 20, "processes": 32})
environment.reset(task_id="double")
print(environment.run_python("6 * 7"))
raise KeyboardInterrupt
"""


@pytest.fixture(scope="module")
def small_server(tmp_path_factory: pytest.TempPathFactory):
    """Yields a server with room for two sessions."""
    room = f"session_memory_bytes={256 * MEBIBYTE}"
    log = tmp_path_factory.mktemp("server") / "server.log"
    with LocalServer(log, ["--workers", "1", *PYTHON, "--set", room]) as running:
        yield running


@pytest.fixture(scope="module")
def reward(small_server):
    return environment_reward(small_server.target, task=TEMPLATES, timeout_seconds=60)


def begun(reward) -> PythonEnvironment:
    environment = PythonEnvironment(reward, session=SESSION)
    environment.reset(prompt="p", task_id="double")
    return environment


def scored(reward, *environments: PythonEnvironment) -> list[float | None]:
    count = len(environments)
    return asyncio.run(reward(["p"] * count, [RIGHT] * count, environments=list(environments)))


def room(target: str) -> int:
    """Returns how many sessions fit, of at most two."""
    limits = session_pb2.SessionLimits(**SESSION)
    opened = []
    with grpc.insecure_channel(target) as channel:
        service = SessionServiceStub(channel)
        try:
            for _ in range(2):
                opened.append(service.OpenSession(session_pb2.OpenSessionRequest(limits=limits)))
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
                raise
        for session in opened:
            service.CloseSession(session_pb2.CloseSessionRequest(session_id=session.session_id))
    return len(opened)


def wait_for_room(target: str) -> None:
    """Waits until no session is open."""
    end = time.monotonic() + PATIENCE_SECONDS
    while room(target) < 2:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_an_episode_keeps_its_variables_and_others_do_not_see_them(reward, small_server):
    first, second = begun(reward), begun(reward)
    assert first.run_python("x = 6") == "[no output]"
    assert "NameError" in second.run_python("x")
    assert first.run_python("print(x * 7)") == "42"
    assert room(small_server.target) == 0
    assert scored(reward, first, second) == [1.0, 1.0]
    assert room(small_server.target) == 2


def test_the_next_episode_begins_anew(reward):
    environment = begun(reward)
    environment.run_python("x = 6")
    environment.reset(prompt="p", task_id="double")
    assert "NameError" in environment.run_python("x")
    assert scored(reward, environment) == [1.0]


def test_an_episode_that_uses_no_tool_opens_nothing(reward, small_server):
    environment = begun(reward)
    assert room(small_server.target) == 2
    assert scored(reward, environment) == [1.0]


def test_an_interpreter_of_an_environment_that_is_dropped_closes(reward, small_server):
    environment = begun(reward)
    environment.run_python("x = 6")
    assert room(small_server.target) == 1
    del environment
    gc.collect()
    wait_for_room(small_server.target)


def test_the_client_closes_the_interpreter_of_garbage_that_it_finds_itself(reward, small_server):
    environment = begun(reward)
    environment.run_python("x = 6")
    environment.itself = environment  # only a search for garbage finds it
    del environment
    template = reward.template({"task_id": "double"})

    def make():
        gc.collect()  # in the thread of the client's loop, on which the end of a session depends
        return reward.request(template, RIGHT).make()

    scores = []
    request = LazyRequest(id="garbage", make=make)
    call = threading.Thread(
        target=lambda: scores.append(reward.sandbox.score(request)), daemon=True
    )
    call.start()
    call.join(PATIENCE_SECONDS)
    assert [score.reward for score in scores] == [1.0]
    wait_for_room(small_server.target)


def test_an_interpreter_closes_when_the_trainer_stops(small_server):
    done = subprocess.run(
        [sys.executable, "-c", LEAVES, small_server.target],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "42\n", done
    assert "KeyboardInterrupt" in done.stderr
    assert room(small_server.target) == 2


def test_an_episode_for_whose_interpreter_there_is_no_room_has_no_reward(reward, small_server):
    environments = [begun(reward) for _ in range(2)]
    hasty = environment_reward(small_server.target, task=TEMPLATES, timeout_seconds=1.0)
    late = begun(hasty)
    told = [one.run_python("1 + 1") for one in environments]
    assert told == ["2", "2"]
    assert "not available" in late.run_python("1 + 1")
    assert scored(reward, *environments) == [1.0, 1.0]
    assert scored(hasty, late) == [None]
