"""The requests that a runner serves: one typed tuple for each kind of execution.

A request is a document (see `wire`) whose object holds "mode" and the fields of a tuple. The server
sends the judge a `Request`, and the judge sends the candidate a `Program`. A request has these
blobs:

    program   source, stdin, file/NAME and data/NAME (read-only)
    commands  product, stdin, file/NAME and data/NAME
    split     as for commands without stdin, each name prefixed with "tests:" or "solution:"
    conversation  as for program or commands without stdin, prefixed with "interactor:" or
              "solution:"
    function  source, file/NAME and data/NAME
    call      as for function
    unit      source, file/NAME, data/NAME and test/NAME, which the judge does not send on
    shared    as for unit; tests and source run in the candidate's process, and what that process
              reports about the tests are observations. A repository has no source, and executable
              files as exec/NAME

A program has the blob source, or for commands product, and the files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from . import wire


class Side(TypedDict):
    """The commands of one of two programs."""

    commands: list[list[str]]
    environment: dict[str, str]


class Checker(TypedDict):
    """How results are compared with expected values; see `judge.compare`."""

    kind: str
    absolute_tolerance: float
    relative_tolerance: float


class ProgramRequest(NamedTuple):
    """A Python program that reads its standard input.

    Args:
        args: on the command line.
        output_bytes: greatest size of its output.
        reports: whether a process beside it sends its status, as it does for commands.
    """

    args: list[str]
    output_bytes: int
    reports: bool = False


class CommandsRequest(NamedTuple):
    """Commands that run one after another until one fails.

    Args:
        keep: patterns of the files that are returned if all commands succeed.
        product_bytes: greatest size of these files.
        keeps_failed: whether they are returned also if a command fails.
        joined: whether the commands get the ends of two pipes, as each program of mode "split"
            does.
    """

    commands: list[list[str]]
    environment: dict[str, str]
    keep: list[str]
    product_bytes: int
    output_bytes: int
    joined: bool = False
    keeps_failed: bool = False


class SplitRequest(NamedTuple):
    """Two programs: the tests' program calls the solution's; see `judge.relay`."""

    tests: Side
    solution: Side
    output_bytes: int
    result_bytes: int


class ConversationRequest(NamedTuple):
    """Two programs that converse; see `judge.conversation`.

    Args:
        interactor: the fields of a `ProgramRequest` or of a `CommandsRequest`.
        solution: the same.
        output_bytes: greatest size of the output of each.
    """

    interactor: Mapping[str, Any]
    solution: Mapping[str, Any]
    output_bytes: int


class PlanFields(TypedDict):
    """What is bound before the solution is heard; see `judge.contract`.

    Keys: names that the tests take from the solution, those of them that they construct, those that
    they expect as exceptions, those that stand for data, modules to load, those that the tests do
    not import themselves, the prompt's definitions, its classes whose objects are data, the form of
    the test code ("check" or "script"), whether the contract allows all of the tests, and the first
    calls that they make in any case.
    """

    names: Sequence[str]
    classes: Sequence[str]
    raised: Sequence[str]
    values: Sequence[str]
    modules: Sequence[str]
    free: Mapping[str, str]
    helpers: str
    records: Sequence[str]
    form: str
    is_allowed: bool
    ahead: Sequence[tuple[str, Sequence[object]]]


class FunctionRequest(NamedTuple):
    """Tests given as Python.

    Args:
        result_bytes: greatest size of an answer of the solution.
        calls: how many questions an execution may ask.
        plan: what is bound before the solution is heard.
    """

    entry_point: str
    test_code: str
    asserts: list[str]
    setup_code: str
    output_bytes: int
    result_bytes: int
    calls: int
    plan: PlanFields
    stop_at_first_failure: bool = False


class CallRequest(NamedTuple):
    """Calls of one function with JSON values.

    Args:
        cases: for each call the arguments, a JSON array, and the expected result.
        signature: shapes of the parameters and of the result; see `candidate.leetcode_types`.
    """

    entry_point: str
    cases: list[tuple[str, str]]
    checker: Checker
    output_bytes: int
    result_bytes: int
    calls: int
    stop_at_first_failure: bool = False
    signature: Sequence[Any] = ()


class UnitRequest(NamedTuple):
    """Test files that the judge runs; `framework` is "unittest" or "pytest".

    Args:
        targets: the files of a repository whose tests run; none if all files are the tests'.
        import_paths: folders from which they can import besides the top.
        modules: names of the repository's modules.
    """

    framework: str
    solution_path: str
    output_bytes: int
    result_bytes: int
    calls: int
    stop_at_first_failure: bool = False
    targets: Sequence[str] = ()
    import_paths: Sequence[str] = ()
    modules: Sequence[str] = ()
    plan: PlanFields | None = None


class SharedRequest(UnitRequest):
    """Test files that run in the solution's process."""

    __slots__ = ()


