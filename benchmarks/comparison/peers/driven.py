"""A peer whose method is called by a driver in a process of its own."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from benchmarks.comparison import drivers
from benchmarks.comparison.cases import Case
from benchmarks.comparison.peer import (
    LIMIT_SECONDS,
    About,
    Answer,
    Outcome,
    UnavailableError,
)
from benchmarks.comparison.processes import cpu_of, memory_of
from benchmarks.measure.served import ENGINE_NAMES, waited_for

# The drivers' folder is imported as a package of its own, so that a driver's process has only what
# its method needs.
_START = (
    "import sys; packages, folder, method, threads, *options = sys.argv[1:]; "
    "sys.path[:0] = [packages] if packages else []; sys.path.insert(0, folder); "
    "from drivers.serving import main; sys.path.remove(folder); "
    "main(method, options, int(threads))"
)
_FOLDER = Path(drivers.__file__).parent.parent
_READY_SECONDS = 60.0
_STOP_SECONDS = 20.0
_LINE_LIMIT = 1 << 20
_LONGEST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method of a driver.

    Args:
        about: the description, without the version.
        driver: name of its module.
        options: options of the driver.
        packages: folder of its packages, beside those of this interpreter; "" for none.
        engine: names of the processes of a Docker Engine whose CPU time is counted.
        adopter: a process that waits for what the engine started, whose time there is counted.
        pids: further processes whose CPU time is counted, with their descendants.
    """

    about: About
    driver: str
    options: Sequence[str]
    packages: str = ""
    engine: Collection[str] = ()
    adopter: int | None = None
    pids: Collection[int] = ()


class Driven:
    """Sends submissions to a driver as lines of JSON, and reads its answers.

    Args:
        method: the method.
        threads: greatest number of submissions at once.

    Attributes:
        limit_seconds: wall time that the driver gives to a submission.
    """

    limit_seconds = LIMIT_SECONDS

    def __init__(self, method: Method, threads: int) -> None:
        self._method = method
        self._threads = threads
        self._process: Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._errors: IO[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._numbers = itertools.count()
        self.about = method.about

    async def start(self) -> None:
        """Starts the driver."""
        method = self._method
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # `stop` closes it
        # Some attacks write files where they run, and in the folder of temporary files.
        self._folder = tempfile.TemporaryDirectory(prefix="comparison-")
        options = (method.driver, str(self._threads), *method.options)
        command = (sys.executable, "-I", "-c", _START, method.packages, str(_FOLDER), *options)
        self._process = process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=self._errors,
            cwd=self._folder.name,
            env={**os.environ, "TMPDIR": self._folder.name},
            limit=_LINE_LIMIT,
            start_new_session=True,
        )
        assert process.stdout is not None
        line = b""
        with suppress(TimeoutError):
            line = await asyncio.wait_for(process.stdout.readline(), _READY_SECONDS)
        if not line:
            reason = self._said() or "its driver did not start"
            await self.stop()
            raise UnavailableError(reason)
        self.about = replace(method.about, version=json.loads(line)["version"])
        self._reader = asyncio.create_task(self._read(process.stdout))

    async def judge(self, case: Case, number: int) -> Answer:
        """Sends a submission to the driver, and waits for its answer."""
        process = self._process
        if process is None or process.stdin is None or self._reader is None or self._reader.done():
            return self._lost()
        submission, key = case.submission(number), next(self._numbers)
        line = {
            "id": key,
            "solution": submission.solution,
            "tests": submission.tests,
            "seconds": self.limit_seconds,
        }
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[key] = answer
        try:
            process.stdin.write(json.dumps(line).encode() + b"\n")
            await process.stdin.drain()
            return await answer
        except ConnectionError:
            return self._lost()
        finally:
            self._waiting.pop(key, None)

    async def stop(self) -> None:
        """Ends the driver and everything in its session."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            process.stdin.close()
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _STOP_SECONDS)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if self._reader is not None:
            await self._reader
            self._reader = None
        if self._errors is not None:
            self._errors.close()
            self._errors = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def cpu_seconds(self) -> float | None:
        """Returns the CPU time of the driver and of its descendants, and of the engine if any."""
        process = self._process
        if process is None or process.returncode is not None:
            return None
        method = self._method
        used = cpu_of(process.pid, method.engine, method.pids)
        if used is None or method.adopter is None:
            return used
        return used + waited_for(method.adopter)

    def memory_bytes(self) -> int | None:
        """Returns the memory of the driver's tree, and of an engine with all its containers."""
        process = self._process
        if process is None or process.returncode is not None:
            return None
        return memory_of(process.pid, ENGINE_NAMES if self._method.engine else ())

    async def _read(self, answers: asyncio.StreamReader) -> None:
        while line := await answers.readline():
            told = json.loads(line)
            waiting = self._waiting.get(told["id"])
            if waiting is not None and not waiting.done():
                answer = Answer(outcome=Outcome(told["outcome"]), detail=told["detail"])
                waiting.set_result(answer)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(self._lost())

    def _lost(self) -> Answer:
        return Answer(outcome=Outcome.FAILED, detail=self._said() or "its driver ended")

    def _said(self) -> str:
        """Returns the last line that the driver wrote about its failure."""
        if self._errors is None:
            return ""
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][-_LONGEST:] if lines else ""


async def told(*command: str) -> str:
    """Returns what a command writes, without the line's end.

    Raises:
        UnavailableError: it is not there, or it failed.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
        )
    except OSError as error:
        raise UnavailableError(f"{command[0]}: {error.strerror}") from None
    output, errors = await process.communicate()
    if process.returncode:
        said = errors.decode("utf-8", "replace").strip().splitlines()
        raise UnavailableError(said[-1][-_LONGEST:] if said else f"{command[0]} failed")
    return output.decode("utf-8", "replace").strip()
