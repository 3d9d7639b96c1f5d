"""What every sandbox promises, as checks that any of them can be put to.

`WALLS` are protections: a sandbox without walls must fail each (see `test_weak`), or the check
would be a dud. `PROMISES` are what honest programs and their judges count on.

The programs are bounded in themselves, so that the weak sandbox can bear them.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from reward_server.domain import (
    MEBIBYTE,
    CallCase,
    CallJudgement,
    CallTests,
    Ending,
    Execution,
    FunctionJudgement,
    FunctionTests,
    Job,
    LimitKind,
    Limits,
    Program,
    Termination,
    TerminationKind,
    TestOutcome,
)
from reward_server.grading.crossing.python.refusals import crossing_of
from reward_server.grading.crossing.python.texts import read_functions
from reward_server.sandbox.base import Sandbox
from tests.conformance.suite.host import SECRET_VARIABLE, Host, processes_marked

Check = Callable[[Sandbox, Host], Awaitable[None]]

LIMITS: dict[str, Any] = {
    "cpu_time_seconds": 15.0,
    "wall_time_seconds": 20.0,
    "memory_bytes": 256 * MEBIBYTE,
}
GRACE_SECONDS = 1.0


async def run(sandbox: Sandbox, source: str, *, stdin: bytes = b"", **limits: Any) -> Execution:
    work = Program(source=source, stdin=stdin)
    return await sandbox.run(Job(work=work, limits=Limits(**{**LIMITS, **limits})))


async def output_of(sandbox: Sandbox, source: str, **limits: Any) -> str:
    """Runs a program that has to come to its own end, and gives what it printed."""
    execution = await run(sandbox, source, **limits)
    assert execution.ending is Ending.COMPLETED, execution
    return execution.stdout.data.decode()


def judgement(source: str, *asserts: str, test_code: str = "") -> FunctionJudgement:
    tests = FunctionTests(entry_point="f", asserts=asserts, test_code=test_code)
    crossing = crossing_of(read_functions(tests, ""))
    return FunctionJudgement(source=source, tests=tests, crossing=crossing)


async def judge(sandbox: Sandbox, work: FunctionJudgement | CallJudgement) -> Execution:
    return await sandbox.run(Job(work=work, limits=Limits(**LIMITS)))


# -------------------------------------------------------------------------- walls: isolation


async def a_file_of_the_host_cannot_be_read(sandbox: Sandbox, host: Host) -> None:
    source = f"""
try: print(open({str(host.secret_file)!r}).read())
except OSError: print('denied')
"""
    assert await output_of(sandbox, source) == "denied\n"


async def a_folder_of_the_host_cannot_be_written(sandbox: Sandbox, host: Host) -> None:
    target = host.folder / "planted"
    source = f"""
import os
try:
    os.makedirs({str(host.folder)!r}, exist_ok=True)
    open({str(target)!r}, 'w').close()
except OSError: pass
"""
    await output_of(sandbox, source)
    assert not target.exists()


async def libraries_are_mounted_read_only(sandbox: Sandbox, host: Host) -> None:
    source = """
def options_of(path):
    mounts = [line.split()[1:4:2] for line in open('/proc/self/mounts')]
    above = [mount for mount in mounts if f'{path}/'.startswith(f'{mount[0].rstrip("/")}/')]
    return max(reversed(above), key=lambda mount: len(mount[0]))[1].split(',')
paths = ('/', '/usr/lib', '/opt/codereward/runner')
print([path for path in paths if 'ro' not in options_of(path)])
"""
    assert await output_of(sandbox, source) == "[]\n"


async def the_hosts_environment_is_not_passed_on(sandbox: Sandbox, host: Host) -> None:
    assert host.secret == os.environ[SECRET_VARIABLE]
    assert host.secret not in await output_of(sandbox, "import os; print(dict(os.environ))")


async def no_descriptor_is_inherited(sandbox: Sandbox, host: Host) -> None:
    source = """
import os
def is_open(fd):
    try: os.fstat(fd)
    except OSError: return False
    return True
print([fd for fd in range(3, 1000) if is_open(fd)])
"""
    assert await output_of(sandbox, source) == "[]\n"


async def a_function_has_no_descriptor_but_its_channel(sandbox: Sandbox, host: Host) -> None:
    source = """
import os
def f():
    def is_open(number):
        try: os.fstat(number)
        except OSError: return False
        return True
    return sum(map(is_open, range(3, 5000)))