class FilesProgram(NamedTuple):
    """The part of a `SharedRequest` that the candidate gets; the same for tests and copies."""

    framework: str
    solution_path: str
    targets: Sequence[str] = ()
    import_paths: Sequence[str] = ()


class SolutionProgram(NamedTuple):
    """A solution whose functions the judge calls.

    Args:
        predefined: whether names that competitions predefine exist before the solution is loaded.
        shared: names of the prompt's classes whose objects cross as records.
        signature: the `signature` of the `CallRequest`.
    """

    predefined: bool
    result_bytes: int
    shared: Sequence[str] = ()
    signature: Sequence[Any] = ()


TestsRequest = FunctionRequest | CallRequest
Pair = SplitRequest | ConversationRequest
Request = ProgramRequest | CommandsRequest | Pair | TestsRequest | UnitRequest
Program = ProgramRequest | CommandsRequest | FilesProgram | SolutionProgram

_REQUESTS: Mapping[str, Callable[..., Request]] = {
    "program": ProgramRequest,
    "commands": CommandsRequest,
    "split": SplitRequest,
    "conversation": ConversationRequest,
    "function": FunctionRequest,
    "call": CallRequest,
    "unit": UnitRequest,
    "shared": SharedRequest,
}
_PROGRAMS: Mapping[str, Callable[..., Program]] = {
    "program": ProgramRequest,
    "commands": CommandsRequest,
    "files": FilesProgram,
    "solution": SolutionProgram,
}
_MODES = {kind: mode for mode, kind in (*_REQUESTS.items(), *_PROGRAMS.items())}


def pack(request: Request | Program, blobs: Mapping[str, bytes]) -> bytes:
    """Builds the document of a request or a program."""
    return wire.pack({"mode": _MODES[type(request)], **request._asdict()}, blobs)


def fields_of(program: Program) -> dict[str, object]:
    """Returns the fields of a program within another request; with blobs they make its document."""
    return {"mode": _MODES[type(program)], **program._asdict()}


def blobs_of(side: str, blobs: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns the blobs of one of two programs, without the prefix that names it."""
    prefix = f"{side}:"
    return {
        name.removeprefix(prefix): blob for name, blob in blobs.items() if name.startswith(prefix)
    }


def unpack(document: bytes | memoryview) -> tuple[Request, dict[str, bytes]]:
    """Parses the document of a request to the judge.

    Raises:
        ValueError: the bytes are not a document.
    """
    header, blobs = wire.unpack(document)
    return _REQUESTS[str(header.pop("mode"))](**header), blobs


def unpack_program(document: bytes | memoryview) -> tuple[Program, dict[str, bytes]]:
    """Parses the document of a program, the judge's first message to the candidate.

    Raises:
        ValueError: the bytes are not a document.
    """
    header, blobs = wire.unpack(document)
    return _PROGRAMS[str(header.pop("mode"))](**header), blobs
