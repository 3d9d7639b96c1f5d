"""What `reward-train` finds out before torch is imported: names, tasks, reference solutions."""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import sys

import grpc
import pytest
from rich.console import Console

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import CallError, ConfigError, TaskError
from trainer_client.trl.settings.configuration import load_config
from trainer_client.trl.settings.training_fields import training_fields
from trainer_client.trl.tasks.data import read_tasks, training_tasks
from trainer_client.trl.tasks.references import check_references, placed

ROWS = [
    {
        "task_id": f"HumanEval/{number}",
        "prompt": f"def f{number}(x):\n",
        "test": "def check(candidate):\n    assert candidate(1) == 1\n",
        "entry_point": f"f{number}",
        "canonical_solution": solution,
    }
    for number, solution in enumerate(["    return 1\n", "    return wrong\n", "    broken(\n"])
]


def judge(request: pb.ScoreRequest, context: grpc.ServicerContext) -> pb.ScoreResponse:
    if "wrong" in request.completion:
        test = pb.TestResult(name="check", outcome=pb.TEST_OUTCOME_FAILED, message="2 is not 1")
        return pb.ScoreResponse(id=request.id, verdict=pb.VERDICT_FAILED, reward=0, tests=[test])
    if "broken" in request.completion:
        message = "no package numpy"
        return pb.ScoreResponse(id=request.id, verdict=pb.VERDICT_INVALID_TASK, message=message)
    return pb.ScoreResponse(id=request.id, verdict=pb.VERDICT_PASSED, reward=1)


@pytest.fixture
def flags(tmp_path):
    file = tmp_path / "HumanEval.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in ROWS))
    return {"model.path": "m", "data.kind": "humaneval", "data.path": str(file)}


def checked(flags, target, **more):
    config = load_config(None, {**flags, **more})
    told = io.StringIO()
    console = Console(file=told, width=200)
    found = check_references(config, target, read_tasks(config.data), console)
    return found.left_out, told.getvalue().splitlines()


def test_tasks_whose_reference_fails_are_named_with_the_reason_and_left_out(serve, flags):
    left_out, (head, *lines) = checked(flags, serve(judge).target)
    assert "1 of 3 reference solutions pass" in head
    assert lines == [
        "HumanEval/1: its reference solution: FAILED check: 2 is not 1; left out",
        "HumanEval/2: its reference solution: INVALID_TASK no package numpy; left out",
    ]
    section = load_config(None, flags).data
    source = read_tasks(section)
    found = training_tasks(section, source, chat=False, count_tokens=len, left_out=left_out)
    assert [record["task_id"] for record in found.records] == ["HumanEval/0"]


def test_a_run_stops_at_references_that_fail_if_it_is_told(serve, flags):
    with pytest.raises(ConfigError, match=r"HumanEval/1: .*FAILED(.|\n)*HumanEval/2: .*INVALID"):
        checked(flags, serve(judge).target, **{"data.failing_references": "stop"})


def test_tasks_whose_reference_fails_are_kept_if_it_is_told(serve, flags):
    keep = {"data.failing_references": "keep"}
    left_out, (_, *lines) = checked(flags, serve(judge).target, **keep)
    assert left_out == frozenset()
    assert all(line.endswith("; kept") for line in lines)


def test_a_reference_that_is_not_judged_is_an_error_of_the_server(serve, flags):
    def busy(request, context):
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "no slot")

    with pytest.raises(CallError, match="the reference solution of HumanEval/0 was not judged"):
        checked(flags, serve(busy).target)


BESIDE, ISOLATED = pb.TEST_PLACEMENT_BESIDE, pb.TEST_PLACEMENT_ISOLATED


def passing_at(place, *, by_text, asked=None, lowered=()):
    """Returns a judge of tests that pass at one place alone; their label may be lowered apart."""

    def judged(request, context):
        if asked is not None:
            asked.append(request)
        at = request.function.placement or by_text
        is_apart = at == ISOLATED and not lowered
        label = pb.INTEGRITY_ISOLATED if is_apart else pb.INTEGRITY_SHARED
        if request.require_integrity > label:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not on offer")
        answer = {"id": request.id, "integrity": label}
        if at == place:
            return pb.ScoreResponse(**answer, verdict=pb.VERDICT_PASSED, reward=1)
        signals = dict.fromkeys(lowered, 1) if at == ISOLATED else {"twin_failed": 1}
        return pb.ScoreResponse(**answer, verdict=pb.VERDICT_FAILED, reward=0, signals=signals)

    return judged


def references(flags, target, **more):
    config = load_config(None, {**flags, **more})
    source, told = read_tasks(config.data), io.StringIO()
    found = check_references(config, target, source, Console(file=told, width=200))
    return found, source, told.getvalue().splitlines()


