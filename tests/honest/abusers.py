"""Programs that take more than they may, each with the verdict that it deserves."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reward_server.domain import MEBIBYTE, LimitKind, Limits, Verdict
from tests.honest.solution import code

LIMITS = Limits(
    cpu_time_seconds=5.0,
    wall_time_seconds=10.0,
    memory_bytes=128 * MEBIBYTE,
    processes=32,
    disk_bytes=32 * MEBIBYTE,
    file_size_bytes=16 * MEBIBYTE,
    output_bytes=8 * MEBIBYTE,
    open_files=64,
)
FEW_WALL_SECONDS = replace(LIMITS, wall_time_seconds=1.0)
MUCH_MEMORY = replace(LIMITS, memory_bytes=512 * MEBIBYTE)
FEW_CPU_SECONDS = Limits(cpu_time_seconds=0.3, wall_time_seconds=20.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Abuser:
    """A program that takes too much.

    Attributes:
        name: of what.
        program: the program.
        verdict: what it gets; its right output would be "done".
        limit: the limit that must be named, if any.
        limits: those that it runs under.
    """

    name: str
    program: str
    verdict: Verdict
    limit: LimitKind | None
    limits: Limits = LIMITS


def _abuser(
    name: str,
    program: str,
    verdict: Verdict,
    limit: LimitKind | None,
    limits: Limits = LIMITS,
) -> Abuser:
    return Abuser(name=name, program=code(program), verdict=verdict, limit=limit, limits=limits)


def _slow(name: str, program: str) -> Abuser:
    kind = LimitKind.WALL_TIME
    return _abuser(name, program, Verdict.TIME_LIMIT_EXCEEDED, kind, FEW_WALL_SECONDS)


def _fat(name: str, program: str) -> Abuser:
    return _abuser(name, program, Verdict.MEMORY_LIMIT_EXCEEDED, LimitKind.MEMORY)


def _loud(name: str, program: str, limit: LimitKind) -> Abuser:
    return _abuser(name, program, Verdict.OUTPUT_LIMIT_EXCEEDED, limit)


def _greedy(name: str, program: str, limit: LimitKind) -> Abuser:
    return _abuser(name, program, Verdict.RUNTIME_ERROR, limit)


ABUSERS = (
    _greedy(
        "a fork bomb",
        """
        import os
        while True:
            os.fork()
        """,
        LimitKind.PROCESSES,
    ),
    _slow(
        "a fork bomb that goes on",
        """
        import os, time
        while True:
            try:
                os.fork()
            except OSError:
                time.sleep(0.01)
        """,
    ),
    _abuser(
        "a fork bomb that prints the answer",
        """
        import os
        try:
            while True:
                os.fork()
        except OSError:
            print('done')
        """,
        Verdict.FAILED,
        LimitKind.PROCESSES,
    ),
    # Forks take long here, and all are under way when the first is refused: the kernel must not
    # have refused it by a count that begins with the fork and is told nobody.
    _abuser(
        "large children that all fork at once, of which the first to be refused ends all",
        """
        import mmap, os, time
        kept = mmap.mmap(-1, 300 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        kept.madvise(mmap.MADV_NOHUGEPAGE)
        for offset in range(0, len(kept), mmap.PAGESIZE):
            kept[offset] = 1
        waiting, starting = os.pipe()
        hearing, telling = os.pipe()
        for _ in range(24):
            if os.fork() == 0:
                os.close(starting)
                os.nice(19)
                os.read(waiting, 1)
                try:
                    os.fork()
                except OSError:
                    os.write(telling, b'no')
                time.sleep(60)
        os.close(starting)
        os.read(hearing, 1)
        print('done')
        """,
        Verdict.PASSED,
        LimitKind.PROCESSES,
        MUCH_MEMORY,
    ),
    _slow(
        "a bomb of threads",
        """
        import threading, time
        while True:
            threading.Thread(target=time.sleep, args=(60,)).start()
        """,
    ),
    _slow(
        "a bomb of children that end",
        """
        import os, time
        while True:
            try:
                if os.fork() == 0:
                    os._exit(0)
            except OSError:
                time.sleep(0.01)
        """,
    ),
    _fat(
        "a memory bomb",
        """
        kept = []
        while True:
            kept.append(bytes(1_000_000))
        """,
    ),
    _fat("a memory bomb at one stroke", "kept = bytearray(10**10)\n"),
    _fat(
        "a memory bomb spread over children",
        """
        import os, time
        for _ in range(8):
            if os.fork() == 0:
                kept = bytearray(b'x' * (60 << 20))
                time.sleep(60)
        os.wait()
        """,
    ),
    _fat(
        "a memory bomb in files that have no name",
        """
        import os
        while True:
            os.write(os.memfd_create('x'), b'x' * (8 << 20))
        """,
    ),
    _loud(
        "a flood of output",
        """
        while True:
            print('x' * 1_000_000)
        """,
        LimitKind.OUTPUT,
    ),
    _loud(
        "a flood of errors",
        """
        import sys
        while True:
            print('x' * 1_000_000, file=sys.stderr)
        """,
        LimitKind.OUTPUT,
    ),
    _loud(
        "a file that grows",
        """
        with open('file', 'wb') as file:
            while True:
                file.write(bytes(1 << 20))
        """,
        LimitKind.FILE_SIZE,
    ),
    _loud(
        "a file in shared memory that grows",
        """
        with open('/dev/shm/file', 'wb') as file:
            while True:
                file.write(bytes(1 << 20))
        """,
        LimitKind.FILE_SIZE,
    ),
    _loud(
        "a disk that fills",
        """
        import itertools
        for number in itertools.count():
            with open(f'file{number}', 'wb') as file:
                file.write(bytes(4 << 20))
        """,
        LimitKind.DISK,
    ),
    _loud(
        "a folder of endless files",
        """
        import itertools
        for number in itertools.count():
            open(f'file{number}', 'wb').close()
        """,
        LimitKind.DISK,
    ),
    _greedy(
        "a leak of descriptors",
        """
        kept = []
        while True:
            kept.append(open('/dev/null'))
        """,
        LimitKind.OPEN_FILES,
    ),
    _greedy(
        "a leak of pipes that are full",
        """
        import os
        while True:
            reader, writer = os.pipe()
            os.set_blocking(writer, False)
            os.write(writer, bytes(65536))
        """,
        LimitKind.OPEN_FILES,
    ),
    _slow("a sleep for ever", "import time\ntime.sleep(3600)\n"),
    _slow("a wait for input that never comes", "import os\nos.read(os.pipe()[0], 1)\n"),
    _slow(
        "the right output and a sleep for ever",
        """
        import time
        print('done', flush=True)
        time.sleep(3600)
        """,
    ),
    _slow(
        "signals ignored",
        """
        import signal, time
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        while True:
            time.sleep(1)
        """,
    ),
    _slow(
        "a program stopped by its child",
        """
        import os, signal, time
        if os.fork() == 0:
            os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(3600)
        """,
    ),
    _abuser(
        "a busy loop",
        """
        while True:
            pass
        """,
        Verdict.TIME_LIMIT_EXCEEDED,
        LimitKind.CPU_TIME,
        FEW_CPU_SECONDS,
    ),
    _abuser(
        "busy loops in children",
        """
        import os
        for _ in range(4):
            if os.fork() == 0:
                while True:
                    pass
        os.wait()
        """,
        Verdict.TIME_LIMIT_EXCEEDED,
        LimitKind.CPU_TIME,
        FEW_CPU_SECONDS,
    ),
    _abuser(
        "grandchildren left behind by a right program",
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(3600)
            os._exit(0)
        os.wait()
        print('done')
        """,
        Verdict.PASSED,
        None,
    ),
    _abuser(
        "grandchildren left behind by a wrong program",
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(3600)
            os._exit(0)
        os.wait()
        print('wrong')
        """,
        Verdict.FAILED,
        None,
    ),
)
