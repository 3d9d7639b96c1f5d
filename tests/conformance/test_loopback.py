"""A loopback of an execution's own: the servers and clients of one program talk to each other."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from reward_server.domain import (
    CallCase,
    CallJudgement,
    CallTests,
    Commands,
    Ending,
    Execution,
    Framework,
    FunctionJudgement,
    Job,
    Limits,
    Network,
    Program,
    TestOutcome,
    UnitJudgement,
    UnitTests,
    Work,
)
from reward_server.sandbox.base import Sandbox
from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.sandbox.local.container import LocalOptions, start_local
from tests.conformance.suite.checks import LIMITS, judgement
from tests.conformance.suite.host import Host, inhabited, processes_marked

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.promise(
        "`NETWORK_LOOPBACK` connects processes of one execution, and nothing else.", "Confinement"
    ),
]

ECHO = """
import socket, threading
def serve(family=socket.AF_INET, address='127.0.0.1', port=0):
    server = socket.create_server((address, port), family=family)
    def answer():
        client, _ = server.accept()
        client.sendall(client.recv(99).upper())
        client.close()
    threading.Thread(target=answer, daemon=True).start()
    return server.getsockname()
def ask(address, family=socket.AF_INET):
    with socket.socket(family) as client:
        client.settimeout(5)
        client.connect(address)
        client.sendall(b'hello')
        return client.recv(99).decode()
def f(x): return ask(serve()) * x
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with inhabited(tmp_path_factory.mktemp("host")) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    made = await start_local(0, LocalOptions(), CgroupParent.detect(), "loopback")
    yield made
    await made.close()


async def run(sandbox: Sandbox, work: Work, network: Network = Network.LOOPBACK) -> Execution:
    return await sandbox.run(Job(work=work, limits=Limits(**LIMITS), network=network))


async def told(sandbox: Sandbox, source: str, network: Network = Network.LOOPBACK) -> str:
    execution = await run(sandbox, Program(source=ECHO + source), network)
    assert execution.ending is Ending.COMPLETED, execution
    return execution.stdout.data.decode() + execution.stderr.data.decode()


@pytest.mark.parametrize(
    "source",
    [
        "print(ask(serve()))",
        "family = socket.AF_INET6; print(ask(serve(family, '::1')[:2], family))",
        "print(ask(('localhost', serve()[1])))",
        "print(ask(('127.9.9.9', serve(address='0.0.0.0')[1])))",
        "print(ask(serve(port=8080)))",
        """
first, second = socket.socket(type=socket.SOCK_DGRAM), socket.socket(type=socket.SOCK_DGRAM)
first.bind(('127.0.0.1', 0)); second.sendto(b'HELLO', first.getsockname())
print(first.recv(99).decode())
""",
        """
import http.server, urllib.request
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_): pass
server = http.server.HTTPServer(('127.0.0.1', 0), Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
open('page', 'w').write('HELLO')
print(urllib.request.urlopen(f'http://127.0.0.1:{server.server_port}/page').read().decode())
""",
        """
import subprocess, sys
client = '''
import socket, sys
with socket.create_connection(('127.0.0.1', int(sys.argv[1]))) as s:
    s.sendall(b"hello"); print(s.recv(9).decode())
'''
command = [sys.executable, '-c', client, str(serve()[1])]
print(subprocess.run(command, capture_output=True, text=True).stdout, end='')
""",
    ],
    ids=["tcp", "ipv6", "by name", "any address", "a known port", "udp", "http", "a process"],
)
async def test_servers_and_clients_of_a_program_talk(sandbox: Sandbox, source: str) -> None:
    assert await told(sandbox, source) == "HELLO\n"


BESIDE = """
import unittest
from solution import ask, serve
class Test(unittest.TestCase):
    def test_it(self): self.assertEqual(ask(serve()), 'HELLO')
"""


