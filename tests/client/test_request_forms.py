"""A client takes requests and objects in their JSON form, one or several."""

from __future__ import annotations

import pytest

from codereward.v1 import reward_service_pb2 as pb
from tests.client.conftest import passed
from trainer_client import AsyncRewardClient, RewardClient
from trainer_client.errors import TaskError

REQUEST = {
    "id": "a",
    "completion": "x",
    "function": {"entry_point": "f", "asserts": ["assert f()"]},
}


async def test_an_object_and_a_request_are_the_same_to_the_server(serve):
    server = serve(passed)
    async with AsyncRewardClient(server.target) as client:
        scores = await client.score([REQUEST, pb.ScoreRequest(id="b")])
    assert [score.id for score in scores] == ["a", "b"]
    (sent,) = (request for request in server.requests if request.id == "a")
    assert sent.function.asserts == ["assert f()"]


@pytest.mark.parametrize("single", [REQUEST, pb.ScoreRequest(id="a")], ids=["object", "message"])
def test_a_single_request_gives_a_single_score(serve, single):
    with RewardClient(serve(passed).target) as client:
        assert [score.id for score in client.score(single)] == ["a"]


@pytest.mark.parametrize(
    ("given", "error", "problem"),
    [
        ("x", TypeError, "requests: must be a ScoreRequest, an object .* not str"),
        (3, TypeError, "requests: .* not int"),
        ([REQUEST, 3], TypeError, r"requests\[1\]: .* not int"),
        ([pb.ExecuteRequest()], TypeError, r"requests\[0\]: .* not ExecuteRequest"),
        ([REQUEST, {"completions": "x"}], TaskError, r"requests\[1\] .*completions: is not known"),
        ({"stdio": {"cases": [{"stdin": "1 2"}]}}, TaskError, r"stdio.cases\[0\].stdin: .*text"),
    ],
)
def test_what_is_no_request_is_named_before_anything_is_sent(serve, given, error, problem):
    server = serve(passed)
    with RewardClient(server.target) as client, pytest.raises(error, match=problem):
        client.score(given)
    assert server.requests == []


@pytest.mark.parametrize(
    ("given", "error", "problem"),
    [
        (3, TypeError, "must be an ExecuteRequest or an object"),
        ({"src": "x"}, TaskError, "src: is not known"),
        ({"files": {"a": "1 2"}}, TaskError, r"files\['a'\]: .* text_files"),
    ],
)
def test_what_is_no_program_to_run_is_named(serve, given, error, problem):
    with RewardClient(serve(passed).target) as client, pytest.raises(error, match=problem):
        client.execute(given)
