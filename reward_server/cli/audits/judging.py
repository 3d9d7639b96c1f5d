"""Judges the requests of the audit by one server, with a bounded number at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence

import grpc

from codereward.v1 import reward_service_pb2 as pb
from reward_server.audit.answers import Answer
from reward_server.audit.duplicates import repeats
from reward_server.audit.examination import Options, examine
from reward_server.audit.findings import TaskReport
from reward_server.audit.tasks import Task
from reward_server.cli.calls import Caller

_LEAST_IN_FLIGHT = 8
_IN_FLIGHT_PER_SLOT = 4


class Judging:
    """Judges requests by a server, and counts them.

    Args:
        caller: the connection.
        info: the server's description.
    """

    def __init__(self, caller: Caller, info: pb.GetServerInfoResponse) -> None:
        self._caller = caller
        self._info = info
        self._width = max(_LEAST_IN_FLIGHT, _IN_FLIGHT_PER_SLOT * info.slots)
        self._places = asyncio.Semaphore(self._width)
        self.requests = 0

    async def __call__(self, request: pb.ScoreRequest) -> Answer:
        """Judges a completion; a status is a value here."""
        async with self._places:
            self.requests += 1
            try:
                return Answer(response=await self._caller.score(request))
            except grpc.aio.AioRpcError as error:
                told = error.details() or "no reason was given"
                empty = pb.ScoreResponse()
                return Answer(response=empty, status=error.code().name, problem=told)

    async def reports(self, tasks: Sequence[Task], options: Options) -> AsyncIterator[TaskReport]:
        """Yields the report of each task, in any order.

        Several tasks are examined at once: one alone rarely fills the server, and all at once
        would hold all of their requests in memory.
        """
        alike = repeats(tasks)
        waiting = iter(tasks)
        under_way = {self._start(task, options) for task in _first(waiting, self._width)}
        try:
            while under_way:
                done, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                under_way |= {self._start(task, options) for task in _first(waiting, len(done))}
                for one in done:
                    report = one.result()
                    if repeat := alike.get(report.id):
                        kind = "duplicate" if repeat.whole else "same_prompt"
                        report.found(kind, f"as {repeat.of}")
                    yield report
        finally:
            for one in under_way:
                one.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    def _start(self, task: Task, options: Options) -> asyncio.Task[TaskReport]:
        return asyncio.create_task(examine(task, self, self._info, options))


def _first(tasks: Iterator[Task], count: int) -> list[Task]:
    return [task for _, task in zip(range(count), tasks, strict=False)]
