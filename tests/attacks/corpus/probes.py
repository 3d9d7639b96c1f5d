"""Reaching out of the sandbox. Each program prints "escaped" if it could, and else "held"."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from reward_server.domain import StdioCase, StdioTests
from tests.attacks.attack import code

ESCAPED = StdioTests(cases=(StdioCase(stdin=b"", expected_stdout=b"escaped\n"),))
REPOSITORY = Path(__file__).resolve().parents[3]

PRELUDE = code("""
    import ctypes, os, resource, socket, stat, struct
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    def call(x86_64, aarch64, *arguments):
        number = aarch64 if os.uname().machine == 'aarch64' else x86_64
        words = [ctypes.c_long(each) if type(each) is int else each for each in arguments]
        return libc.syscall(ctypes.c_long(number), *words)
    # The first process of an execution is the program's own: it waits for the program's end.
    parent = 0 if os.getppid() == 1 else os.getppid()
    def escaped():
""")
EPILOGUE = code("""
    try:
        print('escaped' if escaped() else 'held')
    except (OSError, AttributeError, ValueError):
        print('held')
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A program that tries to reach something.

    Attributes:
        name: what it reaches, if it does.
        completion: the program.
        shown: whether it reaches it in the box of the naive graders, which shows that it is no
            dud; the others need more rights than that box has, or a host that is set up so.
        violates: whether the attempt itself must be called a violation.
        network: whether it must be shown in a box with this machine's network.
    """

    name: str
    completion: str
    shown: bool = True
    violates: bool = False
    network: bool = False


def _probe(
    name: str, body: str, *, shown: bool = True, violates: bool = False, network: bool = False
) -> Probe:
    """A probe whose `body` returns whether it succeeded."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return Probe(
        name=name,
        completion=PRELUDE + lines + EPILOGUE,
        shown=shown,
        violates=violates,
        network=network,
    )


def _call(name: str, expression: str, *, shown: bool = False, violates: bool = True) -> Probe:
    """A system call that no honest program makes."""
    return _probe(name, f"return {expression} >= 0", shown=shown, violates=violates)


NAMESPACES = (
    _call("a user namespace of its own", "call(272, 97, 0x10000000)", shown=True),
    _call("a mount namespace of its own", "call(272, 97, 0x10020000)", shown=True),
    _call("a network namespace of its own", "call(272, 97, 0x50000000)", shown=True),
    _probe(
        "a child in a user namespace of its own",
        code("""
            pid = call(56, 220, 0x10000000 | 17, 0, 0, 0, 0)
            if pid == 0:
                os._exit(0)
            return pid > 0
        """),
    ),
    _probe(
        "a child in a user namespace of its own, by the call that a filter cannot read",
        code("""
            arguments = struct.pack('8Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0)
            pid = call(435, 435, arguments, len(arguments))
            if pid == 0:
                os._exit(0)
            return pid > 0
        """),
    ),
    _probe(
        "another process's namespace",
        code("""
            handle = os.open('/proc/1/ns/uts', os.O_RDONLY)
            return call(308, 268, handle, 0) == 0
        """),
        shown=False,
        violates=True,
    ),
)

MOUNTS = (
    _call("a mount", "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)"),
    _call("a mount that becomes writable", "libc.mount(None, b'/usr', None, 0x1020, None)"),
    _call("an unmount", "libc.umount2(b'/proc', 2)"),
    _call("another root folder", "call(161, 51, b'/tmp')"),
    _call("another root mount", "call(155, 41, b'/tmp', b'/tmp')"),
    _call("a file system by the newer calls", "call(430, 430, b'tmpfs', 0)"),
    _call("a detached copy of a mount", "call(428, 428, -100, b'/usr', 1)"),
    _call("a mount's attributes", "call(442, 442, -100, b'/usr', 0, bytes(32), 32)"),
    _call("a file by its inode", "call(304, 265, -100, bytes(16), 0)"),
    _call(
        "a handle to a file's inode",
        "call(303, 264, -100, b'/dev', struct.pack('Ii', 64, 0) + bytes(64), bytes(8), 0)",
        violates=False,
        shown=True,
    ),
    _probe(
        "a device of its own",
        code("""
            os.mknod('/tmp/device', stat.S_IFBLK | 0o600, os.makedev(8, 0))
            return True
        """),
        shown=False,
    ),
)