"""
    execution = await judge(sandbox, judgement(source, "assert f() == 1"))
    assert [test.outcome for test in execution.tests] == [TestOutcome.PASSED]


async def the_network_is_out_of_reach(sandbox: Sandbox, host: Host) -> None:
    source = f"""
import socket
try: socket.create_connection(('127.0.0.1', {host.port}), 1)
except OSError: pass
"""
    await output_of(sandbox, source)
    assert not host.was_connected(host.listener)


async def an_abstract_socket_is_out_of_reach(sandbox: Sandbox, host: Host) -> None:
    source = f"""
import socket
try: socket.socket(socket.AF_UNIX).connect({chr(0) + host.secret!r})
except OSError: pass
"""
    await output_of(sandbox, source)
    assert not host.was_connected(host.abstract)


async def processes_of_the_host_are_not_seen(sandbox: Sandbox, host: Host) -> None:
    source = """
import os
for name in os.listdir('/proc'):
    if name.isdecimal():
        try: print(open(f'/proc/{name}/cmdline').read())
        except OSError: pass
"""
    assert host.secret not in await output_of(sandbox, source)


async def processes_of_the_host_cannot_be_signalled(sandbox: Sandbox, host: Host) -> None:
    source = f"""
import os
try: os.kill({host.victim.pid}, {signal.SIGKILL:d})
except OSError: pass
"""
    await output_of(sandbox, source)
    with contextlib.suppress(subprocess.TimeoutExpired):
        host.victim.wait(0.2)
    assert host.victim.poll() is None


async def shared_memory_of_the_host_is_out_of_reach(sandbox: Sandbox, host: Host) -> None:
    source = f"import ctypes; print(ctypes.CDLL(None).shmget({host.memory_key}, 0, 0))"
    assert await output_of(sandbox, source) == "-1\n"


async def a_program_has_no_privilege(sandbox: Sandbox, host: Host) -> None:
    source = """
import ctypes, os
lines = dict(line.split(':', 1) for line in open('/proc/self/status') if ':' in line)
print(os.getuid() == 0 or os.geteuid() == 0)
capabilities = [lines[name] for name in ('CapInh', 'CapPrm', 'CapEff')]
print([each for each in (*capabilities, lines.get('CapAmb', '0')) if int(each, 16)])
PR_GET_NO_NEW_PRIVS = 39
print(ctypes.CDLL(None).prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0))
print(lines['Seccomp'].strip())
"""
    assert await output_of(sandbox, source) == "False\n[]\n1\n2\n"


async def a_new_namespace_is_an_attack(sandbox: Sandbox, host: Host) -> None:
    source = "import ctypes; ctypes.CDLL(None).unshare(0x10000000)"
    execution = await run(sandbox, source)
    assert execution.ending is Ending.VIOLATION
    assert execution.termination.value == signal.SIGSYS


async def reading_another_processs_memory_is_an_attack(sandbox: Sandbox, host: Host) -> None:
    source = "import ctypes; ctypes.CDLL(None).ptrace(16, 1, 0, 0)"
    assert (await run(sandbox, source)).ending is Ending.VIOLATION


# ------------------------------------------------------------------------ walls: cleanliness


async def files_do_not_survive_their_execution(sandbox: Sandbox, host: Host) -> None:
    name = f"left-{host.secret}"
    source = f"""
import os
for folder in ('.', '/tmp', '/dev/shm'):
    path = os.path.join(folder, {name!r})
    print(os.path.exists(path))
    open(path, 'w').close()
"""
    try:
        assert await output_of(sandbox, source) == "False\nFalse\nFalse\n"
        assert await output_of(sandbox, source) == "False\nFalse\nFalse\n"
    finally:
        for folder in ("/tmp", "/dev/shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{folder}/{name}")


async def orphans_end_with_their_execution(sandbox: Sandbox, host: Host) -> None:
    marker = f"orphan-{host.secret}"
    source = f"""
import os, time
ready, told = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(told, b'x')
        null = os.open('/dev/null', os.O_RDWR)
        for fd in (0, 1, 2): os.dup2(null, fd)
        os.execv('/usr/bin/sleep', [{marker!r}, '20'])
    os._exit(0)
