"""What is special in containers of gVisor, where the runner is root of the sandbox's own kernel.

There are no user and mount namespaces there; see `reward_server.runner.walls.privileges`. So it is
shown here, program by program, that what they stop otherwise is stopped all the same.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator

import docker
import pytest
import pytest_asyncio

from reward_server.domain import (
    MEBIBYTE,
    Commands,
    Ending,
    Job,
    LimitKind,
    Limits,
    Termination,
    TerminationKind,
    TestOutcome,
)
from reward_server.errors import SandboxError
from reward_server.sandbox.docker.container import (
    SANDBOX_CAPABILITIES,
    DockerContainer,
    DockerOptions,
    DockerSandboxes,
    Plan,
    SandboxKernelPlan,
    plan_containers,
    probe,
)
from reward_server.sandbox.docker.inventory import Containers
from reward_server.sandbox.runner_sandbox import ContainedSandbox
from tests.conformance.suite.checks import judgement, output_of, run
from tests.conformance.suite.shelf import Shelf

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.promise(
        "Containers of gVisor keep out what containers of runc keep out.", "Confinement"
    ),
]

RUNTIME = "runsc"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shelf(engine: docker.APIClient, python_image: str) -> AsyncIterator[Shelf]:
    options = DockerOptions(image=python_image, runtime=RUNTIME)
    made = Shelf(lambda: DockerSandboxes(engine, options)(0))
    yield made
    await made.clear()


async def result_of(shelf: Shelf, source: str) -> str:
    return await output_of(await shelf.take(), source)


async def test_the_kernel_is_gvisors_and_no_host_folder_is_in_it(shelf: Shelf) -> None:
    source = "import os; print(os.uname().version); print(os.listdir('/mnt'), os.listdir('/sys'))"
    assert (await result_of(shelf, source)).splitlines()[1] == "[] []"
    assert os.uname().version not in await result_of(shelf, source)


async def test_a_program_is_alone_in_its_process_table_and_signals_nobody(shelf: Shelf) -> None:
    """Process 1 is the program's own: it has the same memory, and waits for process 2."""
    source = """
import os, signal
print([name for name in os.listdir('/proc') if name.isdecimal()], os.getpid(), os.getppid())
reached = []
for pid in (-1, 0, *range(2, 400)):
    try: os.kill(pid, 0)
    except OSError: continue
    reached.append(pid)
print(reached)
"""
    assert await result_of(shelf, source) == "['1', '2'] 2 1\n[0, 2]\n"


async def test_no_file_of_another_process_can_be_opened(shelf: Shelf) -> None:
    """Not by any name below /proc, and a judge is at work meanwhile."""
    source = """
import os
opened = []
def f(x):
    others = set(range(1, 200)) - {os.getpid(), os.getppid()}
    for pid in [*map(str, others), '0', '../1/task/3', '../2/task/3']:
        for part in ('mem', 'maps', 'environ', 'cmdline', 'fd/0', 'root', 'cwd', 'status'):
            try: os.close(os.open(f'/proc/{pid}/{part}', os.O_RDONLY))
            except OSError: continue
            opened.append((pid, part))
    return opened
"""
    work = judgement(source, "assert f(1) == []")
    execution = await (await shelf.take()).run(Job(work=work, limits=Limits()))
    assert [test.outcome for test in execution.tests] == [TestOutcome.PASSED], execution


async def test_only_its_own_folders_can_be_written(shelf: Shelf) -> None:
    source = """
import os
written = set()
for folder, folders, _ in os.walk('/', followlinks=False):
    if folder in ('/proc', '/usr/share', '/usr/lib/python3.11'): folders.clear()
    try:
        with open(os.path.join(folder, '.written'), 'w'): pass
    except OSError: continue
    written.add(folder)
print(sorted(written))
"""
    own = [
        *("/dev/shm", "/home/sandbox", "/home/sandbox/shm", "/home/sandbox/tmp"),
        *("/home/sandbox/work", "/tmp"),
    ]
    assert await result_of(shelf, source) == f"{own}\n"


