"""Thin functions for system calls that the standard library lacks; they raise OSError."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import signal
import threading
from collections.abc import Sequence

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
CLONE_CHILD_SETTID = 0x01000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
_MNT_DETACH = 2

_PR_SET_PDEATHSIG = 1
_PR_CAPBSET_READ = 23
_PR_CAPBSET_DROP = 24
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION = 0x20080522

MACHINE = platform.machine()
_NUMBERS = {
    "x86_64": {"clone": 56, "capset": 126, "sched_setscheduler": 144, "signalfd4": 289},
    "aarch64": {"clone": 220, "capset": 91, "sched_setscheduler": 119, "signalfd4": 74},
}
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_LANDLOCK_CREATE_VERSION = 1
_LANDLOCK_RULE_PATH = 1

# PyDLL keeps the interpreter lock: the child of a clone must be the thread that holds it.
_libc = ctypes.PyDLL(None, use_errno=True)
# Looked up once, because the lookup in each child would cost more than the call.
_syscall, _prctl, _unshare, _sysinfo = _libc.syscall, _libc.prctl, _libc.unshare, _libc.sysinfo
_mount, _umount2, _pthread_sigmask = _libc.mount, _libc.umount2, _libc.pthread_sigmask
_syscall.restype = ctypes.c_long
_before_fork = ctypes.pythonapi.PyOS_BeforeFork
_after_fork_child = ctypes.pythonapi.PyOS_AfterFork_Child
_after_fork_parent = ctypes.pythonapi.PyOS_AfterFork_Parent
# Made once, because a ctypes type is expensive to make and every execution needs these.
_CAPABILITY_HEADER = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
_NO_CAPABILITY = (ctypes.c_uint32 * 6)()
_ThreadDescription = ctypes.c_uint32 * 3
SignalMask = ctypes.c_uint64 * 16  # sigset_t of the C library
_ALL_SIGNALS = SignalMask(*len(SignalMask()) * [0xFFFF_FFFF_FFFF_FFFF])


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _number(name: str) -> int:
    return _NUMBERS[MACHINE][name]


def _thread_id_offset() -> int:
    """Returns the offset in a thread's descriptor, at `pthread_self`, of glibc's cached thread id.

    glibc exports the offset for debuggers (libthread_db). Returns 0 if the C library has none.
    """
    try:
        _bits, _count, offset = _ThreadDescription.in_dll(_libc, "_thread_db_pthread_tid")
    except ValueError:
        return 0
    cached = ctypes.c_int.from_address(threading.get_ident() + offset).value
    return int(offset) if cached == threading.get_native_id() else 0


_THREAD_ID_OFFSET = _thread_id_offset()


def own_thread_id_address() -> int:
    """Returns the address where a raw clone must update this thread's id, or 0 if there is none."""
    return threading.get_ident() + _THREAD_ID_OFFSET if _THREAD_ID_OFFSET else 0


def landmarks() -> tuple[int, int]:
    """Returns the addresses of the interpreter's data and of the C library in this process."""
    return id(type), int(ctypes.cast(_libc.getpid, ctypes.c_void_p).value or 0)


def address_of(mapping: mmap.mmap) -> int:
    """Returns the address of a mapping, which may be read-only."""
    view = _Buffer()
    _check(_get_buffer(ctypes.py_object(mapping), ctypes.byref(view), 0), "buffer")
    _release_buffer(ctypes.byref(view))
    return int(view.address)


class _Buffer(ctypes.Structure):
    """The first fields of CPython's `Py_buffer`, and room for the others."""

    _fields_ = (
        ("address", ctypes.c_void_p),
        ("owner", ctypes.c_void_p),
        ("others", ctypes.c_void_p * 16),
    )


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_release_buffer = ctypes.pythonapi.PyBuffer_Release


