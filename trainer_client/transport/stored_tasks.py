"""Stores large tasks on the server, so that their tests are sent once and not with each completion.

A request with a large task is divided: the task is stored by `PutTask`, and the rest of the request
names it by its digest. A server may not know the digest, because it was restarted, it is another
server, or the task was displaced. It then answers NOT_FOUND, and the client stores the task again.
Calls that wait for the same task share one upload. If a server cannot store a task, requests are
sent whole.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import grpc

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as rpc
from trainer_client.transport import retry
from trainer_client.transport.retry import Failure

# A request that met servers without its task this often is sent whole.
MOST_MISSES = 6
_MOST_KNOWN = 4096
_MOST_SEEN = 4
# Behind one address may be several servers, each in turn. Each further miss within a short time
# therefore doubles the number of copies that are sent one after another.
_MOST_COPIES = 8
_LINKED_SECONDS = 10.0
_REFUSED_SECONDS = 60.0
_LONGEST_SECONDS = 300.0
_TASK_FIELDS = frozenset(pb.Task.DESCRIPTOR.fields_by_name)
# The message of a server that does not know stored tasks. It ignores `task_digest`, and so finds no
# tests.
_IGNORED = "tests: are absent"
_TRANSIENT = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Divided:
    """A request in two parts.

    Args:
        task: what it shares with other completions.
        digest: the SHA-256 of the serialised task.
        rest: the request without the task's fields, which names the task.
    """

    task: pb.Task
    digest: bytes
    rest: pb.ScoreRequest


class Divider:
    """Divides requests whose tasks are large.

    The tasks that were seen last are kept with their digests. The reason is that comparing two
    tasks takes far less time than computing a digest.

    Args:
        least_bytes: size of a task from which its requests are divided.
        most_bytes: size of a task above which they are not.
    """

    def __init__(self, least_bytes: int, most_bytes: int) -> None:
        self._least_bytes = least_bytes
        self._most_bytes = most_bytes
        self._seen: OrderedDict[int, tuple[pb.Task, bytes]] = OrderedDict()

    def divided(self, request: pb.ScoreRequest) -> Divided | None:
        """Divides a request, or returns None if it is to be sent whole."""
        if request.task_digest or request.ByteSize() < self._least_bytes:
            return None
        task, rest = _parts(request)
        size = task.ByteSize()
        if not self._least_bytes <= size <= self._most_bytes:
            return None
        seen = self._seen.pop(size, None)
        if seen is None or seen[0] != task:
            seen = task, hashlib.sha256(serialized(task)).digest()
        self._seen[size] = seen
        if len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)
        task, rest.task_digest = seen
        return Divided(task=task, digest=rest.task_digest, rest=rest)


def serialized(task: pb.Task) -> bytes:
    """Returns the bytes of a task, in which the files of a map have a fixed order."""
    return task.SerializeToString(deterministic=True)


def _parts(request: pb.ScoreRequest) -> tuple[pb.Task, pb.ScoreRequest]:
    task, rest = pb.Task(), pb.ScoreRequest()
    for field, value in request.ListFields():
        target = task if field.name in _TASK_FIELDS else rest
        if field.message_type is None:
            setattr(target, field.name, value)
        elif field.message_type.GetOptions().map_entry:
            getattr(target, field.name).update(value)
        else:
            getattr(target, field.name).CopyFrom(value)
    return task, rest


def is_missed(failure: Failure) -> bool:
    """Returns True if a server does not know the task that a request named."""
    return failure.status is grpc.StatusCode.NOT_FOUND


def is_ignored(failure: Failure) -> bool:
    """Returns True if a server ignored that a request named a task."""
    is_invalid = failure.status is grpc.StatusCode.INVALID_ARGUMENT
    return is_invalid and failure.message.startswith(_IGNORED)


@dataclass(slots=True, eq=False)
class Upload:
    """A task that was sent; the result of `answer` is None, or the reason why it is not stored."""

    answer: asyncio.Task[Failure | None]
    begun: float
    misses: int
    is_lost: bool = False


class StoredTasks:
    """The tasks that the servers behind one channel are believed to store.

    Args:
        stub: sends them.
        metadata: the metadata of each call.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        stub: rpc.RewardServiceAsyncStub,
        metadata: tuple[tuple[str, str], ...],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stub = stub
        self._metadata = metadata
        self._clock = clock
        self._uploads: OrderedDict[bytes, Upload] = OrderedDict()
        self._refused: OrderedDict[bytes, float] = OrderedDict()

    async def stored(self, divided: Divided, seconds: float) -> Upload | Failure | None:
        """Stores a task unless it is stored already.

        Returns:
            The upload; or a failure, after which a later attempt may succeed; or None if the server
            does not store the task.
        """
        if self._refused.get(divided.digest, 0.0) > self._clock():
            return None
        upload = self._uploads.get(divided.digest)
        if upload is None or upload.is_lost:
            upload = self._begin(divided, seconds, upload)
        self._uploads.move_to_end(divided.digest)
        failure = await asyncio.shield(upload.answer)
        if failure is None:
            return upload
        if self._uploads.get(divided.digest) is upload:
            del self._uploads[divided.digest]
        if failure.status in _TRANSIENT:
            return failure
        self._refused[divided.digest] = self._clock() + _REFUSED_SECONDS
        _shorten(self._refused)
        return None

    def _begin(self, divided: Divided, seconds: float, lost: Upload | None) -> Upload:
        is_linked = lost is not None and self._clock() - lost.begun < _LINKED_SECONDS
        misses = lost.misses + 1 if lost is not None and is_linked else 0
        copies = min(1 << max(misses - 1, 0), _MOST_COPIES)
        sending = asyncio.create_task(self._send(serialized(divided.task), copies, seconds))
        upload = Upload(sending, self._clock(), misses)
        self._uploads[divided.digest] = upload
        _shorten(self._uploads)
        return upload

    async def _send(self, task: bytes, copies: int, seconds: float) -> Failure | None:
        request = pb.PutTaskRequest(task=task)
        timeout = min(seconds, _LONGEST_SECONDS)
        try:
            for _ in range(copies):
                await self._stub.PutTask(request, timeout=timeout, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            return retry.from_rpc_error(error)
        return None


def _shorten(known: OrderedDict[bytes, Upload] | OrderedDict[bytes, float]) -> None:
    if len(known) > _MOST_KNOWN:
        known.popitem(last=False)
