"""SandboxFusion's data sets: rows of requests become tasks, which the judge decides."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx
import pytest

from reward_server.http.sandbox_fusion import formats
from tests.support.tools import needs, require

pytestmark = pytest.mark.asyncio(loop_scope="session")
DOUBLE = "def double(x):\n    return 2 * x\n"
HUMAN_EVAL = {
    "task_id": "HumanEval/0",
    "prompt": 'def double(x):\n    """Doubles."""\n',
    "entry_point": "double",
    "test": "def check(candidate):\n    assert candidate(21) == 42\n",
}
MBPP = {
    "id": 1,
    "content": "Double a number.",
    "labels": json.dumps({"test_setup_code": "import math"}),
    "test_list": json.dumps(["assert double(2) == 4", "assert double(math.floor(3.5)) == 6"]),
}
STDIO = {
    "id": "a",
    "content": "Double a number.",
    "test": [{"input": {"stdin": f"{n}\n"}, "output": {"stdout": f"{2 * n}"}} for n in (1, 2, 3)],
}
AUTO_EVAL = {
    "id": 7,
    "content": "Double the number in a file.",
    "labels": {"programming_language": "python"},
    "test": {
        "code": "#<INSERT>\n\ndef check():\n    n = double_of('n')\n    assert n == 42\ncheck()\n",
        "asset": json.dumps({"n": base64.b64encode(b"21").decode(), "absent": None}),
    },
}
CPP = {
    "id": 8,
    "content": "Double a number.",
    "labels": {"programming_language": "cpp"},
    "test": {"code": "#include <cassert>\nint main() { assert(twice(21) == 42); }\n"},
}
READING = "def double_of(path):\n    return 2 * int(open(path).read())\n"


def fenced(code: str, tag: str = "python") -> str:
    return f"Here it is:\n```{tag}\n{code}\n```\n"


def submission(
    row: dict[str, Any] | None, completion: str, dataset: str = "", **config: Any
) -> dict[str, Any]:
    settings = {"provided_data": row, **config}
    return {"dataset": dataset, "id": 0, "completion": completion, "config": settings}


async def submitted(client: httpx.AsyncClient, body: dict[str, Any]) -> dict[str, Any]:
    answer = await client.post("/submit", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


RIGHT = {
    "humaneval continued": submission(HUMAN_EVAL, "    return 2 * x\n", "humaneval_python"),
    "humaneval whole": submission(
        HUMAN_EVAL, fenced(DOUBLE), "mine", dataset_type="HumanEvalDataset"
    ),
    "mbpp": submission(MBPP, fenced(DOUBLE), "mbpp"),
    "mbpp few-shot": submission(MBPP, DOUBLE, "mbpp", is_fewshot=True),
    "stdio": submission(
        STDIO, fenced("print(int(input()) * 2)"), dataset_type="CommonOJDataset", language="python"
    ),
    "stdio cpp": submission(
        STDIO,
        fenced("#include <iostream>\nint main(){int x;std::cin>>x;std::cout<<2*x;}", "cpp"),
        *("code_contests",),
        language="cpp",
    ),
    "autoeval": submission(AUTO_EVAL, fenced(READING), dataset_type="AutoEvalV5Dataset"),
    "autoeval cpp": submission(
        CPP, fenced("int twice(int x) { return 2 * x; }", "cpp"), dataset_type="AutoEvalDataset"
    ),
}
WRONG = {
    "humaneval": submission(HUMAN_EVAL, "    return 3 * x\n", "humaneval_python"),
    "mbpp": submission(MBPP, fenced(DOUBLE.replace("2", "3")), "mbpp"),
    "exit": submission(MBPP, fenced("import os\nos._exit(0)"), "mbpp"),
    "autoeval": submission(
        AUTO_EVAL, fenced("def double_of(path): return 1"), dataset_type="AutoEvalDataset"
    ),
    "autoeval exit": submission(
        AUTO_EVAL, fenced("import sys; sys.exit(0)"), dataset_type="AutoEvalDataset"
    ),
    "autoeval equal": submission(
        AUTO_EVAL,
        fenced("class A:\n  __eq__ = lambda *_: True\ndef double_of(path): return A()"),
        dataset_type="AutoEvalDataset",
    ),
    "empty": submission(MBPP, "", "mbpp"),
}


@pytest.mark.parametrize("name", RIGHT)
async def test_a_right_completion_is_accepted(client: httpx.AsyncClient, name: str) -> None:
    if "cpp" in name:
        require("g++")
    found = await submitted(client, RIGHT[name])
    assert found["accepted"], found
    # The text of C++ tests does not tell the types of an unknown function.
    label = "SHARED" if name == "autoeval cpp" else "ISOLATED"
    assert found["extra"]["integrity"] == f"INTEGRITY_{label}"
    assert found["tests"]
    assert all(one["passed"] for one in found["tests"])
    assert found["tests"][0]["exec_info"]["status"] == "Success"
    assert found["extracted_code"].strip()
    assert "```" not in found["extracted_code"]


@pytest.mark.parametrize("name", WRONG)
async def test_a_wrong_completion_is_rejected(client: httpx.AsyncClient, name: str) -> None:
    found = await submitted(client, WRONG[name])
    assert not found["accepted"]
    assert not all(one["passed"] for one in found["tests"])
    assert "Failed" in [one["exec_info"]["status"] for one in found["tests"]]


@pytest.mark.parametrize(("run_all", "passed"), [(False, [True, False]), (True, [1, 0, 1])])
async def test_the_tests_that_ran_are_told(
    client: httpx.AsyncClient, run_all: bool, passed: list[bool]
) -> None:
    code = "n = int(input())\nprint(2 * n if n != 2 else 'no')"
    settings = {"language": "python", "extra": {"run_all_cases": run_all}}
    found = await submitted(client, submission(STDIO, fenced(code), "code_contests", **settings))
    assert (found["accepted"], found["extracted_type"]) == (False, "fenced")
    assert [one["passed"] for one in found["tests"]] == passed
    wrong = found["tests"][1]["exec_info"]
    assert (wrong["status"], wrong["run_result"]["stdout"]) == ("Success", "no\n")


@needs("g++")
async def test_a_compile_error_and_a_time_out_are_told(client: httpx.AsyncClient) -> None:
    broken = submission(STDIO, fenced("int main() { x; }", "cpp"), "code_contests", language="cpp")
    (test,) = (await submitted(client, broken))["tests"]
    assert test["exec_info"]["compile_result"]["return_code"] == 1
    endless = submission(
        STDIO,
        fenced("while True: pass"),
        "code_contests",
        language="python",
        run_timeout=0.5,
    )
    (test,) = (await submitted(client, endless))["tests"]
    assert test["exec_info"]["run_result"]["status"] == "TimeLimitExceeded"


async def test_a_checker_of_the_contract_can_be_named(client: httpx.AsyncClient) -> None:
    row = {**STDIO, "test": [{"input": {"stdin": ""}, "output": {"stdout": "1.0"}}]}
    given = {"kind": "CHECKER_KIND_FLOAT", "absolute_tolerance": 0.1}
    for extra, accepted in (({}, False), ({"checker": given}, True)):
        body = submission(row, "print(1.01)", "code_contests", language="python", extra=extra)
        assert (await submitted(client, body))["accepted"] is accepted


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (submission(MBPP, "x", "live_code_bench_v1"), "dataset"),
        (submission(MBPP, "x", "", dataset_type="VerilogDataset"), "config.dataset_type"),
        (submission(None, "x", "mbpp"), "config.provided_data"),
        ({**submission(None, "x", "mbpp"), "id": None}, "id.int"),
        (
            submission(MBPP, "x", "mbpp", custom_extract_logic="1"),
            "config.custom_extract_logic",
        ),
        (submission(MBPP, "x", "mbpp", extra={"repr_code": True}), "config.extra.repr_code"),
        (submission({**MBPP, "test_list": "{"}, "x", "mbpp"), "config.provided_data.test_list"),
        (submission({**MBPP, "test_list": [1]}, "x", "mbpp"), "config.provided_data.test_list[0]"),
        (submission({**MBPP, "test_list": ["\ud800"]}, "x", "mbpp"), "request"),
        (submission({**MBPP, "test_list": '["\\ud800"]'}, "x", "mbpp"), "function.asserts[0]"),
        (
            submission({**HUMAN_EVAL, "language": "cpp"}, "x", "humaneval_python"),
            "config.provided_data.language",
        ),
        (
            submission({"prompt": ""}, "x", "humaneval_python"),
            "config.provided_data.entry_point",
        ),
        (submission(STDIO, "x", "code_contests"), "config.language"),
        (
            submission(
                {**STDIO, "test": [{"input": {"f": "1"}, "output": {}}]},
                *("x", "code_contests"),
                language="python",
            ),
            "config.provided_data.test[0].input.f",
        ),
        (
            submission({**STDIO, "test": [1]}, "x", "code_contests", language="python"),
            "config.provided_data.test[0].input",
        ),
        (
            submission(
                {**STDIO, "labels": {"problem_format": "Testlib"}},
                *("x", "code_contests"),
                language="python",
            ),
            "config.provided_data.labels.problem_format",
        ),
        (
            submission(
                {
                    **AUTO_EVAL,
                    "labels": {"programming_language": "java", "execution_language": "junit"},
                },
                "x",
                dataset_type="AutoEvalDataset",
            ),
            "config.provided_data.labels.execution_language",
        ),
        (
            submission(
                {**AUTO_EVAL, "test": {"code": "import a\n#<INSERT>\na"}},
                "x",
                dataset_type="AutoEvalDataset",
            ),
            "config.provided_data.test.code",
        ),
        (
            submission(
                {**AUTO_EVAL, "test": {"code": "assert True"}},
                "x",
                dataset_type="AutoEvalDataset",
            ),
            "config.provided_data.test.code",
        ),
        (
            submission({**MBPP, "labels": {"test_setup_code": "1 / 0"}}, DOUBLE, "mbpp"),
            "config.provided_data",
        ),
    ],
)
async def test_what_cannot_be_judged_names_its_field(
    client: httpx.AsyncClient, body: dict[str, Any], field: str
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await client.post("/submit", content=json.dumps(body), headers=headers)
    assert (answer.status_code, answer.json().get("field")) == (400, field), answer.text


async def test_a_language_that_is_not_offered_is_named(client: httpx.AsyncClient) -> None:
    body = submission(STDIO, "x", "code_contests", language="lean")
    answer = await client.post("/submit", json=body)
    assert (answer.status_code, "'lean'" in answer.text) == (400, True)


@pytest.mark.parametrize(
    ("dataset", "row", "config", "words"),
    [
        ("humaneval_python", HUMAN_EVAL, {}, "def double(x):"),
        ("humaneval_python", HUMAN_EVAL, {"extra": {"is_freeform": True}}, "```python\ndef double"),
        ("mbpp", MBPP, {}, "assert double(2) == 4"),
        (
            "code_contests",
            STDIO,
            {"language": "cpp"},
            "Double a number.\n\nWrite a whole program in cpp",
        ),
        ("", AUTO_EVAL, {"dataset_type": "AutoEvalDataset"}, "Double the number in a file."),
        (
            "",
            {**AUTO_EVAL, "labels": {"prompt_template": "$locale: $question$other"}},
            {"dataset_type": "AutoEvalDataset", "locale": "en"},
            "en: Double the number in a file.$other",
        ),
    ],
)
async def test_prompts_are_made_of_rows(
    client: httpx.AsyncClient, dataset: str, row: dict[str, Any], config: dict[str, Any], words: str
) -> None:
    one = {"dataset": dataset, "id": 0, "config": {**config, "provided_data": row}}
    answer = await client.post("/get_prompt_by_id", json=one)
    assert answer.status_code == 200, answer.text
    assert words in answer.json()["prompt"]
    assert answer.json()["id"] == row.get("id", row.get("task_id"))
    many = {"dataset": dataset, "config": {**config, "provided_data": [row] * 3}, "offset": 1}
    prompts = (await client.post("/get_prompts", json=many)).json()
    assert prompts == [answer.json()] * 2


async def test_prompts_that_grow_are_refused(client: httpx.AsyncClient) -> None:
    template = "$question" * (formats.MOST_PROMPT_BYTES // 1000)
    row = {"id": 0, "content": "x" * 2000, "labels": {"prompt_template": template}}
    config = {"dataset_type": "AutoEvalDataset", "provided_data": [row]}
    body: dict[str, Any] = {"dataset": "", "config": config}
    answer = await client.post("/get_prompts", json=body)
    assert (answer.status_code, "prompt_template" in answer.json()["field"]) == (400, True)
    context = {"context": "x" * (formats.MOST_PROMPT_BYTES // 2)}
    body["config"] = {**config, "provided_data": [STDIO] * 3, "extra": context}
    answer = await client.post("/get_prompts", json=body)
    assert (answer.status_code, answer.json()["field"]) == (400, "config.provided_data")


async def test_numbers_that_json_does_not_have_are_refused(client: httpx.AsyncClient) -> None:
    row = {**STDIO, "labels": {"a": float("nan")}}
    body = {"dataset": "code_contests", "config": {"provided_data": [row]}}
    headers = {"Content-Type": "application/json"}
    answer = await client.post("/get_prompts", content=json.dumps(body), headers=headers)
    assert (answer.status_code, answer.json()["field"]) == (400, "request")


async def test_the_data_sets_that_can_be_named_are_listed(client: httpx.AsyncClient) -> None:
    assert (await client.get("/list_datasets")).json() == list(formats.DATASETS)