async def test_no_capability_is_left_or_comes_back(shelf: Shelf) -> None:
    source = """
import ctypes, os, subprocess
def tried(call, *arguments):
    try: call(*arguments)
    except OSError: return 'denied'
    return 'done'
print(os.getresuid(), os.getresgid(), os.getgroups())
print(tried(os.setuid, 0), tried(os.setgid, 0), tried(os.setgroups, [0]))
print(tried(os.chown, '.', 0, 0))
read = subprocess.run(['grep', 'Cap', '/proc/self/status'], capture_output=True, text=True)
print({line.split()[1] for line in read.stdout.splitlines()})
full = (ctypes.c_uint32 * 6)(*[0xffffffff] * 6)
libc = ctypes.CDLL(None)
print(libc.syscall(126, (ctypes.c_uint32 * 2)(0x20080522, 0), full))
"""
    assert await result_of(shelf, source) == (
        "(1000, 1000, 1000) (1000, 1000, 1000) []\n"
        "denied denied denied\ndenied\n"
        "{'0000000000000000'}\n-1\n"
    )


async def test_a_device_that_a_program_makes_is_none_of_the_hosts(shelf: Shelf) -> None:
    """GVisor makes devices for anybody, and has none but those of its own in /dev."""
    source = """
import fcntl, os, stat, struct
own = {os.lstat(os.path.join(folder, name)).st_rdev
       for folder, _, names in os.walk('/dev') for name in names}
opened = set()
for kind in (stat.S_IFCHR, stat.S_IFBLK):
    for major in (*range(0, 16), 89, 226, 253, 254, 259):
        for minor in (*range(0, 12), 64, 200, 229, 232):
            os.mknod('made', kind | 0o600, os.makedev(major, minor))
            try: os.close(os.open('made', os.O_RDWR | os.O_NONBLOCK))
            except OSError: pass
            else: opened.add(os.makedev(major, minor))
            os.unlink('made')
print(opened <= own)
TUNSETIFF, IFF_TUN = 0x400454CA, 1
request = struct.pack('16sH22x', b't', IFF_TUN)
try: fcntl.ioctl(os.open('/dev/net/tun', os.O_RDWR), TUNSETIFF, request)
except OSError: print('denied')
"""
    assert await result_of(shelf, source) == "True\ndenied\n"


@pytest.mark.parametrize(
    "attempt",
    [
        "libc.chroot(b'/home')",
        "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
        "libc.umount2(b'/proc', 2)",
        "libc.unshare(0x10000000)",
        "libc.setns(0, 0)",
        "libc.ptrace(16, 1, 0, 0)",
        "libc.process_vm_readv(1, 0, 0, 0, 0, 0)",
        "libc.syscall(165, 0, 0, 0, 0, 0)",
    ],
)
async def test_a_call_that_builds_or_breaks_walls_is_an_attack(shelf: Shelf, attempt: str) -> None:
    source = f"import ctypes; libc = ctypes.CDLL(None); {attempt}"
    assert (await run(await shelf.take(), source)).ending is Ending.VIOLATION


async def test_only_local_sockets_can_be_made(shelf: Shelf) -> None:
    source = """
import socket
def tried(family, kind, protocol=0):
    try: socket.socket(family, kind, protocol).close()
    except OSError: return 'denied'
    return 'made'
print(tried(2, 1), tried(2, 2), tried(10, 1), tried(2, 3, 1), tried(16, 3), tried(17, 3))
print(tried(1, 1))
"""
    assert await result_of(shelf, source) == "denied denied denied denied denied denied\nmade\n"


async def test_processor_time_of_orphans_counts(shelf: Shelf) -> None:
    source = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            while time.process_time() < 0.3: pass
        os._exit(0)
    os.wait()
    time.sleep(0.4)
"""
    execution = await run(await shelf.take(), source, cpu_time_seconds=0.9)
    assert execution.limits_hit == (LimitKind.CPU_TIME,)


async def test_processes_are_bounded_exactly(shelf: Shelf) -> None:
    """GVisor asks one of the control groups that a process is in, so it may be in one alone."""
    source = """
import os, time
made = 0
try:
    while made < 30:
        if os.fork() == 0: time.sleep(60)
        made += 1
except OSError: pass
print(made)
"""
    sandbox = await shelf.take()
    assert [await output_of(sandbox, source, processes=7) for _ in range(5)] == ["6\n"] * 5


async def test_memory_that_many_take_at_once_is_bounded_in_time(shelf: Shelf) -> None:
    """GVisor's own count of memory takes seconds meanwhile, in which gigabytes are taken."""
    source = """
import mmap, os
for _ in range(12):
    if os.fork() == 0: break
room = mmap.mmap(-1, 1 << 30)
for offset in range(0, 1 << 30, 4096): room[offset] = 1
"""
    sandbox = await shelf.take()
    execution = await run(sandbox, source, memory_bytes=256 * MEBIBYTE)
    assert execution.limits_hit == (LimitKind.MEMORY,)
    assert await output_of(sandbox, "print('alive')") == "alive\n"