@pytest.mark.parametrize(
    "work",
    [
        judgement(ECHO, "assert f(2) == 'HELLOHELLO'"),
        CallJudgement(
            source=ECHO,
            tests=CallTests(
                entry_point="f", cases=(CallCase(args_json="[1]", expected_json='"HELLO"'),)
            ),
        ),
        UnitJudgement(
            source=ECHO,
            shared=True,
            tests=UnitTests(framework=Framework.UNITTEST, files=(("test_it.py", BESIDE),)),
        ),
    ],
    ids=["function", "call", "unit"],
)
async def test_every_kind_of_tests_can_have_it(
    sandbox: Sandbox, work: FunctionJudgement | CallJudgement | UnitJudgement
) -> None:
    execution = await run(sandbox, work)
    assert [test.outcome for test in execution.tests] == [TestOutcome.PASSED], execution
    without = await run(sandbox, work, Network.NONE)
    assert TestOutcome.PASSED not in [test.outcome for test in without.tests]


async def test_executables_can_have_it(sandbox: Sandbox) -> None:
    files = {"main.py": (ECHO + "print(ask(serve()))").encode()}
    work = Commands(commands=(("python3", "main.py"),), files=files)
    execution = await run(sandbox, work)
    assert execution.stdout.data == b"HELLO\n", execution


async def test_who_does_not_ask_has_no_socket(sandbox: Sandbox) -> None:
    source = """
for family in (socket.AF_INET, socket.AF_INET6):
    try: socket.socket(family)
    except PermissionError: print('refused')
"""
    await told(sandbox, "print(ask(serve()))")
    assert await told(sandbox, source, Network.NONE) == "refused\nrefused\n"


async def test_the_next_execution_sees_nothing_of_it(sandbox: Sandbox) -> None:
    source = """
import os
try: print(ask(('127.0.0.1', 8123)))
except OSError as error: print(error.strerror)
left = socket.socket(socket.AF_UNIX)
left.bind(chr(0) + 'left'); left.listen()
serve(port=8123)
if os.fork() == 0:
    for number in (0, 1, 2): os.close(number)
    import time; time.sleep(20)
"""
    for _ in range(3):
        assert await told(sandbox, source) == "Connection refused\n"


async def test_neither_the_host_nor_another_network_is_reached(
    sandbox: Sandbox, host: Host
) -> None:
    source = f"""
for address in (('127.0.0.1', {host.port}), ('1.1.1.1', 80), ('10.0.0.1', 80), ('::1', 80)):
    try: socket.create_connection(address, 1); print('reached', address)
    except OSError: pass
try: socket.socket(socket.AF_UNIX).connect({chr(0) + host.secret!r}); print('reached')
except OSError: pass
print([line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line])
"""
    assert await told(sandbox, source) == "['lo']\n"
    assert not host.was_connected(host.listener)
    assert not host.was_connected(host.abstract)


async def test_neighbours_do_not_meet(sandbox: Sandbox, host: Host) -> None:
    other = await start_local(1, LocalOptions(), CgroupParent.detect(), "neighbour")
    marker = f"serves-{host.secret}"
    waits = f"subprocess.run([{marker!r}, '20'], executable='/usr/bin/sleep')"
    serving = f"import subprocess; serve(port=8124); {waits}; print('served')"
    asking = """
try: print(ask(('127.0.0.1', 8124)))
except OSError as error: print(error.strerror)
"""
    try:
        running = asyncio.ensure_future(told(sandbox, serving))
        while not (waiting := processes_marked(marker)):
            assert not running.done(), running.result()
            await asyncio.sleep(0.01)
        assert await told(other, asking) == "Connection refused\n"
        assert not running.done(), running.result()
        for pid in waiting:
            os.kill(pid, signal.SIGKILL)
        assert await running == "served\n"
    finally:
        await other.close()


@pytest.mark.parametrize(
    "made",
    [
        "socket.socket(16, 3)",
        "socket.socket(17, 3)",
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        "socket.socket(40, 1)",
        "open('/proc/sys/net/ipv4/ip_forward', 'w')",
        "__import__('fcntl').ioctl(socket.socket(), 0x8914, b'lo'.ljust(40, bytes(1)))",
        "socket.socket().setsockopt(socket.SOL_SOCKET, 36, 1)",
    ],
)
async def test_no_more_than_sockets_of_programs_is_given(sandbox: Sandbox, made: str) -> None:
    source = f"""
try: {made}; print('given')
except OSError: print('refused')
"""
    assert await told(sandbox, source) == "refused\n"
