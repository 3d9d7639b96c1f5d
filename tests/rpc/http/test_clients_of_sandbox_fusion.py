"""The clients that exist, unmodified, against a real server: `sandbox-fusion`, and verl's own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import MEBIBYTE
from reward_server.settings import Settings
from tests.support.tools import needs, offered, require_package

TOKEN = "client-secret"
CLIENT = """
import json, sys
from sandbox_fusion import RunCodeRequest, run_code, set_sandbox_endpoint, summary_run_code_result
from sandbox_fusion import SummaryMapping
set_sandbox_endpoint(sys.argv[1])
mapping = SummaryMapping(
    Success="success", Failed="failed", CompileFailed="compile", CompileTimeout="compile time",
    RunFailed="run", RunTimeout="time",
)
programs = {
    "right": ("python", "print(int(input()) * 2)"),
    "wrong exit": ("python", "raise SystemExit(3)"),
    "endless": ("python", "while True: pass"),
    "crashed": ("python", "import os; os.kill(os.getpid(), 11)"),
    "bash": ("bash", "read x; echo $((x * 2))"),
    "cpp": ("cpp", "#include <iostream>\\nint main(){ int x; std::cin >> x; std::cout << x + x; }"),
    "cpp refused": ("cpp", "int main() { return x; }"),
    "nodejs": ("nodejs", "console.log(2 * Number(require('fs').readFileSync(0)))"),
}
found = {}
for name, (language, code) in programs.items():
    request = RunCodeRequest(code=code, language=language, stdin="21", run_timeout=2)
    answer = run_code(request, max_attempts=1, client_timeout=60)
    output = answer.run_result.stdout.strip() if answer.run_result else ""
    found[name] = [summary_run_code_result(answer, mapping), output]
print(json.dumps(found))
"""
NOTEBOOKS = """
import asyncio, base64, json, sys
from sandbox_fusion import RunJupyterRequest, run_jupyter, run_jupyter_async, set_endpoint
set_endpoint(sys.argv[1])
def told(answer):
    cells = [[cell.stdout, cell.display, [e["ename"] for e in cell.error]] for cell in answer.cells]
    return [answer.status, answer.driver.status, cells, answer.files]
options = {"max_attempts": 1, "client_timeout": 60}
right = RunJupyterRequest(
    cells=["a = int(open('in').read())", "a * 2", "1 / 0", "print(a)", "open('out', 'w').close()"],
    files={"in": base64.b64encode(b"21").decode()},
    fetch_files=["out"],
)
endless = RunJupyterRequest(cells=["1", "while True: pass", "2"], total_timeout=1)
ended = RunJupyterRequest(cells=["import os; os._exit(3)", "2"])
found = {
    "right": told(run_jupyter(right, **options)),
    "endless": told(run_jupyter(endless, **options)),
    "ended": told(asyncio.run(run_jupyter_async(ended, **options))),
}
print(json.dumps(found))
"""
SUBMISSIONS = """
import asyncio, json, sys
from sandbox_fusion import (
    GetPromptByIdRequest, GetPromptsRequest, SubmitRequest, SummaryMapping, TestConfig,
    get_prompt_by_id, get_prompts, run_concurrent, set_endpoint, submit, submit_async, submit_safe,
    summary_run_code_result,
)
set_endpoint(sys.argv[1])
row = {
    "id": 1,
    "content": "Double.",
    "labels": {},
    "test": [{"input": {"stdin": str(n)}, "output": {"stdout": str(2 * n)}} for n in (1, 2)],
}
mapping = SummaryMapping(
    Success="success", Failed="failed", CompileFailed="compile", RunFailed="run", RunTimeout="time"
)
def request(completion, language="python"):
    settings = TestConfig(
        dataset_type="CommonOJDataset", language=language, provided_data=row, run_timeout=1
    )
    return SubmitRequest(dataset="mine", id=1, completion=completion, config=settings)
def told(answer):
    runs = [summary_run_code_result(one.exec_info, mapping) for one in answer.tests]
    return [answer.accepted, [one.passed for one in answer.tests], runs]
completions = {
    "right": request("```python\\nprint(int(input()) * 2)\\n```"),
    "wrong": request("```python\\nprint(2)\\n```"),
    "endless": request("```python\\nwhile True: pass\\n```"),
    "crashed": request("```python\\nraise SystemExit(3)\\n```"),
    "refused": request("```cpp\\nint main() { return x; }\\n```", "cpp"),
}
options = {"max_attempts": 1, "client_timeout": 60}
answers = run_concurrent(submit, args=[[one] for one in completions.values()], kwargs=[options] * 5)
found = {name: told(answer) for name, answer in zip(completions, answers)}
found["async"] = told(asyncio.run(submit_async(completions["right"], **options)))
found["safe"] = told(submit_safe(completions["right"], **options))
found["unknown"] = told(submit_safe(request("", "lean"), **options))
one = {"dataset": "mine", "config": completions["right"].config}
found["prompt"] = get_prompt_by_id(GetPromptByIdRequest(id=1, **one)).prompt[:7]
many = TestConfig(dataset_type="CommonOJDataset", provided_data=[row, row])
found["prompts"] = len(get_prompts(GetPromptsRequest(dataset="mine", config=many)))
print(json.dumps(found))
"""
# The package `verl` imports torch and more; this is its caller alone, from its own files.
VERL = """
import importlib.util, json, pathlib, sys, threading
url, folder = sys.argv[1:]
place = pathlib.Path(folder) / "verl/utils/reward_score/sandbox_fusion"
spec = importlib.util.spec_from_file_location(
    "sandbox_fusion_of_verl", place / "__init__.py", submodule_search_locations=[str(place)]
)
package = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = package
spec.loader.exec_module(package)
cases = {"inputs": ["1\\n", "20\\n"], "outputs": ["2\\n", "40\\n"]}
programs = {
    "right": "print(int(input()) * 2)",
    "half": "print(2)",
    "endless": "while True: pass",
    "crashed": "raise SystemExit(3)",
    "syntax": "print(",
}
found = {}
for name, code in programs.items():
    score, told = package.compute_score(
        url, threading.Semaphore(4), 512, f"```python\\n{code}\\n```", cases, timeout=2
    )
    found[name] = [score, [one["status"] for one in told]]
