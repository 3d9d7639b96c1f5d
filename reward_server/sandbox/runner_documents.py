"""Converts jobs to the runner's request documents, and its reports to findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reward_server.domain import (
    CallJudgement,
    Commands,
    Conversation,
    Crossing,
    FunctionJudgement,
    Job,
    Limits,
    Network,
    Program,
    SplitPrograms,
    UnitJudgement,
)
from reward_server.runner import requests, wire
from reward_server.runner.requests import (
    CallRequest,
    CommandsRequest,
    ConversationRequest,
    FunctionRequest,
    PlanFields,
    ProgramRequest,
    SharedRequest,
    Side,
    SplitRequest,
    UnitRequest,
)
from reward_server.runner.wire import Kind, Stage, Start

# Greatest size of a report without programs' output: names and messages of tests, each of bounded
# length.
_FINDINGS_BYTES = 64 << 20
_OUTPUTS = 4  # two streams of two programs, each kept up to its limit
_WithFiles = Program | Commands | FunctionJudgement | CallJudgement | UnitJudgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The judge's report. `report` is None if the judge ended before it could write one."""

    stage: Stage
    report: Mapping[str, object] | None = None
    blobs: Mapping[str, bytes] = field(default_factory=dict)


def start_record(
    limits: Limits,
    payload_bytes: int,
    *,
    report_bytes: int,
    programs: int = 1,
    network: Network = Network.NONE,
    has_files: bool = False,
) -> bytes:
    """Builds the record that begins an execution.

    Args:
        limits: the limits.
        payload_bytes: the size of the document that follows.
        report_bytes: the greatest size of a report.
        programs: how many programs run.
        network: the network.
        has_files: whether the program's standard streams are memory files.
    """
    start = Start(
        kind=Kind.EXECUTE,
        payload_bytes=payload_bytes,
        wall_time_ns=round(limits.wall_time_seconds * 1e9),
        cpu_time_ns=round(limits.cpu_time_seconds * 1e9),
        memory_bytes=limits.memory_bytes,
        processes=limits.processes,
        file_size_bytes=limits.file_size_bytes,
        disk_bytes=limits.disk_bytes,
        open_files=limits.open_files,
        programs=programs,
        report_bytes=report_bytes,
        loopback=network is Network.LOOPBACK,
        output_bytes=limits.output_bytes if has_files else 0,
    )
    return wire.START.pack(*start)


def greatest_report_bytes(job: Job) -> int:
    """Returns a size that no report of an execution reaches."""
    product_bytes = job.work.product_bytes if isinstance(job.work, Commands) else 0
    return _FINDINGS_BYTES + _OUTPUTS * job.limits.output_bytes + product_bytes


def cancel_record() -> bytes:
    """Builds the record that kills the current execution."""
    return wire.START.pack(*Start(kind=Kind.CANCEL))


def request_document(job: Job) -> bytes:
    """Builds the document that the judge reads."""
    work, limits = job.work, job.limits
    match work:
        case Program() | Commands():
            program, blobs = _program(work, limits)
            return requests.pack(program, {**blobs, "stdin": work.stdin})
        case SplitPrograms():
            return _split_document(work, limits)
        case Conversation():
            return _conversation_document(work, limits)
    blobs = {"source": _encode(work.source), **_files(work)}
    if isinstance(work, UnitJudgement) and work.executable:
        kinds = {f"file/{name}": f"exec/{name}" for name in work.executable}
        blobs = {kinds.get(name, name): blob for name, blob in blobs.items()}
    match work:
        case FunctionJudgement():
            return requests.pack(_function_request(work, limits), blobs)
        case CallJudgement():
            return requests.pack(_call_request(work, limits), blobs)
        case UnitJudgement():
            blobs |= {f"test/{path}": _encode(text) for path, text in work.tests.files}
            return requests.pack(_unit_request(work, limits), blobs)


def _program(
    work: Program | Commands, limits: Limits, *, reports: bool = False
) -> tuple[ProgramRequest | CommandsRequest, dict[str, bytes]]:
    """Returns the request of a program and its blobs, without its standard input."""
    output_bytes = limits.output_bytes
    if isinstance(work, Program):
        program = ProgramRequest(args=list(work.args), output_bytes=output_bytes, reports=reports)
        return program, {"source": _encode(work.source), **_files(work)}
    commands = CommandsRequest(
        **_side(work),
        keep=list(work.keep),
        product_bytes=work.product_bytes,
        keeps_failed=work.keeps_failed,
        output_bytes=output_bytes,
    )
    return commands, {"product": work.product, **_files(work)}


