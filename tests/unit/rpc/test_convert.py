from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given
from hypothesis import strategies as st

from codereward.v1 import reward_service_pb2 as pb
from reward_server import domain
from reward_server.domain import (
    CallCase,
    CallTests,
    CheckerKind,
    Extraction,
    FunctionTests,
    Integrity,
    Limits,
    Program,
    ProgramTests,
    RewardPolicyKind,
    StdioCase,
    StdioTests,
)
from reward_server.errors import InvalidRequestError, RewardServerError, UnsupportedError
from reward_server.languages import Languages, load_languages
from reward_server.rpc import convert
from reward_server.rpc.convert import Bounds

MAXIMUM = Limits(
    cpu_time_seconds=60.0,
    wall_time_seconds=120.0,
    memory_bytes=2 << 30,
    processes=128,
    file_size_bytes=1 << 30,
    disk_bytes=1 << 30,
    open_files=1024,
    output_bytes=1 << 25,
    result_bytes=1 << 25,
    calls=1_000_000,
)
BOUNDS = Bounds(
    languages=load_languages(),
    default_limits=Limits(),
    maximum_limits=MAXIMUM,
    maximum_cases=10,
    maximum_batch=4,
    maximum_request_bytes=20 << 20,
)
Change = Callable[[pb.ScoreRequest], object]


def function_request() -> pb.ScoreRequest:
    tests = pb.FunctionTests(entry_point="f", asserts=["assert f(1) == 1"])
    return pb.ScoreRequest(completion="def f(x): return x", function=tests)


def call_request(*cases: tuple[str, str]) -> pb.ScoreRequest:
    tests = pb.CallTests(
        entry_point="f",
        cases=[pb.CallCase(args_json=a, expected_json=e) for a, e in cases or [("[1]", "1")]],
    )
    return pb.ScoreRequest(completion="def f(x): return x", call=tests)


def stdio_request(count: int = 1) -> pb.ScoreRequest:
    cases = [pb.StdioCase(stdin=b"1", expected_stdout=b"1")] * count
    return pb.ScoreRequest(completion="print(input())", stdio=pb.StdioTests(cases=cases))


def refusal(request: pb.ScoreRequest) -> InvalidRequestError:
    with pytest.raises(InvalidRequestError) as refused:
        convert.submission(request, BOUNDS)
    return refused.value


def test_function_tests_cross_whole() -> None:
    request = pb.ScoreRequest(
        id="7",
        language="py3",
        prompt="def f(x):\n",
        completion="    return x",
        extraction=pb.EXTRACTION_NONE,
        function=pb.FunctionTests(
            entry_point="f",
            test_code="def check(c): pass",
            asserts=["assert 1"],
            setup_code="y = 1",
        ),
        limits=pb.Limits(cpu_time_seconds=5.0, calls=3),
        reward_policy=pb.RewardPolicy(
            kind=pb.REWARD_POLICY_KIND_FIRST_K, first_k=1, compile_bonus=0.1, format_bonus=0.2
        ),
        require_integrity=pb.INTEGRITY_ISOLATED,
        tags={"step": "3"},
    )
    assert convert.submission(request, BOUNDS) == domain.Submission(
        id="7",
        language="python",
        prompt="def f(x):\n",
        completion="    return x",
        extraction=Extraction.NONE,
        tests=FunctionTests(
            entry_point="f",
            test_code="def check(c): pass",
            asserts=("assert 1",),
            setup_code="y = 1",
        ),
        limits=Limits(cpu_time_seconds=5.0, calls=3),
        reward_policy=domain.RewardPolicy(
            kind=RewardPolicyKind.FIRST_K, first_k=1, compile_bonus=0.1, format_bonus=0.2
        ),
        require_integrity=Integrity.ISOLATED,
        tags={"step": "3"},
    )


