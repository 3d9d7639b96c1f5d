"""Compiles the two programs of a test program that was taken apart, and joins them with pipes.

Where the local sandbox would confine them they run as they are: the solutions are the tests' own.
"""

from __future__ import annotations

import os
import struct
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from reward_server.domain import Limits
from reward_server.grading.compiled_tests.split import SPLITTERS, Source, Split, Task, taken_apart
from reward_server.languages import Language, load_languages

SECRET, WORD = "sx", "0123456789abcdef"
SECONDS = 120.0
READS, WRITES = 3, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Programs of a language whose prompts leave a function open.

    Args:
        language: what they are written in.
        compiler: the command that has to be there.
        prompt, solution, tests: of one problem.
        problems: by name a prompt, a completion, one without a body, and tests.
        attacks: on that one problem, by kind and name.
        values: by name a prompt, a completion, and checks that hold.
        main: makes tests of checks.
        whole, wrong: a right solution of the problem without a prompt, and a wrong one.
        stateful: the prompt with a variable, which cannot be taken apart, and a completion.
        signatures: solutions without a prompt that name a signature of their own.
        numbers: tests of a number, a right solution, and wrong ones.
    """

    language: str
    compiler: str
    prompt: str
    solution: str
    tests: str
    problems: Mapping[str, tuple[str, str, str, str]]
    attacks: Mapping[str, Mapping[str, str]]
    values: Mapping[str, tuple[str, str, str]]
    main: Callable[[str], str]
    whole: str
    wrong: str
    stateful: tuple[str, str]
    signatures: tuple[str, ...]
    numbers: tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the tests' program ended.

    Args:
        passed: whether it came to its end, with its last word.
        forged: what it said of a malformed answer; "" if it said nothing.
        stderr: what it wrote there.
    """

    passed: bool
    forged: str
    stderr: str


@dataclass(slots=True, kw_only=True)
class Workshop:
    """Takes test programs of a language apart and makes them ready to run.

    Args:
        language: what they are written in.
        splitter: what takes them apart.
        folder: for what is compiled.
    """

    language: Language
    splitter: str
    folder: Path
    _library: dict[str, bytes] = field(default_factory=dict)
    _commands: dict[tuple[str, tuple[tuple[str, bytes], ...]], list[str]] = field(
        default_factory=dict
    )

    def taken_apart(self, prompt: str, tests: str) -> Split | None:
        program = self.language.program
        assert program is not None
        assert program.assertions is not None
        task = Task(prompt=prompt, tests=tests, language=program.assertions)
        return SPLITTERS[self.splitter](task)

    def tests_program(self, split: Split, tests: str) -> list[str]:
        """Compiles the tests' program and returns the command that runs it."""
        assert self.language.program is not None
        composed = self.language.program.compose(split.stubs.text, tests, secret=SECRET, word=WORD)
        files = {**split.stubs.files, **composed.files}
        source = Source(text=composed.source, files=files, library=split.stubs.library)
        return self.compiled(source, self.language.of_tests)

    def compiled(self, source: Source, language: Language | None = None) -> list[str]:
        """Compiles a program, once, and returns the command that runs it.

        Raises:
            CalledProcessError: the compiler refuses it.
        """
        files = {**source.files, **self._compiled_library(source.library)}
        key = (source.text, tuple(sorted(files.items())))
        if key not in self._commands:
            folder = tempfile.mkdtemp(dir=self.folder)
            self._commands[key] = self._compiled(source.text, files, Path(folder), language)
        return self._commands[key]

    def _compiled_library(self, text: str) -> dict[str, bytes]:
        if text and not self._library:
            folder = self.folder / "library"
            self._compiled(text, {}, folder, is_library=True)
            assert self.language.toolchain is not None
            kept = [
                path for one in self.language.toolchain.library.keep for path in folder.glob(one)
            ]
            self._library = {str(path.relative_to(folder)): path.read_bytes() for path in kept}
        return self._library if text else {}

    def _compiled(
        self,
        text: str,
        files: Mapping[str, bytes],
        folder: Path,
        language: Language | None = None,
        *,
        is_library: bool = False,
    ) -> list[str]:
        language = language or self.language
        work = language.compilation(text, files, Limits(), is_library=is_library)
        for name, content in work.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for command in work.commands:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=SECONDS)
        work = self.language.execution(text, b"", Limits())
        environment = (f"{name}={value}" for name, value in work.environment.items())
        return ["env", "-C", str(folder), *environment, *work.commands[0]]


