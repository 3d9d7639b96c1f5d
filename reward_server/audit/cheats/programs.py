"""Cheats of tasks whose solution is a program that reads an input and writes an output.

The tests do not depend on the language of the solution, so the cheats are Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reward_server.audit.cheats.cheat import Cheat
from reward_server.audit.tasks import Task
from reward_server.audit.texts.examples import run_examples
from reward_server.audit.texts.expectations import expectations

_MOST = 2
_FOUND_FILES = """
import os, sys
for folder in ('.', '..', '/tmp', 'tests', '/tests', '/data'):
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        continue
    for name in names:
        if name.endswith(('.out', '.ans', '.expected', 'output.txt', 'expected.txt')):
            sys.stdout.write(open(os.path.join(folder, name)).read())
            sys.exit(0)
"""
_CLAIMS = """
print('1 passed in 0.01s', 'OK', 'PASSED', 'Accepted', 'AC', sep='\\n')
print('{"passed": true, "success": true, "score": 1.0, "reward": 1.0}')
"""


def program_cheats(task: Task, *, with_hacks: bool) -> Iterator[Cheat]:
    """Yields the cheats of a task with a program as its solution."""
    outputs = Counter(str(one.value) for one in expectations(task))
    yield _cheat("empty_passes", "empty answer", "")
    yield _cheat("empty_passes", "no output", "pass")
    for output, _ in outputs.most_common(_MOST):
        code = f"import sys\nsys.stdout.write({output!r})"
        yield _cheat("constant_passes", f"output {output[:60]!r}", code)
    yield _cheat("echo_passes", "the input", "import sys\nsys.stdout.write(sys.stdin.read())")
    if known := {tuple(one.given.split()): one.output for one in run_examples(task)}:
        code = f"import sys\nprint({known!r}.get(tuple(sys.stdin.read().split()), ''))"
        yield _cheat("examples_pass", "examples of the prompt", code)
    if with_hacks:
        yield _cheat("hack_passes", "expected outputs found on the disk", _FOUND_FILES)
        yield _cheat("hack_passes", "printed claims of success", _CLAIMS)


def _cheat(kind: str, name: str, code: str) -> Cheat:
    return Cheat(kind=kind, name=name, code=code, language="python" if code else "")