def test_call_tests_cross_whole() -> None:
    request = call_request(("[1, [2]]", "null"), ("[]", '{"a": 1e400}'))
    request.call.entry_point = "Solution().solve"
    request.call.cases[1].weight = 0.0
    request.call.checker.kind = pb.CHECKER_KIND_FLOAT
    request.call.checker.absolute_tolerance = 1e-6
    tests = convert.submission(request, BOUNDS).tests
    assert tests == CallTests(
        entry_point="Solution().solve",
        cases=(
            CallCase(args_json="[1, [2]]", expected_json="null"),
            CallCase(args_json="[]", expected_json='{"a": 1e400}', weight=0.0),
        ),
        checker=domain.Checker(kind=CheckerKind.FLOAT, absolute_tolerance=1e-6),
    )


def test_stdio_tests_cross_whole() -> None:
    request = stdio_request()
    request.stdio.cases[0].stdin = b"\xff\x00"
    request.stdio.checker.kind = pb.CHECKER_KIND_PROGRAM
    request.stdio.checker.program = "import sys"
    tests = convert.submission(request, BOUNDS).tests
    assert tests == StdioTests(
        cases=(StdioCase(stdin=b"\xff\x00", expected_stdout=b"1"),),
        checker=domain.Checker(kind=CheckerKind.PROGRAM, program="import sys"),
    )


def test_program_tests_cross_whole() -> None:
    tests = pb.ProgramTests(test_code="int main() { assert(f() == 1); }")
    request = pb.ScoreRequest(language="cpp", completion="int f();", program=tests)
    read = convert.submission(request, BOUNDS)
    assert read.tests == ProgramTests(test_code=tests.test_code)
    assert read.language == "c++17"


@pytest.mark.parametrize("test_code", ["", " \n", "assert(f() == 1);"])
def test_program_tests_without_a_program_are_named(test_code: str) -> None:
    tests = pb.ProgramTests(test_code=test_code)
    request = pb.ScoreRequest(language="cpp", completion="int f();", program=tests)
    assert refusal(request).field == "program.test_code"


def test_program_tests_count_as_many_first_ones_as_a_policy_says() -> None:
    request = pb.ScoreRequest(
        language="cpp",
        program=pb.ProgramTests(test_code="int main() { assert(f() == 1); }"),
        reward_policy=pb.RewardPolicy(kind=pb.REWARD_POLICY_KIND_FIRST_K, first_k=3),
    )
    assert convert.submission(request, BOUNDS).reward_policy.first_k == 3


def test_program_tests_are_not_offered_for_python() -> None:
    request = pb.ScoreRequest(program=pb.ProgramTests(test_code="f()"))
    with pytest.raises(UnsupportedError, match="program tests are not offered for python"):
        convert.submission(request, BOUNDS)


def test_what_is_unset_takes_the_servers_defaults() -> None:
    submission = convert.submission(function_request(), BOUNDS)
    assert submission.language == "python"
    assert submission.limits == Limits()
    assert submission.reward_policy == domain.RewardPolicy()
    assert submission.extraction is Extraction.AUTO


@pytest.mark.promise("A completion that is too large gets `COMPILE_ERROR`.", "Service")
@pytest.mark.parametrize(
    ("letter", "count", "stated", "size"),
    [
        ("x", (1 << 20) + 1, 0, (1 << 20) + 1),
        ("é", (1 << 19) + 1, 0, (1 << 20) + 2),
        ("x", 12 << 20, 0, 12 << 20),
        ("x", 10, 5 << 20, 5 << 20),
        ("\0", 2 << 20, 1, 2 << 20),
    ],
)
def test_a_completion_that_is_too_large_is_judged_and_not_refused(
    letter: str, count: int, stated: int, size: int
) -> None:
    request = function_request()
    request.completion, request.completion_size_bytes = letter * count, stated
    found = convert.submission(request, BOUNDS)
    assert found.refusal == f"the completion has {size} bytes; at most 1048576 make a program"
    assert found.completion == ""


def test_the_largest_completion_is_taken_whole() -> None:
    request = function_request()
    request.completion = "x" * (1 << 20)
    request.completion_size_bytes = 1 << 20
    found = convert.submission(request, BOUNDS)
    assert (found.completion, found.refusal) == (request.completion, "")


