"""The kernel's rules for an execution, as tables: each row has its reason. `confine` applies them.

What this stops: a candidate that tries to get around its namespaces, to use kernel code that
programs seldom need and attackers often use, or to read or disturb another process.

What it does not stop: the use of a bug in a system call that honest programs need. The outer wall
(bubblewrap's namespaces, or a container runtime such as gVisor) is a second protection.
"""

from __future__ import annotations

import enum
from typing import NamedTuple


class Action(enum.Enum):
    """The effect of a forbidden system call."""

    KILL = "kill"  # SIGSYS, a security violation: no honest program calls it
    DENY = "deny"  # EPERM: an honest library may try it, and continues without it
    ABSENT = "absent"  # ENOSYS, so that libc falls back to an older call
    IGNORE = "ignore"  # returns 0 without effect: the call is advice that a kernel may ignore


class Syscall(NamedTuple):
    """A forbidden system call: its numbers on x86-64 and AArch64, None if the machine lacks it."""

    name: str
    x86_64: int | None
    aarch64: int | None
    action: Action
    reason: str


_MOUNT = "changes what the file tree shows"
_PEEK = "reads or steers another process"
_KERNEL = "changes the running kernel"
_CLOCK = "changes the host's clock"
_RING = "submits system calls that this filter would not see"
_KEYS = "key rings are not confined by namespaces"
_HANDLE = "opens files by inode, past the mount namespace"
_WATCH = "tells what others open, and takes from a number that a user's processes share"
_CACHE = "tells which files others have read"
_MEMORY = "empties or fills what is cached of a file, which outlasts the execution"
_FLUSH = "has the host write out the files of all others"
_HUGE = "huge pages are reserved for the whole host, and no memory limit counts them"
_NAMESPACE = "a new user namespace brings capabilities back"

