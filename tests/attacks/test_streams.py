"""Standard streams are files in memory: a program owns its output, and nothing but its output."""

from __future__ import annotations

import pytest

from reward_server.domain import (
    MEBIBYTE,
    LimitKind,
    Limits,
    StdioCase,
    StdioTests,
    Verdict,
)
from tests.attacks.attack import code
from tests.support.common import SMALL_LIMITS, Judge, on_the_servers_loop

pytestmark = on_the_servers_loop

INPUT = b"the input\n"
HELD = StdioTests(cases=tuple(StdioCase(stdin=INPUT, expected_stdout=b"held\n") for _ in range(2)))


def printing(expected: bytes) -> StdioTests:
    return StdioTests(cases=(StdioCase(stdin=b"", expected_stdout=expected),))


# Each tries to change the input in a way of its own, and prints whether it is what it was.
CHANGES = {
    "by the descriptor": "os.pwrite(0, b'X', 0)",
    "by another descriptor": "os.pwrite(os.open('/proc/self/fd/0', os.O_RDWR), b'X', 0)",
    "by its device": "open('/dev/stdin', 'r+b', 0).write(b'X')",
    "by opening it anew": "open('/dev/stdin', 'wb')",
    "by its size": "os.truncate('/proc/self/fd/0', 1)",
    "by a larger size": "os.truncate('/proc/self/fd/0', 100)",
    "by a mapping": "mmap.mmap(os.open('/proc/self/fd/0', os.O_RDWR), 0)[0:1] = b'X'",
    "by its rights": "os.fchmod(0, 0o777); os.pwrite(os.open('/dev/stdin', os.O_RDWR), b'X', 0)",
    "by a copy between files": (
        "other = os.memfd_create('x'); os.write(other, b'X'); "
        "os.copy_file_range(other, os.open('/dev/stdin', os.O_RDWR), 1, 0, 0)"
    ),
    "by its seals": "fcntl.fcntl(os.open('/dev/stdin', os.O_RDWR), fcntl.F_ADD_SEALS, 0)",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_the_input_cannot_be_changed(change: str, judge: Judge) -> None:
    source = f"""
import fcntl, mmap, os, sys
try: {change}
except OSError: pass
print("held" if os.pread(0, 100, 0) == {INPUT!r} == sys.stdin.buffer.read() else "changed")
"""
    assert (await judge(source, HELD)).verdict is Verdict.PASSED


# Each goes on writing when the program has ended: any of its states may be the one that is judged.
LATER = {
    "by its descriptors": code("""
        import os, time
        os.write(1, b"1\\n")
        parent = os.getpid()
        if os.fork() == 0:
            os.setsid()
            kept = [os.dup(1) for _ in range(100)]
            while os.getppid() == parent:
                time.sleep(0.001)
            while True:
                os.ftruncate(kept[-1], 0)
                os.pwrite(kept[-1], b"2\\n", 0)
        os._exit(0)
    """),
    "by a mapping": code("""
        import mmap, os
        os.write(1, b"1\\n")
        text = mmap.mmap(os.open("/proc/self/fd/1", os.O_RDWR), 2)
        if os.fork() == 0:
            while True:
                text[0:1] = b"2"
                text[0:1] = b"1"
        os._exit(0)
    """),
}


@pytest.mark.parametrize("way", LATER)
async def test_what_is_compared_is_what_is_told(way: str, judge: Judge) -> None:
    for number in range(10):
        said = await judge(f"{LATER[way]}# {number}", printing(b"1\n"))
        assert said.stdout.data in (b"", b"1\n", b"2\n")
        assert (said.verdict is Verdict.PASSED) == (said.stdout.data == b"1\n")


FLAGS = code("""
    import fcntl, os, signal
    print("held", flush=True)
    for number in (0, 1, 2):
        flags = os.O_APPEND | os.O_NONBLOCK | os.O_ASYNC
        fcntl.fcntl(number, fcntl.F_SETFL, flags)
        fcntl.fcntl(number, fcntl.F_SETOWN, 1)
        fcntl.flock(number, fcntl.LOCK_EX)
        os.lseek(number, 1 << 20, os.SEEK_SET)
    for number in (1, 2):
        try: fcntl.fcntl(number, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK)
        except OSError: continue
        print("sealed")
""")


async def test_flags_offsets_locks_and_seals_are_the_programs_own(judge: Judge) -> None:
    assert (await judge(FLAGS, HELD)).verdict is Verdict.PASSED


FLOODS = {
    "by writing": "while True: os.write(1, bytes(1 << 16))",
    "by the error output": "while True: os.write(2, bytes(1 << 16))",
    "by both": "while True: os.write(1, bytes(1 << 16)); os.write(2, bytes(1 << 16))",
    "by opening it anew": "f = os.open('/dev/stdout', os.O_WRONLY | os.O_APPEND)\n"
    "while True: os.write(f, bytes(1 << 16))",
    "by its size": "os.truncate('/proc/self/fd/1', 12 << 20)",
    "by a hole": "os.pwrite(1, b'x', 12 << 20)",
    "by a hole beyond all files": "os.pwrite(1, b'x', 1 << 50)",
    "by room for it": "os.posix_fallocate(1, 0, 12 << 20)",
    "by a mapping": "os.truncate('/proc/self/fd/1', 12 << 20)\n"
    "mmap.mmap(os.open('/proc/self/fd/1', os.O_RDWR), 0).write(bytes(12 << 20))",
    "by children": "while os.fork(): os.wait()\nos.write(1, bytes(1 << 20))",
}
OTHER_LIMITS = {"by a hole beyond all files": LimitKind.FILE_SIZE}


@pytest.mark.parametrize("way", FLOODS)
async def test_a_flood_of_output_ends_early_and_costs_little(way: str, judge: Judge) -> None:
    limits = SMALL_LIMITS
    said = await judge(f"import mmap, os\n{FLOODS[way]}", printing(b""), limits=limits)
    assert said.verdict is Verdict.OUTPUT_LIMIT_EXCEEDED, said
    assert said.limits_hit == (OTHER_LIMITS.get(way, LimitKind.OUTPUT),)
    bound = limits.output_bytes + 2 * limits.file_size_bytes + 16 * MEBIBYTE
    assert said.usage.peak_memory_bytes < bound
    assert (await judge("print('held')", HELD)).verdict is Verdict.PASSED


async def test_the_beginning_of_too_much_output_earns_nothing(judge: Judge) -> None:
    limits = Limits(output_bytes=1000)
    source = "print('x' * 999)\nprint('y' * 5)"
    said = await judge(source, printing(b"x" * 999 + b"\n"), limits=limits)
    assert said.verdict is Verdict.OUTPUT_LIMIT_EXCEEDED
    whole = await judge("print('x' * 999)", printing(b"x" * 999 + b"\n"), limits=limits)
    assert whole.verdict is Verdict.PASSED


async def test_descriptors_in_flight_keep_no_memory_of_an_execution(judge: Judge) -> None:
    source = code("""
        import os, socket
        os.write(1, bytes(7 << 20))
        ours, theirs = socket.socketpair()
        for _ in range(50):
            socket.send_fds(ours, [b"x"], [1])
            socket.send_fds(theirs, [b"x"], [ours.fileno()])
    """)
    for number in range(10):
        await judge(f"{source}# {number}", printing(b""))
    said = await judge("print('held')", HELD)
    assert said.verdict is Verdict.PASSED
    assert said.usage.peak_memory_bytes < 16 * MEBIBYTE


async def test_output_counts_as_memory(judge: Judge) -> None:
    limits = Limits(memory_bytes=32 * MEBIBYTE, output_bytes=64 * MEBIBYTE)
    said = await judge(
        "import os\nwhile True: os.write(1, bytes(1 << 20))", printing(b""), limits=limits
    )
    assert said.verdict in (Verdict.MEMORY_LIMIT_EXCEEDED, Verdict.OUTPUT_LIMIT_EXCEEDED)
    assert said.usage.peak_memory_bytes <= limits.memory_bytes