def test_a_request_above_its_size_is_judged_where_the_model_wrote_too_much() -> None:
    request = function_request()
    request.completion = "x" * (21 << 20)
    found = convert.score_request(request.SerializeToString(), BOUNDS)
    assert found.completion_size_bytes == 21 << 20
    request.ClearField("completion")
    request.files["a"] = bytes(21 << 20)
    found = convert.score_request(request.SerializeToString(), BOUNDS)
    assert convert.submission(found, BOUNDS).refusal
    request.function.test_code = "x" * (21 << 20)
    with pytest.raises(InvalidRequestError, match="at most 20971520 are allowed"):
        convert.score_request(request.SerializeToString(), BOUNDS)


def test_a_batch_above_its_size_loses_only_what_models_wrote() -> None:
    request = function_request()
    request.completion = "x" * (6 << 20)
    batch = pb.ScoreBatchRequest(requests=[request] * 4)
    found = convert.batch_request(batch.SerializeToString(), BOUNDS)
    assert all(convert.submission(one, BOUNDS).refusal for one in found.requests)
    batch.requests[0].function.test_code = "x" * (21 << 20)
    with pytest.raises(InvalidRequestError, match="at most 20971520 are allowed"):
        convert.batch_request(batch.SerializeToString(), BOUNDS)


def test_an_empty_completion_is_judged_like_any_other() -> None:
    request = function_request()
    request.completion = ""
    assert convert.submission(request, BOUNDS).completion == ""


def _set(path: str, value: object) -> Change:
    def change(request: pb.ScoreRequest) -> None:
        *parents, name = path.split(".")
        target: object = request
        for parent in parents:
            target = getattr(target, parent)
        setattr(target, name, value)

    return change


def _long(path: str) -> Change:
    """Returns a change that sets a field to a text of 8 MiB and a letter."""
    return lambda request: _set(path, "x" * ((8 << 20) + 1))(request)


BIG = "x" * (1 << 20) + "x"


@pytest.mark.parametrize(
    ("field", "change", "told"),
    [
        ("tests", lambda r: r.ClearField("function"), "absent"),
        ("id", _set("id", "x" * 257), "at most 256"),
        ("language", _set("language", "x" * 257), "at most 256"),
        ("prompt", _set("prompt", BIG), "at most 1048576"),
        ("prompt", _set("prompt", "é" * (1 << 19) + "é"), "has 1048578 bytes"),
        ("time_budget_seconds", _set("time_budget_seconds", 0.0), "must be from"),
        ("time_budget_seconds", _set("time_budget_seconds", math.nan), "must be from"),
        ("time_budget_seconds", _set("time_budget_seconds", 3601.0), "to 3600"),
        ("extraction", _set("extraction", 9), "9 is not known"),
        ("require_integrity", _set("require_integrity", 9), "9 is not known"),
        ("tags", lambda r: r.tags.update({str(n): "" for n in range(65)}), "at most 64"),
        ("tags", lambda r: r.tags.update({"k" * 257: ""}), "at most 256"),
        ("tags", lambda r: r.tags.update({"k": "v" * 4097}), "at most 4096"),
        ("function.test_code", lambda r: r.function.Clear(), "no asserts"),
        ("function.test_code", _long("function.test_code"), "at most"),
        ("function.setup_code", _long("function.setup_code"), "at most"),
        ("function.asserts", lambda r: r.function.asserts.extend(["assert 1"] * 10), "at most 10"),
        ("function.asserts[1]", lambda r: r.function.asserts.append(" \n"), "empty"),
        ("function.entry_point", _set("function.entry_point", "f()"), "neither a name"),
        ("function.entry_point", _set("function.entry_point", "a; b"), "neither a name"),
        ("function.entry_point", _set("function.entry_point", "A.f"), "neither a name"),
        ("function.entry_point", _set("function.entry_point", "A().1"), "neither a name"),
        ("function.entry_point", _set("function.entry_point", "().f"), "neither a name"),
        ("function.entry_point", _set("function.entry_point", "f" * 257), "neither a name"),
        ("limits.cpu_time_seconds", _set("limits.cpu_time_seconds", 0.0), "at least 0.01"),
        ("limits.cpu_time_seconds", _set("limits.cpu_time_seconds", 1e-9), "at least 0.01"),
        ("limits.cpu_time_seconds", _set("limits.cpu_time_seconds", math.nan), "at least"),
        ("limits.cpu_time_seconds", _set("limits.cpu_time_seconds", math.inf), "maximum of 60"),
        ("limits.wall_time_seconds", _set("limits.wall_time_seconds", -1.0), "at least"),
        ("limits.wall_time_seconds", _set("limits.wall_time_seconds", 121.0), "maximum of 120"),
        ("reward_policy.kind", _set("reward_policy.kind", 9), "9 is not known"),
        ("reward_policy.kind", _set("reward_policy.kind", -1), "-1 is not known"),
        ("reward_policy.first_k", _set("reward_policy.first_k", 1), "needs"),
        ("reward_policy.first_k", _set("reward_policy.kind", 4), "at least 1"),
        ("reward_policy.compile_bonus", _set("reward_policy.compile_bonus", 1.1), "from 0 to 1"),
        ("reward_policy.compile_bonus", _set("reward_policy.compile_bonus", math.nan), "from 0"),
        ("reward_policy.format_bonus", _set("reward_policy.format_bonus", -0.1), "from 0 to 1"),
    ],
)
def test_a_wrong_field_is_named(field: str, change: Change, told: str) -> None:
    request = function_request()
    change(request)
    error = refusal(request)
    assert error.field == field
    assert told in error.problem