calls = {"inputs": ["[1, 2]\\n3"], "outputs": ["[1, 2, 3]"], "fn_name": "f"}
function = "```python\\ndef f(a, b): return a + [b]\\n```"
found["function"] = [package.compute_score(url, None, 512, function, calls, timeout=5)[0]]
# Rows of PRIME have their tests as JSON; some also have them as assertions.
asserts = {"assert_case": ["assert f([], 1) == [1]"]}
prime = [json.dumps(one) for one in (cases, calls, asserts)]
answers = ["```python\\nprint(int(input()) * 2)\\n```", function, function]
found["prime"] = [
    package.compute_score(url, None, 512, answer, row, timeout=5)[0]
    for answer, row in zip(answers, prime)
]
same = {"inputs": ["1\\n"] * 40, "outputs": ["2\\n"] * 40}
endless = "```python\\nwhile True: pass\\n```"
score, told = package.compute_score(url, None, 512, endless, same, timeout=2)
found["all late"] = [score, sorted({one["status"] for one in told})]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def packages() -> Path:
    """Returns the folder of other projects' clients; skips where it is absent."""
    return require_package("adapters", "sandbox_fusion")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    tokens = tmp_path_factory.mktemp("server") / "tokens"
    tokens.write_text(TOKEN)
    languages = offered("python", "bash", "c++17", "javascript")
    settings = Settings(
        port=0,
        http_port=0,
        workers=2,
        drain_seconds=0,
        token_file=tokens,
        languages=languages,
        session_memory_bytes=1024 * MEBIBYTE,
    )
    async with running_app(settings) as running:
        yield running


async def run(program: str, packages: Path, *arguments: str) -> dict[str, Any]:
    """Runs a client in a process of its own; returns what it prints."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, *arguments),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(packages)},
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    found: dict[str, Any] = json.loads(output)
    return found


def url_of(app: App) -> str:
    return f"http://any:{TOKEN}@{app.http_address}"


@needs("g++", "node")
@pytest.mark.asyncio(loop_scope="session")
async def test_the_client_of_sandbox_fusion_runs_programs(app: App, packages: Path) -> None:
    assert await run(CLIENT, packages, url_of(app)) == {
        "right": ["success", "42"],
        "wrong exit": ["run", ""],
        "endless": ["time", ""],
        "crashed": ["run", ""],
        "bash": ["success", "42"],
        "cpp": ["success", "42"],
        "cpp refused": ["compile", ""],
        "nodejs": ["success", "42"],
    }


@pytest.mark.asyncio(loop_scope="session")
async def test_the_client_of_sandbox_fusion_runs_notebooks(app: App, packages: Path) -> None:
    two = [{"text/plain": "42"}]
    zero, late, gone = ["ZeroDivisionError"], ["TimeoutError"], ["DeadKernelError"]
    assert await run(NOTEBOOKS, packages, url_of(app)) == {
        "right": [
            *("Success", "Finished"),
            [["", [], []], ["", two, []], ["", [], zero], ["21\n", [], []], ["", [], []]],
            {"out": ""},
        ],
        "endless": [
            *("Failed", "TimeLimitExceeded"),
            [["", [{"text/plain": "1"}], []], ["", [], late]],
            {},
        ],
        "ended": ["Failed", "Finished", [["", [], gone]], {}],
    }


@needs("g++")
@pytest.mark.asyncio(loop_scope="session")
async def test_the_client_of_sandbox_fusion_submits_completions(app: App, packages: Path) -> None:
    right = [True, [True, True], ["success", "success"]]
    assert await run(SUBMISSIONS, packages, url_of(app)) == {
        "right": right,
        "wrong": [False, [True, False], ["success", "success"]],
        "endless": [False, [False], ["time"]],
        "crashed": [False, [False], ["run"]],
        "refused": [False, [False], ["compile"]],
        "async": right,
        "safe": right,
        "unknown": [False, [], []],
        "prompt": "Double.",
        "prompts": 2,
    }


@pytest.mark.asyncio(loop_scope="session")
async def test_verls_caller_computes_rewards(app: App, packages: Path) -> None:
    require_package("adapters", "verl")
    found = await run(VERL, packages, f"{url_of(app)}/run_code", str(packages))
    assert found == {
        "right": [1.0, ["success"] * 2],
        "half": [0.5, ["success", "wrong_answer"]],
        "endless": [0.0, ["timeout"] * 2],
        "crashed": [0.0, ["runtime_error"] * 2],
        "syntax": [0.0, ["runtime_error"] * 2],
        "function": [1.0],
        "prime": [1.0, 1.0, 1.0],
        "all late": [0.0, ["timeout"]],
    }
