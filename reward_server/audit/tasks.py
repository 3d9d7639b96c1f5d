"""Reads tasks with their reference solutions from lines of JSON.

A line has one of two forms. It is a `ScoreRequest`, as `reward-server grade` takes it, whose
completion is the reference solution. Or it is a row of the kind "requests" of `reward-train`:
`task_id`, `prompt` for the model, `request`, and `reference`, which may be absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codereward.request_json import RequestJsonError, parse_object, parse_request
from codereward.task_digest import task_digest
from codereward.v1 import reward_service_pb2 as pb

_PYTHON = ("", "python", "python3", "py")


class TaskLineError(ValueError):
    """A line that holds no task; the message names the line and the field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task, and a solution that its author holds to be right.

    Args:
        id: name of the task, unique in its file.
        line: the line as it was read.
        template: the request, without id and completion.
        shown: the text that a model reads, without the code of `template.prompt`.
        reference: the reference solution, or "".
    """

    id: str
    line: Mapping[str, Any]
    template: pb.ScoreRequest
    shown: str
    reference: str

    @property
    def kind(self) -> str:
        """The kind of tests: function, call, stdio, unit or program; "" if there are none."""
        return str(self.template.WhichOneof("tests") or "")

    @property
    def language(self) -> str:
        """The language as the request names it; "python" if it names none."""
        return self.template.language or "python"

    @property
    def is_python(self) -> bool:
        """True if the solution is Python."""
        return self.template.language.lower() in _PYTHON

    @property
    def digest(self) -> str:
        """The digest of tests, prompt and data."""
        return task_digest(self.template)

    @property
    def question(self) -> str:
        """All text that a model may read."""
        code = self.template.prompt
        return self.shown if code.strip() in self.shown else f"{self.shown}\n{code}".lstrip("\n")

    @property
    def entry_point(self) -> str:
        """The name that tests call, without a method; "" if the request names none."""
        if self.kind == "function":
            return self.template.function.entry_point
        if self.kind == "call":
            return self.template.call.entry_point.partition("(")[0].partition(".")[0]
        return ""

    def filled(self, completion: str) -> pb.ScoreRequest:
        """Returns a request to judge a completion of this task."""
        request = pb.ScoreRequest()
        request.CopyFrom(self.template)
        request.completion = completion
        return request


def read_tasks(lines: Iterable[bytes]) -> Iterator[Task]:
    """Reads the tasks of a file; blank lines are ignored.

    Raises:
        TaskLineError: a line holds no task, or has the id of another line.
    """
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        task = _read(line, number)
        if task.id in seen:
            problem = f"{task.id!r} is also the id of line {seen[task.id]}"
            raise TaskLineError(f"line {number}: id: {problem}; the audit needs one line a task")
        seen[task.id] = number
        yield task


def _read(line: bytes, number: int) -> Task:
    try:
        read = parse_object(line)
        task = _row(read, number) if "request" in read else _request(read, number)
    except RequestJsonError as error:
        raise TaskLineError(f"line {number}: {error}") from None
    return task


def _request(read: Mapping[str, Any], number: int) -> Task:
    return _task(read, number, parse_request(read), shown="", reference=None, name="")


def _row(row: Mapping[str, Any], number: int) -> Task:
    given = row["request"]
    if not isinstance(given, Mapping | str):
        raise RequestJsonError("request", "must be an object or JSON text")
    try:
        request = parse_request(given)
    except RequestJsonError as error:
        raise RequestJsonError(f"request.{error.field}".rstrip("."), error.problem) from None
    reference = row.get("reference")
    if reference is not None and not isinstance(reference, str):
        raise RequestJsonError("reference", "must be text")
    shown = _text_of(row.get("prompt"))
    return _task(row, number, request, shown=shown, reference=reference, name=_name(row))


def _name(row: Mapping[str, Any]) -> str:
    given = row.get("task_id")
    return "" if given is None else str(given)


def _text_of(prompt: object) -> str:
    """Returns a prompt as text: text itself, or the contents of chat messages."""
    if isinstance(prompt, str):
        return prompt
    if not isinstance(prompt, Sequence):
        return ""
    contents = (turn.get("content") for turn in prompt if isinstance(turn, Mapping))
    return "\n".join(content for content in contents if isinstance(content, str))


def _task(
    line: Mapping[str, Any],
    number: int,
    request: pb.ScoreRequest,
    *,
    shown: str,
    reference: str | None,
    name: str,
) -> Task:
    given = request.completion if reference is None else reference
    identifier = name or request.id or f"line {number}"
    request.id = request.completion = ""
    return Task(
        id=_well_formed(identifier),
        line=line,
        template=request,
        shown=_well_formed(shown),
        reference=_well_formed(given),
    )


def _well_formed(text: str) -> str:
    """Returns text without lone surrogates, which JSON can hold and requests cannot."""
    return text.encode("utf-8", "replace").decode()


def text_of_tests(request: pb.ScoreRequest) -> str:
    """Returns the text of a request's tests, for checks that need no structure."""
    match request.WhichOneof("tests"):
        case "function":
            tests = request.function
            return "\n".join([tests.setup_code, tests.test_code, *tests.asserts])
        case "unit":
            return "\n".join(request.unit.files.values())
        case "program":
            return request.program.test_code
        case "repository":
            return "\n".join(request.repository.text_test_files.values())
    return ""
