"""A real gRPC server in front of scripted answers."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Callable, Iterator
from concurrent import futures

import grpc
import pytest

from codereward.revisions import revision
from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as rpc

Answer = Callable[[pb.ScoreRequest, grpc.ServicerContext], pb.ScoreResponse]


def passed(request: pb.ScoreRequest, context: grpc.ServicerContext) -> pb.ScoreResponse:
    return pb.ScoreResponse(
        id=request.id, verdict=pb.VERDICT_PASSED, reward=1.0, integrity=pb.INTEGRITY_ISOLATED
    )


class ScriptedServer(rpc.RewardServiceServicer):
    """Answers as told; remembers what it was asked, and how much of it at once."""

    def __init__(self, answer: Answer, *, port: int = 0, credentials=None) -> None:
        self.answer = answer
        self.requests: list[pb.ScoreRequest] = []
        self.batches: list[int] = []
        self.metadata: list[dict[str, str]] = []
        self.rpcs = 0
        self.revision = revision()
        self.described_revision: int | None = None
        self.knows_tasks = True
        self.failing_uploads = 0
        self.tasks: list[bytes] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self._server = grpc.server(
            futures.ThreadPoolExecutor(max_workers=32),
            options=[("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", 16 << 20)],
        )
        rpc.add_RewardServiceServicer_to_server(self, self._server)
        address = f"127.0.0.1:{port}"
        if credentials is None:
            self.port = self._server.add_insecure_port(address)
        else:
            self.port = self._server.add_secure_port(address, credentials)
        self._server.start()

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    def Score(self, request, context):  # noqa: N802  # gRPC's name
        self.rpcs += 1
        with self._counted(request, context):
            return self._stated(self.answer(request, context))

    def ScoreBatch(self, request, context):  # noqa: N802
        self.rpcs += 1
        self.batches.append(len(request.requests))
        for index, item in reversed(list(enumerate(request.requests))):
            with self._counted(item, context):
                response = self._stated(self.answer(item, context))
            if isinstance(response, pb.ScoreBatchResponse):
                response.index = index
                yield response
            else:
                yield pb.ScoreBatchResponse(index=index, id=item.id, response=response)

    def PutTask(self, request, context):  # noqa: N802
        if not self.knows_tasks:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "Method not found!")
        if self.failing_uploads:
            self.failing_uploads -= 1
            context.abort(grpc.StatusCode.UNAVAILABLE, "not now")
        self.tasks.append(request.task)
        return pb.PutTaskResponse(task_digest=hashlib.sha256(request.task).digest())

    def Execute(self, request, context):  # noqa: N802
        if request.language == "cobol":
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "no language cobol")
        stdout = pb.CapturedStream(data=request.stdin, size_bytes=len(request.stdin))
        return self._stated(pb.ExecuteResponse(id=request.id, stdout=stdout))

    def GetServerInfo(self, request, context):  # noqa: N802
        return pb.GetServerInfoResponse(
            server_version="1.2.3",
            slots=2,
            contract_revision=self.revision
            if self.described_revision is None
            else self.described_revision,
        )

    def stop(self) -> None:
        self._server.stop(None).wait(5)

    def _stated(self, answer):
        """Lets an answer state the revision of the contract, as those of a real server do."""
        if not isinstance(answer, pb.ScoreBatchResponse):
            answer.provenance.contract_revision = self.revision
        return answer

    @contextlib.contextmanager
    def _counted(self, request, context):
        with self._lock:
            self.requests.append(request)
            self.metadata.append(dict(context.invocation_metadata()))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            yield
        finally:
            with self._lock:
                self._at_once -= 1


@pytest.fixture
def serve() -> Iterator[Callable[..., ScriptedServer]]:
    """Yields a function that starts a server; all of them stop with the test."""
    with contextlib.ExitStack() as stack:

        def start(answer: Answer = passed, **options) -> ScriptedServer:
            server = ScriptedServer(answer, **options)
            stack.callback(server.stop)
            return server

        yield start
