"""Nothing outside a session can be reached from it, and its limits hold for all that is in it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from reward_server.app import App
from reward_server.domain import LimitKind, Verdict
from tests.attacks.corpus.probes import PROBES, Probe, reaching_tcp, reaching_unix
from tests.conformance.suite.host import Host, inhabited
from tests.honest.abusers import ABUSERS, Abuser
from tests.sessions.conftest import BLUE, RED, SMALL
from tests.support.common import on_the_servers_loop
from tests.support.sampling import sampled
from trainer_client import AsyncRewardClient, AsyncSession, ExecResult

pytestmark = on_the_servers_loop

# In a session a command sees the session's own processes, and may send signals to its own.
SIGHT = {"sight of other processes", "a signal to everybody"}
OUTSIDE = tuple(probe for probe in PROBES if probe.name not in SIGHT)


async def _probed(session: AsyncSession, probe: Probe) -> ExecResult:
    return await session.exec(["python3", "-I", "-c", probe.completion], time_limit_seconds=30)


def _is_held(probe: Probe, result: ExecResult) -> bool:
    """Returns True if the kernel refused, or ended the program for a violation."""
    is_killed = probe.violates and result.signal == signal.SIGSYS
    return is_killed or (result.stdout == b"held\n" and result.exit_code == 0)


@pytest.mark.promise("A session reaches nothing outside of it, and no other session.", "Sessions")
@pytest.mark.parametrize("probe", sampled(OUTSIDE, 4), ids=lambda probe: probe.name)
async def test_a_session_cannot_reach(probe: Probe, shared_session: AsyncSession) -> None:
    result = await _probed(shared_session, probe)
    assert _is_held(probe, result), result


async def test_a_session_cannot_reach_a_service_or_a_socket_of_this_machine(
    shared_session: AsyncSession,
) -> None:
    visits = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.append(writer)
        writer.close()

    name = f"codereward-test-session-{os.getpid()}"
    async with (
        await asyncio.start_server(serve, "127.0.0.1", 0) as tcp,
        await asyncio.start_unix_server(serve, f"\0{name}"),
    ):
        for probe in (reaching_tcp(tcp.sockets[0].getsockname()[1]), reaching_unix(name)):
            assert (await _probed(shared_session, probe)).stdout == b"held\n"
    assert visits == []


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with inhabited(tmp_path_factory.mktemp("host")) as made:
        yield made


async def test_a_session_sees_and_disturbs_nothing_of_the_host(
    host: Host, shared_session: AsyncSession
) -> None:
    source = f"""
import ctypes, os, pathlib
seen = [str(dict(os.environ))]
for path in pathlib.Path('/proc').glob('[0-9]*/cmdline'): seen.append(path.read_text())
for path in ({str(host.secret_file)!r}, '/proc/self/mountinfo'):
    try: seen.append(open(path).read())
    except OSError: pass
print({host.secret!r} in ' '.join(seen))
try: os.kill({host.victim.pid}, 9)
except OSError: pass
print(ctypes.CDLL(None).shmget({host.memory_key}, 0, 0))
"""
    result = await shared_session.exec(["python3", "-I", "-"], stdin=source)
    assert result.stdout == b"False\n-1\n", result
    assert host.victim.poll() is None


async def test_the_first_process_of_a_session_cannot_be_read_or_ended(
    shared_session: AsyncSession,
) -> None:
    source = """
import ctypes, os, signal
def held(action):
    try: action()
    except OSError: return True
    return False
print(all([
    held(lambda: os.open('/proc/1/mem', os.O_RDONLY)),
    held(lambda: os.open('/proc/1/environ', os.O_RDONLY)),
    held(lambda: os.listdir('/proc/1/fd')),
    held(lambda: os.readlink('/proc/1/exe')),
]))
for number in range(1, 65):
    if number != signal.SIGSEGV: os.kill(1, number)
"""
    assert (await shared_session.exec(["python3", "-I", "-c", source])).stdout == b"True\n"
    assert (await shared_session.exec(["echo", "lives"])).stdout == b"lives\n"


@pytest.mark.promise("A session reaches nothing outside of it, and no other session.", "Sessions")
async def test_sessions_of_one_server_do_not_see_each_other(app: App, host: Host) -> None:
    """One credential's marks in files, memory, sockets and names are nowhere in another's."""
    mark = f"mark-{host.secret}"
    leave = f"""
import ctypes, os, socket, time
for folder in ('.', '/tmp', '/dev/shm'): open(f'{{folder}}/{mark}', 'w').write('{mark}')
ctypes.CDLL(None).shmget(0x5E55, 4096, 0o1666)
one = socket.socket(socket.AF_UNIX); one.bind('\\0{mark}'); one.listen()
print('left', flush=True)
time.sleep(60)
"""
    look = f"""
import ctypes, os, pathlib, socket
found = [f for f in ('.', '/tmp', '/dev/shm') if os.path.exists(f'{{f}}/{mark}')]
found += [p for p in pathlib.Path('/proc').glob('[0-9]*/cmdline') if '{mark}'[5:] in p.read_text()
          and p.parent.name != str(os.getpid())]
