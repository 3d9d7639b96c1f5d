"""Nothing outside an execution can be reached from it."""

from __future__ import annotations

import asyncio
import os

import pytest

from reward_server.domain import Assessment, Verdict
from tests.attacks.corpus.probes import ESCAPED, PROBES, Probe, reaching_tcp, reaching_unix
from tests.attacks.naive import Conclusion, Grader, conclude
from tests.support.common import Judge, is_refused, on_the_servers_loop

pytestmark = on_the_servers_loop


async def _shown(probe: Probe) -> Conclusion:
    return await asyncio.to_thread(
        conclude, Grader.STDIO_EXACT, ESCAPED, probe.completion, network=probe.network
    )


def _is_held(probe: Probe, assessment: Assessment) -> bool:
    if probe.violates:
        return assessment.verdict is Verdict.SECURITY_VIOLATION
    return assessment.verdict is Verdict.FAILED and assessment.stdout.data == b"held\n"


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
async def test_an_execution_cannot_reach(probe: Probe, judge: Judge) -> None:
    if probe.shown:
        assert await _shown(probe) is Conclusion.AWARDED
    assessment = await judge(probe.completion, ESCAPED)
    assert is_refused(assessment)
    assert _is_held(probe, assessment), assessment


class Listener:
    """A service of this machine, which counts who comes."""

    def __init__(self) -> None:
        self.visits = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Counts a visit."""
        self.visits += 1
        writer.close()


@pytest.fixture
def listener() -> Listener:
    return Listener()


async def test_an_execution_cannot_reach_a_service_of_this_machine(
    judge: Judge, listener: Listener
) -> None:
    async with await asyncio.start_server(listener.serve, "127.0.0.1", 0) as server:
        probe = reaching_tcp(server.sockets[0].getsockname()[1])
        assert await _shown(probe) is Conclusion.AWARDED
        shown = listener.visits
        assert is_refused(await judge(probe.completion, ESCAPED))
    assert (shown, listener.visits) == (1, 1)


async def test_an_execution_cannot_reach_an_abstract_socket_of_this_machine(
    judge: Judge, listener: Listener
) -> None:
    name = f"codereward-test-{os.getpid()}"
    async with await asyncio.start_unix_server(listener.serve, f"\0{name}"):
        probe = reaching_unix(name)
        assert await _shown(probe) is Conclusion.AWARDED
        shown = listener.visits
        assert is_refused(await judge(probe.completion, ESCAPED))
    assert (shown, listener.visits) == (1, 1)
