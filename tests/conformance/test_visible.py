"""What a program in the local sandbox can see, lock and watch: nothing of what lies beside it."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import secrets
import signal
import sys
import sysconfig
from collections.abc import AsyncIterator, Awaitable, Iterator
from importlib import metadata
from pathlib import Path

import pytest
import pytest_asyncio

from reward_server.domain import Execution
from reward_server.sandbox.base import Sandbox
from reward_server.sandbox.local.cgroup import CgroupParent, owner_id
from reward_server.sandbox.local.container import LocalOptions, start_local
from reward_server.sandbox.local.host_files import views
from tests.conformance.suite.checks import output_of, run
from tests.conformance.suite.host import processes_marked

pytestmark = pytest.mark.asyncio(loop_scope="module")

PREFIX = Path(os.path.realpath(sys.base_prefix))
LIBRARY = Path(os.path.realpath(os.__file__)).parent
MARK = f"codereward-test-{secrets.token_hex(8)}"
# Where installations put what a program must not find, as far as it is there and may be written.
PLACES = (
    LIBRARY / "site-packages",
    PREFIX / "bin",
    PREFIX / "lib",
    PREFIX / "share",
    Path(sysconfig.get_path("purelib")),
    Path("/usr/lib"),
    Path("/usr/libexec"),
    Path("/usr/lib/python3/dist-packages"),
    Path("/usr/lib/node_modules"),
    Path("/usr/lib/x86_64-linux-gnu/perl5"),
    Path("/usr/local/lib"),
    Path("/usr/share"),
    Path("/etc"),
    Path("/opt"),
    Path("/var/lib"),
    Path.home(),
    Path.cwd(),
)


@pytest.fixture(scope="module")
def planted() -> Iterator[list[Path]]:
    """Folders with a file in them, as an installation leaves them, in every place."""
    made = [place / MARK for place in PLACES if place.is_dir() and os.access(place, os.W_OK)]
    try:
        for folder in made:
            folder.mkdir(exist_ok=True)
            (folder / f"{MARK}.py").write_text(f"SOLUTION = {MARK!r}")
        views.cache_clear()
        yield made
    finally:
        for folder in made:
            with contextlib.suppress(FileNotFoundError):
                (folder / f"{MARK}.py").unlink()
            folder.rmdir()


@contextlib.asynccontextmanager
async def local(name: str, **options: object) -> AsyncIterator[Sandbox]:
    made = LocalOptions(**options)  # type: ignore[arg-type] # whatever a test chooses
    sandbox = await start_local(0, made, CgroupParent.detect(), name)
    try:
        yield sandbox
    finally:
        await sandbox.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(planted: list[Path]) -> AsyncIterator[Sandbox]:
    assert len(planted) >= 3
    async with local("visible") as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def neighbour(sandbox: Sandbox) -> AsyncIterator[Sandbox]:
    async with local("neighbour") as made:
        yield made


@pytest.mark.promise(
    "A program in the local sandbox finds no file of the host's packages.", "Confinement"
)
async def test_no_file_of_an_installation_is_found_in_any_folder(sandbox: Sandbox) -> None:
    source = f"""
import os
for folder, folders, files in os.walk('/'):
    if folder == '/': folders.remove('proc')
    for name in (*folders, *files):
        if {MARK!r} in name: print(folder, name)
print('walked')
"""
    assert await output_of(sandbox, source) == "walked\n"


async def test_no_planted_file_is_read_by_its_path(sandbox: Sandbox, planted: list[Path]) -> None:
    paths = [str(folder / f"{MARK}.py") for folder in planted]
    moved = [path.replace(str(PREFIX), "/opt/codereward/python") for path in paths]
    source = f"""
for path in {[*paths, *moved]!r}:
    for start in ('', '/proc/self/root', '/proc/1/root', '/proc/self/cwd/../../..'):
        try: print(open(start + path).read())
        except OSError: pass
print('tried')
"""
    assert await output_of(sandbox, source) == "tried\n"


def installed_modules() -> list[str]:
    """Names what this interpreter and the system's can import besides the standard library."""
    standard = (LIBRARY, LIBRARY / "lib-dynload")
    folders = {*map(Path, sys.path), LIBRARY / "site-packages"}
    folders.add(Path("/usr/lib/python3/dist-packages"))
    names = {
        entry.name.partition(".")[0]
        for folder in folders - set(standard)
        if folder.is_dir()
        for entry in folder.iterdir()
    }
    known = {entry.name.partition(".")[0] for folder in standard for entry in folder.iterdir()}
    names |= set(metadata.packages_distributions())
    return sorted(filter(str.isidentifier, names - known - sys.stdlib_module_names))


