"""Makes programs ready to run: each is compiled once, however often it runs.

The product of a compilation is stored for a limited time by the digest of all its inputs, so that
the same source is not compiled twice. The product is not trusted: it only goes back into a sandbox,
and the server does not read it. An owner does not get the products of another, and cannot find out
whether there are any.

A language is checked once, before its first program. Otherwise a broken compiler would turn every
honest program into a compile error with the reward 0.
"""

from __future__ import annotations

import copy
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from reward_server.domain import (
    Commands,
    Ending,
    Execution,
    Job,
    Limits,
    Program,
    TerminationKind,
)
from reward_server.errors import SandboxError
from reward_server.evaluation.deduplication import SingleFlight
from reward_server.evaluation.graders.base import Slots
from reward_server.languages import Language
from reward_server.runner import wire

KEPT_PRODUCT_BYTES = 256 << 20
KEPT_SECONDS = 600.0
_PRODUCT_OVERHEAD_BYTES = 1024
_MESSAGE_CHARACTERS = 1000
PROBE_STDIN, _PROBE_STDOUT = b"20 22\n", b"42"
# Endings that the compiler did not choose, and that are still no reason to try again.
_REFUSALS = (Ending.CRASHED, Ending.LOAD_ERROR, Ending.LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A program that is ready to run, or was refused.

    Args:
        language: what it is written in.
        source: the program.
        files: files beside it.
        data: read-only files beside it.
        product: the product of the compilation.
        compilation: the execution of the compiler; None if there was none.
    """

    language: Language
    source: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    data: Mapping[str, bytes] = field(default_factory=dict)
    product: bytes = b""
    compilation: Execution | None = None

    @property
    def refusal(self) -> Execution | None:
        """The execution that shows why the program cannot run; None if it can."""
        ended = self.compilation
        return None if ended is None or ended.ending is Ending.COMPLETED else ended

    def job(
        self,
        limits: Limits,
        *,
        stdin: bytes = b"",
        args: tuple[str, ...] = (),
        files: Mapping[str, bytes] | None = None,
    ) -> Job:
        """Makes a job of one run.

        Args:
            limits: limits of the run.
            stdin: bytes given on standard input.
            args: on the command line.
            files: further files in the working folder of this run.
        """
        files, data = {**self.files, **(files or {})}, self.data
        if self.language.toolchain is None:
            program = Program(source=self.source, stdin=stdin, args=args, files=files, data=data)
            return Job(work=program, language=self.language.name, limits=limits)
        work = self.language.execution(self.source, self.product, limits)
        command = (*work.commands[0], *args)
        work = replace(work, commands=(command,), stdin=stdin, files=files, data=data)
        return Job(work=work, language=self.language.name, limits=limits)


class Programs:
    """Makes programs ready.

    Args:
        limits: the server's defaults, which a language may override.
        kept_bytes: the maximum total size of kept products.
        kept_seconds: how long a product is kept at most.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        kept_bytes: int = KEPT_PRODUCT_BYTES,
        kept_seconds: float = KEPT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = limits
        self._kept = _Kept(kept_bytes, kept_seconds, clock)
        self._in_progress: SingleFlight[Ready] = SingleFlight()
        self._checks: SingleFlight[None] = SingleFlight()
        self._tried: set[str] = set()
        self._owner = ""

    def of(self, owner: str) -> Programs:
        """Returns one owner's programs, which share the memory for programs with those of
        others."""
        view = copy.copy(self)
        view._owner = owner
        return view

    async def ready(
        self,
        language: Language,
        source: str,
        slots: Slots,
        files: Mapping[str, bytes] | None = None,
        data: Mapping[str, bytes] | None = None,
        *,
        parts: Mapping[str, bytes] | None = None,
        once: bool = False,
    ) -> Ready:
        """Makes a program ready; the same program is not compiled again or twice at once.

        Args:
            language: what it is written in.
            source: the program.
            slots: where the compiler runs.
            files: files beside it, both for the compiler and when it runs.
            data: read-only files, likewise.
            parts: further files that the compiler alone gets, such as those of hidden tests.
            once: whether the program is only needed once, so that its product is not kept.

        Raises:
            SandboxError, DeadlineError: as the slots; also if the language does not work here.
        """
        program = Ready(language=language, source=source, files=files or {}, data=data or {})
        if language.toolchain is None:
            return program
        await self._tried_once(language, slots)
        make = partial(self._make, program, parts or {}, slots)
        if once:
            made = await make()
        else:
            made = await self._shared(_digest(self._owner, program, parts or {}), make)
        return replace(made, files={**program.files, **made.files}, data=program.data)

    async def library(self, language: Language, source: str, slots: Slots) -> Mapping[str, bytes]:
        """Compiles a library of the server once; returns the files that the compiler made.

        Raises:
            SandboxError: as the slots; the language does not work here, or refuses the library.
            DeadlineError: as the slots.
        """
        await self._tried_once(language, slots)
        program = Ready(language=language, source=source)
        key = _digest(f"a library of {language.name}", program, {})
        make = partial(self._make, program, {}, slots, is_library=True)
        ready = await self._shared(key, make)
        if ready.refusal is not None:
            raise SandboxError(f"a library of ours does not compile: {ready.refusal.message}")
        _, files = wire.unpack(ready.product)
        return files

    async def _shared(self, key: bytes, make: Callable[[], Coroutine[None, None, Ready]]) -> Ready:
        if kept := self._kept.find(key):
            return kept
        made, shared = await self._in_progress.join(key, make)
        again = replace(made, compilation=made.refusal)  # which costs nothing more
        if shared:
            return again
        if not _ran_out(made):
            self._kept.keep(key, again)
        return made

    async def compiled(
        self, language: Language, work: Callable[[Limits], Commands], slots: Slots
    ) -> Execution:
        """Compiles a program that nobody will ask for again; the execution holds the product.

        Args:
            language: what it is written in.
            work: the compilation, given its limits.
            slots: where the compiler runs.

        Raises:
            SandboxError, DeadlineError: as the slots; and the language does not work here.
        """
        await self._tried_once(language, slots)
        limits = language.compile_limits(self._limits)
        job = Job(work=work(limits), language=language.name, limits=limits)
        execution = await slots.run(job)
        return execution if _succeeded(execution) else _refused(execution)

    async def _tried_once(self, language: Language, slots: Slots) -> None:
        if language.name not in self._tried:
            key = language.name.encode()
            await self._checks.join(key, lambda: self._try(language, slots))

    async def _make(
        self,
        program: Ready,
        parts: Mapping[str, bytes],
        slots: Slots,
        *,
        is_library: bool = False,
    ) -> Ready:
        """Compiles a program; the result has no files, unless there is nothing to compile."""
        language = program.language
        limits = language.compile_limits(self._limits)
        files = {**program.files, **parts}
        work = language.compilation(program.source, files, limits, is_library=is_library)
        if not work.commands:
            return replace(program, files=work.files, data={})
        work = replace(work, data=program.data)
        execution = await slots.run(Job(work=work, language=language.name, limits=limits))
        program = replace(program, files={}, data={})
        if _succeeded(execution):
            made = replace(execution, product=b"")
            return replace(program, product=execution.product, compilation=made)
        return replace(program, compilation=_refused(execution))

    async def _try(self, language: Language, slots: Slots) -> None:
        works_here = Ready(language=language, source=language.probe.works)
        program = await self._make(works_here, {}, slots)
        said = program.refusal
        if said is None:
            limits = language.default_limits(self._limits)
            said = await slots.run(program.job(limits, stdin=PROBE_STDIN))
            if works(said):
                self._tried.add(language.name)
                return
        complaint = said.stderr.data[-_MESSAGE_CHARACTERS:].decode("utf-8", "replace").strip()
        raise SandboxError(f"{language.name} does not work here: {said.message} {complaint}")


def works(execution: Execution) -> bool:
    """Returns True if the probe program `works` did its task."""
    return _succeeded(execution) and execution.stdout.data.strip() == _PROBE_STDOUT


def _succeeded(execution: Execution) -> bool:
    termination = execution.termination
    exited = execution.ending is Ending.COMPLETED and termination.kind is TerminationKind.EXITED
    return exited and termination.value == 0


def _refused(execution: Execution) -> Execution:
    """Returns an execution of the compiler that made no program, as a compile error."""
    if execution.ending is Ending.COMPLETED:
        text = (execution.stderr.data or execution.stdout.data).decode("utf-8", "replace")
        message = text.strip()[:_MESSAGE_CHARACTERS] or "the compiler refused it"
    elif execution.ending in _REFUSALS:
        message = f"the compiler came to no end: {execution.message}"
    else:
        return execution
    return replace(execution, ending=Ending.COMPILE_ERROR, message=message, product=b"")


def _ran_out(program: Ready) -> bool:
    """Returns True if a compilation hit a limit; another attempt might not."""
    return program.compilation is not None and bool(program.compilation.limits_hit)


def _digest(owner: str, program: Ready, parts: Mapping[str, bytes]) -> bytes:
    digest = hashlib.blake2b(digest_size=20)
    texts = (owner, program.language.name, program.source)
    for part in (
        *(text.encode("utf-8", "surrogatepass") for text in texts),
        *_flat({**program.files, **parts}),
        b"",  # no path: the data begins here
        *_flat(program.data),
    ):
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()


def _flat(files: Mapping[str, bytes]) -> list[bytes]:
    return [part for name in sorted(files) for part in (name.encode(), files[name])]


class _Kept:
    """Keeps products for a limited time; the oldest are dropped first."""

    def __init__(self, size_bytes: int, seconds: float, clock: Callable[[], float]) -> None:
        self._room_bytes = size_bytes
        self._seconds = seconds
        self._clock = clock
        self._programs: OrderedDict[bytes, tuple[float, Ready]] = OrderedDict()

    def find(self, key: bytes) -> Ready | None:
        self._expire()
        found = self._programs.get(key)
        return found[1] if found else None

    def keep(self, key: bytes, program: Ready) -> None:
        if key not in self._programs:
            self._programs[key] = (self._clock() + self._seconds, program)
            self._room_bytes -= _size(program)
            self._expire()

    def _expire(self) -> None:
        now = self._clock()
        while self._programs:
            until, program = next(iter(self._programs.values()))
            if until > now and self._room_bytes >= 0:
                return
            self._programs.popitem(last=False)
            self._room_bytes += _size(program)


def _size(program: Ready) -> int:
    return _PRODUCT_OVERHEAD_BYTES + len(program.product) + len(program.source)
