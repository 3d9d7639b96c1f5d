"""What each adapter hands to its trainer, and over HTTP, in front of scripted answers."""

from __future__ import annotations

import http.client
import json
import math
import os
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import grpc
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import RewardLostError, tasks
from trainer_client.adapters import openrlhf, slime, verl
from trainer_client.adapters.common import missing_rewards
from trainer_client.adapters.common.judge import Judge
from trainer_client.adapters.common.responses import response_in, without_end
from trainer_client.adapters.common.settings import forget
from trainer_client.adapters.serve import MAXIMUM_BODY_BYTES, RewardServer
from trainer_client.rewards.metrics import verdict_name
from trainer_client.score import Score, ScoreError, Verdict

TASK = pb.ScoreRequest(function=pb.FunctionTests(entry_point="f", asserts=["assert f() == 1"]))
TASKS = {"f": TASK}


def judge_word(request, context) -> pb.ScoreResponse:
    word = request.completion
    if word == "lost":
        context.abort(grpc.StatusCode.INTERNAL, "the sandbox failed")
    if word == "broken":
        return pb.ScoreResponse(verdict=pb.VERDICT_INVALID_TASK, message="broken tests")
    right = word == "right"
    verdict = pb.VERDICT_PASSED if right else pb.VERDICT_FAILED
    return pb.ScoreResponse(id=request.id, verdict=verdict, reward=float(right))


@pytest.fixture
def environment(serve, monkeypatch, tmp_path) -> Iterator[Callable[..., None]]:
    """Yields a function that describes a scripted server by variables."""
    for name in [name for name in os.environ if name.startswith("CODEREWARD_")]:
        monkeypatch.delenv(name)

    def describe(**values: str) -> None:
        tasks.write_templates(tmp_path / "tasks.jsonl", TASKS)
        monkeypatch.setenv("CODEREWARD_TARGET", serve(judge_word).target)
        monkeypatch.setenv("CODEREWARD_TASKS", str(tmp_path / "tasks.jsonl"))
        for name, value in values.items():
            monkeypatch.setenv(f"CODEREWARD_{name.upper()}", value)
        forget()

    yield describe
    forget()


# --------------------------------------------------------------------- missing rewards, responses


def score(reward: float | None, verdict: Verdict | None, error: ScoreError | None = None) -> Score:
    return Score(id="", reward=reward, verdict=verdict, error=error, message="broken tests")


JUDGED = score(0.5, Verdict.FAILED)
BROKEN = score(None, Verdict.INVALID_TASK)
LATE = score(None, None, ScoreError(status="UNAVAILABLE", message="gone"))


def test_a_reward_is_itself_and_an_absent_one_never_a_number_like_it():
    assert missing_rewards.number(JUDGED, "raise") == missing_rewards.number(JUDGED, "nan") == 0.5
    assert math.isnan(missing_rewards.number(BROKEN, "nan"))
    assert math.isnan(missing_rewards.number(LATE, "nan"))


@pytest.mark.parametrize(
    ("found", "reason"), [(BROKEN, "INVALID_TASK: broken tests"), (LATE, "UNAVAILABLE: gone")]
)
def test_an_absent_reward_is_raised_with_its_reason(found, reason):
    with pytest.raises(RewardLostError, match=reason):
        missing_rewards.number(found, "raise")


def test_only_what_was_judged_passed_or_failed():
    assert missing_rewards.passed(score(1.0, Verdict.PASSED)) == 1.0
    assert missing_rewards.passed(JUDGED) == 0.0
    assert math.isnan(missing_rewards.passed(BROKEN))
    assert math.isnan(missing_rewards.passed(LATE))
    assert verdict_name(JUDGED) == "FAILED"
    assert verdict_name(LATE) == "UNJUDGED"


@pytest.mark.parametrize(
    ("text", "response"),
    [
        ("x = 1", "x = 1"),
        ("x = 1\n", "x = 1\n"),
        ("x = 1<|im_end|>\n", "x = 1"),
        ("x = 1\n<|eot_id|>", "x = 1"),
        ("x = 1</s></s>", "x = 1"),
        ("x = 1<｜end▁of▁sentence｜>", "x = 1"),
        ("x = 1<end_of_turn>\n<eos><pad><pad>", "x = 1"),
        ("print('<|im_end|>')", "print('<|im_end|>')"),
        ("a <| b |> c", "a <| b |> c"),
    ],
)
def test_special_tokens_at_the_end_are_left_out(text, response):
    assert without_end(text) == response


# What the function does in one expression, which takes quadratic time.
TOKEN = r"(?:<\|[\w.-]{1,40}\|>|<｜[^<>｜]{1,40}｜>|</s>|<eos>|<pad>|<end_of_turn>|\[PAD\])"
ALL_ENDS = re.compile(rf"(?:\s*{TOKEN})+\s*\Z")
TOKENS = ["<|im_end|>", "<｜a b｜>", "</s>", "<eos>", "<pad>", "<end_of_turn>", "[PAD]"]
PARTS = [*TOKENS, " ", "\n", "\u2003", "\x1c", "x", "<", "|", "｜", ">", "<|", "|>", "a" * 39, "é"]