async def test_no_distribution_of_the_hosts_interpreter_is_importable(sandbox: Sandbox) -> None:
    source = """
import importlib.util, json, subprocess, sys
names = json.loads(sys.stdin.read())
print([name for name in names if importlib.util.find_spec(name)])
found = '''
import importlib.util, sys
print([name for name in sys.argv[1:] if importlib.util.find_spec(name)])
'''
for program in ('python3', '/usr/bin/python3'):
    told = subprocess.run([program, '-c', found, *names], capture_output=True, text=True)
    print(told.stdout.strip() or '[]')
"""
    wanted = installed_modules()
    assert len(wanted) > 20
    execution = await run(sandbox, source, stdin=json.dumps(wanted).encode())
    assert execution.stdout.data == b"[]\n[]\n[]\n", execution


async def test_no_path_or_name_of_the_hosts_stands_in_proc(sandbox: Sandbox) -> None:
    source = """
import os
for folder, folders, files in os.walk('/proc/self'):
    folders[:] = [name for name in folders if name in ('net', 'task', 'fdinfo', 'map_files')]
    for name in (*files, *os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.islink(path): print(os.readlink(path))
        elif name not in ('mem', 'clear_refs', 'pagemap', 'kmsg'):
            try: print(open(path, errors='replace').read(1 << 20))
            except OSError: pass
"""
    execution = await run(sandbox, source)
    told = execution.stdout.data.decode()
    assert "/usr/lib" in told
    assert "Threads:" in told
    ours = [str(PREFIX), str(Path.home()) + "/", str(Path.cwd()), owner_id(), "codereward-"]
    assert [one for one in ours if one in told and one != "/usr"] == []


async def test_the_runners_files_name_no_folder_of_the_hosts(sandbox: Sandbox) -> None:
    source = """
import glob, marshal, sys
def files_of(code):
    yield code.co_filename
    for one in code.co_consts:
        if type(one) is type(code): yield from files_of(one)
compiled = glob.glob('/opt/codereward/runner/**/*.pyc', recursive=True)
assert len(compiled) == len(glob.glob('/opt/codereward/runner/**/*.py', recursive=True)) > 50
for path in compiled:
    for name in files_of(marshal.loads(open(path, 'rb').read()[16:])):
        if not name.startswith('/opt/codereward/runner/'): print(path, name)
ours = [module for name, module in sys.modules.items() if name.startswith('runner.')]
print({module.__cached__ for module in ours} <= {*compiled})
"""
    assert await output_of(sandbox, source) == "True\n"


async def test_a_server_whose_files_are_its_own_alone_has_sandboxes() -> None:
    mask = os.umask(0o077)
    try:
        async with local("masked") as sandbox:
            told = await output_of(sandbox, "import os; print(oct(os.umask(0)))")
    finally:
        os.umask(mask)
    assert told == "0o22\n"


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    for name in ("listed", "beside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}_module.py").write_text("VALUE = 7")
    return tmp_path / "listed"


async def test_listed_packages_alone_are_importable(listed: Path) -> None:
    async with local("listed", packages=(str(listed),)) as sandbox:
        source = """
import importlib.util, listed_module
print(listed_module.VALUE, importlib.util.find_spec('beside_module'), listed_module.__file__)
"""
        told = await output_of(sandbox, source)
    assert told == "7 None /opt/codereward/packages/0/listed_module.py\n"


# ------------------------------------------------------------------------- locks and notices

LOCKED = (
    *("/usr/bin/env", "/usr/lib", "/etc/ld.so.cache", "/dev/null", "/dev/urandom"),
    "/opt/codereward/runner/wire.py",
    str(LIBRARY / "os.py").replace(str(PREFIX), "/opt/codereward/python", Path("/usr") != PREFIX),
)


def host_path(path: str) -> str:
    runner = f"{Path.cwd()}/reward_server/runner"
    moved = path.replace("/opt/codereward/python", str(PREFIX))
    return moved.replace("/opt/codereward/runner", runner)


async def while_it_runs(sandbox: Sandbox, source: str, look: Awaitable[None]) -> Execution:
    """Runs a program up to its end, where it stays until somebody has looked at the host."""
    marker = f"waits-{secrets.token_hex(8)}"
    waits = f"import subprocess\nsubprocess.run([{marker!r}, '20'], executable='/usr/bin/sleep')"
    running = asyncio.ensure_future(run(sandbox, f"{source}\n{waits}"))
    while not (waiting := processes_marked(marker)):
        assert not running.done(), running.result()
        await asyncio.sleep(0.01)
    await look
    assert not running.done(), running.result()
    for pid in waiting:
        os.kill(pid, signal.SIGKILL)
    return await running