SYSCALLS = (
    Syscall("mount", 165, 40, Action.KILL, _MOUNT),
    Syscall("umount2", 166, 39, Action.KILL, _MOUNT),
    Syscall("pivot_root", 155, 41, Action.KILL, _MOUNT),
    Syscall("chroot", 161, 51, Action.KILL, _MOUNT),
    Syscall("open_tree", 428, 428, Action.KILL, _MOUNT),
    Syscall("move_mount", 429, 429, Action.KILL, _MOUNT),
    Syscall("fsopen", 430, 430, Action.KILL, _MOUNT),
    Syscall("fsconfig", 431, 431, Action.KILL, _MOUNT),
    Syscall("fsmount", 432, 432, Action.KILL, _MOUNT),
    Syscall("fspick", 433, 433, Action.KILL, _MOUNT),
    Syscall("mount_setattr", 442, 442, Action.KILL, _MOUNT),
    Syscall("setns", 308, 268, Action.KILL, "enters another namespace"),
    Syscall("unshare", 272, 97, Action.KILL, _NAMESPACE),
    Syscall("ptrace", 101, 117, Action.KILL, _PEEK),
    Syscall("process_vm_readv", 310, 270, Action.KILL, _PEEK),
    Syscall("process_vm_writev", 311, 271, Action.KILL, _PEEK),
    Syscall("process_madvise", 440, 440, Action.KILL, _PEEK),
    Syscall("pidfd_getfd", 438, 438, Action.KILL, _PEEK),
    Syscall("kcmp", 312, 272, Action.DENY, _PEEK),
    Syscall("bpf", 321, 280, Action.KILL, "loads code into the kernel"),
    Syscall("perf_event_open", 298, 241, Action.KILL, "a frequent source of kernel bugs"),
    Syscall("userfaultfd", 323, 282, Action.DENY, "stalls the kernel at will in an exploit"),
    Syscall("keyctl", 250, 219, Action.KILL, _KEYS),
    Syscall("add_key", 248, 217, Action.KILL, _KEYS),
    Syscall("request_key", 249, 218, Action.KILL, _KEYS),
    Syscall("kexec_load", 246, 104, Action.KILL, _KERNEL),
    Syscall("kexec_file_load", 320, 294, Action.KILL, _KERNEL),
    Syscall("init_module", 175, 105, Action.KILL, _KERNEL),
    Syscall("finit_module", 313, 273, Action.KILL, _KERNEL),
    Syscall("delete_module", 176, 106, Action.KILL, _KERNEL),
    Syscall("reboot", 169, 142, Action.KILL, _KERNEL),
    Syscall("swapon", 167, 224, Action.KILL, _KERNEL),
    Syscall("swapoff", 168, 225, Action.KILL, _KERNEL),
    Syscall("iopl", 172, None, Action.KILL, "raw access to ports"),
    Syscall("ioperm", 173, None, Action.KILL, "raw access to ports"),
    Syscall("modify_ldt", 154, None, Action.DENY, "a frequent source of kernel bugs"),
    Syscall("io_uring_setup", 425, 425, Action.ABSENT, _RING),
    Syscall("io_uring_enter", 426, 426, Action.ABSENT, _RING),
    Syscall("io_uring_register", 427, 427, Action.ABSENT, _RING),
    Syscall("acct", 163, 89, Action.DENY, "writes a host-wide log"),
    Syscall("quotactl", 179, 60, Action.DENY, "changes a file system's quotas"),
    Syscall("quotactl_fd", 443, 443, Action.DENY, "changes a file system's quotas"),
    Syscall("settimeofday", 164, 170, Action.DENY, _CLOCK),
    Syscall("clock_settime", 227, 112, Action.DENY, _CLOCK),
    Syscall("clock_adjtime", 305, 266, Action.DENY, _CLOCK),
    Syscall("adjtimex", 159, 171, Action.DENY, _CLOCK),
    Syscall("open_by_handle_at", 304, 265, Action.KILL, _HANDLE),
    Syscall("name_to_handle_at", 303, 264, Action.DENY, _HANDLE),
    Syscall("vhangup", 153, 58, Action.DENY, "acts on a terminal that is not ours"),
    Syscall("syslog", 103, 116, Action.DENY, "reads the kernel's log"),
    Syscall("personality", 135, 92, Action.DENY, "switches off address randomisation"),
    Syscall("seccomp", 317, 277, Action.DENY, "a filter of its own could fake answers"),
    Syscall("fanotify_init", 300, 262, Action.DENY, "watches a whole mount"),
    Syscall("fanotify_mark", 301, 263, Action.DENY, "watches a whole mount"),
    Syscall("inotify_init", 253, None, Action.ABSENT, _WATCH),
    Syscall("inotify_init1", 294, 26, Action.ABSENT, _WATCH),
    Syscall("inotify_add_watch", 254, 27, Action.ABSENT, _WATCH),
    Syscall("cachestat", 451, 451, Action.ABSENT, _CACHE),
    Syscall("mincore", 27, 232, Action.DENY, _CACHE),
    Syscall("fadvise64", 221, 223, Action.IGNORE, _MEMORY),
    Syscall("readahead", 187, 213, Action.IGNORE, _MEMORY),
    Syscall("statmount", 457, 457, Action.ABSENT, "shows where mounts come from"),
    Syscall("listmount", 458, 458, Action.ABSENT, "shows where mounts come from"),
    Syscall("io_setup", 206, 0, Action.ABSENT, "takes from fs.aio-max-nr, one number for all"),
    Syscall("sync", 162, 81, Action.DENY, _FLUSH),
    Syscall("syncfs", 306, 267, Action.DENY, _FLUSH),
    Syscall("memfd_secret", 447, 447, Action.ABSENT, "keeps the machine from hibernation"),
    Syscall("set_mempolicy_home_node", 450, 450, Action.ABSENT, "steers the host's memory nodes"),
    Syscall("lookup_dcookie", 212, 18, Action.DENY, "shows host paths"),
    Syscall("nfsservctl", 180, 42, Action.DENY, "obsolete"),
    Syscall("uselib", 134, None, Action.DENY, "obsolete"),
    Syscall("ustat", 136, None, Action.DENY, "obsolete"),
    Syscall("sysfs", 139, None, Action.DENY, "obsolete"),
    Syscall("_sysctl", 156, None, Action.DENY, "obsolete"),
    Syscall("move_pages", 279, 239, Action.DENY, _PEEK),
    Syscall("migrate_pages", 256, 238, Action.DENY, _PEEK),
    Syscall("clone3", 435, 435, Action.ABSENT, "its flags lie in memory, out of a filter's sight"),
)

HIGHEST_KNOWN_SYSCALL = 462  # a call newer than this table fails with ENOSYS, as on an older kernel


class Test(enum.Enum):
    """How an argument's value, or its lower 32 bits, is compared with those of a rule."""

    ANY_BIT = "has any of these bits"
    IS = "is one of these"
    IS_NOT = "is none of these"


class ArgumentRule(NamedTuple):
    """A system call that is forbidden for some values of one of its arguments."""

    call: Syscall
    argument: int
    test: Test
    values: tuple[int, ...]


AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
CLONE_NAMESPACE_FLAGS = 0x7E020080  # every CLONE_NEW* bit that clone() takes, time included
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_F_SETLEASE, _F_NOTIFY = 1024, 1026
_PR_SET_SECCOMP = 22
_MADV_RANDOM, _MADV_COLD, _MADV_PAGEOUT = 1, 20, 21
_RWF_NOWAIT, _RWF_DONTCACHE = 0x8, 0x80
_MAP_HUGETLB, _MFD_HUGETLB, _SHM_HUGETLB = 0x40000, 0x4, 0o4000