@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join))
@example("x " + "<|" + "a" * 40 + "|> ")
@example("x " + "<|" + "a" * 41 + "|> ")
@example("x " + "<｜" + " " * 40 + "｜>")
@example("x " + "<｜" + " " * 41 + "｜>")
@example("<｜[PAD]｜>")
def test_the_end_of_a_response_is_what_the_expression_says(text):
    assert without_end(text) == ALL_ENDS.sub("", text)


@pytest.mark.parametrize("part", [*TOKENS, " ", "<|", "<｜", "<|a|> \n", "<|" + "a" * 41])
def test_the_end_of_a_long_response_takes_no_time(part):
    assert without_end(part * 50_000 + "x") == part * 50_000 + "x"
    assert without_end("x" + part * 50_000).startswith("x")


@pytest.mark.parametrize(
    ("query", "prompt", "response"),
    [
        ("Question? Answer", "Question? ", "Answer"),
        ("<|im_start|>user\nQ<|im_end|>\nA<|im_end|>", "<|im_start|>user\nQ<|im_end|>\n", "A"),
        (" Question? Answer</s>", "Question?", " Answer"),
        ("tion? Answer", "Question?", " Answer"),
        ("Q? Q? A", "Q? ", "Q? A"),
        ("Answer", "", "Answer"),
        ("Something else", "Question?", None),
        ("", "Question?", None),
    ],
)
def test_a_response_is_what_follows_the_prompt(query, prompt, response):
    assert response_in(query, prompt) == response


# ------------------------------------------------------------------------------------------ verl


async def test_verl_gets_a_score_whether_it_passed_and_the_verdict(environment):
    environment()
    right = await verl.compute_score("set", "right", "f", extra_info={}, reward_router_address="")
    wrong = await verl.compute_score(
        data_source="set", solution_str="wrong", ground_truth="f", extra_info=None
    )
    assert right == {"score": 1.0, "acc": 1.0, "verdict": "PASSED"}
    assert wrong == {"score": 0.0, "acc": 0.0, "verdict": "FAILED"}


async def test_verl_is_told_of_what_was_not_judged_by_an_exception(environment):
    environment()
    with pytest.raises(RewardLostError, match="INVALID_TASK: broken tests"):
        await verl.compute_score("set", "broken", "f")
    with pytest.raises(RewardLostError, match="'g' is none of 1 task ids"):
        await verl.compute_score("set", "right", "g")


def test_verls_batch_form_gives_a_result_for_each(environment):
    environment()
    arguments = {"data_sources": ["s"] * 2, "extra_infos": [{}] * 2}
    found = verl.compute_scores(
        solution_strs=["right", "wrong"], ground_truths=["f", "f"], **arguments
    )
    assert [item["score"] for item in found] == [1.0, 0.0]
    with pytest.raises(RewardLostError):
        verl.compute_scores(
            solution_strs=["right", "broken"], ground_truths=["f", "f"], **arguments
        )


def test_nan_stands_for_an_absent_reward_where_that_was_chosen(environment):
    environment(unjudged="nan")
    found = verl.compute_scores(["s"] * 2, ["right", "broken"], ["f", "f"])
    assert found[0]["score"] == 1.0
    assert math.isnan(found[1]["score"])
    assert found[1]["verdict"] == "INVALID_TASK"


# ----------------------------------------------------------------------------------------- slime


@dataclass
class Sample:
    """The fields of slime's sample that the adapter reads."""

    response: str
    label: str | None = "f"
    reward: float | dict | None = None


async def test_slime_gets_a_number_for_a_sample_and_numbers_for_a_group(environment):
    environment()
    assert await slime.custom_rm(None, Sample("right<|im_end|>")) == 1.0
    assert await slime.batched_custom_rm(None, [Sample("right"), Sample("wrong")]) == [1.0, 0.0]
    assert await slime.custom_rm(None, [Sample("right"), Sample("wrong")]) == [1.0, 0.0]


@pytest.mark.parametrize("sample", [Sample("broken"), Sample("right", label=None)])
async def test_slime_is_told_of_what_was_not_judged_by_an_exception(environment, sample):
    environment()
    with pytest.raises(RewardLostError):
        await slime.custom_rm(None, sample)


async def test_slime_drops_groups_with_an_absent_reward_where_nan_was_chosen(environment):
    environment(unjudged="nan")
    group = [Sample("right"), Sample("broken")]
    for sample, reward in zip(group, await slime.batched_custom_rm(None, group), strict=True):
        sample.reward = reward
    assert not slime.judged_groups(None, group)
    assert not slime.judged_groups(None, [group[:1], group[1:]])
    assert slime.judged_groups(None, group[:1])
    assert slime.judged_groups(None, [group[:1], Sample("x", reward=0.0)])


# -------------------------------------------------------------------------------------- OpenRLHF


def test_a_query_that_does_not_begin_with_its_prompt_is_not_judged(serve):
    judge = Judge(serve(judge_word).target, templates=TASKS)
    queries = ["elsewhere right", "Q: right</s>", "Q: wrong"]
    found = openrlhf.judge_queries(judge, queries, ["Q: "] * 3, ["f"] * 3)
    assert [item.reward for item in found] == [None, 1.0, 0.0]
    assert "does not begin with its prompt" in found[0].error.message
    judge.close()