@pytest.mark.promise(
    "`reward-train` first tries whether each reference solution passes its tests.", "Client"
)
@pytest.mark.parametrize("lowered", [(), ("lowered_handles",)])
def test_tests_run_where_their_reference_passes_and_that_is_told(serve, flags, lowered):
    target = serve(passing_at(BESIDE, by_text=ISOLATED, lowered=lowered)).target
    more = {"reward.require_integrity": "shared"}
    found, source, (head, *lines) = references(flags, target, **more)
    assert "3 of 3 reference solutions pass" in head
    assert found.left_out == frozenset()
    assert lines == [f"HumanEval/{n}: its tests run beside the solution" for n in range(3)]
    templates = placed(source.templates, found.beside)
    assert {one.function.placement for one in templates.values()} == {BESIDE}
    assert {one.require_integrity for one in templates.values()} == {pb.INTEGRITY_UNSPECIFIED}
    assert {one.function.placement for one in source.templates.values()} == {0}


@pytest.mark.parametrize("required", [None, "isolated", "shared_twins"])
def test_who_does_not_ask_for_it_has_no_tests_put_beside_a_solution(serve, flags, required):
    asked = []
    judge = passing_at(BESIDE, by_text=ISOLATED, asked=asked)
    more = {} if required is None else {"reward.require_integrity": required}
    found, _, (head, *_) = references(flags, serve(judge).target, **more)
    assert "0 of 3" in head
    assert (len(found.left_out), found.beside) == (3, frozenset())
    assert len(asked) == 3


def test_tasks_whose_tests_give_less_than_is_required_are_left_out(serve, flags):
    asked = []
    judge = passing_at(BESIDE, by_text=BESIDE, asked=asked)
    more = {"reward.require_integrity": "isolated"}
    found, _, (head, *lines) = references(flags, serve(judge).target, **more)
    assert "0 of 3" in head
    assert (len(found.left_out), found.beside, len(asked)) == (3, frozenset(), 3)
    assert all("not judged: not on offer" in line for line in lines)


def test_a_reference_that_copies_refuse_is_not_called_broken(serve, flags):
    asked = []
    judge = passing_at(7, by_text=BESIDE, asked=asked)
    more = {"reward.require_integrity": "shared"}
    found, _, (head, count, *lines) = references(flags, serve(judge).target, **more)
    assert "0 of 3" in head
    assert count == "3 of those that fail may be right, and only cannot be proven"
    assert all("cannot be proven" in line and "twin_failed" in line for line in lines)
    assert (len(found.left_out), len(asked)) == (3, 3)


def test_nothing_left_is_an_error(serve, flags):
    section = load_config(None, flags).data
    everything = [row["task_id"] for row in ROWS]
    with pytest.raises(ConfigError, match=r"no task of .* is left"):
        training_tasks(
            section, read_tasks(section), chat=False, count_tokens=len, left_out=everything
        )


def test_without_references_an_empty_answer_tries_the_server(serve, flags):
    rows = [{**row, "canonical_solution": ""} for row in ROWS]
    with open(flags["data.path"], "w") as file:
        file.write("\n".join(json.dumps(row) for row in rows))
    left_out, (head,) = checked(flags, serve(judge).target)
    assert left_out == frozenset()
    assert head.endswith("an empty answer to HumanEval/0: PASSED")


def test_a_row_without_tests_is_named(tmp_path):
    file = tmp_path / "mbpp.jsonl"
    row = {"task_id": 7, "text": "Write f.", "code": "def f(): pass", "test_list": []}
    file.write_text(json.dumps(row))
    section = load_config(
        None, {"model.path": "m", "data.kind": "mbpp", "data.path": str(file)}
    ).data
    with pytest.raises(TaskError, match="mbpp row 7: test_list"):
        read_tasks(section)


@pytest.mark.training
@pytest.mark.filterwarnings("default")  # of the trainer's packages
def test_the_fields_of_trls_configuration_are_read_from_its_source():
    from trl import GRPOConfig

    fields = {field.name for field in dataclasses.fields(GRPOConfig)}
    assert fields <= training_fields()
    assert len(training_fields() - fields) < 10


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param(
            {"training": "learnig_rate = 1"},
            "did you mean learning_rate?",
            marks=pytest.mark.training,  # the names are read from TRL's source
        ),
        ({"data": "ids = ['HumanEval/9']"}, "has no task HumanEval/9"),
        ({"server": "target = 'localhost'"}, "names no port"),
    ],
)
def test_a_mistake_is_told_without_importing_torch(tmp_path, flags, change, problem):
    sections = {"model": "path = 'm'", "data": "", "server": "target = 'localhost:1'"}
    sections |= {"training": ""}
    sections["data"] = f"kind = 'humaneval'\npath = '{flags['data.path']}'\n"
    for name, line in change.items():
        sections[name] = f"{sections[name]}\n{line}" if name != "server" else line
    file = tmp_path / "config.toml"
    file.write_text("\n".join(f"[{name}]\n{text}" for name, text in sections.items()))
    code = (
        "import sys\n"
        f"sys.argv = ['reward-train', {str(file)!r}]\n"
        "from trainer_client.trl.command import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n"
        "    print(end.code, 'torch' in sys.modules)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert problem in ran.stderr
    assert ran.stdout.split() == ["2", "False"]
