"""What a session leaves is judged elsewhere, and nothing that it runs or lies about counts."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.rpc.interceptors import Work
from reward_server.rpc.sessions.service import _work_of
from tests.repository.attacks import ATTACKS, Attack
from tests.repository.tasks import (
    BASE,
    FAIL_TO_PASS,
    FIXED_CART,
    HIDDEN,
    PASS_TO_PASS,
    archive,
)
from tests.sessions.conftest import BLUE, RED, SMALL, settings
from tests.support.common import PACKAGES, on_the_servers_loop
from tests.support.sampling import each_row
from trainer_client import (
    AsyncRewardClient,
    AsyncSession,
    CallError,
    RewardClient,
    SessionEndedError,
    Verdict,
)

pytestmark = on_the_servers_loop

REPOSITORY: Mapping[str, Any] = {
    "repository": {
        "text_test_files": HIDDEN,
        "fail_to_pass": list(FAIL_TO_PASS),
        "pass_to_pass": list(PASS_TO_PASS),
        "framework": "FRAMEWORK_PYTEST",
        "archive": base64.b64encode(archive(BASE)).decode(),
    }
}
FUNCTION = {"function": {"entry_point": "f", "asserts": ["assert f(2) == 3"]}}
DAEMON = (
    "(while true; do echo 'def test(): pass' > tests/test_cart.py; echo 1 > reward.txt; done) &"
)


@pytest.fixture(scope="module")
def audit_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.jsonl"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(tmp_path_factory: pytest.TempPathFactory, audit_file: Path) -> AsyncIterator[App]:
    folder = tmp_path_factory.mktemp("server")
    async with running_app(
        settings(
            folder,
            sandbox_packages=PACKAGES,
            sandbox_preload=("pytest",),
            audit_file=audit_file,
        )
    ) as running:
        yield running


async def _with_repository(session: AsyncSession) -> None:
    await session.write_files({f"shop/{path}": text for path, text in BASE.items()})


async def test_a_repository_that_a_session_solved_earns_the_reward(session: AsyncSession) -> None:
    await _with_repository(session)
    before = await session.score(REPOSITORY, folder="shop")
    assert (before.reward, before.verdict) == (0.0, Verdict.FAILED), before
    fix = "s/sum(price for/sum(price * quantity for/"
    await session.exec(["sed", "-i", fix, "shop/shop/cart.py"])
    assert (await session.read_file("shop/shop/cart.py")).decode() == FIXED_CART
    solved = await session.score(REPOSITORY, folder="shop")
    assert (solved.reward, solved.integrity.name) == (1.0, "SHARED"), solved


async def test_a_score_kills_what_runs_and_leaves_the_session_open(session: AsyncSession) -> None:
    await _with_repository(session)
    async with session.start(["sleep", "600"]) as command:
        await session.exec(["bash", "-c", f"cd shop; {DAEMON}"])
        score = await session.score(REPOSITORY, folder="shop")
        assert score.reward == 0.0, score
        assert (await command.wait()).signal == 9
    assert (await session.exec(["bash", "-c", "ps -A | wc -l; echo ok"])).stdout.endswith(b"ok\n")


@each_row(ATTACKS, step=12)
async def test_an_attack_in_a_session_earns_nothing(row: Attack, session: AsyncSession) -> None:
    await _with_repository(session)
    await session.write_files({f"shop/{path}": text for path, text in row.files.items()})
    if row.script:
        script = f"cd shop; export PYTHON=python3; {row.script}"
        await session.exec(["bash", "-c", script], time_limit_seconds=5)
    score = await session.score(REPOSITORY, folder="shop")
    assert score.reward == 0.0, score


async def test_what_is_no_regular_file_is_left_out(session: AsyncSession) -> None:
    await session.write_files({"shop/cart.py": FIXED_CART, "shop/__init__.py": ""})
    others = "ln -s /proc/1/environ f; mkfifo pipe; ln -s . loop; touch s; chmod 0 s"
    script = f"{others}; printf x > $'\\xff'; mkdir -p .git/hooks; touch .git/hooks/x"
    await session.exec(["bash", "-c", script])
    assert (await session.score(REPOSITORY)).reward == 1.0


@pytest.mark.parametrize(
    ("script", "folder", "said"),
    [
        ("rm -rf shop", "shop", "shop: "),
        ("rm -rf shop; ln -s /usr shop", "shop", ""),
        ("cd shop; for n in {1..10100}; do : > f$n; done", "shop", "10000 entries"),
        ("head -c 70000000 /dev/zero > shop/big", "shop", "67108864 bytes"),
    ],
)
async def test_files_that_cannot_be_judged_are_the_agents_fault(
    script: str, folder: str, said: str, client: AsyncRewardClient
) -> None:
    async with client.session(**{**SMALL, "memory_bytes": 256 << 20}) as session:
        await _with_repository(session)
        result = await session.exec(["bash", "-c", script])
        assert result.success, result
        score = await session.score(REPOSITORY, folder=folder)
        assert (score.verdict, score.reward) == (Verdict.COMPILE_ERROR, 0.0), score
        assert said in score.message


async def test_a_file_of_a_session_is_judged_as_a_completion(session: AsyncSession) -> None:
    await session.write_files({"f.py": "def f(x):\n    return x + 1\n"})
    score = await session.score(FUNCTION, completion_path="f.py")
    assert (score.reward, score.integrity.name) == (1.0, "ISOLATED"), score
    stdio = {"stdio": {"cases": [{"stdin_text": "4", "expected_stdout_text": "5"}]}}
    await session.write_files({"main.py": "print(int(input()) + 1)"})
    assert (await session.score(stdio, completion_path="main.py")).reward == 1.0
    gone = await session.score(FUNCTION, completion_path="none.py")
    assert (gone.verdict, gone.reward) == (Verdict.COMPILE_ERROR, 0.0)
    await session.exec(["bash", "-c", "head -c 2000000 /dev/zero > large.py"])
    large = await session.score(FUNCTION, completion_path="large.py")
    assert (large.verdict, large.reward) == (Verdict.COMPILE_ERROR, 0.0)


@pytest.mark.parametrize(
    ("request_", "options", "problem"),
    [
        (FUNCTION, {}, "completion_path: is empty"),
        (FUNCTION, {"completion_path": "f.py", "folder": "x"}, "folder: is set; these tests need"),
        (REPOSITORY, {"completion_path": "f.py"}, "completion_path: is set; these tests need"),
        ({**FUNCTION, "completion": "x"}, {"completion_path": "f"}, "request.completion: is set"),
        ({}, {"completion_path": "f.py"}, "request.tests: are absent"),
    ],
)
async def test_a_wrong_request_is_refused_by_field(
    request_: Mapping[str, Any],
    options: dict[str, str],
    problem: str,
    shared_session: AsyncSession,
) -> None:
    with pytest.raises(CallError, match=problem):
        await shared_session.score(request_, **options)  # type: ignore[arg-type]


async def test_the_session_of_another_credential_cannot_be_judged(
    app: App, shared_session: AsyncSession
) -> None:
    async with AsyncRewardClient(app.address, token=RED) as other, other.session(**SMALL) as mine:
        mine.id, own = shared_session.id, mine.id
        with pytest.raises(SessionEndedError, match="no such session"):
            await mine.score(REPOSITORY)
        mine.id = own


async def test_a_client_without_an_event_loop_scores_a_session(app: App) -> None:
    def work() -> float | None:
        with (
            RewardClient(app.address, token=BLUE) as client,
            client.session(files={"f.py": "f = lambda x: 3"}, **SMALL) as session,
        ):
            return session.score(FUNCTION, completion_path="f.py").reward

    assert await asyncio.to_thread(work) == 1.0


async def test_a_session_that_was_judged_is_in_the_audit_log(
    app: App, session: AsyncSession, audit_file: Path
) -> None:
    await session.write_files({"shop/cart.py": "x", "shop/__init__.py": ""})
    await session.score({"id": "of-a-session", **REPOSITORY}, folder="shop")
    listing = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {path}\n"
        for path, content in (("__init__.py", b""), ("cart.py", b"x"))
    )
    while "of-a-session" not in (  # noqa: ASYNC110  # nothing tells
        text := await asyncio.to_thread(audit_file.read_text)
    ):
        await asyncio.sleep(0.01)
    lines = map(json.loads, text.splitlines())
    (line,) = [one for one in lines if one["request_id"] == "of-a-session"]
    assert (line["tenant"], line["reward"]) == ("blue", 0.0)
    assert line["completion_sha256"] == hashlib.sha256(listing.encode()).hexdigest()


async def test_a_score_of_a_session_takes_the_room_of_a_request() -> None:
    assert _work_of("ScoreSession") is Work.REQUEST
    assert _work_of("OpenSession") is Work.BODY