# ------------------------------------------------------------------------------------------ HTTP


@pytest.fixture
def web(serve) -> Iterator[RewardServer]:
    """Yields an HTTP server that asks a scripted one."""
    judge = Judge(serve(judge_word).target, templates=TASKS)
    with RewardServer(("127.0.0.1", 0), judge) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
    judge.close()


def ask(server: RewardServer, path: str, body: object, method: str = "POST") -> tuple[int, object]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, data)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


def query(*words: str, label: str = "f") -> dict[str, list[str]]:
    return {
        "query": [f"Q: {word}</s>" for word in words],
        "prompts": ["Q: "] * len(words),
        "labels": [label] * len(words),
    }


def test_openrlhfs_contract_over_http(web):
    assert ask(web, "/get_reward", query("right", "wrong")) == (
        200,
        {"rewards": [1.0, 0.0], "scores": [1.0, 0.0], "extra_logs": {"passed": [1.0, 0.0]}},
    )


def test_slimes_contract_over_http(web):
    body = {"prompt": [{"role": "user", "content": "Q"}], "response": "right", "label": "f"}
    assert ask(web, "/remote_rm", body) == (200, 1.0)


@pytest.mark.parametrize(
    ("path", "body", "status", "problem"),
    [
        ("/get_reward", query("right", "broken"), 422, "INVALID_TASK: broken tests"),
        ("/get_reward", query("right", label="g"), 422, "'g' is none of 1 task ids"),
        ("/get_reward", {**query("a"), "labels": []}, 400, "must have as many items"),
        ("/get_reward", {"query": "a"}, 400, "query must be a list"),
        ("/get_reward", {**query("a"), "prompts": [None]}, 400, "must hold text"),
        ("/get_reward", b"{", 400, "the body is not JSON"),
        ("/get_reward", [], 400, "must be a JSON object"),
        ("/remote_rm", {"response": "right"}, 422, "not nothing"),
        ("/remote_rm", {"label": "f"}, 400, "response must be text"),
        ("/rm", {}, 404, "no /rm"),
    ],
)
def test_what_has_no_reward_has_a_reason(web, path, body, status, problem):
    found, answer = ask(web, path, body)
    assert found == status
    assert problem in answer["error"]


def test_nan_goes_over_http_where_that_was_chosen(serve):
    judge = Judge(serve(judge_word).target, templates=TASKS)
    with RewardServer(("127.0.0.1", 0), judge, "nan") as server:
        status, answer = server.answer("/get_reward", json.dumps(query("broken", "right")).encode())
    assert status == 200
    assert json.dumps(answer["rewards"]) == "[NaN, 1.0]"
    judge.close()


def test_a_trainer_that_leaves_early_costs_a_line_at_most(web, capfd, caplog):
    connection = http.client.HTTPConnection("127.0.0.1", web.server_port, timeout=60)
    connection.request("POST", "/get_reward", json.dumps(query("right")).encode())
    connection.close()
    assert ask(web, "/health", b"", method="GET")[0] == 200
    try:
        raise ConnectionResetError
    except ConnectionResetError:
        web.handle_error(None, ("127.0.0.1", 1))
    assert "Traceback" not in capfd.readouterr().err
    assert not [record for record in caplog.records if record.exc_info]


def test_a_passing_failure_asks_the_trainer_to_come_again(serve):
    judge = Judge("127.0.0.1:1", templates=TASKS, outage_seconds=0.05)
    with RewardServer(("127.0.0.1", 0), judge) as server:
        status, answer = server.answer("/get_reward", json.dumps(query("right")).encode())
    assert (status, "UNAVAILABLE" in answer["error"]) == (503, True)
    judge.close()


def test_a_body_too_large_is_refused_before_it_is_read(web):
    connection = http.client.HTTPConnection("127.0.0.1", web.server_port, timeout=60)
    connection.putrequest("POST", "/get_reward")
    connection.putheader("Content-Length", str(MAXIMUM_BODY_BYTES + 1))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_it_tells_that_it_serves(web):
    assert ask(web, "/health", b"", method="GET") == (200, {"status": "serving"})
    assert ask(web, "/", b"", method="GET")[0] == 404


def test_a_connection_may_ask_again(web):
    connection = http.client.HTTPConnection("127.0.0.1", web.server_port, timeout=60)
    for word, status in (("right", 200), ("broken", 422), ("wrong", 200)):
        connection.request("POST", "/get_reward", json.dumps(query(word)).encode())
        response = connection.getresponse()
        response.read()
        assert response.status == status
    connection.close()


def test_a_steps_worth_of_connections_at_once(web):
    words = ["right", "wrong"] * 128
    with ThreadPoolExecutor(256) as pool:
        answers = list(pool.map(lambda word: ask(web, "/get_reward", query(word)), words))
    assert [answer["rewards"][0] for _, answer in answers] == [1.0, 0.0] * 128
