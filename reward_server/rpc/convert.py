"""Converts protobuf requests to domain values, or refuses them with the name of the wrong field.

Each function reads one message and names fields relative to it; its caller prepends the path. A
request that is refused here never costs an execution. Some mistakes can only be found by the judge,
such as test code that does not compile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from google.protobuf.message import DecodeError, Message

from codereward.request_json import RequestJsonError, parse_message
from codereward.unknown import Found as Unknown
from codereward.unknown import first_unknown, unknown_here
from codereward.v1 import reward_service_pb2 as pb
from reward_server.domain import (
    LEAST_LIMITS,
    CallCase,
    CallTests,
    Checker,
    CheckerKind,
    Extraction,
    Framework,
    FunctionTests,
    ImageInfo,
    Integrity,
    Job,
    Limits,
    Network,
    Placement,
    Program,
    ProgramTests,
    RepositoryTests,
    RewardPolicy,
    RewardPolicyKind,
    StdioCase,
    StdioTests,
    Submission,
    Subtask,
    SubtaskRule,
    Tests,
    UnitTests,
)
from reward_server.errors import InvalidRequestError, UnsupportedError
from reward_server.evaluation.deduplication import task_fingerprint
from reward_server.grading import syntax
from reward_server.languages import TEST_KINDS, Language, Languages
from reward_server.recent import Recent
from reward_server.rpc import fields, files, repositories

MEBIBYTE = 1 << 20
NAME_BYTES = 256
TAG_BYTES = 4096
MOST_TAGS = 64
MOST_ITEMS = 1024
SOURCE_BYTES = 1 * MEBIBYTE
TEST_CODE_BYTES = 8 * MEBIBYTE
HARNESS_BYTES = 256 * 1024
CASE_BYTES = 16 * MEBIBYTE
ARGUMENT_BYTES = 64 * 1024
MOST_ARGUMENTS = 256
DIGEST_BYTES = 32
DEFAULT_SOLUTION_PATH = "solution.py"

_REWARD_POLICY_KINDS = {0: RewardPolicyKind.ALL_OR_NOTHING} | {
    kind.value: kind for kind in RewardPolicyKind
}

_OF_REPOSITORIES = (RewardPolicyKind.ALL_OR_NOTHING, RewardPolicyKind.FRACTION)
_PYTHON = "python"  # the language of a request that names none
_compiled = Recent[str](8 << 20)  # why a harness does not compile, or ""
_SHOWN_CHARACTERS = 80
_M = TypeVar("_M", bound=Message)

Files = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bounds on the requests to this server."""

    languages: Languages
    default_limits: Limits
    maximum_limits: Limits
    maximum_cases: int = 1000
    maximum_batch: int = 1024
    maximum_request_bytes: int = 32 * MEBIBYTE
    default_time_budget_seconds: float = 240.0
    maximum_time_budget_seconds: float = 3600.0
    networks: frozenset[Network] = frozenset()
    images: tuple[ImageInfo, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What the completions of a task share.

    Args:
        language: the language of the completions.
        prompt: trusted code that they continue, or "".
        tests: the tests.
        data_files: the task's files, by relative path.
        fingerprint: `task_fingerprint` of tests and data files; empty if it was not computed.
    """

    language: Language
    prompt: str
    tests: Tests
    data_files: Files
    fingerprint: bytes = b""


def parse(kind: type[_M], body: bytes, bounds: Bounds) -> _M:
    """Parses a message.

    Raises:
        InvalidRequestError: the body is too large, or is not such a message with text in UTF-8, or
            has a part that is not known.
    """
    _check_size(len(body), bounds)
    return _known(_decoded(kind, body), bounds)


def score_request(body: bytes, bounds: Bounds) -> pb.ScoreRequest:
    """Parses a request whose completion may be larger than a request; see `parse`."""
    request = _known(_decoded(pb.ScoreRequest, body), bounds)
    if len(body) > bounds.maximum_request_bytes:
        _check_size(len(body) - _cut_completion(request), bounds)
    return request


def batch_request(body: bytes, bounds: Bounds) -> pb.ScoreBatchRequest:
    """Parses a batch whose completions may be larger than a request; see `parse`.

    Its requests have still to pass `check_known`, one by one, as one of them may be wrong.
    """
    batch = _decoded(pb.ScoreBatchRequest, body)
    _refuse(unknown_here(batch))
    if len(body) > bounds.maximum_request_bytes:
        _check_size(len(body) - sum(map(_cut_completion, batch.requests)), bounds)
    return batch


def from_json(kind: type[_M], given: Mapping[str, Any], bounds: Bounds) -> _M:
    """Reads a message from its JSON form.

    Raises:
        InvalidRequestError: it is no such message, or has a part that is not known.
    """
    try:
        return _known(parse_message(given, kind), bounds)
    except RequestJsonError as error:
        raise InvalidRequestError(error.field or "request", error.problem) from None


def check_known(message: Message, bounds: Bounds) -> None:
    """Refuses fields and values of enumerations that this server does not know, at any depth.

    Raises:
        InvalidRequestError: there is one, or a list is too long to be looked through.
    """
    lists = {"cases": bounds.maximum_cases, "requests": bounds.maximum_batch}
    _refuse(first_unknown(message, lambda name: lists.get(name, MOST_ITEMS)))


def _known(message: _M, bounds: Bounds) -> _M:
    check_known(message, bounds)
    return message


def _refuse(found: Unknown | None) -> None:
    if found is not None:
        raise InvalidRequestError(found.path, found.problem)


def _check_size(size: int, bounds: Bounds) -> None:
    if size > bounds.maximum_request_bytes:
        raise InvalidRequestError(
            "request", f"has {size} bytes; at most {bounds.maximum_request_bytes} are allowed"
        )


def _decoded(kind: type[_M], body: bytes) -> _M:
    try:
        return kind.FromString(body)
    except DecodeError:
        problem = f"is not a {kind.DESCRIPTOR.name}, or holds text that is not UTF-8"
        raise InvalidRequestError("request", problem) from None


def _cut_completion(request: pb.ScoreRequest) -> int:
    """Removes the model's text and records its size; returns the number of bytes removed."""
    before = request.ByteSize()
    size = len(request.completion.encode()) + files.size_of(request.files, request.text_files)
    request.completion_size_bytes = max(request.completion_size_bytes, size)
    for name in ("completion", "files", "text_files"):
        request.ClearField(name)
    return before - request.ByteSize()


def task(body: bytes, bounds: Bounds) -> Task:
    """Converts a serialised task that is to be stored.

    Raises:
        InvalidRequestError: a field is malformed, missing or too large.
        UnsupportedError: the server does not offer the language or the kind of tests.
    """
    found = _task(_known(_decoded(pb.Task, body), bounds), bounds)
    fingerprint = task_fingerprint(found.tests, found.data_files)
    return replace(found, fingerprint=fingerprint)


def _task(request: pb.ScoreRequest | pb.Task, bounds: Bounds) -> Task:
    language = _language("language", request.language, bounds)
    return Task(
        language=language,
        prompt=fields.text("prompt", request.prompt, SOURCE_BYTES),
        tests=_tests(request, language, bounds),
        data_files=_data_files(request, language),
    )


def check_digest(request: pb.ScoreRequest) -> None:
    """Checks a request that names a stored task.

    Raises:
        InvalidRequestError: it also has a field of the task, or the value is not a digest.
    """
    if len(request.task_digest) != DIGEST_BYTES:
        raise InvalidRequestError(
            "task_digest", f"has {len(request.task_digest)} bytes; a SHA-256 has {DIGEST_BYTES}"
        )
    for field, _ in request.ListFields():
        if field.name in pb.Task.DESCRIPTOR.fields_by_name:
            raise InvalidRequestError(field.name, "is set beside task_digest, whose task has it")


def submission(request: pb.ScoreRequest, bounds: Bounds, stored: Task | None = None) -> Submission:
    """Converts a request to judge a completion.

    Args:
        request: the request.
        bounds: bounds on it.
        stored: the task that the request names; None if it contains its task.

    Raises:
        InvalidRequestError: a field is malformed, missing or too large.
        UnsupportedError: the server does not offer the language or the kind of tests.
    """
    task = stored or _task(request, bounds)
    language, tests, data_files = task.language, task.tests, task.data_files
    own_files, refusal = _completion_files(request, language, data_files)
    refusal = _oversize(request) or refusal
    return Submission(
        id=fields.text("id", request.id, NAME_BYTES),
        language=language.name,
        prompt=task.prompt,
        completion="" if refusal else request.completion,
        extraction=fields.choice("extraction", request.extraction, Extraction),
        files=own_files,
        data_files=data_files,
        tests=tests,
        limits=fields.within("limits", lambda: _limits(request.limits, language, bounds)),
        reward_policy=fields.within(
            "reward_policy", lambda: _reward_policy(request.reward_policy, tests)
        ),
        require_integrity=fields.choice("require_integrity", request.require_integrity, Integrity),
        time_budget_seconds=_time_budget(request, bounds),
        network=_network(request.network, bounds),
        refusal=refusal,
        tags=_tags(request.tags),
        task_fingerprint=task.fingerprint,
    )


def check_batch(request: pb.ScoreBatchRequest, bounds: Bounds) -> None:
    """Checks a batch as a whole; its requests are checked one by one.

    Raises:
        InvalidRequestError: there are too many requests, or two have the same id.
    """
    fields.at_most("requests", len(request.requests), bounds.maximum_batch)
    seen: dict[str, int] = {}
    for index, item in enumerate(request.requests):
        if item.id and seen.setdefault(item.id, index) != index:
            raise InvalidRequestError(
                f"requests[{index}].id", f"is the same as that of requests[{seen[item.id]}]"
            )


def job(request: pb.ExecuteRequest, bounds: Bounds) -> Job:
    """Converts a request to run a program.

    Raises:
        InvalidRequestError: a field is malformed or too large.
        UnsupportedError: the server does not offer the language.
    """
    fields.text("id", request.id, NAME_BYTES)
    language = _language("language", request.language, bounds)
    fields.at_most("args", len(request.args), MOST_ARGUMENTS)
    own_files = _own_files(request, language)
    data_files = _data_files(request, language, *dict(own_files))
    work = Program(
        source=fields.text("source", request.source, SOURCE_BYTES),
        stdin=fields.data_or_text(request, "stdin", CASE_BYTES),
        args=fields.each("args", request.args, _argument),
        files=dict(own_files),
        data=dict(data_files),
    )
    limits = fields.within("limits", lambda: _limits(request.limits, language, bounds))
    network = _network(request.network, bounds)
    return Job(work=work, language=language.name, limits=limits, network=network)


# --------------------------------------------------------------------------------- tests


def _tests(request: pb.ScoreRequest | pb.Task, language: Language, bounds: Bounds) -> Tests:
    kind = request.WhichOneof("tests")
    if kind is None:
        kinds = ", ".join(TEST_KINDS)
        raise InvalidRequestError("tests", f"are absent; set one of {kinds}")
    if kind not in language.test_kinds:
        raise UnsupportedError(
            f"{kind} tests are not offered for {language.name}; "
            f"offered are: {', '.join(language.test_kinds)}"
        )
    if kind == "function":
        return fields.within("function", lambda: _function_tests(request.function, bounds))
    if kind == "call":
        return fields.within("call", lambda: _call_tests(request.call, bounds))
    if kind == "program":
        return fields.within("program", lambda: _program_tests(request.program, language))
    if kind == "unit":
        return fields.within("unit", lambda: _unit_tests(request.unit, language))
    if kind == "repository":
        given = request.repository
        return fields.within(
            "repository", lambda: repositories.tests(given, language, bounds.images)
        )
    return fields.within("stdio", lambda: _stdio_tests(request.stdio, language, bounds))


def _function_tests(tests: pb.FunctionTests, bounds: Bounds) -> FunctionTests:
    test_code = fields.text("test_code", tests.test_code, TEST_CODE_BYTES)
    if not tests.asserts and not test_code.strip():
        raise InvalidRequestError("test_code", "is empty, and there are no asserts either")
    fields.at_most("asserts", len(tests.asserts), bounds.maximum_cases)
    if tests.entry_point or not tests.asserts:
        _entry_point(tests.entry_point)
    return FunctionTests(
        entry_point=tests.entry_point,
        test_code=test_code,
        asserts=fields.each("asserts", tests.asserts, _assert),
        setup_code=fields.text("setup_code", tests.setup_code, TEST_CODE_BYTES),
        placement=fields.choice("placement", tests.placement, Placement),
    )


def _call_tests(tests: pb.CallTests, bounds: Bounds) -> CallTests:
    _cases("cases", len(tests.cases), bounds)
    _entry_point(tests.entry_point)
    checker = fields.within("checker", lambda: _checker(tests.checker, bounds))
    if checker.is_program:
        raise UnsupportedError("call tests cannot have a checker program; stdio tests can")
    return CallTests(
        entry_point=tests.entry_point,
        cases=fields.each("cases", tests.cases, _call_case),
        checker=checker,
    )


def _stdio_tests(tests: pb.StdioTests, language: Language, bounds: Bounds) -> StdioTests:
    _cases("cases", len(tests.cases), bounds)
    checker = fields.within("checker", lambda: _checker(tests.checker, bounds))
    if checker.kind is CheckerKind.INTERACTOR and checker.program_language not in (
        _PYTHON,
        language.name,
    ):
        raise InvalidRequestError(
            "checker.program_language",
            f"an interactor shares the solution's container: use {_PYTHON} or {language.name}",
        )
    if tests.harness:
        _harness(tests.harness, checker, language)
    return StdioTests(
        cases=fields.each("cases", tests.cases, _stdio_case),
        checker=checker,
        harness=tests.harness,
    )


def _harness(text: str, checker: Checker, language: Language) -> None:
    """Refuses a harness that cannot run: each completion would get its compile error."""
    fields.text("harness", text, HARNESS_BYTES)
    if checker.kind is not CheckerKind.INTERACTOR:
        raise InvalidRequestError("harness", "needs CHECKER_KIND_INTERACTOR, which gets the code")
    if language.name != _PYTHON:
        raise InvalidRequestError("harness", f"is Python, and the language is {language.name}")
    if problem := _compiled.find(text, 4 * len(text), lambda: syntax.problem_of(text)):
        raise InvalidRequestError("harness", f"does not compile: {problem}")


def _program_tests(tests: pb.ProgramTests, language: Language) -> ProgramTests:
    test_code = fields.text("test_code", tests.test_code, TEST_CODE_BYTES)
    if not test_code.strip():
        raise InvalidRequestError("test_code", "is empty")
    if language.program is not None and (refusal := language.program.refusal(test_code)):
        raise InvalidRequestError("test_code", f"{refusal}, in {language.name}")
    if language.program is not None and (found := language.program.leaving(test_code)):
        raise InvalidRequestError(
            "test_code",
            f"ends the program by {found[:_SHOWN_CHARACTERS]!r}, as a solution that leaves early "
            f"could; return from main, or call {language.name}'s exit by its full name",
        )
    return ProgramTests(test_code=test_code)


def _unit_tests(tests: pb.UnitTests, language: Language) -> UnitTests:
    if not tests.framework:
        raise InvalidRequestError("framework", "is not chosen")
    framework = fields.choice("framework", tests.framework, Framework)
    if framework.name.lower() not in language.frameworks:
        raise UnsupportedError(
            f"unit.framework: {pb.Framework.Name(tests.framework)} is not offered here, as its "
            f"package is not in the sandboxes; offered are: {', '.join(language.frameworks)}"
        )
    if not tests.files:
        raise InvalidRequestError("files", "are absent; at least 1 is needed")
    for path, content in tests.files.items():
        fields.text(files.named("files", path), content, TEST_CODE_BYTES)
    files.files("files", {path: text.encode() for path, text in tests.files.items()})
    if language.unit is not None:
        return _suite(tests, framework, language)
    solution_path = tests.solution_path or DEFAULT_SOLUTION_PATH
    _solution_path(solution_path, list(tests.files))
    return UnitTests(
        framework=framework,
        files=tuple(sorted(tests.files.items())),
        solution_path=solution_path,
    )


def _suite(tests: pb.UnitTests, framework: Framework, language: Language) -> UnitTests:
    assert language.unit is not None
    if not any(map(language.unit.holds.search, tests.files)):
        wanted = language.unit.holds.pattern
        raise InvalidRequestError("files", f"hold no tests: no path matches {wanted}")
    for name, text in tests.files.items():
        found = language.unit.holds.search(name) and language.unit.refuses.search(text)
        if found:
            message = f"has {found[0].strip()!r}, with which tests are not run here"
            raise InvalidRequestError(files.named("files", name), message)
    path, kind = tests.solution_path or language.unit.solution, language.source.rpartition(".")[2]
    if path:
        files.check_path("solution_path", path)
        files.check_disjoint("solution_path", [path], tests.files)
    if path and not path.endswith(f".{kind}"):
        raise InvalidRequestError("solution_path", f"does not end in .{kind}")
    return UnitTests(
        framework=framework, files=tuple(sorted(tests.files.items())), solution_path=path
    )


def _solution_path(path: str, taken: list[str]) -> None:
    field = "solution_path"
    files.check_path(field, path)
    stem = path.removesuffix(".py")
    if stem == path or not all(part.isidentifier() for part in stem.split("/")):
        raise InvalidRequestError(field, "is no path of a Python module, such as pkg/solution.py")
    for file in taken:
        hides = file == path or file.startswith((f"{stem}/", f"{path}/"))
        if hides or file in files.folders_of(path):
            raise InvalidRequestError(field, f"is taken by {files.named('files', file)}")


def _assert(text: str) -> str:
    if not text.strip():
        raise InvalidRequestError("", "is empty")
    return fields.text("", text, TEST_CODE_BYTES)


def _call_case(case: pb.CallCase) -> CallCase:
    if not isinstance(fields.json_value("args_json", case.args_json, CASE_BYTES), list):
        raise InvalidRequestError("args_json", "is not a JSON array")
    fields.json_value("expected_json", case.expected_json, CASE_BYTES)
    return CallCase(
        args_json=case.args_json,
        expected_json=case.expected_json,
        weight=_weight(case),
        subtask=fields.text("subtask", case.subtask, NAME_BYTES),
    )


def _stdio_case(case: pb.StdioCase) -> StdioCase:
    return StdioCase(
        stdin=fields.data_or_text(case, "stdin", CASE_BYTES),
        expected_stdout=fields.data_or_text(case, "expected_stdout", CASE_BYTES),
        weight=_weight(case),
        subtask=fields.text("subtask", case.subtask, NAME_BYTES),
    )


def _weight(case: pb.CallCase | pb.StdioCase) -> float:
    if not case.HasField("weight"):
        return 1.0
    return fields.number("weight", case.weight, 0.0, 1e6)


def _entry_point(text: str) -> None:
    """Accepts the name of a function, and `Class().method`."""
    owner, dot, name = text.rpartition(".")
    owner_is_fit = owner.endswith("()") and owner[:-2].isidentifier() if dot else True
    if not owner_is_fit or not name.isidentifier() or len(text) > NAME_BYTES:
        raise InvalidRequestError("entry_point", "is neither a name nor Class().method")


def _checker(checker: pb.Checker, bounds: Bounds) -> Checker:
    kind = fields.choice("kind", checker.kind, CheckerKind)
    is_program = Checker(kind=kind).is_program
    if is_program and not checker.program.strip():
        raise InvalidRequestError("program", "is empty")
    if not is_program and checker.program:
        raise InvalidRequestError(
            "program", "needs CHECKER_KIND_PROGRAM or CHECKER_KIND_INTERACTOR"
        )
    language = _PYTHON
    if is_program:
        language = _language("program_language", checker.program_language, bounds).name
    for name in ("absolute_tolerance", "relative_tolerance"):
        if kind is not CheckerKind.FLOAT and getattr(checker, name):
            raise InvalidRequestError(name, "needs CHECKER_KIND_FLOAT")
    return Checker(
        kind=kind,
        absolute_tolerance=fields.number(
            "absolute_tolerance", checker.absolute_tolerance, 0.0, 1e300
        ),
        relative_tolerance=fields.number(
            "relative_tolerance", checker.relative_tolerance, 0.0, 1.0
        ),
        program=fields.text("program", checker.program, SOURCE_BYTES),
        program_language=language,
    )


# ---------------------------------------------------------------------- limits and rewards


def _limits(request: pb.Limits, language: Language, bounds: Bounds) -> Limits:
    chosen = {field.name: value for field, value in request.ListFields()}
    for name, value in chosen.items():
        _check_limit(name, value, getattr(bounds.maximum_limits, name))
    defaults = language.default_limits(bounds.default_limits)
    return replace(defaults, **chosen) if chosen else defaults


def _network(value: int, bounds: Bounds) -> Network:
    network = fields.choice("network", value, Network)
    if network is not Network.NONE and network not in bounds.networks:
        raise UnsupportedError(
            f"network: {network.name} is not on offer here; the local backend has it"
        )
    return network


def _check_limit(name: str, value: float, maximum: float) -> None:
    least = getattr(LEAST_LIMITS, name)
    if not value >= least:
        raise InvalidRequestError(name, f"is {value}; it must be at least {least}")
    if value > maximum:
        raise InvalidRequestError(name, f"is {value}, above this server's maximum of {maximum}")


def _reward_policy(policy: pb.RewardPolicy, tests: Tests) -> RewardPolicy:
    kind = _REWARD_POLICY_KINDS.get(policy.kind)
    if kind is None:
        raise InvalidRequestError("kind", f"{policy.kind} is not known")
    if isinstance(tests, RepositoryTests) and kind not in _OF_REPOSITORIES:
        raise InvalidRequestError(
            "kind",
            "is not offered for repositories: all or nothing is, and "
            "fraction, of the tests in fail_to_pass",
        )
    if kind is RewardPolicyKind.WEIGHTED:
        _check_weights(tests)
    _check_first_k(policy.first_k, kind, tests)
    subtasks = fields.each("subtasks", policy.subtasks, _subtask)
    _check_subtasks(subtasks, kind, tests)
    return RewardPolicy(
        kind=kind,
        subtasks=subtasks,
        first_k=policy.first_k,
        compile_bonus=fields.number("compile_bonus", policy.compile_bonus, 0.0, 1.0),
        format_bonus=fields.number("format_bonus", policy.format_bonus, 0.0, 1.0),
    )


def _subtask(subtask: pb.Subtask) -> Subtask:
    if not subtask.name:
        raise InvalidRequestError("name", "is empty")
    return Subtask(
        name=fields.text("name", subtask.name, NAME_BYTES),
        points=fields.number("points", subtask.points, 0.0, 1e6),
        rule=fields.choice("rule", subtask.rule or pb.SUBTASK_RULE_MINIMUM, SubtaskRule),
    )


def _check_subtasks(subtasks: tuple[Subtask, ...], kind: RewardPolicyKind, tests: Tests) -> None:
    if kind is not RewardPolicyKind.SUBTASKS:
        if subtasks:
            raise InvalidRequestError("subtasks", "need REWARD_POLICY_KIND_SUBTASKS")
        return
    if not isinstance(tests, CallTests | StdioTests):
        raise InvalidRequestError("kind", "has subtasks, which only call and stdio tests have")
    if not sum(one.points for one in subtasks):
        raise InvalidRequestError("subtasks", "have no points")
    names = [one.name for one in subtasks]
    for name in names:
        if names.count(name) > 1:
            raise InvalidRequestError("subtasks", f"have the name {name!r} twice")
    used = {case.subtask for case in tests.cases}
    if unknown := used.difference(names):
        raise InvalidRequestError("subtasks", f"lack {min(unknown)!r}, which a case names")
    if unused := set(names) - used:
        raise InvalidRequestError("subtasks", f"have {min(unused)!r}, which no case names")
    for one in subtasks:
        weights = [case.weight for case in tests.cases if case.subtask == one.name]
        if one.rule is SubtaskRule.SUM and not sum(weights):
            raise InvalidRequestError("subtasks", f"have {one.name!r}, whose weights are all 0")


def _check_weights(tests: Tests) -> None:
    if isinstance(tests, CallTests | StdioTests) and not sum(case.weight for case in tests.cases):
        raise InvalidRequestError("kind", "is weighted, but the weights are all 0")


def _check_first_k(first_k: int, kind: RewardPolicyKind, tests: Tests) -> None:
    if kind is not RewardPolicyKind.FIRST_K:
        if first_k:
            raise InvalidRequestError("first_k", "needs REWARD_POLICY_KIND_FIRST_K")
        return
    if first_k < 1:
        raise InvalidRequestError("first_k", f"is {first_k}; it must be at least 1")
    if isinstance(tests, CallTests | StdioTests) and first_k > len(tests.cases):
        raise InvalidRequestError("first_k", f"is {first_k}; there are {len(tests.cases)} tests")


# ---------------------------------------------------------------------------------- fields


def _language(field: str, name: str, bounds: Bounds) -> Language:
    return bounds.languages.find(fields.text(field, name, NAME_BYTES) or _PYTHON)


def _own_files(request: pb.ScoreRequest | pb.ExecuteRequest, language: Language) -> Files:
    own = files.with_text("files", request.files, "text_files", request.text_files)
    files.check_disjoint("files", own, language.own_files)
    return files.files("files", own)


def _data_files(
    request: pb.ScoreRequest | pb.Task | pb.ExecuteRequest, language: Language, *taken: str
) -> Files:
    data = files.with_text(
        "data_files", request.data_files, "text_data_files", request.text_data_files
    )
    files.check_disjoint("data_files", data, [*language.own_files, *taken])
    return files.files("data_files", data)


def _completion_files(
    request: pb.ScoreRequest, language: Language, data: Files
) -> tuple[Files, str]:
    """Returns the completion's files, and the reason if they cannot be part of a program."""
    try:
        own = _own_files(request, language)
        files.check_disjoint("files", dict(own), dict(data))
    except InvalidRequestError as error:
        return (), f"the completion's {error}"
    return own, ""


def _oversize(request: pb.ScoreRequest) -> str:
    """Returns why a completion is too large, or "" if it is not.

    The model is its author, so it gets a verdict. A model could exploit an error in place of a
    verdict.
    """
    size, length = request.completion_size_bytes, len(request.completion)
    if 4 * length > SOURCE_BYTES or size:
        size = max(size, len(request.completion.encode()))
    if size > SOURCE_BYTES:
        return f"the completion has {size} bytes; at most {SOURCE_BYTES} make a program"
    return ""


def _time_budget(request: pb.ScoreRequest, bounds: Bounds) -> float:
    if not request.HasField("time_budget_seconds"):
        return bounds.default_time_budget_seconds
    most = bounds.maximum_time_budget_seconds
    return fields.number(
        "time_budget_seconds", request.time_budget_seconds, LEAST_LIMITS.wall_time_seconds, most
    )


def _argument(text: str) -> str:
    if "\0" in text:
        raise InvalidRequestError("", "holds a null character")
    return fields.text("", text, ARGUMENT_BYTES)


def _tags(tags: Mapping[str, str]) -> dict[str, str]:
    fields.at_most("tags", len(tags), MOST_TAGS)
    for name, value in tags.items():
        fields.text("tags", name, NAME_BYTES)
        fields.text("tags", value, TAG_BYTES)
    return dict(tags)


def _cases(field: str, count: int, bounds: Bounds) -> None:
    if count == 0:
        raise InvalidRequestError(field, "are absent; at least 1 is needed")
    fields.at_most(field, count, bounds.maximum_cases)