def clone(namespaces: int) -> int:
    """Forks into new namespaces in one system call; returns 0 in the child, like `os.fork`.

    Raises:
        OSError: the kernel refuses.
    """
    thread_id = own_thread_id_address()
    flags = namespaces | signal.SIGCHLD | (CLONE_CHILD_SETTID if thread_id else 0)
    # x86-64 takes (stack, parent tid, child tid, tls), AArch64 (stack, parent tid, tls, child tid).
    tail = (thread_id, 0) if MACHINE == "x86_64" else (0, thread_id)
    # Not `fork` and then `unshare`: a new pid namespace holds children only, so each process would
    # need a second fork of the whole interpreter. CPython is told by the functions of `os.fork`.
    _before_fork()
    pid = _syscall(
        _number("clone"), ctypes.c_ulong(flags), 0, 0, *(ctypes.c_ulong(word) for word in tail)
    )
    if pid == 0:
        _after_fork_child()
        return 0
    _after_fork_parent()
    return _check(pid, "clone")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mounts a file system.

    Raises:
        OSError: the kernel refuses.
    """
    result = _mount(
        source.encode(),
        target.encode(),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() if data else None,
    )
    _check(result, f"mount {target}")


def unmount(target: str) -> None:
    """Detaches a mount, and the mounts inside it, from the file tree, even if it is in use.

    Raises:
        OSError: the kernel refuses.
    """
    _check(_umount2(target.encode(), _MNT_DETACH), f"unmount {target}")


def unshare(namespaces: int) -> None:
    """Moves this process into new namespaces.

    Raises:
        OSError: the kernel refuses.
    """
    _check(_unshare(ctypes.c_int(namespaces)), "unshare")


def drop_capabilities() -> None:
    """Gives up every capability; without set-uid (see `no_new_privileges`) none can be regained."""
    _check(_syscall(_number("capset"), _CAPABILITY_HEADER, _NO_CAPABILITY), "capset")


def no_new_privileges() -> None:
    """Makes set-uid bits and file capabilities ineffective for this process and its children."""
    _check(_prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl no_new_privs")


def drop_bounding_capabilities() -> None:
    """Prevents this process and its children from ever gaining a capability through a program."""
    number = 0
    while _prctl(_PR_CAPBSET_READ, number, 0, 0, 0) >= 0:
        _check(_prctl(_PR_CAPBSET_DROP, number, 0, 0, 0), "prctl capbset_drop")
        number += 1


def die_with_parent() -> None:
    """Makes the kernel kill this process when its parent ends, in any way."""
    _check(_prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl pdeathsig")


def child_signals() -> int:
    """Returns a descriptor that is readable when a child has ended; SIGCHLD must be blocked."""
    mask = ctypes.c_uint64(1 << (signal.SIGCHLD - 1))
    flags = os.O_CLOEXEC | os.O_NONBLOCK
    arguments = (-1, ctypes.byref(mask), ctypes.c_size_t(ctypes.sizeof(mask)), flags)
    return _check(_syscall(_number("signalfd4"), *arguments), "signalfd4")


def block_signals() -> ctypes.Array[ctypes.c_uint64]:
    """Blocks all signals and returns the previous mask; the module `signal` would be slower."""
    before = SignalMask()
    _pthread_sigmask(signal.SIG_BLOCK, _ALL_SIGNALS, before)
    return before


def set_signal_mask(mask: ctypes.Array[ctypes.c_uint64]) -> None:
    """Blocks exactly the signals of a mask."""
    _pthread_sigmask(signal.SIG_SETMASK, mask, None)


def make_dumpable() -> None:
    """Lets this process write its own /proc files, which a change of ids has forbidden."""
    _check(_prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl dumpable")


def make_undumpable() -> None:
    """Keeps other processes of this user from reading this one's memory and descriptors."""
    _check(_prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl dumpable")


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install_seccomp(program: bytes) -> None:
    """Installs a BPF program (`struct sock_filter` rows) as this process's seccomp filter.

    Raises:
        OSError: the kernel has no seccomp filters, or refuses this one.
    """
    described = _FilterProgram(len(program) // 8, program)
    result = _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(described), 0, 0)
    _check(result, "prctl seccomp")


class _SystemFigures(ctypes.Structure):
    _fields_ = (
        ("up_seconds", ctypes.c_long),
        ("loads", ctypes.c_ulong * 3),
        ("total_memory", ctypes.c_ulong),
        ("free_memory", ctypes.c_ulong),
        ("others", ctypes.c_char * 80),
    )


def memory_in_use_bytes() -> int:
    """Returns the kernel's memory in use, for a kernel that counts it in bytes, such as gVisor."""
    figures = _SystemFigures()
    _check(_sysinfo(ctypes.byref(figures)), "sysinfo")
    return int(figures.total_memory) - int(figures.free_memory)


def landlock_abi() -> int:
    """Returns the kernel's Landlock version, or 0 if it has none."""
    version = int(_syscall(_LANDLOCK_CREATE, None, 0, _LANDLOCK_CREATE_VERSION))
    return max(version, 0)


class _RulesetAttributes(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def landlock_ruleset(handled: tuple[int, int, int], rules: Sequence[tuple[str, int]]) -> int:
    """Builds a Landlock ruleset and returns its descriptor.

    Args:
        handled: access rights denied unless a rule allows them (files, network), and scopes.
        rules: paths, each with the file access rights allowed below it.

    Raises:
        OSError: the kernel has no Landlock, or a path does not exist.
    """
    fs, net, scoped = handled
    size = 24 if scoped else 16 if net else 8
    attributes = _RulesetAttributes(fs, net, scoped)
    ruleset = _check(
        _syscall(_LANDLOCK_CREATE, ctypes.byref(attributes), ctypes.c_size_t(size), 0),
        "landlock_create_ruleset",
    )
    for path, allowed in rules:
        _add_rule(ruleset, path, allowed)
    return ruleset


def restrict_self(ruleset: int) -> None:
    """Confines this process permanently with a Landlock ruleset."""
    _check(_syscall(_LANDLOCK_RESTRICT, ruleset, 0), "landlock_restrict_self")


def _add_rule(ruleset: int, path: str, allowed: int) -> None:
    parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _PathRule(allowed, parent)
        _check(
            _syscall(_LANDLOCK_ADD, ruleset, _LANDLOCK_RULE_PATH, ctypes.byref(rule), 0),
            f"landlock_add_rule {path}",
        )
    finally:
        os.close(parent)
