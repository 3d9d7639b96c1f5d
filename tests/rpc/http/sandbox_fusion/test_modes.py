"""SandboxFusion's modes of test frameworks: a real server runs the tests in a code."""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from reward_server.app import running_app
from reward_server.http.sandbox_fusion.modes import _go_test, _junit
from reward_server.settings import Settings
from tests.support.common import PACKAGES
from tests.support.tools import needs, offered

pytestmark = pytest.mark.asyncio(loop_scope="session")

PYTEST = """
def double(x):
    return 2 * x

def test_double(capfd, tmp_path):
    print(double(4))
    assert capfd.readouterr().out == "8\\n"
    (tmp_path / "a").write_text("a")

def test_file():
    assert open("given.txt").read() == "given"
"""
ASYNC = """
import asyncio, pytest

@pytest.mark.asyncio
async def test_later():
    assert await asyncio.sleep(0, 1) == 1
"""
GO = """
    package lists

    import "testing"

    func double(x int) int { return 2 * x }

    func main() {}

    func TestDouble(t *testing.T) {
        if double(4) != 8 {
            t.Errorf("Not equal: %d", double(4))
        }
    }
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def client() -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings(
        port=0,
        http_port=0,
        workers=1,
        drain_seconds=0,
        languages=offered("python", "go"),
        sandbox_packages=PACKAGES,
    )
    async with (
        running_app(settings) as app,
        httpx.AsyncClient(base_url=f"http://{app.http_address}", timeout=120) as made,
    ):
        yield made


async def ran(client: httpx.AsyncClient, language: str, code: str) -> dict[str, Any]:
    files = {"given.txt": base64.b64encode(b"given").decode()}
    sent = {"language": language, "code": code, "files": files, "run_timeout": 60}
    answer = await client.post("/run_code", json=sent)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        (PYTEST, "Success", "2 passed"),
        (PYTEST.replace("2 * x", "x"), "Failed", "1 failed, 1 passed"),
        ("x = 1", "Failed", "no tests ran"),
        (ASYNC, "Success", "1 passed"),
        ("def test(:", "Failed", "SyntaxError"),
    ],
)
async def test_pytest_runs_the_tests_of_a_code(
    client: httpx.AsyncClient, code: str, status: str, said: str
) -> None:
    found = await ran(client, "pytest", code)
    assert (found["status"], found["run_result"]["status"]) == (status, "Finished")
    assert said in found["run_result"]["stdout"]


@needs("go")
@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        (GO, "Success", "ok  \t"),
        (GO.replace("2 * x", "x"), "Failed", "Not equal: 4"),
        (GO.replace("Errorf(", "Skipf("), "Success", "ok"),
    ],
)
async def test_go_runs_the_tests_of_a_code(
    client: httpx.AsyncClient, code: str, status: str, said: str
) -> None:
    found = await ran(client, "go_test", code)
    assert (found["status"], found["compile_result"]["status"]) == (status, "Finished")
    assert said in found["run_result"]["stdout"]


@needs("go")
async def test_tests_in_go_that_do_not_compile_are_told_as_such(client: httpx.AsyncClient) -> None:
    found = await ran(client, "go_test", GO.replace("double(4)", "triple(4)"))
    assert (found["status"], found["run_result"]) == ("Failed", None)
    assert found["compile_result"]["return_code"] != 0


async def test_tests_are_found_by_their_names() -> None:
    code = "func TestA(t *testing.T) {}\nfunc Testing(t *testing.T) {}\n// func TestB(t *testing.T)"
    tested = _go_test(f"{code}\nfunc Test_c(tb *testing.T) {{}}\nfunc TestMain(m *testing.M) {{}}")
    assert re.findall(r'"(\w+)"', tested.files["codereward_main.go"]) == [
        "testing",
        "TestA",
        "Test_c",
    ]


async def test_a_public_class_is_in_a_file_of_its_name() -> None:
    for code, name in (
        ("import a.B;\npublic final class Own {}\nclass OwnTest {}", "Own.java"),
        ("  public record R(int a) {}", "R.java"),
        ("class A {}\n// public class B", "Main.java"),
    ):
        assert _junit(code).files[name] == code
