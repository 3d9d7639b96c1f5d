"""The end of a container, whatever holds its pipes."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from reward_server.sandbox.local import container as containers
from reward_server.sandbox.local.container import LocalContainer, _Groups


async def test_a_child_that_holds_the_pipe_of_an_ended_container_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one of bubblewrap's, if that is killed before its child shall die with it."""
    monkeypatch.setattr(containers, "END_SECONDS", 0.5)
    script = f"sleep 300 & echo $! > {tmp_path}/pid; echo last words >&2; echo; exec sleep 300"
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", script, stdin=pipe, stdout=pipe, stderr=pipe
    )
    container = LocalContainer(process, _Groups(None, "ending"))
    await container.output.readline()
    try:
        assert await container.destroy() == "last words"
        assert await container.destroy() == "last words"
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