async def test_what_the_kernel_has_to_remember_counts_as_memory(shelf: Shelf) -> None:
    """Empty files take none of the disk, and gVisor bounds no number of them."""
    source = """
import os
for number in range(200_000): os.close(os.open(f'/tmp/{number:0200d}', os.O_CREAT))
"""
    execution = await run(await shelf.take(), source, memory_bytes=48 * MEBIBYTE)
    assert execution.limits_hit == (LimitKind.MEMORY,), execution


async def test_a_fork_bomb_leaves_the_container_fit(shelf: Shelf) -> None:
    source = """
import os
while True:
    try: os.fork()
    except OSError: pass
"""
    sandbox = await shelf.take()
    execution = await run(sandbox, source, processes=32, cpu_time_seconds=2.0)
    assert execution.ending is Ending.LIMIT
    assert await output_of(sandbox, "print('alive')") == "alive\n"


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGHUP"])
async def test_ending_who_tells_an_executables_status_is_told_as_a_crash(
    shelf: Shelf, name: str
) -> None:
    """There the first process of a namespace can be ended from within, and its namespace is."""
    number = signal.Signals[name]
    work = Commands(commands=(("sh", "-c", f"kill -{number:d} 1; sleep 5; exit 0"),))
    execution = await (await shelf.take()).run(Job(work=work, limits=Limits()))
    assert execution.ending is Ending.CRASHED
    ended = Termination(kind=TerminationKind.SIGNALED, value=number)
    assert execution.termination == ended


# ------------------------------------------------------------------------------- the container


async def test_only_a_kernel_of_its_own_gives_the_runner_its_root(
    engine: docker.APIClient, python_image: str
) -> None:
    for runtime, kind, capabilities in (
        ("runc", Plan, ()),
        ("", Plan, ()),
        (RUNTIME, SandboxKernelPlan, SANDBOX_CAPABILITIES),
    ):
        plan = await plan_containers(engine, DockerOptions(image=python_image, runtime=runtime))
        assert (type(plan), plan.capabilities) == (kind, capabilities)


async def test_a_runner_refuses_to_be_root_of_the_hosts_kernel(
    engine: docker.APIClient, python_image: str
) -> None:
    plan = SandboxKernelPlan(options=DockerOptions(image=python_image, runtime="runc"))
    container = await DockerContainer.start(Containers(engine), plan)
    with pytest.raises(SandboxError, match="root of a kernel that is no sandbox"):
        await ContainedSandbox.start(container)


async def test_the_engine_bounds_the_container_by_the_greatest_limits(
    engine: docker.APIClient, python_image: str
) -> None:
    greatest = Limits(memory_bytes=768 * MEBIBYTE, processes=96)
    options = DockerOptions(image=python_image, runtime=RUNTIME, greatest=greatest)
    container = await DockerContainer.start(Containers(engine), SandboxKernelPlan(options=options))
    try:
        host = engine.inspect_container(container.name)["HostConfig"]
    finally:
        await container.destroy()
    assert host["MemorySwap"] == host["Memory"] >= greatest.memory_bytes
    assert host["PidsLimit"] >= greatest.processes
    assert host["NanoCpus"] > 0
    assert host["CapDrop"] == ["ALL"]
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert not host["Privileged"]
    assert not host["Binds"]


async def test_walls_are_told_as_they_stand(engine: docker.APIClient, python_image: str) -> None:
    walls = await probe(engine, DockerOptions(image=python_image, runtime=RUNTIME))
    standing = {wall.name: wall.standing for wall in walls}
    arguments = engine.info()["Runtimes"][RUNTIME].get("runtimeArgs", [])
    kept = "--ignore-cgroups" not in arguments
    limits = dict.fromkeys(("memory-limit", "process-limit", "cpu-limit"), kept)
    inner = {"container": True, "seccomp": True, "private-proc": True, "landlock": False}
    del standing["judge-layout"]  # the image's interpreter decides
    assert standing == {**inner, **limits}
