"""The environment describes a judge, and a mistake in it is named."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import ConfigError, tasks
from trainer_client.adapters.common.judge import Judge
from trainer_client.adapters.common.settings import forget, read_settings, shared_judge
from trainer_client.transport.channel import addresses

TEMPLATE = pb.ScoreRequest(function=pb.FunctionTests(entry_point="f", asserts=["assert f() == 1"]))


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch):
    for name in [name for name in os.environ if name.startswith("CODEREWARD_")]:
        monkeypatch.delenv(name)
    forget()
    yield
    forget()


def set_all(monkeypatch, **values: object) -> None:
    for name, value in values.items():
        monkeypatch.setenv(f"CODEREWARD_{name.upper()}", str(value))


def test_without_variables_requests_keep_what_their_task_says():
    settings = read_settings()
    assert settings.defaults == pb.ScoreRequest()
    assert settings.options["token"] is None
    assert addresses(settings.target) == ("127.0.0.1:50051",)


def test_each_variable_arrives(monkeypatch, tmp_path):
    token = tmp_path / "token"
    token.write_text("secret\n")
    authority = tmp_path / "ca.pem"
    authority.write_bytes(b"PEM")
    set_all(
        monkeypatch,
        target="10.0.0.1:1,10.0.0.2:1",
        policy="fraction",
        compile_bonus=0.1,
        format_bonus=0.2,
        cpu_time_seconds=3,
        token_file=token,
        ca_file=authority,
        timeout_seconds=40,
        outage_seconds=20,
        max_in_flight=8,
    )
    settings = read_settings()
    policy = pb.RewardPolicy(
        kind=pb.REWARD_POLICY_KIND_FRACTION, compile_bonus=0.1, format_bonus=0.2
    )
    assert settings.defaults.reward_policy == policy
    assert settings.defaults.limits.cpu_time_seconds == 3
    assert addresses(settings.target) == ("10.0.0.1:1", "10.0.0.2:1")
    options = settings.options
    assert options.pop("tls").root_certificates == b"PEM"
    assert options == {
        "token": "secret",
        "timeout_seconds": 40,
        "outage_seconds": 20,
        "max_in_flight": 8,
    }


def test_the_shared_judge_is_made_once_and_knows_the_tasks_of_the_file(
    monkeypatch, tmp_path, serve
):
    server = serve()
    tasks.write_templates(tmp_path / "tasks.jsonl", {"t/1": TEMPLATE})
    set_all(monkeypatch, target=server.target, tasks=tmp_path / "tasks.jsonl", cpu_time_seconds=2)
    judge = shared_judge()
    assert judge.score_blocking(["x"], ["t/1"])[0].reward == 1.0
    assert server.requests[0].limits.cpu_time_seconds == 2
    assert shared_judge() is judge
    judge.close()


def test_threads_that_ask_first_together_get_the_same_judge(monkeypatch):
    set_all(monkeypatch, target="localhost:1")
    barrier = threading.Barrier(8)

    def ask(_: int) -> Judge:
        barrier.wait()
        return shared_judge()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"timeout_seconds": "-1"}, "CODEREWARD_TIMEOUT_SECONDS: input should be greater than 0"),
        ({"policy": "best"}, "CODEREWARD_POLICY: input should be 'all_or_nothing'"),
        ({"compile_bonus": "inf"}, "CODEREWARD_COMPILE_BONUS: input should be a finite number"),
        ({"format_bonus": "1.5"}, "CODEREWARD_FORMAT_BONUS: input should be less than or equal"),
        ({"tasks": "/nowhere.jsonl"}, "CODEREWARD_TASKS: path does not point to a file"),
        ({"targets": "a:1"}, "CODEREWARD_TARGETS: is no setting; did you mean CODEREWARD_TARGET?"),
        ({"colour": "red"}, "CODEREWARD_COLOUR: is no setting$"),
        ({"targt": "a:1", "polcy": "x"}, "CODEREWARD_POLCY: .*\nCODEREWARD_TARGT: .*TARGET?"),
    ],
)
def test_a_wrong_variable_is_named(monkeypatch, values, problem):
    set_all(monkeypatch, **values)
    with pytest.raises(ConfigError, match=problem.replace("?", r"\?")):
        read_settings()


def test_variables_of_others_with_the_same_beginning_do_no_harm(monkeypatch):
    set_all(monkeypatch, service_host="10.0.0.1", port_50051_tcp_addr="10.0.0.1")
    set_all(monkeypatch, x_port="tcp://10.0.0.1:1", x_service_port_grpc="1")
    assert read_settings().target == "127.0.0.1:50051"


@pytest.mark.parametrize(
    ("values", "line", "problem"),
    [
        ({"format": "humanevl"}, "", "no task format 'humanevl'"),
        ({"key_file": "tasks.jsonl"}, "", "certificate_chain and private_key go together"),
        ({}, "{}", "CODEREWARD_TASKS: tasks.jsonl line 1 row: id: is absent"),
    ],
)
def test_a_judge_that_cannot_be_made_says_why(monkeypatch, tmp_path, values, line, problem):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks.jsonl").write_text(line)
    set_all(monkeypatch, tasks="tasks.jsonl", **values)
    with pytest.raises(ConfigError, match=problem):
        shared_judge()