def test_a_network_is_taken_where_it_is_on_offer_and_named_where_it_is_not() -> None:
    request = function_request()
    assert convert.submission(request, BOUNDS).network is domain.Network.NONE
    request.network = pb.NETWORK_LOOPBACK
    with pytest.raises(UnsupportedError, match="network: LOOPBACK"):
        convert.submission(request, BOUNDS)
    offering = replace(BOUNDS, networks=frozenset({domain.Network.LOOPBACK}))
    assert convert.submission(request, offering).network is domain.Network.LOOPBACK
    asked = pb.ExecuteRequest(source="1", network=pb.NETWORK_LOOPBACK)
    assert convert.job(asked, offering).network is domain.Network.LOOPBACK
    request.network = 7  # type: ignore[assignment]  # no such network
    assert refusal(request).field == "network"


@pytest.mark.parametrize("field", [field.name for field in pb.Limits.DESCRIPTOR.fields])
def test_a_limit_within_which_nothing_runs_is_refused_with_its_floor(field: str) -> None:
    floor = getattr(domain.LEAST_LIMITS, field)
    for value in (floor / 2 if isinstance(floor, float) else floor - 1, 0, -1):
        request = function_request()
        setattr(request.limits, field, value)
        error = refusal(request)
        assert error.field == f"limits.{field}"
        assert f"at least {floor}" in error.problem
    request = function_request()
    setattr(request.limits, field, floor)
    assert getattr(convert.submission(request, BOUNDS).limits, field) == floor


@pytest.mark.parametrize("name", [field.name for field in pb.Limits.DESCRIPTOR.fields])
def test_every_limit_is_checked_from_both_sides(name: str) -> None:
    for value in (0, -1, getattr(MAXIMUM, name) + 1):
        request = function_request()
        setattr(request.limits, name, value)
        assert refusal(request).field == f"limits.{name}"
    request = function_request()
    setattr(request.limits, name, getattr(MAXIMUM, name))
    assert getattr(convert.submission(request, BOUNDS).limits, name) == getattr(MAXIMUM, name)