os.read(ready, 1)
time.sleep(0.1)
"""
    await output_of(sandbox, source)
    left = processes_marked(marker)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


# ----------------------------------------------------------------------------- walls: limits


def assert_limit(execution: Execution, kind: LimitKind) -> None:
    assert execution.ending is Ending.LIMIT, execution
    assert execution.limits_hit[0] is kind, execution.limits_hit


async def processor_time_is_bounded(sandbox: Sandbox, host: Host) -> None:
    source = "import time\nwhile time.process_time() < 1.3: pass"
    execution = await run(sandbox, source, cpu_time_seconds=0.3)
    assert_limit(execution, LimitKind.CPU_TIME)
    assert execution.usage.cpu_time_seconds < 0.3 + GRACE_SECONDS


async def processor_time_of_children_counts(sandbox: Sandbox, host: Host) -> None:
    source = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        while time.process_time() < 0.5: pass
        os._exit(0)
for _ in range(4): os.wait()
"""
    execution = await run(sandbox, source, cpu_time_seconds=0.6)
    assert_limit(execution, LimitKind.CPU_TIME)
    assert execution.usage.cpu_time_seconds < 0.6 + GRACE_SECONDS


async def wall_time_is_bounded(sandbox: Sandbox, host: Host) -> None:
    source = "import time; time.sleep(4)"
    execution = await run(sandbox, source, wall_time_seconds=0.8)
    assert_limit(execution, LimitKind.WALL_TIME)
    assert execution.usage.wall_time_seconds < 3.5  # the machine may stand still meanwhile


async def closed_streams_neither_end_a_program_nor_free_it(sandbox: Sandbox, host: Host) -> None:
    closing = "import os, time\nos.close(1)\nos.close(2)\n"
    working = await run(sandbox, f"{closing}time.sleep(0.1)\nraise SystemExit(0)")
    assert working.ending is Ending.COMPLETED, working
    leaving = await run(sandbox, f"{closing}time.sleep(0.1)\nraise SystemExit(3)")
    assert leaving.termination == Termination(kind=TerminationKind.EXITED, value=3)
    endless = await run(sandbox, f"{closing}time.sleep(2.5)", wall_time_seconds=0.8)
    assert_limit(endless, LimitKind.WALL_TIME)


async def ignoring_signals_buys_no_time(sandbox: Sandbox, host: Host) -> None:
    source = """
import signal, time
for number in signal.valid_signals():
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
time.sleep(2.5)
"""
    execution = await run(sandbox, source, wall_time_seconds=0.8)
    assert_limit(execution, LimitKind.WALL_TIME)


async def memory_is_bounded(sandbox: Sandbox, host: Host) -> None:
    source = "bytearray(150 << 20)"
    execution = await run(sandbox, source, memory_bytes=64 * MEBIBYTE)
    assert_limit(execution, LimitKind.MEMORY)
    assert execution.usage.peak_memory_bytes <= 64 * MEBIBYTE


async def memory_of_children_counts(sandbox: Sandbox, host: Host) -> None:
    source = """
import os, time
for _ in range(5):
    if os.fork() == 0:
        kept = bytearray(30 << 20)
        time.sleep(4)  # until whoever looks at intervals has looked
        os._exit(0)
for _ in range(5): os.wait()
"""
    execution = await run(sandbox, source, memory_bytes=96 * MEBIBYTE)
    assert_limit(execution, LimitKind.MEMORY)


async def files_in_memory_count_as_memory(sandbox: Sandbox, host: Host) -> None:
    source = f"""
import os, time
path = '/dev/shm/memory-{host.secret}'
try:
    with open(path, 'wb', 0) as file:
        for _ in range(100): file.write(bytes(1 << 20))
    time.sleep(15)  # until whoever looks at intervals has looked
finally: os.unlink(path)
"""
    execution = await run(
        sandbox,
        source,
        memory_bytes=64 * MEBIBYTE,
        disk_bytes=512 * MEBIBYTE,
        file_size_bytes=512 * MEBIBYTE,
    )
    assert_limit(execution, LimitKind.MEMORY)


async def processes_are_bounded(sandbox: Sandbox, host: Host) -> None:
    source = """
import os, time
for _ in range(25):
    if os.fork() == 0:
        time.sleep(0.5)
        os._exit(0)
"""
    execution = await run(sandbox, source, processes=10)
    assert_limit(execution, LimitKind.PROCESSES)


async def threads_are_bounded(sandbox: Sandbox, host: Host) -> None:
    source = """
import threading, time
for _ in range(25): threading.Thread(target=time.sleep, args=(0.3,)).start()
"""
    execution = await run(sandbox, source, processes=10)
    assert_limit(execution, LimitKind.PROCESSES)