PROCESSES = (
    _probe(
        "sight of other processes",
        "return {name for name in os.listdir('/proc') if name.isdigit()} - {'1', str(os.getpid())}",
    ),
    _probe("a signal to its parent", "return parent and os.kill(parent, 0) is None"),
    _probe("a signal to everybody", "return os.kill(-1, 0) is None"),
    _probe(
        "its parent's priority",
        "return parent and os.setpriority(0, parent, 19) is None",
    ),
    _probe(
        "its parent's limits",
        "return parent and resource.prlimit(parent, resource.RLIMIT_CORE) is not None",
    ),
    _probe(
        "its parent's memory, through a file",
        "return os.open(f'/proc/{parent}/mem', os.O_RDWR) > 0",
    ),
    _probe(
        "its parent's environment, through a file",
        "return os.open(f'/proc/{parent}/environ', os.O_RDONLY) > 0",
    ),
    _call("its parent under a debugger", "libc.ptrace(0x4206, os.getppid(), 0, 0)", shown=True),
    _call("itself under a debugger", "libc.ptrace(0, 0, 0, 0)", shown=True),
    _call(
        "the kernel's answer whether two processes share memory",
        "call(312, 272, os.getpid(), os.getppid(), 1, 0, 0)",
        shown=True,
        violates=False,
    ),
    _probe(
        "its parent's memory, by a system call that reads",
        code("""
            span = struct.pack('QQ', 4096, 1)
            return call(310, 270, os.getppid(), span, 1, span, 1, 0) >= 0
        """),
        shown=False,
        violates=True,
    ),
    _probe(
        "its parent's memory, by a system call that writes",
        code("""
            maps = open(f'/proc/{os.getppid() or os.getpid()}/maps').readlines()
            first = next(line.split('-')[0] for line in maps if ' rw-p ' in line)
            room = ctypes.create_string_buffer(1)
            here = struct.pack('QQ', ctypes.addressof(room), 1)
            there = struct.pack('QQ', int(first, 16), 1)
            call(310, 270, os.getppid(), here, 1, there, 1, 0)
            return call(311, 271, os.getppid(), here, 1, there, 1, 0) == 1
        """),
        violates=True,
    ),
    _call("a descriptor of its parent", "call(438, 438, 0, 0, 0)"),
)

KERNEL = (
    _call("a key ring", "call(250, 219, 0, -3, 1)", shown=True),
    _call("a key that another process made", "call(249, 218, b'user', b'x', None, 0)"),
    _call("a program in the kernel", "call(321, 280, 0, bytes(128), 128)"),
    _call("a counter of the processor's", "call(298, 241, bytes(128), 0, -1, -1, 0)"),
    _call("another kernel", "call(246, 104, 0, 0, None, 0)"),
    _call("a module of the kernel's", "call(175, 105, b'', 0, b'')"),
    _call("the power switch", "call(169, 142, 0xFEE1DEAD, 672274793, 0, None)"),
    _call("a swap file", "call(167, 224, b'/tmp/none', 0)"),
    _call(
        "a queue of system calls that a filter does not see",
        "call(425, 425, 1, bytes(120))",
        violates=False,
    ),
    _call("faults of pages of its own", "call(323, 282, 1)", violates=False),
    _call("another personality", "call(135, 92, 0x0040000)", shown=True, violates=False),
    _call("the log of the kernel", "call(103, 116, 10, None, 0)", violates=False),
    _call("the clock", "call(227, 112, 0, bytes(16))", violates=False),
    _call("the accounting of processes", "call(163, 89, b'/tmp/none')", violates=False),
    _call("an unknown new system call", "call(1000, 1000)", violates=False),
)

IDENTITY = (
    _probe(
        "capabilities",
        code("""
            lines = dict(line.split(':') for line in open('/proc/self/status') if ':' in line)
            return any(int(lines[f'Cap{part}'], 16) for part in ('Eff', 'Prm', 'Inh', 'Amb'))
        """),
    ),
    _probe(
        "capabilities by running a program",
        code("""
            lines = dict(line.split(':') for line in open('/proc/self/status') if ':' in line)
            return int(lines['CapBnd'], 16) and lines['NoNewPrivs'].strip() == '0'
        """),
        shown=False,
    ),
    _probe(
        "system calls without a filter",
        "return 'Seccomp:\\t0' in open('/proc/self/status').read()",
    ),
    _probe("another user", "return os.setuid(0 if os.getuid() else 1) is None", shown=False),
    _probe("another group", "return os.setgroups([0]) is None", shown=False),
    _probe(
        "a limit raised",
        code("""
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            return resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard + 1)) is None
        """),
        shown=False,
    ),
    _probe(
        "safety when memory runs out",
        "return os.write(os.open('/proc/self/oom_score_adj', os.O_WRONLY), b'-1000') > 0",
        shown=False,
    ),
    _probe("this machine's name", f"return os.uname().nodename == {os.uname().nodename!r}"),
    _probe("another machine's name", "return libc.sethostname(b'x', 1) == 0", shown=False),
)