@pytest.mark.parametrize(
    ("field", "change", "told"),
    [
        ("call.cases", lambda r: r.call.ClearField("cases"), "at least 1"),
        ("call.cases", lambda r: r.call.cases.extend([pb.CallCase()] * 10), "at most 10"),
        ("call.entry_point", _set("call.entry_point", ""), "neither a name"),
        ("call.checker.kind", _set("call.checker.kind", 77), "77 is not known"),
        ("call.checker.program", _set("call.checker.program", "x"), "CHECKER_KIND_PROGRAM"),
        (
            "call.checker.absolute_tolerance",
            _set("call.checker.absolute_tolerance", 0.1),
            "CHECKER_KIND_FLOAT",
        ),
    ],
)
def test_a_wrong_field_of_call_tests_is_named(field: str, change: Change, told: str) -> None:
    request = call_request()
    change(request)
    error = refusal(request)
    assert error.field == field
    assert told in error.problem


@pytest.mark.parametrize(
    ("args", "expected", "field"),
    [
        ("", "1", "args_json"),
        ("{}", "1", "args_json"),
        ("[1", "1", "args_json"),
        ("[1] 2", "1", "args_json"),
        ("[" * 100_000, "1", "args_json"),
        ("[]", "", "expected_json"),
        ("[]", "one", "expected_json"),
        ("[]", "'1'", "expected_json"),
    ],
)
def test_broken_json_is_named_with_its_case(args: str, expected: str, field: str) -> None:
    error = refusal(call_request(("[]", "1"), (args, expected)))
    assert error.field == f"call.cases[1].{field}"
    assert len(error.problem) < 200


def test_a_number_of_any_length_is_json() -> None:
    digits = "9" * 100_000
    tests = convert.submission(call_request((f"[{digits}]", f"-{digits}")), BOUNDS).tests
    assert isinstance(tests, CallTests)


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf, 1e7])
def test_a_weight_that_is_no_weight_is_named(weight: float) -> None:
    call, stdio = call_request(), stdio_request()
    call.call.cases[0].weight = stdio.stdio.cases[0].weight = weight
    assert refusal(call).field == "call.cases[0].weight"
    assert refusal(stdio).field == "stdio.cases[0].weight"


def test_weights_that_are_all_zero_decide_nothing() -> None:
    request = stdio_request()
    request.stdio.cases[0].weight = 0.0
    convert.submission(request, BOUNDS)
    request.reward_policy.kind = pb.REWARD_POLICY_KIND_WEIGHTED
    assert refusal(request).field == "reward_policy.kind"


def test_the_first_k_of_fewer_tests_is_refused() -> None:
    request = stdio_request(2)
    request.reward_policy.kind = pb.REWARD_POLICY_KIND_FIRST_K
    request.reward_policy.first_k = 2
    convert.submission(request, BOUNDS)
    request.reward_policy.first_k = 3
    assert refusal(request).field == "reward_policy.first_k"


@pytest.mark.parametrize(
    ("kind", "name", "value", "field"),
    [
        (pb.CHECKER_KIND_FLOAT, "absolute_tolerance", -1.0, "absolute_tolerance"),
        (pb.CHECKER_KIND_FLOAT, "absolute_tolerance", math.nan, "absolute_tolerance"),
        (pb.CHECKER_KIND_FLOAT, "absolute_tolerance", math.inf, "absolute_tolerance"),
        (pb.CHECKER_KIND_FLOAT, "relative_tolerance", math.inf, "relative_tolerance"),
        (pb.CHECKER_KIND_FLOAT, "relative_tolerance", 1.5, "relative_tolerance"),
        (pb.CHECKER_KIND_TOKENS, "relative_tolerance", 0.1, "relative_tolerance"),
        (pb.CHECKER_KIND_PROGRAM, "program", " ", "program"),
        (pb.CHECKER_KIND_PROGRAM, "program", BIG, "program"),
        (pb.CHECKER_KIND_EXACT, "program", "x", "program"),
    ],
)
def test_a_checker_that_cannot_be_is_named(
    kind: pb.CheckerKind.ValueType, name: str, value: object, field: str
) -> None:
    request = stdio_request()
    request.stdio.checker.kind = kind
    setattr(request.stdio.checker, name, value)
    assert refusal(request).field == f"stdio.checker.{field}"