async def the_size_of_a_file_is_bounded(sandbox: Sandbox, host: Host) -> None:
    source = "open('large', 'wb').write(bytes(3 << 20))"
    execution = await run(sandbox, source, file_size_bytes=1 * MEBIBYTE)
    assert_limit(execution, LimitKind.FILE_SIZE)


async def the_disk_is_bounded(sandbox: Sandbox, host: Host) -> None:
    source = """
for number in range(6):
    with open(f'part{number}', 'wb') as file: file.write(bytes(1 << 20))
"""
    execution = await run(sandbox, source, disk_bytes=4 * MEBIBYTE)
    assert_limit(execution, LimitKind.DISK)


async def all_folders_share_the_disks_bound(sandbox: Sandbox, host: Host) -> None:
    names = [f"{folder}/disk-{host.secret}" for folder in (".", "/tmp", "/dev/shm")]
    source = f"""
import os
try:
    for name in {names!r}:
        with open(name, 'wb') as file: file.write(bytes(2 << 20))
finally:
    for name in {names!r}:
        if os.path.exists(name): os.unlink(name)
"""
    execution = await run(sandbox, source, disk_bytes=5 * MEBIBYTE)
    assert_limit(execution, LimitKind.DISK)


async def open_files_are_bounded(sandbox: Sandbox, host: Host) -> None:
    source = "kept = [open('/dev/null') for _ in range(60)]"
    execution = await run(sandbox, source, open_files=40)
    assert_limit(execution, LimitKind.OPEN_FILES)


async def output_is_bounded(sandbox: Sandbox, host: Host) -> None:
    for stream in ("stdout", "stderr"):
        source = f"import sys\nfor _ in range(3000): sys.{stream}.write('x' * 1023 + chr(10))"
        execution = await run(sandbox, source, output_bytes=1 * MEBIBYTE)
        assert_limit(execution, LimitKind.OUTPUT)


WALLS: tuple[Check, ...] = (
    a_file_of_the_host_cannot_be_read,
    a_folder_of_the_host_cannot_be_written,
    libraries_are_mounted_read_only,
    the_hosts_environment_is_not_passed_on,
    no_descriptor_is_inherited,
    the_network_is_out_of_reach,
    an_abstract_socket_is_out_of_reach,
    processes_of_the_host_are_not_seen,
    processes_of_the_host_cannot_be_signalled,
    shared_memory_of_the_host_is_out_of_reach,
    a_program_has_no_privilege,
    a_new_namespace_is_an_attack,
    reading_another_processs_memory_is_an_attack,
    files_do_not_survive_their_execution,
    orphans_end_with_their_execution,
    processor_time_is_bounded,
    processor_time_of_children_counts,
    wall_time_is_bounded,
    ignoring_signals_buys_no_time,
    memory_is_bounded,
    memory_of_children_counts,
    files_in_memory_count_as_memory,
    processes_are_bounded,
    threads_are_bounded,
    the_size_of_a_file_is_bounded,
    the_disk_is_bounded,
    all_folders_share_the_disks_bound,
    open_files_are_bounded,
    output_is_bounded,
)


# ---------------------------------------------------------------------------------- promises


async def a_program_reads_writes_and_exits(sandbox: Sandbox, host: Host) -> None:
    source = (
        "import sys\nprint(sys.stdin.read().upper())\nprint('no', file=sys.stderr)\nsys.exit(7)"
    )
    execution = await run(sandbox, source, stdin="grüße\n".encode())
    assert execution.ending is Ending.COMPLETED
    assert execution.termination.kind is TerminationKind.EXITED
    assert execution.termination.value == 7
    assert execution.stdout.data == "GRÜSSE\n\n".encode()
    assert execution.stderr.data == b"no\n"


async def a_program_that_does_not_compile_is_told_apart(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, "x = 1\nprint(x", stdin=bytes(2 * MEBIBYTE))
    assert execution.ending is Ending.COMPILE_ERROR
    assert execution.message == "SyntaxError: '(' was never closed (solution.py, line 2)"
    assert execution.termination.kind is TerminationKind.EXITED
    assert execution.termination.value == 1
    assert execution.stderr.data.endswith(b"SyntaxError: '(' was never closed\n")


async def much_input_and_output_are_kept_whole(sandbox: Sandbox, host: Host) -> None:
    data = os.urandom(5 * MEBIBYTE)
    source = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    execution = await run(sandbox, source, stdin=data)
    assert execution.stdout.data == data
    assert not execution.stdout.truncated


