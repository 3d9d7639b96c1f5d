"""Refuses, when a row is read, what every server would refuse for each completion.

What an operator can set (the number of tests, the size of a request, which languages are offered)
is not checked here, because only the server knows it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import ParamSpec

from codereward.spelling import did_you_mean
from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import TaskError

_P = ParamSpec("_P")
_Reader = Callable[_P, pb.ScoreRequest]
_Problems = Iterator[tuple[str, str]]

_PROMPT_BYTES = _PROGRAM_BYTES = 1 << 20
_TESTS_BYTES = 8 << 20
_CASE_BYTES = _FILES_BYTES = 16 << 20
_REQUEST_BYTES = 512 << 20
_PATH_BYTES = 256
_MOST_FILES = 256
_DEEPEST_PATH = 16

# All names that servers know, those of one language in a line.
_NAMES = (
    "bash sh shell",
    "c c11 gnu11 c17",
    "common-lisp commonlisp lisp cl sbcl",
    "c++ cpp cxx cc c++11 cpp11 c++14 cpp14 c++17 cpp17 c++20 cpp20",
    "c# csharp cs dotnet",
    "d dlang",
    "elixir ex exs",
    "fortran f90 f95 f03 f08 gfortran",
    "go golang go-lang",
    "haskell hs",
    "java java17 java-17",
    "javascript js node nodejs node.js ecmascript",
    "kotlin kt kts",
    "lua lua5.4",
    "ocaml ml",
    "pascal pas fpc freepascal delphi",
    "perl pl perl5",
    "php php8",
    "python py py3 python3",
    "r rscript r-lang",
    "racket rkt",
    "ruby rb",
    "rust rs",
    "scala scala2 sc",
    "sql sqlite sqlite3",
    "typescript ts",
    "verilog systemverilog sv v iverilog",
)
LANGUAGES = frozenset(name for line in _NAMES for name in line.split())


def bounded(task: str) -> Callable[[_Reader[_P]], _Reader[_P]]:
    """Makes a reader refuse a request that no server would judge.

    Args:
        task: name of the format, for messages.
    """

    def decorated(read: _Reader[_P]) -> _Reader[_P]:
        @functools.wraps(read)
        def reading(*args: _P.args, **options: _P.kwargs) -> pb.ScoreRequest:
            try:
                request = read(*args, **options)
            except TaskError as error:
                raise TaskError(task, error.field, error.problem) from error.__cause__
            except RecursionError:
                raise TaskError(task, "row", "is nested too deeply") from None
            for field, problem in _problems(request):
                raise TaskError(task, field, problem)
            return request

        return reading

    return decorated


def _problems(request: pb.ScoreRequest) -> _Problems:
    yield from _unknown_language(request.language)
    yield from _long("prompt", request.prompt, _PROMPT_BYTES)
    kind = request.WhichOneof("tests")
    if kind is not None:
        yield from _OF_KIND[kind](request)
    if (size := request.ByteSize()) > _REQUEST_BYTES:
        yield "row", f"makes a request of {size} bytes; at most {_REQUEST_BYTES} are allowed"


def _unknown_language(name: str) -> _Problems:
    if name and name.lower() not in LANGUAGES:
        hint = did_you_mean(name.lower(), sorted(LANGUAGES))
        yield "language", f"is {name[:80]!r}, which no server knows{hint}"


def _function(request: pb.ScoreRequest) -> _Problems:
    tests = request.function
    for field in ("test_code", "setup_code"):
        yield from _long(field, str(getattr(tests, field)), _TESTS_BYTES)
    for index, text in enumerate(tests.asserts):
        yield from _present(f"asserts[{index}]", text)
        yield from _long(f"asserts[{index}]", text, _TESTS_BYTES)


def _call(request: pb.ScoreRequest) -> _Problems:
    for index, case in enumerate(request.call.cases):
        yield from _long(f"inputs[{index}]", case.args_json, _CASE_BYTES)
        yield from _long(f"outputs[{index}]", case.expected_json, _CASE_BYTES)


def _stdio(request: pb.ScoreRequest) -> _Problems:
    for index, case in enumerate(request.stdio.cases):
        yield from _long(f"inputs[{index}]", case.stdin, _CASE_BYTES)
        yield from _long(f"outputs[{index}]", case.expected_stdout, _CASE_BYTES)
    yield from _long("checker", request.stdio.checker.program, _PROGRAM_BYTES)


def _program(request: pb.ScoreRequest) -> _Problems:
    yield from _present("test_code", request.program.test_code)
    yield from _long("test_code", request.program.test_code, _TESTS_BYTES)


def _unit(request: pb.ScoreRequest) -> _Problems:
    yield from _files(request.unit.files)
    if path := request.unit.solution_path:
        yield from _path("solution_path", path)
        stem, ending = path.removesuffix(".py"), path.rpartition(".")[2]
        is_module = ending == "py" and all(part.isidentifier() for part in stem.split("/"))
        if request.language == "python" and not is_module:
            yield "solution_path", "is no path of a Python module, such as pkg/solution.py"
        if any(file == path or file.startswith(f"{stem}/") for file in request.unit.files):
            yield "solution_path", "is the path of a test file"


def _repository(request: pb.ScoreRequest) -> _Problems:
    yield from _files(request.repository.text_test_files)


def _files(files: Mapping[str, str]) -> _Problems:
    if len(files) > _MOST_FILES:
        yield "files", f"are {len(files)}; at most {_MOST_FILES} are allowed"
    for path, text in files.items():
        yield from _path(f"files[{path[:_PATH_BYTES]!r}]", path)
        yield from _long(f"files[{path[:_PATH_BYTES]!r}]", text, _TESTS_BYTES)
    if (size := sum(map(_size, files.values()))) > _FILES_BYTES:
        yield "files", f"have {size} bytes; at most {_FILES_BYTES} are allowed"
    folders = {path[:at] for path in files for at, letter in enumerate(path) if letter == "/"}
    for path in folders.intersection(files):
        yield f"files[{path!r}]", "is a folder of another file"


def _path(field: str, path: str) -> _Problems:
    parts = path.split("/")
    if _size(path) > _PATH_BYTES or len(parts) > _DEEPEST_PATH:
        yield field, f"is longer than {_PATH_BYTES} bytes or {_DEEPEST_PATH} parts"
    if not path.isprintable() or "\\" in path or not {"", ".", ".."}.isdisjoint(parts):
        yield field, "is no path of a file below the working folder, such as pkg/data.txt"


def _present(field: str, text: str) -> _Problems:
    if not text.strip():
        yield field, "is blank"


def _long(field: str, value: str | bytes, maximum_bytes: int) -> _Problems:
    # Few texts come near their limit, so few have to be encoded to measure them.
    if 4 * len(value) > maximum_bytes and (size := _size(value)) > maximum_bytes:
        yield field, f"has {size} bytes; at most {maximum_bytes} are allowed"


def _size(value: str | bytes) -> int:
    return len(value.encode() if isinstance(value, str) else value)


_OF_KIND: Mapping[str, Callable[[pb.ScoreRequest], _Problems]] = {
    "function": _function,
    "call": _call,
    "stdio": _stdio,
    "program": _program,
    "unit": _unit,
    "repository": _repository,
}