FILES = (
    _probe("the server's own files", f"return os.path.exists({str(REPOSITORY)!r})"),
    _probe("accounts of this machine", "return os.path.exists('/etc/shadow')"),
    _probe(
        "home folders of this machine",
        "return sorted(os.listdir('/home')) != ['sandbox', 'user'] or os.listdir('/home/user')",
    ),
    _probe("folders of this machine's services", "return os.path.exists('/var/lib')"),
    _probe("settings of the kernel", "return os.path.exists('/sys/kernel')"),
    _probe(
        "sockets of this machine's services",
        "return any(map(os.path.exists, ('/run/docker.sock', '/var/run', '/run')))",
    ),
    _probe(
        "control groups",
        "return os.path.exists('/sys/fs/cgroup')",
    ),
    _probe(
        "a setting of the kernel, written",
        "return os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY) > 0",
        shown=False,
    ),
    _probe(
        "the switch of the kernel's magic keys",
        "return os.open('/proc/sysrq-trigger', os.O_WRONLY) > 0",
        shown=False,
    ),
    _probe(
        "a disk",
        code("""
            for name in os.listdir('/dev'):
                if stat.S_ISBLK(os.lstat(f'/dev/{name}').st_mode):
                    return True
        """),
        shown=False,
    ),
    _probe(
        "a system folder, written",
        code("""
            for folder in ('', 'usr', 'usr/lib', 'usr/bin', 'etc', 'lib', 'bin', 'opt', 'dev'):
                try:
                    open(f'/{folder}/.written', 'w')
                except OSError:
                    continue
                return True
        """),
        shown=False,
    ),
    _probe(
        "the interpreter's own files, written",
        code("""
            folder = os.path.dirname(os.__file__)
            open(f'{folder}/.written', 'w')
            return True
        """),
        shown=False,
    ),
    _probe(
        "a descriptor that was left open",
        code("""
            left = []
            for number in range(3, 1024):
                try:
                    os.fstat(number)
                except OSError:
                    continue
                left.append(number)
            return left
        """),
        shown=False,
    ),
    _probe(
        "the server's environment",
        "return 'PYTEST_VERSION' in os.environ",
        shown=False,
    ),
)


def _socket(name: str, family: int, kind: int, protocol: int = 0, *, shown: bool = True) -> Probe:
    return _probe(
        name, f"return socket.socket({family}, {kind}, {protocol}).fileno() > 0", shown=shown
    )


SOCKETS = (
    _socket("a TCP socket", socket.AF_INET, socket.SOCK_STREAM),
    _socket("a TCP socket of the sixth version", socket.AF_INET6, socket.SOCK_STREAM),
    _socket("a UDP socket", socket.AF_INET, socket.SOCK_DGRAM),
    _socket("a raw socket", socket.AF_INET, socket.SOCK_RAW, 1, shown=False),
    _socket("a packet socket", 17, socket.SOCK_RAW, 3, shown=False),
    _socket("a socket to the kernel's routes", 16, socket.SOCK_RAW),
    _socket("a socket to a virtual machine's host", 40, socket.SOCK_STREAM, shown=False),
    _socket("a socket to the kernel's ciphers", 38, 5, shown=False),
)

PROBES = (*NAMESPACES, *MOUNTS, *PROCESSES, *KERNEL, *IDENTITY, *FILES, *SOCKETS)


def reaching_tcp(port: int) -> Probe:
    """Connects to a port of this machine."""
    return _probe(
        "a service of this machine",
        code(f"""
            with socket.create_connection(('127.0.0.1', {port}), timeout=1):
                return True
        """),
        network=True,
    )


def reaching_unix(name: str) -> Probe:
    """Connects to an abstract socket of this machine."""
    return _probe(
        "an abstract socket of this machine",
        code(f"""
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(chr(0) + {name!r})
            return True
        """),
        network=True,
    )
