"""Labels of every form become requests; what cannot is not judged, and says why."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from google.protobuf import json_format

from codereward.v1 import reward_service_pb2 as pb
from tests.support.forks import said_in_a_fork
from trainer_client import RewardClientError, tasks
from trainer_client.adapters.common.judge import Judge

ROW = {
    "task_id": "t/1",
    "prompt": "def twice(x):\n",
    "test": "def check(candidate):\n    assert candidate(1) == 2\n",
    "entry_point": "twice",
}
TEMPLATE = tasks.humaneval(ROW)
TEMPLATES = {"t/1": TEMPLATE, "7": TEMPLATE}
REQUEST = json_format.MessageToDict(TEMPLATE)


def judge_word(request, context) -> pb.ScoreResponse:
    right = request.completion == "right"
    verdict = pb.VERDICT_PASSED if right else pb.VERDICT_FAILED
    return pb.ScoreResponse(id=request.id, verdict=verdict, reward=float(right))


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ({"templates": TEMPLATES}, "t/1"),
        ({"templates": TEMPLATES}, 7),
        ({}, TEMPLATE),
        ({}, json.dumps(REQUEST)),
        ({}, json.dumps(REQUEST).encode()),
        ({}, json_format.MessageToJson(TEMPLATE, preserving_proto_field_name=True)),
        ({}, REQUEST),
        ({"task_format": "humaneval"}, ROW),
        ({"task_format": "humaneval"}, json.dumps(ROW)),
        ({"templates": TEMPLATES, "task_format": "humaneval"}, "t/1"),
        ({"templates": TEMPLATES}, f"\n {json.dumps(REQUEST)}"),
    ],
)
async def test_a_label_of_each_form_becomes_its_request(serve, options, label):
    server = serve(judge_word)
    (found,) = await Judge(server.target, **options).score(["right"], [label])
    assert found.reward == 1.0
    sent = server.requests[0]
    assert (sent.prompt, sent.function) == (TEMPLATE.prompt, TEMPLATE.function)


@pytest.mark.parametrize(
    ("options", "label", "problem"),
    [
        ({}, "t/1", "'t/1' is none of 0 task ids, and no JSON object"),
        ({"templates": TEMPLATES}, "t/9", "'t/9' is none of 2 task ids"),
        ({"templates": TEMPLATES}, None, "must be an id, an object or its JSON, not nothing"),
        ({}, 1.5, "not a number"),
        ({}, "{", "JSON: is not"),
        ({}, '{"function": 3}', "function"),
        ({}, {"functions": {}}, "functions: is not known"),
        ({}, {"stdio": {"cases": [{"stdin": "a b"}]}}, "stdio.cases[0].stdin: is not base64"),
        ({}, {"files": {"a.txt": "a b"}}, "files['a.txt']: is not base64"),
        ({"task_format": "humaneval"}, {"prompt": "x"}, "entry_point: is absent or blank"),
    ],
)
async def test_a_label_that_is_no_task_costs_its_own_reward_only(
    serve, caplog, options, label, problem
):
    judge = Judge(serve(judge_word).target, **options)
    bad, good = await judge.score(["right"] * 2, [label, TEMPLATE])
    assert good.reward == 1.0
    assert (bad.reward, bad.error.status, bad.error.permanent) == (None, "INVALID_ARGUMENT", True)
    assert problem in bad.error.message
    assert "1 of 2 not judged: INVALID_ARGUMENT" in caplog.text


async def test_a_completion_that_is_no_text_is_not_judged(serve):
    server = serve(judge_word)
    (found,) = await Judge(server.target).score([None], [TEMPLATE])
    assert (found.reward, found.error.permanent) == (None, True)
    assert not server.requests


async def test_labels_and_completions_go_in_pairs():
    with pytest.raises(ValueError, match="2 completions, but 1 labels"):
        await Judge("localhost:1").score(["a", "b"], [TEMPLATE])


async def test_defaults_go_into_every_request_and_labels_stay_as_they_were(serve):
    server = serve(judge_word)
    defaults = pb.ScoreRequest(limits=pb.Limits(cpu_time_seconds=2))
    judge = Judge(server.target, templates=TEMPLATES, defaults=defaults)
    await judge.score([[{"role": "assistant", "content": "right"}]] * 2, ["t/1", "t/1"])
    assert [request.completion for request in server.requests] == ["right", "right"]
    assert all(request.limits.cpu_time_seconds == 2 for request in server.requests)
    assert len({request.id for request in server.requests}) == 2
    assert not TEMPLATE.HasField("limits")


def test_it_serves_callers_with_and_without_an_event_loop(serve):
    judge = Judge(serve(judge_word).target, templates=TEMPLATES)
    blocking = judge.score_blocking(["right", "wrong"], ["t/1", "t/1"])
    awaited = [asyncio.run(judge.score(["right", "wrong"], ["t/1", "t/1"])) for _ in range(2)]
    assert [[found.reward for found in scores] for scores in (blocking, *awaited)] == [[1, 0]] * 3
    judge.close()
    assert judge.score_blocking(["right"], ["t/1"])[0].reward == 1.0
    judge.close()


def test_threads_that_come_first_together_share_one_connection(serve):
    peers = set()

    def answer(request, context) -> pb.ScoreResponse:
        peers.add(context.peer())
        return judge_word(request, context)

    judge = Judge(serve(answer).target, templates=TEMPLATES)
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(first_reward, [judge] * 16)) == [1.0] * 16
    assert len(peers) == 1
    judge.close()


def test_it_can_be_pickled_after_use(serve):
    judge = Judge(serve(judge_word).target, templates=TEMPLATES)
    judge.score_blocking(["right"], ["t/1"])
    copy = pickle.loads(pickle.dumps(judge))
    assert copy.score_blocking(["wrong"], ["t/1"])[0].reward == 0.0
    judge.close()
    copy.close()


def first_reward(judge: Judge) -> float | None:
    return judge.score_blocking(["right"], ["t/1"])[0].reward


def test_a_pool_of_processes_can_share_it(serve):
    judge = Judge(serve(judge_word).target, templates=TEMPLATES)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(first_reward, [judge] * 4)) == [1.0] * 4


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_forked_after_its_use_is_told_so_instead_of_hanging(serve):
    judge = Judge(serve(judge_word).target, templates=TEMPLATES)
    assert first_reward(judge) == 1.0
    assert "used before this process was forked" in said_in_a_fork(lambda: first_reward(judge))
    judge.close()


def test_a_dead_server_costs_rewards_and_no_exception():
    judge = Judge("127.0.0.1:1", templates=TEMPLATES, outage_seconds=0.05)
    (found,) = judge.score_blocking(["right"], ["t/1"])
    assert (found.reward, found.error.status, found.error.permanent) == (None, "UNAVAILABLE", False)
    judge.close()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"task_format": "humanevl"}, "no task format 'humanevl'"),
        ({"timeout_seconds": 0}, "timeout_seconds must be positive"),
    ],
)
def test_a_mistake_in_the_set_up_is_told_at_once(options, problem):
    with pytest.raises(ValueError, match=problem):
        Judge("localhost:1", **options)


# ------------------------------------------------------------------------------- template files


def test_templates_come_back_from_their_file(tmp_path):
    stdio = pb.StdioTests(cases=[pb.StdioCase(stdin=b"\xff\n", expected_stdout="ß\n".encode())])
    templates = {"t/1": TEMPLATE, "ünï": pb.ScoreRequest(language="go", stdio=stdio)}
    file = tmp_path / "tasks.jsonl"
    tasks.write_templates(file, templates)
    file.write_text(file.read_text() + "\n")
    found = tasks.read_templates(file)
    assert list(found) == ["t/1", "ünï"]
    for key, template in templates.items():
        assert found[key] == tasks.fill(template, "", id=key)
    assert TEMPLATE.id == ""


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("{}", "tasks.jsonl line 1 row: id: is absent"),
        ('{"id": "a"}\n{"id": "a"}', "line 2 row: id: 'a' is another line's"),
        ('{"id": "a"}\n[]', "line 2 row: JSON: is not a JSON object"),
        ('{"id": "a", "tests": 1}', "tests: is not known"),
        ("\xff", "JSON: is not"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, lines, problem):
    file = tmp_path / "tasks.jsonl"
    file.write_bytes(lines.encode("latin-1"))
    with pytest.raises(RewardClientError, match=problem.replace("(", r"\(")):
        tasks.read_templates(file)