async def input_that_nobody_reads_does_not_block(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, "print('done')", stdin=bytes(2 * MEBIBYTE))
    assert execution.stdout.data == b"done\n"


async def the_usual_tools_work(sandbox: Sandbox, host: Host) -> None:
    source = """
import asyncio, multiprocessing, subprocess, tempfile, threading
def square(x): return x * x
if __name__ == '__main__':
    with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(square, range(4)))
    print(asyncio.run(asyncio.sleep(0, 'slept')))
    with tempfile.NamedTemporaryFile('w+') as file: print(file.write('x'))
    thread = threading.Thread(target=print, args=('thread',)); thread.start(); thread.join()
    print(subprocess.run(['echo', 'hello'], capture_output=True, text=True).stdout)
"""
    assert await output_of(sandbox, source) == "[0, 1, 4, 9]\nslept\n1\nthread\nhello\n\n"


async def a_fault_is_a_crash(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, "import ctypes; ctypes.string_at(0)")
    assert execution.ending is Ending.CRASHED
    assert execution.termination.kind is TerminationKind.SIGNALED
    assert execution.termination.value == signal.SIGSEGV


async def interpreter_state_does_not_survive(sandbox: Sandbox, host: Host) -> None:
    source = "import json, math; print(math.pi > 3, hasattr(json, 'left')); math.pi = json.left = 0"
    assert await output_of(sandbox, source) == "True False\n"
    assert await output_of(sandbox, source) == "True False\n"


async def usage_is_measured(sandbox: Sandbox, host: Host) -> None:
    source = """
import time
begin = time.process_time()
kept = bytearray(60 << 20)
while time.process_time() - begin < 0.3: pass
time.sleep(0.2)
"""
    usage = (await run(sandbox, source)).usage
    assert 0.29 <= usage.cpu_time_seconds < 2, usage
    assert usage.wall_time_seconds >= 0.45
    assert usage.peak_memory_bytes >= 60 * MEBIBYTE
    assert (await run(sandbox, "")).usage.peak_memory_bytes < 60 * MEBIBYTE


async def a_right_function_passes_and_a_wrong_one_fails(sandbox: Sandbox, host: Host) -> None:
    asserts = ("assert f(1) == 2", "assert f(2) == 3")
    right = await judge(sandbox, judgement("def f(x): return x + 1", *asserts))
    assert right.ending is Ending.COMPLETED
    assert [test.outcome for test in right.tests] == [TestOutcome.PASSED] * 2
    wrong = await judge(sandbox, judgement("def f(x): return 2", *asserts))
    assert wrong.ending is Ending.COMPLETED
    assert [test.outcome for test in wrong.tests] == [TestOutcome.PASSED, TestOutcome.FAILED]


async def what_tests_change_does_not_survive(sandbox: Sandbox, host: Host) -> None:
    identity = "def f(x): return x"
    changing = ("import math; math.pi = 3", "assert f(3) == 3 == __import__('math').pi")
    looking = ("import math", "assert f(3) == 3 < math.pi")
    for _ in range(2):
        for asserts in (looking, changing, looking):
            judged = await judge(sandbox, judgement(identity, "\n".join(asserts)))
            assert [test.outcome for test in judged.tests] == [TestOutcome.PASSED], judged


# Where everything lies in the memory of a process, and what the kernel drew for it at random. The
# code of an interpreter that is no position-independent executable lies in one place everywhere,
# far below; so does a page of the kernel's, far above.
LANDMARKS = """
import ctypes, os
def landmarks():
    starts = [int(line.partition('-')[0], 16) for line in open('/proc/self/maps')]
    libc = ctypes.CDLL(None)
    libc.getauxval.restype = ctypes.c_ulong
    drawn = int.from_bytes(ctypes.string_at(libc.getauxval(25), 16), 'big')
    code = ctypes.cast(libc.getpid, ctypes.c_void_p).value
    is_movable = open('/proc/self/exe', 'rb').read(18)[16] == 3
    objects = [id(type), id(None), id(1)] if is_movable else []
    placed = [start for start in starts if 1 << 40 < start < 1 << 48]
    return [*placed, *objects, id(os), id(object()), code, drawn]
"""


