"""The first process of a namespace, which waits beside the second one, holds no other file open."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

_CLOSE_RANGE = 436
# It forks, since who steps aside ends; a filter makes the kernel one that has no `close_range`.
_PROGRAM = """
import os, struct, sys, time
from reward_server.runner.supervisor import namespace_init
from reward_server.runner.walls import kernel
ENOSYS, NUMBER = 38, int(sys.argv[1])
told, tell = os.pipe()
if not os.fork():
    ready = namespace_init.Aside()
    refused, allowed = (6, 0, 0, 0x50000 | ENOSYS), (6, 0, 0, 0x7FFF0000)
    rows = [(0x20, 0, 0, 0), (0x15, 0, 1, NUMBER), refused, allowed]
    kernel.no_new_privileges()
    kernel.install_seccomp(b"".join(struct.pack("=HBBI", *row) for row in rows))
    ready.step(tell)
    folder = f"/proc/{os.getppid()}/fd"
    while len(os.listdir(folder)) > 1:
        time.sleep(0.01)
    print([os.listdir(folder), str(tell)], flush=True)
    os._exit(3)
os.close(tell)
print(os.waitstatus_to_exitcode(int.from_bytes(os.read(told, 9), sys.byteorder)))
"""


@pytest.mark.parametrize("absent", [_CLOSE_RANGE, 1 << 20], ids=["not in the kernel", "there"])
def test_it_closes_all_files_but_what_it_tells_the_status_by(absent: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(absent)], capture_output=True, text=True, timeout=60
    )
    assert not done.stderr
    files, status = map(ast.literal_eval, done.stdout.splitlines())
    assert files[0] == [files[1]]
    assert status == 3
