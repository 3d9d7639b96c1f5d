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


@pytest.mark.promise(
    "An execution reaches no file, process, socket, network or kernel interface outside its own.",
    "Confinement",
)
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

    async def until_visited(self) -> None:
        """Returns once somebody has come."""
        while not self.visits:  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0.01)


@pytest.fixture
def listener() -> Listener:
    return Listener()


async def test_an_execution_cannot_reach_a_service_of_this_machine(
    judge: Judge, listener: Listener
) -> None:
    async with await asyncio.start_server(listener.serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        probe = reaching_tcp(port)
        assert await _shown(probe) is Conclusion.AWARDED
        await listener.until_visited()
        assert is_refused(await judge(probe.completion, ESCAPED))
        await _visit(*await asyncio.open_connection("127.0.0.1", port))
    assert listener.visits == 2


async def test_an_execution_cannot_reach_an_abstract_socket_of_this_machine(
    judge: Judge, listener: Listener
) -> None:
    name = f"codereward-test-{os.getpid()}"
    async with await asyncio.start_unix_server(listener.serve, f"\0{name}"):
        probe = reaching_unix(name)
        assert await _shown(probe) is Conclusion.AWARDED
        await listener.until_visited()
        assert is_refused(await judge(probe.completion, ESCAPED))
        await _visit(*await asyncio.open_unix_connection(f"\0{name}"))
    assert listener.visits == 2


async def _visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Comes after all who have connected, and stays until it is counted."""
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
