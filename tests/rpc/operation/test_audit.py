"""The audit log of a real server."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from codereward.v1 import reward_service_pb2 as pb
from reward_server.errors import SettingsError
from reward_server.rpc.audit import LOST, WRITTEN, AuditLog
from reward_server.version import commit
from tests.rpc.conftest import Serve, function_request, refused

SECRET = "a-token-of-the-tests"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """Returns size and access of each file in a folder."""
    found = {one.name: one.stat() for one in folder.iterdir()}
    return {name: (one.st_size, stat.S_IMODE(one.st_mode)) for name, one in found.items()}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def test_each_answer_is_a_line_without_text_or_secret(serve: Serve, tmp_path: Path) -> None:
    path, tokens = tmp_path / "audit.jsonl", tmp_path / "tokens.toml"
    tokens.write_text(f'[[tenants]]\nname = "blue"\ntokens = ["{SECRET}"]\n')
    served = await serve(audit_file=path, token_file=tokens)
    bearer = (("authorization", f"Bearer {SECRET}"),)
    task = pb.Task(function=function_request(1).function).SerializeToString(deterministic=True)
    stored = await served.stub.PutTask(pb.PutTaskRequest(task=task), metadata=bearer)
    named = pb.ScoreRequest(
        id="forged\nline", completion="def f(x): return x", task_digest=stored.task_digest
    )
    await served.stub.Score(named, metadata=bearer)
    batch = pb.ScoreBatchRequest(requests=[function_request(2), pb.ScoreRequest()])
    async for _ in served.stub.ScoreBatch(batch, metadata=bearer):
        pass
    await refused(served.stub.Score(function_request(3)))
    await served.stop()
    first, second = lines(path)
    assert first["tenant"] == second["tenant"] == "blue"
    assert first["request_id"] == "forged\nline"
    assert first["completion_sha256"] == digest("def f(x): return x")
    assert first["task_sha256"] == stored.task_digest.hex() == hashlib.sha256(task).hexdigest()
    assert "task_sha256" not in second
    assert (first["verdict"], first["reward"]) == ("PASSED", 1.0)
    assert first["integrity"] == "ISOLATED"
    assert first["provenance"]["backend"] == "fake"
    assert first["provenance"]["commit"] == commit().hash
    assert first["time"].endswith("+00:00")
    text = json.dumps([first, second])
    assert SECRET not in text
    assert "def f" not in text
    assert files(tmp_path)[path.name][1] == 0o600


async def test_files_are_rotated_and_the_oldest_are_removed(tmp_path: Path) -> None:
    path, counts = tmp_path / "audit.jsonl", list[str]()
    log = AuditLog(path, file_bytes=4096, files=2, count=counts.append)
    for number in range(100):
        await log.record("blue", function_request(number, id=str(number)), pb.ScoreResponse())
    log.close()
    assert counts == [WRITTEN] * 100
    assert sorted(files(tmp_path)) == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]
    assert all(0 < size <= 4096 and mode == 0o600 for size, mode in files(tmp_path).values())
    newest = [line["request_id"] for line in lines(path)]
    before = [line["request_id"] for line in lines(tmp_path / "audit.jsonl.1")]
    assert newest[-1] == "99"
    assert int(before[-1]) + 1 == int(newest[0])


async def test_a_disk_that_fails_is_counted_and_does_not_stop_the_judging(
    tmp_path: Path,
) -> None:
    counts = list[str]()
    log = AuditLog(tmp_path / "audit", file_bytes=1 << 20, files=1, count=counts.append)
    log._file.stream.close()
    log._file.stream = TextIOWrapper(os.fdopen(os.open("/dev/full", os.O_WRONLY), "wb"))
    for number in range(3):
        await log.record("blue", function_request(number), pb.ScoreResponse())
    log.close()
    assert counts == [LOST] * 3


async def test_lines_beyond_the_queue_are_lost_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reward_server.rpc.audit._MOST_WAITING", 2)
    monkeypatch.setattr("reward_server.rpc.audit._Writer.start", lambda _: None)
    monkeypatch.setattr("reward_server.rpc.audit._Writer.stop", lambda _: None)
    counts = list[str]()
    log = AuditLog(tmp_path / "audit.jsonl", file_bytes=1 << 20, files=1, count=counts.append)
    for number in range(5):
        await log.record("blue", function_request(number), pb.ScoreResponse())
    log.close()
    assert counts == [LOST] * 3


def opened(path: Path) -> None:
    AuditLog(path, file_bytes=1 << 20, files=1, count=lambda _: None)


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.touch(0o600)
    path.chmod(0o640)
    with pytest.raises(SettingsError, match="chmod 600"):
        opened(path)


def test_a_file_that_cannot_be_written_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"audit_file .* cannot be written"):
        opened(tmp_path / "missing" / "audit.jsonl")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SettingsError, match="cannot be written"):
        opened(tmp_path / "link")
