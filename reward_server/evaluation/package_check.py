"""Tries the packages of a sandbox of Python: imports each module that they install."""

from __future__ import annotations

import json

from reward_server.domain import MEBIBYTE, Ending, Job, Limits, Program
from reward_server.evaluation.graders.base import Slots

# Some packages take gigabytes and many seconds to be imported.
_LIMITS = Limits(
    cpu_time_seconds=300.0,
    wall_time_seconds=600.0,
    memory_bytes=4096 * MEBIBYTE,
    processes=256,
    open_files=1024,
)
# It imports the public modules and packages at the top of each distribution, as their lists of
# files have them, each in a process of its own, and prints as JSON what failed. It leaves out a
# plug-in that tensorflow loads by itself and that cannot be loaded a second time.
_IMPORTS = """
import importlib, importlib.metadata, json, os, re
TOP = re.compile(r"([A-Za-z][A-Za-z0-9_]*)(?:/__init__)?(?:\\.[\\w-]+)?\\.(?:py|so)")
ASIDE = {"setup", "test", "tests", "doc", "docs", "example", "examples"}
ASIDE.add("tensorflow_io_gcs_filesystem")

def problem_of(top):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(1)
            importlib.import_module(top)
            status = 0
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}"[:200].encode())
        os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        said = told.read().decode("utf-8", "replace")
    _, status = os.waitpid(child, 0)
    return said or f"status {status}" if status else ""

failed = {}
for one in importlib.metadata.distributions():
    tops = {match[1] for file in one.files or () if (match := TOP.fullmatch(str(file)))} - ASIDE
    for top in sorted(tops):
        if problem := problem_of(top):
            failed[one.metadata["Name"]] = f"{top}: {problem}"
print("\\n" + json.dumps(failed))
"""


async def try_packages(slots: Slots) -> tuple[str, ...]:
    """Imports all packages; returns what went wrong with each that fails.

    Raises:
        SandboxError: the server failed.
    """
    execution = await slots.run(Job(work=Program(source=_IMPORTS, stdin=b""), limits=_LIMITS))
    if execution.ending is not Ending.COMPLETED:
        return (f"its packages could not be tried: {execution.ending.name}",)
    failed = json.loads(execution.stdout.data.splitlines()[-1])
    return tuple(f"the package {name} cannot be imported: {why}" for name, why in failed.items())