async def no_address_of_the_judges_is_a_candidates(sandbox: Sandbox, host: Host) -> None:
    test = f"{LANDMARKS}\nassert len(f()) > 20 and set(f()).isdisjoint(landmarks())"
    for _ in range(2):  # by the judge that is waiting, and by the one after
        judged = await judge(sandbox, judgement(f"{LANDMARKS}\nf = landmarks", test))
        assert [test.outcome for test in judged.tests] == [TestOutcome.PASSED], judged


async def texts_hash_alike_for_tests_and_solution(sandbox: Sandbox, host: Host) -> None:
    source = """
import os
class Card:
    def __init__(self, name): self.name = name
    def __hash__(self): return hash((self.name,))
def f(words): return [list(set(words)), os.environ.get('PYTHONHASHSEED'), *map(hash, words)]
"""
    words = "words = [f'word {number}' for number in range(99)]"
    asserts = (
        f"{words}\nassert f(words) == [list(set(words)), '0', *map(hash, words)]",
        "assert hash(Card('x')) == hash(('x',)) != hash(('y',))",
    )
    judged = await judge(sandbox, judgement(source, *asserts))
    assert [test.outcome for test in judged.tests] == [TestOutcome.PASSED] * 2, judged


async def calls_are_compared(sandbox: Sandbox, host: Host) -> None:
    cases = tuple(
        CallCase(args_json=json.dumps([value]), expected_json=json.dumps([value, 2]))
        for value in (1, "a", None)
    )
    work = CallJudgement(
        source="def f(x): return [x, 2] if x else [0, 2]",
        tests=CallTests(entry_point="f", cases=cases),
    )
    execution = await judge(sandbox, work)
    outcomes = [test.outcome for test in execution.tests]
    assert outcomes == [TestOutcome.PASSED, TestOutcome.PASSED, TestOutcome.FAILED]


async def each_way_not_to_be_judged_is_told_apart(sandbox: Sandbox, host: Host) -> None:
    test = "assert f(1) == 1"
    for source, asserts, ending in (
        ("def f(x:", test, Ending.COMPILE_ERROR),
        ("raise ValueError", test, Ending.LOAD_ERROR),
        ("import os; os._exit(0)", test, Ending.CRASHED),
        ("import os\ndef f(x): os._exit(0)", test, Ending.CRASHED),
        ("def f(x): return 1", "assert f(1) ==", Ending.INVALID_TASK),
    ):
        execution = await judge(sandbox, judgement(source, asserts))
        assert execution.ending is ending, (source, execution)
        assert all(test.outcome is not TestOutcome.PASSED for test in execution.tests)


async def results_and_calls_are_bounded(sandbox: Sandbox, host: Host) -> None:
    large = judgement("def f(x): return 'x' * (2 << 20)", "assert f(1)")
    job = Job(work=large, limits=Limits(**LIMITS, result_bytes=MEBIBYTE))
    assert_limit(await sandbox.run(job), LimitKind.RESULT)
    many = judgement("def f(x): return x", "assert sum(f(i) for i in range(50)) == 1225")
    job = Job(work=many, limits=Limits(**LIMITS, calls=40))
    assert_limit(await sandbox.run(job), LimitKind.CALLS)


PROMISES: tuple[Check, ...] = (
    a_program_reads_writes_and_exits,
    a_program_that_does_not_compile_is_told_apart,
    much_input_and_output_are_kept_whole,
    input_that_nobody_reads_does_not_block,
    the_usual_tools_work,
    a_fault_is_a_crash,
    interpreter_state_does_not_survive,
    closed_streams_neither_end_a_program_nor_free_it,
    usage_is_measured,
    a_right_function_passes_and_a_wrong_one_fails,
    a_function_has_no_descriptor_but_its_channel,
    what_tests_change_does_not_survive,
    no_address_of_the_judges_is_a_candidates,
    texts_hash_alike_for_tests_and_solution,
    calls_are_compared,
    each_way_not_to_be_judged_is_told_apart,
    results_and_calls_are_bounded,
)
CHECKS = (*WALLS, *PROMISES)

# Checks that need a wall which an operator may waive, by its name. Without the control group of
# `cpu-limit` nothing counts the CPU time of a process tree while it runs. Without that of
# `process-limit` the kernel still limits the processes of the execution's user.
NEEDING: Mapping[str, tuple[Check, ...]] = {
    "memory-limit": (
        memory_is_bounded,
        memory_of_children_counts,
        files_in_memory_count_as_memory,
    ),
    "cpu-limit": (processor_time_is_bounded, processor_time_of_children_counts),
}