CLONE = Syscall("clone", 56, 220, Action.DENY, _NAMESPACE)
SOCKET = Syscall("socket", 41, 198, Action.DENY, "only AF_UNIX: no network, raw or netlink socket")
IOCTL = Syscall("ioctl", 16, 29, Action.DENY, "types into, or takes over, a terminal")
FCNTL = Syscall(
    "fcntl", 72, 25, Action.DENY, "a lease or a notice tells, and delays, what others open"
)
PRCTL = Syscall("prctl", 157, 167, Action.DENY, "a filter of its own could fake answers")
MMAP = Syscall("mmap", 9, 222, Action.DENY, _HUGE)
MEMFD_CREATE = Syscall("memfd_create", 319, 279, Action.DENY, _HUGE)
MADVISE = Syscall("madvise", 28, 233, Action.IGNORE, _MEMORY)
PREADV2 = Syscall("preadv2", 327, 286, Action.ABSENT, _CACHE)
SHMGET = Syscall("shmget", 29, 194, Action.DENY, _HUGE)

SOCKETS = ArgumentRule(SOCKET, 0, Test.IS_NOT, (AF_UNIX,))
LOOPBACK_SOCKETS = ArgumentRule(SOCKET, 0, Test.IS_NOT, (AF_UNIX, AF_INET, AF_INET6))
ARGUMENT_RULES = (
    ArgumentRule(CLONE, 0, Test.ANY_BIT, (CLONE_NAMESPACE_FLAGS,)),
    SOCKETS,
    ArgumentRule(IOCTL, 1, Test.IS, (_TIOCSTI, _TIOCLINUX)),
    ArgumentRule(FCNTL, 1, Test.IS, (_F_SETLEASE, _F_NOTIFY)),
    ArgumentRule(PRCTL, 0, Test.IS, (_PR_SET_SECCOMP,)),
    ArgumentRule(MMAP, 3, Test.ANY_BIT, (_MAP_HUGETLB,)),
    ArgumentRule(MEMFD_CREATE, 1, Test.ANY_BIT, (_MFD_HUGETLB,)),
    ArgumentRule(SHMGET, 2, Test.ANY_BIT, (_SHM_HUGETLB,)),
    ArgumentRule(MADVISE, 2, Test.IS, (_MADV_RANDOM, _MADV_COLD, _MADV_PAGEOUT)),
    ArgumentRule(PREADV2, 5, Test.ANY_BIT, (_RWF_NOWAIT, _RWF_DONTCACHE)),
)


class Mount(NamedTuple):
    """A file system that is mounted for each execution."""

    source: str
    target: str
    kind: str
    read_only: bool
    reason: str


BOX = "/home/sandbox"
WORK_FOLDER = f"{BOX}/work"
TMP_FOLDER = f"{BOX}/tmp"  # /tmp is a link to it in every container
SHM_FOLDER = f"{BOX}/shm"
# The working folder of a session by the name that E2B gives it, in every container a folder.
USER_FOLDER = "/home/user"
BOX_FOLDERS = (WORK_FOLDER, TMP_FOLDER, SHM_FOLDER)
SHM = (SHM_FOLDER, "/dev/shm")
PROC = Mount("proc", "/proc", "proc", True, "shows the execution's own processes alone")
PTS = Mount("devpts", "/dev/pts", "devpts", False, "terminals are one number for all (kernel.pty)")
PTS_OPTIONS = "newinstance,ptmxmode=0666,mode=600,max=16"
# Landlock allows writes below these folders. A rule also holds for what is mounted below its folder
# later, but not for what is mounted on the folder itself, so these are the parents. /dev itself is
# mounted read-only.
WRITABLE = ("/home", "/dev")
MAXIMUM_INODES = 16_384
USUAL_DISK_BYTES = 128 << 20
HOST_NAME = "sandbox"
INNER_ID = 1000
JUDGE_ID = 1001  # the judge's user, if it has no user namespace of its own
TESTS_ID = 1002  # the user of a tests' program in that case
STAGE = "/mnt"  # the folder for file trees in a kernel without mount namespaces
SANDBOX_KERNEL_VERSION = "#1 SMP Sun Jan 10 15:06:54 PST 2016"  # as every gVisor reports

# The whole environment of a program; it has no variable of the server or of a container engine.
PATH = ("/usr/local/bin", "/usr/bin", "/bin")
ENVIRONMENT = {
    "HOME": WORK_FOLDER,
    "TMPDIR": "/tmp",
    "USER": "sandbox",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}

STACK_BYTES = 256 << 20  # for deep recursion in C code; it is only address space until it is used
MESSAGE_QUEUE_BYTES = 1 << 20
PENDING_SIGNALS = 4096
PROCESS_MARGIN = 8
JUDGE_GRACE_NS = 1_000_000_000  # for the judge's report after the candidate's end
JUDGE_PROCESSES = 64
JUDGE_CPU_SECONDS = 120
JUDGE_EXECUTIONS = 1000
JUDGE_GROWTH_BYTES = 64 << 20  # a judge that grew by more is replaced
LAST_STEPS_NS = 100_000_000  # for a candidate that is about to exit by itself

# Memory that may stay in the cgroup when an execution's processes are gone, such as file names that
# the kernel caches. A container with more is not used again.
RESIDUE_BYTES = 32 << 20
RESIDUE_SECONDS = 0.05  # for the kernel to free the memory of those processes

VICTIM_SCORE = 1000  # makes the kernel's out-of-memory killer choose the candidate first