def _conversation_document(work: Conversation, limits: Limits) -> bytes:
    interactor, its_blobs = _program(work.interactor, limits, reports=True)
    solution, blobs = _program(work.solution, limits)
    request = ConversationRequest(
        interactor=requests.fields_of(interactor),
        solution=requests.fields_of(solution),
        output_bytes=limits.output_bytes,
    )
    sides = {"interactor": its_blobs, "solution": blobs}
    return requests.pack(
        request,
        {f"{side}:{name}": blob for side, blobs in sides.items() for name, blob in blobs.items()},
    )


def _side(program: Commands) -> Side:
    return {
        "commands": [list(command) for command in program.commands],
        "environment": dict(program.environment),
    }


def _split_document(work: SplitPrograms, limits: Limits) -> bytes:
    programs = {"tests": work.tests, "solution": work.solution}
    blobs = {
        f"{side}:{name}": blob
        for side, program in programs.items()
        for name, blob in {"product": program.product, **_files(program)}.items()
    }
    request = SplitRequest(
        tests=_side(work.tests),
        solution=_side(work.solution),
        output_bytes=limits.output_bytes,
        result_bytes=limits.result_bytes,
    )
    return requests.pack(request, blobs)


def _files(work: _WithFiles) -> dict[str, bytes]:
    files = {f"file/{name}": content for name, content in work.files.items()}
    return files | {f"data/{name}": content for name, content in work.data.items()}


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _function_request(work: FunctionJudgement, limits: Limits) -> FunctionRequest:
    tests = work.tests
    return FunctionRequest(
        entry_point=tests.entry_point,
        test_code=tests.test_code,
        asserts=list(tests.asserts),
        setup_code=tests.setup_code,
        output_bytes=limits.output_bytes,
        result_bytes=limits.result_bytes,
        calls=limits.calls,
        stop_at_first_failure=work.stop_at_first_failure,
        plan=plan_fields(work.crossing),
    )


def plan_fields(crossing: Crossing) -> PlanFields:
    """Returns what the judge binds before it hears the solution."""
    return {
        "names": sorted(crossing.names),
        "classes": sorted(crossing.classes),
        "raised": sorted(crossing.raised),
        "values": sorted(crossing.values),
        "modules": sorted(crossing.modules),
        "free": crossing.free,
        "helpers": crossing.helpers,
        "records": sorted(crossing.records),
        "form": crossing.form,
        "is_allowed": crossing.is_allowed,
        "ahead": crossing.ahead,
    }


def _unit_request(work: UnitJudgement, limits: Limits) -> UnitRequest:
    kind = SharedRequest if work.shared else UnitRequest
    return kind(
        framework=work.tests.framework.name.lower(),
        solution_path=work.tests.solution_path,
        output_bytes=limits.output_bytes,
        result_bytes=limits.result_bytes,
        calls=limits.calls,
        stop_at_first_failure=work.stop_at_first_failure,
        targets=work.tests.places.targets,
        import_paths=work.tests.places.import_paths,
        modules=work.tests.places.modules,
        plan=None if work.crossing is None else plan_fields(work.crossing),
    )


def _call_request(work: CallJudgement, limits: Limits) -> CallRequest:
    checker = work.tests.checker
    return CallRequest(
        entry_point=work.tests.entry_point,
        cases=[(case.args_json, case.expected_json) for case in work.tests.cases],
        checker={
            "kind": checker.kind.name,
            "absolute_tolerance": checker.absolute_tolerance,
            "relative_tolerance": checker.relative_tolerance,
        },
        output_bytes=limits.output_bytes,
        result_bytes=limits.result_bytes,
        calls=limits.calls,
        stop_at_first_failure=work.stop_at_first_failure,
        signature=(work.signature.parameters, work.signature.result),
    )


def read_report(report: bytes) -> Findings:
    """Parses the judge's report; an unfinished report has only a stage.

    A judge that was taken over may write any bytes, and none may cause an exception here.
    """
    try:
        stage = Stage(report[0]) if report else Stage.STARTING
    except ValueError:
        return Findings(stage=Stage.STARTING)
    if len(report) <= 1:
        return Findings(stage=stage)
    try:
        header, blobs = wire.unpack(memoryview(report)[1:])
    except (ValueError, KeyError, TypeError):
        return Findings(stage=stage)
    return Findings(stage=stage, report=header, blobs=blobs)