@pytest.mark.parametrize("name", ["stdin", "expected_stdout"])
def test_a_case_has_a_greatest_size(name: str) -> None:
    request = stdio_request(2)
    setattr(request.stdio.cases[1], name, b"x" * ((16 << 20) + 1))
    assert refusal(request).field == f"stdio.cases[1].{name}"


@pytest.mark.parametrize(
    "request_",
    [
        pb.ScoreRequest(unit=pb.UnitTests(framework=pb.FRAMEWORK_PYTEST)),
        pb.ScoreRequest(program=pb.ProgramTests(test_code="assert 1")),
        pb.ScoreRequest(language="cobol", function=function_request().function),
    ],
)
def test_what_this_server_cannot_do_is_not_called_malformed(request_: pb.ScoreRequest) -> None:
    with pytest.raises(UnsupportedError, match="offered"):
        convert.submission(request_, BOUNDS)


def test_a_checker_in_an_unknown_language_is_unsupported() -> None:
    request = stdio_request()
    request.stdio.checker.kind = pb.CHECKER_KIND_PROGRAM
    request.stdio.checker.program = "x"
    request.stdio.checker.program_language = "cobol"
    with pytest.raises(UnsupportedError, match="cobol"):
        convert.submission(request, BOUNDS)


@pytest.mark.parametrize(("language", "accepted"), [("", True), ("cpp", True), ("java", False)])
def test_an_interactor_is_in_python_or_in_the_solutions_language(
    language: str, accepted: bool
) -> None:
    request = stdio_request()
    request.language = "c++17"
    request.stdio.checker.kind = pb.CHECKER_KIND_INTERACTOR
    request.stdio.checker.program = "x"
    request.stdio.checker.program_language = language
    if accepted:
        assert convert.submission(request, BOUNDS)
    else:
        assert refusal(request).field == "stdio.checker.program_language"


def subtasks_request() -> pb.ScoreRequest:
    request = stdio_request(2)
    for case, name in zip(request.stdio.cases, "ab", strict=True):
        case.subtask = name
    request.reward_policy.kind = pb.REWARD_POLICY_KIND_SUBTASKS
    request.reward_policy.subtasks.add(name="a", points=30)
    request.reward_policy.subtasks.add(name="b", points=70, rule=pb.SUBTASK_RULE_SUM)
    return request


def test_subtasks_cross_whole() -> None:
    found = convert.submission(subtasks_request(), BOUNDS)
    assert found.reward_policy.subtasks == (
        domain.Subtask(name="a", points=30.0),
        domain.Subtask(name="b", points=70.0, rule=domain.SubtaskRule.SUM),
    )
    assert isinstance(found.tests, StdioTests)
    assert [case.subtask for case in found.tests.cases] == ["a", "b"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda one: one.reward_policy.subtasks.pop(), "subtasks"),
        (lambda one: one.reward_policy.subtasks.add(name="c", points=1), "subtasks"),
        (lambda one: one.reward_policy.subtasks.add(name="a", points=1), "subtasks"),
        (lambda one: one.reward_policy.subtasks.add(points=1), "subtasks[2].name"),
        (lambda one: setattr(one.reward_policy.subtasks[0], "points", -1), "subtasks[0].points"),
        (lambda one: setattr(one.reward_policy.subtasks[0], "rule", 9), "subtasks[0].rule"),
        (lambda one: [setattr(s, "points", 0) for s in one.reward_policy.subtasks], "subtasks"),
        (lambda one: setattr(one.stdio.cases[1], "weight", 0), "subtasks"),
        (lambda one: setattr(one.stdio.cases[1], "subtask", ""), "subtasks"),
        (lambda one: setattr(one.reward_policy, "kind", 0), "subtasks"),
        (lambda one: one.function.CopyFrom(function_request().function), "kind"),
    ],
)
def test_subtasks_that_cannot_be_are_named(
    change: Callable[[pb.ScoreRequest], object], field: str
) -> None:
    request = subtasks_request()
    change(request)
    assert refusal(request).field == f"reward_policy.{field}"