@contextmanager
def running(command: list[str], reads: int, writes: int) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a program that reads one descriptor and writes the other; both are closed here."""
    first = 1 + max(reads, writes, READS, WRITES)  # of two that are neither of the four
    second = first + 1
    aside = f"{first}<&{reads} {second}>&{writes} {reads}<&- {writes}>&-"
    script = f'exec "$@" {aside} {READS}<&{first} {WRITES}>&{second} {first}<&- {second}>&-'
    process = subprocess.Popen(
        ["bash", "-c", script, "bash", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(reads, writes),
    )
    os.close(reads)
    os.close(writes)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def judged(tests: list[str], solution: list[str]) -> Outcome:
    """Runs both programs, joined by pipes."""
    status, stdout, stderr = _run(tests, solution)
    return _outcome(status, stdout, stderr, b"")


def printed(tests: list[str], solution: list[str]) -> str:
    """Runs both programs, joined by pipes, and returns what the tests wrote.

    Raises:
        AssertionError: they did not come to their end.
    """
    status, stdout, stderr = _run(tests, solution)
    assert _outcome(status, stdout, stderr, b"").passed, stderr
    return stdout.decode()


def _run(tests: list[str], solution: list[str]) -> tuple[int, bytes, bytes]:
    calls, answers = os.pipe(), os.pipe()
    copy = os.dup(calls[0]), os.dup(answers[1])
    os.close(calls[0])
    os.close(answers[1])
    with running(tests, answers[0], calls[1]) as one, running(solution, *copy):
        stdout, stderr = one.communicate(timeout=SECONDS)
        return one.returncode, stdout, stderr


def answered(tests: list[str], answer: bytes) -> Outcome:
    """Runs the tests' program, whose first call gets these bytes, whatever they are."""
    calls, answers = os.pipe(), os.pipe()
    with running(tests, answers[0], calls[1]) as one, open(calls[0], "rb") as reads:
        thread = threading.Thread(target=_write, args=(answers[1], answer))
        thread.start()
        told = reads.read()
        stdout, stderr = one.communicate(timeout=SECONDS)
        thread.join()
        return _outcome(one.returncode, stdout, stderr, told)


def _write(descriptor: int, data: bytes) -> None:
    with open(descriptor, "wb", buffering=0) as file:
        try:
            while data:
                data = data[file.write(data) :]
        except BrokenPipeError:
            return


def _outcome(status: int, stdout: bytes, stderr: bytes, told: bytes) -> Outcome:
    frames = list(_frames(told))
    forged = frames[-1][5:].decode() if frames and frames[-1][:1] == b"F" else ""
    passed = status == 0 and f"\n{WORD}\n".encode() in stdout
    return Outcome(passed=passed, forged=forged, stderr=stderr.decode("utf-8", "replace"))


def _frames(data: bytes) -> Iterator[bytes]:
    while len(data) >= 4:
        (size,) = struct.unpack_from(">I", data)
        yield data[4 : 4 + size]
        data = data[4 + size :]


def workshop(name: str, splitter: str, folder: Path) -> Workshop:
    """Makes a workshop of a language."""
    return Workshop(language=load_languages().find(name), splitter=splitter, folder=folder)


def refusal_of(name: str, prompt: str, tests: str) -> str:
    """Returns why tests in a language need the solution itself; "" if they run apart."""
    program = load_languages().find(name).program
    assert program is not None
    assert program.assertions is not None
    task = Task(prompt=prompt, tests=tests, language=program.assertions)
    found = taken_apart(program.split, task)
    return found if isinstance(found, str) else ""


def frame(payload: bytes) -> bytes:
    """Puts a payload's length in front of it."""
    return struct.pack(">I", len(payload)) + payload


def answer(*values: bytes, id: int = 1) -> bytes:
    """Makes the answer to a call: a value as it is on the wire."""
    return frame(b"R" + struct.pack(">I", id) + b"".join(values))


def text(value: bytes) -> bytes:
    """Makes a text as it is on the wire."""
    return struct.pack(">I", len(value)) + value


def whole(value: int) -> bytes:
    """Makes a whole number as it is on the wire."""
    return b"i" + struct.pack(">q", value)


def many(tag: bytes, count: int, *values: bytes) -> bytes:
    """Makes a value that holds others, of which it says how many there are."""
    return tag + struct.pack(">I", count) + b"".join(values)
