"""Each row of the system call policy does what it says, on this kernel, in a process of its own.

The calls are made with arguments that no kernel accepts (-1 everywhere), so a row that is missing
shows as another errno and does nothing.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial

import pytest

from reward_server.runner.walls import kernel, policy, seccomp
from reward_server.runner.walls.policy import Action, Syscall
from tests.unit.runner.walls.calls import errno_of, status_behind_the_filter

pytestmark = pytest.mark.promise("The filter stops every forbidden system call.", "Confinement")

NOTHING = (-1,) * 6
CLONE_NEWUSER = 0x10000000
CLONE_NEWTIME = 0x00000080


def _number(call: Syscall) -> int | None:
    return call.x86_64 if kernel.MACHINE == "x86_64" else call.aarch64


def _exit_code_behind_the_filter(body: Callable[[], int], program: bytes = b"") -> int:
    return os.waitstatus_to_exitcode(status_behind_the_filter(body, program))


ERRORS = {Action.DENY: errno.EPERM, Action.ABSENT: errno.ENOSYS, Action.IGNORE: 0}
KNOWN = [call for call in policy.SYSCALLS if _number(call) is not None]


@pytest.mark.parametrize("call", KNOWN, ids=lambda call: call.name)
def test_a_forbidden_call_ends_as_its_row_says(call: Syscall) -> None:
    number = _number(call)
    assert number is not None
    status = _statuses()[number, *NOTHING]
    if call.action is Action.KILL:
        assert os.WIFSIGNALED(status)
        assert os.WTERMSIG(status) == signal.SIGSYS
    else:
        assert os.waitstatus_to_exitcode(status) == ERRORS[call.action]


@pytest.mark.parametrize("flag", [CLONE_NEWUSER, CLONE_NEWTIME])
def test_clone_makes_no_namespace(flag: int) -> None:
    clone = _number(policy.CLONE)
    assert clone is not None
    arguments = (flag | 0x800, 0, 0, 0, 0)  # 0x800 is no valid signal set: fails unfiltered too
    assert _exit_code_behind_the_filter(lambda: errno_of(clone, *arguments)) == errno.EPERM


def test_clone_still_forks_and_threads_still_start() -> None:
    def fork_and_thread() -> int:
        import threading

        pid = os.fork()
        if pid == 0:
            os._exit(7)
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert _exit_code_behind_the_filter(fork_and_thread) == 7


UNIX_ALONE = {1: 0, 2: errno.EPERM, 10: errno.EPERM}
KINDS = (1, 2, 3)
FORBIDDEN_FAMILIES = (16, 17, 38, 40)


@pytest.mark.parametrize(("family", "expected"), UNIX_ALONE.items())
@pytest.mark.parametrize("kind", KINDS)
def test_only_unix_sockets_are_made(family: int, expected: int, kind: int) -> None:
    socket = _number(policy.SOCKET)
    assert socket is not None
    assert os.waitstatus_to_exitcode(_statuses()[socket, family, kind, 0]) == expected


@pytest.mark.parametrize("family", FORBIDDEN_FAMILIES)
def test_netlink_packet_crypto_and_vm_sockets_are_denied(family: int) -> None:
    socket = _number(policy.SOCKET)
    assert socket is not None
    assert os.waitstatus_to_exitcode(_statuses()[socket, family, 3, 0]) == errno.EPERM


def _ids(case: tuple[Syscall, int, int]) -> str:
    return f"{case[0].name}-{case[2]:#x}"


FORBIDDEN_ARGUMENTS = [
    (rule.call, rule.argument, value)
    for rule in policy.ARGUMENT_RULES
    if rule.test is not policy.Test.IS_NOT
    for value in rule.values
]


def _with(position: int, value: int) -> tuple[int, ...]:
    return (*[0] * position, value, *[0] * (5 - position))


@cache
def _statuses() -> dict[tuple[int, ...], int]:
    """Returns how a process ends that makes a call behind the filter, by the call's words.

    The processes are forked from a small one, which costs a tenth of a fork of this one.
    """
    socket = _number(policy.SOCKET)
    families = [(family, kind, 0) for family in UNIX_ALONE for kind in KINDS]
    families += [(family, 3, 0) for family in FORBIDDEN_FAMILIES]
    calls = [
        *((_number(call), *NOTHING) for call in KNOWN),
        *((socket, *words) for words in families),
        *((_number(call), *_with(place, value)) for call, place, value in FORBIDDEN_ARGUMENTS),
    ]
    command = [sys.executable, "-P", "-m", "tests.unit.runner.walls.calls"]
    said = subprocess.run(
        command, input=json.dumps(calls), capture_output=True, text=True, check=True
    )
    return dict(zip(calls, json.loads(said.stdout), strict=True))


@pytest.mark.parametrize("case", FORBIDDEN_ARGUMENTS, ids=_ids)
def test_a_call_with_a_forbidden_argument_is_denied(case: tuple[Syscall, int, int]) -> None:
    call, position, value = case
    number = _number(call)
    assert number is not None
    status = _statuses()[number, *_with(position, value)]
    assert os.waitstatus_to_exitcode(status) == ERRORS[call.action]


@pytest.mark.parametrize("advice", [1, 20, 21])
def test_advice_on_cached_files_is_taken_for_granted_and_ignored(advice: int) -> None:
    """A kernel that heard it would find the address, or the descriptor, wrong."""
    madvise = _number(policy.MADVISE)
    assert madvise is not None
    assert _exit_code_behind_the_filter(lambda: errno_of(madvise, 1, 1, advice)) == 0
    assert _exit_code_behind_the_filter(lambda: errno_of(madvise, 1, 1, 4)) == errno.EINVAL


def test_programs_that_advise_and_map_files_go_on() -> None:
    def use() -> int:
        import mmap
        import sqlite3
        import tempfile

        with tempfile.NamedTemporaryFile() as file:
            os.write(file.fileno(), bytes(8192))
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
            with mmap.mmap(file.fileno(), 0) as area:
                for advice in (mmap.MADV_RANDOM, mmap.MADV_WILLNEED, mmap.MADV_DONTNEED):
                    area.madvise(advice)
                assert area[:] == bytes(8192)
            assert os.preadv(file.fileno(), [bytearray(4)], 0) == 4
            with pytest.raises(OSError, match="supported"):
                os.preadv(file.fileno(), [bytearray(4)], 0, os.RWF_NOWAIT)
        with sqlite3.connect(":memory:") as base:
            base.execute("pragma mmap_size=65536")
            return base.execute("select 1").fetchone()[0] - 1

    assert _exit_code_behind_the_filter(use) == 0


def test_no_program_gives_itself_a_filter_by_either_call() -> None:
    """A filter of a program's own would answer calls in the kernel's name."""
    allow_all = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)

    def install() -> int:
        with pytest.raises(PermissionError):
            kernel.install_seccomp(allow_all)
        seccomp_call = next(call for call in policy.SYSCALLS if call.name == "seccomp")
        number = _number(seccomp_call)
        assert number is not None
        return errno_of(number, 1, 0, 0)

    assert _exit_code_behind_the_filter(install) == errno.EPERM


def test_ordinary_uses_of_calls_with_a_rule_go_on() -> None:
    def use() -> int:
        import fcntl
        import mmap

        with mmap.mmap(-1, 4096) as area, open(os.memfd_create("own"), "r+b") as file:
            area[0] = 1
            fcntl.flock(file, fcntl.LOCK_EX)
            fcntl.lockf(file, fcntl.LOCK_EX)
            return fcntl.fcntl(file, fcntl.F_GETFD) - 1

    assert _exit_code_behind_the_filter(use) == 0


@pytest.mark.parametrize(
    ("family", "expected"), [(1, 0), (2, 0), (10, 0), (16, errno.EPERM), (17, errno.EPERM)]
)
def test_with_a_loopback_internet_sockets_are_made_and_no_others(
    family: int, expected: int
) -> None:
    number = _number(policy.SOCKET)
    assert number is not None
    body = partial(errno_of, number, family, 1 if family < 16 else 3, 0)
    program = seccomp.build_filter(kernel.MACHINE, loopback=True)
    assert _exit_code_behind_the_filter(body, program) == expected


def test_a_call_newer_than_the_table_is_absent() -> None:
    newer = policy.HIGHEST_KNOWN_SYSCALL + 1
    assert _exit_code_behind_the_filter(lambda: errno_of(newer, *NOTHING)) == errno.ENOSYS


@pytest.mark.skipif(kernel.MACHINE != "x86_64", reason="x32 exists on x86-64 alone")
def test_the_x32_interface_is_shut() -> None:
    status = status_behind_the_filter(lambda: errno_of(0x40000000 | 39, *NOTHING))
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGSYS


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_filter_is_short_enough_for_the_kernel(machine: str) -> None:
    rows = len(seccomp.build_filter(machine)) // 8
    assert 0 < rows < 4096


def test_names_and_numbers_are_unique() -> None:
    names = [call.name for call in policy.SYSCALLS]
    assert len(set(names)) == len(names)
    for numbers in (
        [call.x86_64 for call in policy.SYSCALLS],
        [call.aarch64 for call in policy.SYSCALLS],
    ):
        known = [number for number in numbers if number is not None]
        assert len(set(known)) == len(known)


def test_every_row_has_a_reason() -> None:
    assert all(call.reason for call in policy.SYSCALLS)


def _outcome(program: bytes, number: int, first: int = 0) -> int:
    """Runs a filter for a call whose arguments are all the same, as the kernel would."""
    rows = list(struct.iter_unpack("=HBBI", program))
    words = struct.pack("=IIQ6Q", number, seccomp._ARCHITECTURES["x86_64"], 0, *6 * [first])
    at = accumulator = 0
    while True:
        code, if_true, if_false, value = rows[at]
        at += 1
        if code == 0x06:
            return int(value)
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", words, value)
        elif code == 0x05:
            at += value
        else:
            holds = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: accumulator & value != 0,
            }[code]
            at += if_true if holds else if_false


@pytest.mark.parametrize("loopback", [False, True])
def test_each_number_meets_its_own_rule_and_no_other(loopback: bool) -> None:
    program = seccomp.build_filter("x86_64", loopback=loopback)
    rules = {rule.call.x86_64 for rule in policy.ARGUMENT_RULES}
    listed = {call.x86_64: call.action for call in policy.SYSCALLS}
    for number in range(policy.HIGHEST_KNOWN_SYSCALL + 50):
        if number in listed:
            assert _outcome(program, number) == seccomp._RETURNS[listed[number]]
        elif number > policy.HIGHEST_KNOWN_SYSCALL:
            assert _outcome(program, number) == seccomp._RETURNS[Action.ABSENT]
        elif number not in rules:
            assert _outcome(program, number) == seccomp._ALLOW
    for number in (0x40000000, 0x40000001, 0xC0000000):
        assert _outcome(program, number) == seccomp._KILL