def test_a_server_without_python_takes_tests_that_need_no_checker_program() -> None:
    others = Languages(one for one in BOUNDS.languages.all if one.name != "python")
    request = stdio_request()
    request.language = "c"
    bounds = replace(BOUNDS, languages=others)
    assert convert.submission(request, bounds).tests == convert.submission(request, BOUNDS).tests


@pytest.mark.parametrize("kind", [pb.CHECKER_KIND_PROGRAM, pb.CHECKER_KIND_INTERACTOR])
def test_a_checker_program_for_calls_is_unsupported(kind: pb.CheckerKind.ValueType) -> None:
    request = call_request()
    request.call.checker.kind = kind
    request.call.checker.program = "x"
    with pytest.raises(UnsupportedError, match="checker program"):
        convert.submission(request, BOUNDS)


def test_a_body_that_is_too_large_is_refused_unread() -> None:
    with pytest.raises(InvalidRequestError, match="at most 20971520"):
        convert.parse(pb.ScoreRequest, b"\xff" * ((20 << 20) + 1), BOUNDS)


@pytest.mark.parametrize("body", [b"\xff", b"\x22\x02\xff\xfe", b"\x22\x7f"])
def test_a_body_that_is_no_such_message_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRequestError, match="UTF-8"):
        convert.parse(pb.ScoreRequest, body, BOUNDS)


def test_a_batch_may_repeat_only_the_empty_id() -> None:
    unnamed = pb.ScoreBatchRequest(requests=[pb.ScoreRequest(), pb.ScoreRequest()])
    convert.check_batch(unnamed, BOUNDS)
    batch = pb.ScoreBatchRequest(requests=[pb.ScoreRequest(id=name) for name in "aba"])
    with pytest.raises(InvalidRequestError) as refused:
        convert.check_batch(batch, BOUNDS)
    assert refused.value.field == "requests[2].id"
    assert "requests[0]" in refused.value.problem


def test_a_batch_has_a_greatest_length() -> None:
    with pytest.raises(InvalidRequestError, match="requests: are 5; at most 4"):
        convert.check_batch(pb.ScoreBatchRequest(requests=[pb.ScoreRequest()] * 5), BOUNDS)


def test_a_program_to_run_crosses_whole() -> None:
    request = pb.ExecuteRequest(
        language="py", source="print(1)", stdin=b"\0", args=["-v"], limits=pb.Limits(processes=3)
    )
    assert convert.job(request, BOUNDS) == domain.Job(
        work=Program(source="print(1)", stdin=b"\0", args=("-v",)),
        language="python",
        limits=Limits(processes=3),
    )


@pytest.mark.parametrize(
    ("made", "field"),
    [
        (lambda: pb.ExecuteRequest(id="x" * 257), "id"),
        (lambda: pb.ExecuteRequest(source=BIG), "source"),
        (lambda: pb.ExecuteRequest(stdin=b"x" * ((16 << 20) + 1)), "stdin"),
        (lambda: pb.ExecuteRequest(args=["a"] * 257), "args"),
        (lambda: pb.ExecuteRequest(args=["a", "b\0c"]), "args[1]"),
        (lambda: pb.ExecuteRequest(args=["a" * 65_537]), "args[0]"),
        (lambda: pb.ExecuteRequest(limits=pb.Limits(calls=0)), "limits.calls"),
        (lambda: pb.ExecuteRequest(files={"../x": b""}), 'files["../x"]'),
        (lambda: pb.ExecuteRequest(data_files={"solution.py": b""}), 'data_files["solution.py"]'),
    ],
)
def test_a_program_that_cannot_be_run_is_refused_by_field(
    made: Callable[[], pb.ExecuteRequest], field: str
) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        convert.job(made(), BOUNDS)
    assert refused.value.field == field


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(args=st.lists(JSON_VALUES, max_size=4), expected=JSON_VALUES, weight=st.floats(0, 1e6))
def test_every_call_that_json_can_write_crosses(
    args: list[object], expected: object, weight: float
) -> None:
    request = call_request((json.dumps(args), json.dumps(expected)))
    request.call.cases[0].weight = weight
    tests = convert.submission(request, BOUNDS).tests
    assert isinstance(tests, CallTests)
    assert tests.cases[0] == CallCase(
        args_json=json.dumps(args), expected_json=json.dumps(expected), weight=weight
    )


