"""A client newer than its server loses no field: what the server cannot read is not judged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager

import grpc
import pytest

from codereward.revisions import difference, revision, unread
from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import session_service_pb2 as session_pb
from codereward.v1 import session_service_pb2_grpc as session_rpc
from tests.client.conftest import ScriptedServer
from trainer_client import AsyncRewardClient, CallError, RewardClient
from trainer_client.transport.contract import ServerContract

Serve = Callable[..., ScriptedServer]
FUNCTION = pb.FunctionTests(entry_point="f", asserts=["assert f(1) == 1"])
OLD = pb.ScoreRequest(completion="def f(x): return x", function=FUNCTION)
BEFORE_TEXT = 5  # the revision before the one that brought stdin_text


def with_text() -> pb.ScoreRequest:
    case = pb.StdioCase(stdin_text="1", expected_stdout_text="1")
    return pb.ScoreRequest(completion="pass", stdio=pb.StdioTests(cases=[case, case]))


# ------------------------------------------------------------------------------------- rules


def test_a_sentence_tells_which_side_is_older_and_what_it_lacks() -> None:
    sentence = unread(with_text(), BEFORE_TEXT)
    assert sentence == (
        f"the server is older than this client: its contract has revision {BEFORE_TEXT}, and does "
        "not have stdio.cases.stdin_text, stdio.cases.expected_stdout_text of this client's "
        f"revision {revision()}; upgrade the server"
    )
    assert "this client is older than the server" in difference(revision() + 1)
    assert "the server is older than this client" in difference(revision() - 1)
    assert difference(revision()) == ""


@pytest.mark.parametrize(
    ("request_", "stated", "lacking"),
    [
        (OLD, 0, ""),
        (OLD, 1, ""),
        (with_text(), BEFORE_TEXT + 1, ""),
        (with_text(), revision(), ""),
        (with_text(), revision() + 1, ""),
        (with_text(), 0, "stdio.cases.stdin_text"),
        (pb.ScoreRequest(network=pb.NETWORK_LOOPBACK), 0, "network"),
        (pb.ScoreRequest(completion_size_bytes=2 << 20), 0, "completion_size_bytes"),
        (
            pb.ScoreRequest(
                stdio=pb.StdioTests(checker=pb.Checker(kind=pb.CHECKER_KIND_INTERACTOR))
            ),
            10,
            "stdio.checker.kind CHECKER_KIND_INTERACTOR",
        ),
        (session_pb.OpenSessionRequest(language="python"), 0, ""),  # older than the method
        (session_pb.OpenSessionRequest(image="x"), 0, "image"),
        (session_pb.ScoreSessionRequest(request=with_text()), 0, ""),
        (
            session_pb.ScoreSessionRequest(
                request=pb.ScoreRequest(repository=pb.RepositoryTests(image="x"))
            ),
            0,
            "request.repository.image",
        ),
    ],
)
def test_what_a_server_lacks_follows_from_its_revision_or_from_the_method(
    request_: pb.ScoreRequest, stated: int, lacking: str
) -> None:
    sentence = unread(request_, stated)
    assert bool(sentence) == bool(lacking)
    assert lacking in sentence


# -------------------------------------------------------------------------------- completions


@pytest.mark.parametrize("stated", [0, BEFORE_TEXT])
@pytest.mark.parametrize("options", [{}, {"batch_size": 1}, {"store_from_bytes": 1}])
async def test_an_older_server_is_sent_only_what_it_can_read(
    serve: Serve, stated: int, options: dict[str, int]
) -> None:
    server = serve()
    server.revision = stated
    async with AsyncRewardClient(server.target, **options) as client:
        old, new = await client.score([OLD, with_text()])
    assert (old.reward, new.reward) == (1.0, None)
    assert new.error is not None
    assert new.error.permanent
    assert new.error.message == unread(with_text(), stated)
    assert [one.WhichOneof("tests") for one in server.requests].count("stdio") == 0


@pytest.mark.promise(
    "A client takes no answer of a server that cannot read its whole request.", "Compatibility"
)
async def test_an_answer_counts_only_if_its_own_server_could_read_the_request(
    serve: Serve,
) -> None:
    """Behind one address are two servers: the newer one describes itself, the older one answers."""
    server = serve()
    server.revision = 0
    server.described_revision = revision()
    async with AsyncRewardClient(server.target) as client:
        old, new = await client.score([OLD, with_text()])
        executed = await client.execute({"source": "", "stdin": "YQ=="})
        with pytest.raises(CallError, match="may not have stdin_text"):
            await client.execute({"source": "", "stdin_text": "a"})
    assert (old.reward, new.reward) == (1.0, None)
    assert new.error is not None
    assert new.error.message == unread(with_text(), 0)
    assert executed.stdout.data == b"a"


def test_the_side_that_is_older_is_logged_once_a_connection(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "trainer_client")
    for stated in (BEFORE_TEXT, revision() + 1, revision()):
        server = serve()
        server.revision = stated
        caplog.clear()
        with RewardClient(server.target) as client:
            for _ in range(3):
                assert client.score(OLD)[0].reward == 1.0
        expected = [difference(stated)] if stated != revision() else []
        assert [one.message.partition(": ")[2] for one in caplog.records] == expected


async def test_an_unreadable_request_has_its_server_asked_again_after_a_while() -> None:
    answers, times = iter([0, revision()]), iter(range(0, 100, 5))

    async def describe() -> pb.GetServerInfoResponse:
        return pb.GetServerInfoResponse(contract_revision=next(answers))

    contract = ServerContract(describe, "a:1", clock=lambda: float(next(times)))
    assert await contract.refusal(OLD) is None
    assert await contract.refusal(with_text()) is None  # it was upgraded meanwhile


# ----------------------------------------------------------------------------------- sessions


class OldSessions(session_rpc.SessionServiceServicer):
    """The sessions of a server that states no revision, and has no `RunCode`."""

    def __init__(self) -> None:
        self.closed = list[str]()

    def OpenSession(self, request, context):  # noqa: N802  # gRPC's name
        return session_pb.OpenSessionResponse(session_id="s", working_folder="/w")

    def CloseSession(self, request, context):  # noqa: N802
        self.closed.append(request.session_id)
        return session_pb.CloseSessionResponse()


@contextmanager
def old_sessions() -> Iterator[tuple[OldSessions, str]]:
    """Runs such a server."""
    sessions, server = OldSessions(), grpc.server(futures.ThreadPoolExecutor(4))
    session_rpc.add_SessionServiceServicer_to_server(sessions, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield sessions, f"127.0.0.1:{port}"
    server.stop(None).wait(5)


def test_a_session_of_an_older_server_is_used_only_as_far_as_it_can_read() -> None:
    with old_sessions() as (sessions, target), RewardClient(target) as client:
        with client.session() as session:
            assert session.id == "s"
        with pytest.raises(CallError, match="may not have image"), client.session(image="x"):
            pass
    assert sessions.closed == ["s", "s"]


def test_a_method_that_a_server_lacks_tells_that_it_is_older(serve: Serve) -> None:
    with (
        RewardClient(serve().target) as client,
        pytest.raises(CallError) as raised,
        client.session(),
    ):
        pass
    assert raised.value.message == (
        "the server is older than this client and lacks this call: upgrade it (Method not found!)"
    )