if ctypes.CDLL(None).shmget(0x5E55, 0, 0) >= 0: found.append('memory')
try: socket.socket(socket.AF_UNIX).connect('\\0{mark}'); found.append('socket')
except OSError: pass
print(found)
"""
    async with (
        AsyncRewardClient(app.address, token=RED) as red,
        AsyncRewardClient(app.address, token=BLUE) as blue,
        red.session(**SMALL) as first,
        blue.session(**SMALL) as second,
        first.start(["python3", "-c", leave]) as leaving,
    ):
        assert await leaving.next_chunk()
        for other in (second, first):
            told = (await other.exec(["python3", "-c", look])).stdout
            assert (told == b"[]\n") is (other is second), told


# ------------------------------------------------------------------------------------ the limits

# What a command hits alone, and what all commands of a session share.
TOLD = {LimitKind.WALL_TIME, LimitKind.MEMORY, LimitKind.OUTPUT}
EXCESSES = tuple(
    abuser
    for abuser in ABUSERS
    if abuser.limit is not LimitKind.CPU_TIME and "descriptors" not in abuser.name
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def neighbour(app: App) -> AsyncIterator[AsyncSession]:
    client = AsyncRewardClient(app.address, token=RED)
    async with client, client.session(**SMALL) as opened:
        yield opened


@pytest.mark.promise(
    "A command that takes too much is stopped, and other sessions go on.", "Sessions"
)
@pytest.mark.parametrize("abuser", sampled(EXCESSES, 5), ids=lambda abuser: abuser.name)
async def test_a_command_that_takes_too_much_is_bounded_and_harms_no_neighbour(
    abuser: Abuser, client: AsyncRewardClient, neighbour: AsyncSession
) -> None:
    limits = {
        "memory_bytes": abuser.limits.memory_bytes,
        "processes": abuser.limits.processes,
        "disk_bytes": abuser.limits.disk_bytes,
        "file_size_bytes": abuser.limits.file_size_bytes,
    }
    async with client.session(**limits) as session:
        abusive, steady = await asyncio.gather(
            session.exec(
                ["python3", "-c", abuser.program],
                time_limit_seconds=1.0,
                output_bytes=1 << 20,
            ),
            neighbour.exec(["python3", "-c", "print(sum(range(10 ** 5)))"]),
        )
        assert steady.stdout == b"4999950000\n"
        assert abusive.wall_time_seconds < 10
        if abuser.limit in TOLD:
            hit = set(abusive.limits_hit)
            assert hit & {abuser.limit.name, "WALL_TIME"}, abusive
        elif abuser.verdict not in (Verdict.PASSED, Verdict.FAILED):
            assert not abusive.success
        after = await session.exec(["python3", "-c", "print('lives')"], time_limit_seconds=20)
        assert after.stdout == b"lives\n" or after.limits_hit or after.start_error, after


async def test_memory_is_one_limit_for_all_commands_and_files(client: AsyncRewardClient) -> None:
    async with client.session(memory_bytes=96 << 20) as session:
        holding = (
            "import time; kept = bytearray(b'x') * (50 << 20); print(1, flush=True); time.sleep(60)"
        )
        async with session.start(["python3", "-c", holding]) as first:
            assert await first.next_chunk()
            second = await session.exec(["python3", "-c", holding], time_limit_seconds=5)
            assert "MEMORY" in second.limits_hit
            assert "memory ran out" in second.explanation


async def test_files_that_fill_the_memory_end_commands_and_not_the_session(
    client: AsyncRewardClient,
) -> None:
    limits = {"memory_bytes": 64 << 20, "disk_bytes": 512 << 20, "file_size_bytes": 512 << 20}
    async with client.session(**limits) as session:
        fill = ["bash", "-c", "head -c 200000000 /dev/zero > /dev/shm/large"]
        result = await session.exec(fill, time_limit_seconds=20)
        assert "MEMORY" in result.limits_hit
        await session.write_files({"/dev/shm/large": ""})  # which makes room again
        assert (await session.exec(["echo", "lives"])).stdout == b"lives\n"


async def test_a_loopback_network_is_the_sessions_own(client: AsyncRewardClient) -> None:
    serving = ["python3", "-m", "http.server", "8000", "--bind", "127.0.0.1"]
    fetch = (
        "import time, urllib.request\n"
        "for _ in range(200):\n"
        "    try: print(urllib.request.urlopen('http://127.0.0.1:8000/x').read()); break\n"
        "    except OSError: time.sleep(0.05)\n"
    )
    async with (
        client.session(**SMALL, loopback=True, files={"x": "found"}) as session,
        client.session(**SMALL, loopback=True) as other,
        session.start(serving),
    ):
        assert (await session.exec(["python3", "-c", fetch])).stdout == b"b'found'\n"
        missing = fetch.replace("range(200)", "range(3)")
        assert (await other.exec(["python3", "-c", missing])).stdout == b""