_SCALARS: dict[int, st.SearchStrategy[object]] = {
    FieldDescriptor.CPPTYPE_STRING: st.text(max_size=5),
    FieldDescriptor.CPPTYPE_DOUBLE: st.floats(),
    FieldDescriptor.CPPTYPE_INT32: st.integers(-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: st.integers(-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_ENUM: st.integers(-2, 9),
}
_VALUES = {FieldDescriptor.TYPE_STRING: st.text(max_size=3)}


@st.composite
def any_message(draw: st.DrawFn, kind: type[Message]) -> Message:
    """Any message that a client's library can write, sensible or not."""
    message = kind()
    fields = {field.name: field for field in kind.DESCRIPTOR.fields}
    for name in draw(st.sets(st.sampled_from(sorted(fields)), max_size=6)):
        value = _any_value(fields[name])
        if _is_map(fields[name]):
            kind_of_value = fields[name].message_type.fields_by_name["value"].type
            values = _VALUES.get(kind_of_value, st.binary(max_size=3))
            pairs = st.dictionaries(st.text(max_size=3), values, max_size=2)
            getattr(message, name).update(draw(pairs))
        elif fields[name].is_repeated:
            getattr(message, name).extend(draw(st.lists(value, max_size=3)))
        elif fields[name].message_type is not None:
            getattr(message, name).CopyFrom(draw(value))
        else:
            setattr(message, name, draw(value))
    return message


def _any_value(field: Any) -> st.SearchStrategy[object]:
    if field.message_type is not None:
        return any_message(GetMessageClass(field.message_type))
    if field.type == FieldDescriptor.TYPE_BYTES:
        return st.binary(max_size=5)
    return _SCALARS[field.cpp_type]


def _is_map(field: Any) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


@given(
    sensible=st.sampled_from([function_request, call_request, stdio_request, pb.ScoreRequest]),
    change=any_message(pb.ScoreRequest),
)
def test_whatever_a_client_writes_is_read_or_refused(
    sensible: Callable[[], pb.ScoreRequest], change: pb.ScoreRequest
) -> None:
    request = sensible()
    request.MergeFrom(change)
    try:
        submission = convert.submission(request, BOUNDS)
    except RewardServerError:
        return
    for limit in pb.Limits.DESCRIPTOR.fields:
        assert 0 < getattr(submission.limits, limit.name) <= getattr(MAXIMUM, limit.name)


@given(st.binary(max_size=200))
def test_random_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        convert.submission(convert.parse(pb.ScoreRequest, body, BOUNDS), BOUNDS)
    except RewardServerError:
        return


# ------------------------------------------------------------------------ text for bytes


def test_text_takes_the_place_of_bytes() -> None:
    request = stdio_request()
    case = pb.StdioCase(stdin_text="\u00fc 2\n", expected_stdout_text="abcd")
    request.stdio.cases[0].CopyFrom(case)
    assert convert.submission(request, BOUNDS).tests == StdioTests(
        cases=(StdioCase(stdin="\u00fc 2\n".encode(), expected_stdout=b"abcd"),)
    )
    job = convert.job(pb.ExecuteRequest(source="x", stdin_text="1"), BOUNDS)
    assert job.work == Program(source="x", stdin=b"1")


@pytest.mark.parametrize("name", ["stdin", "expected_stdout"])
def test_text_and_bytes_of_one_thing_are_refused(name: str) -> None:
    request = stdio_request()
    setattr(request.stdio.cases[0], name, b"1")
    setattr(request.stdio.cases[0], f"{name}_text", "1")
    assert refusal(request).field == f"stdio.cases[0].{name}_text"