@pytest.mark.parametrize("path", LOCKED)
async def test_a_lock_on_a_shown_file_holds_up_nobody_else(
    sandbox: Sandbox, neighbour: Sandbox, path: str
) -> None:
    source = f"""
import fcntl, os
file = os.open({path!r}, os.O_RDONLY)
fcntl.flock(file, fcntl.LOCK_EX)
if os.path.isfile({path!r}): fcntl.lockf(file, fcntl.LOCK_SH)
print('locked', flush=True)
"""

    async def look() -> None:
        mine = os.open(host_path(path), os.O_RDONLY)
        try:
            fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(mine)
        told = await output_of(neighbour, source.replace("LOCK_EX", "LOCK_EX | fcntl.LOCK_NB"))
        assert told == "locked\n"

    execution = await while_it_runs(sandbox, source, look())
    assert execution.stdout.data == b"locked\n", execution


async def test_a_lock_of_the_hosts_holds_up_no_program(sandbox: Sandbox) -> None:
    mine = os.open("/usr/bin/env", os.O_RDONLY)
    try:
        fcntl.flock(mine, fcntl.LOCK_EX)
        source = """
import fcntl
fcntl.flock(open('/usr/bin/env'), fcntl.LOCK_EX | fcntl.LOCK_NB)
print('locked')
"""
        assert await output_of(sandbox, source) == "locked\n"
    finally:
        os.close(mine)


async def test_programs_lock_their_own_files_and_use_databases(sandbox: Sandbox) -> None:
    source = """
import fcntl, sqlite3, subprocess, sys
with open('own', 'w+') as first, open('own') as second:
    fcntl.flock(first, fcntl.LOCK_EX)
    try: fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError: print('held')
with open('/tmp/own', 'w+') as file: fcntl.lockf(file, fcntl.LOCK_EX); print('locked')
with sqlite3.connect('own.db') as base:
    base.execute('create table t(a)'); base.execute('insert into t values (7)')
other = 'import sqlite3; print(sqlite3.connect("own.db").execute("select a from t").fetchall())'
print(subprocess.run([sys.executable, '-c', other], capture_output=True, text=True).stdout)
"""
    assert await output_of(sandbox, source) == "held\nlocked\n[(7,)]\n\n"


async def test_nothing_tells_what_others_open(sandbox: Sandbox) -> None:
    source = """
import ctypes, fcntl, os, signal
libc = ctypes.CDLL(None, use_errno=True)
print(libc.inotify_init1(0), libc.inotify_init(), libc.fanotify_init(0, 0))
for path, command, value in (('/usr/lib', 1026, 1), ('/usr/bin/env', 1024, 0), ('.', 1026, 1)):
    try: print('watches', fcntl.fcntl(os.open(path, os.O_RDONLY), command, value))
    except OSError as error: print(error.strerror)
"""
    told = await output_of(sandbox, source)
    assert told == "-1 -1 -1\n" + "Operation not permitted\n" * 3


# ------------------------------------------------------------------- numbers that all share


async def test_a_program_takes_few_terminals_and_none_from_others(sandbox: Sandbox) -> None:
    source = """
import os
made = []
try:
    while len(made) < 5000: made.append(os.openpty())
except OSError as error: print(error.strerror)
print(0 < len(made) < 100, flush=True)
"""

    async def look() -> None:
        for descriptor in os.openpty():
            os.close(descriptor)

    execution = await while_it_runs(sandbox, source, look())
    assert execution.stdout.data == b"No space left on device\nTrue\n", execution


@pytest.mark.parametrize(
    "attempt",
    [
        "libc.syscall(0 if arm else 206, 1, ctypes.byref(ctypes.c_ulong(0)))",  # io_setup
        "libc.inotify_init1(0)",
        "libc.memfd_create(b'huge', 4)",
        "libc.shmget(0, 1 << 21, 0o4000 | 0o1000 | 0o600)",
        "libc.mmap(0, ctypes.c_size_t(1 << 21), 3, 0x40022, -1, 0)",
        "libc.syncfs(0)",
    ],
)
async def test_a_number_of_the_whole_kernels_is_not_drawn_from(
    sandbox: Sandbox, attempt: str
) -> None:
    source = f"""
import ctypes, os
arm = os.uname().machine == 'aarch64'
libc = ctypes.CDLL(None, use_errno=True)
print({attempt}, ctypes.get_errno() in (1, 38))
"""
    assert await output_of(sandbox, source) == "-1 True\n"
