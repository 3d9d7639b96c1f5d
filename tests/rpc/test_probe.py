"""`reward-server probe` against real servers, with what an operator configures."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from reward_server.app import serving
from reward_server.backends import Backend
from reward_server.settings import Settings
from tests.rpc.certificates import Authority
from tests.rpc.conftest import Serve
from tests.rpc.fakes import FakeExecutor

COMMAND = (sys.executable, "-c", "from reward_server.cli import main; main()", "probe")


async def probed(*arguments: str, **settings: Any) -> tuple[int, str]:
    flags = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    process = await asyncio.create_subprocess_exec(
        *(*COMMAND, *arguments, *flags),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "COLUMNS": "400"},
    )
    output, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, output.decode()


async def test_a_server_that_serves_is_well(serve: Serve) -> None:
    served = await serve()
    code, said = await probed(port=served.app.port)
    assert (code, said) == (0, f"127.0.0.1:{served.app.port} SERVING\n")


async def test_a_server_on_every_address_is_asked_on_loopback(serve: Serve, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("correct-horse-battery\n")
    pair = Authority(tmp_path, "authority").issue("server")
    settings = {
        "host": "0.0.0.0",
        "token_file": tokens,
        "tls_certificate": pair.certificate,
        "tls_key": pair.key,
    }
    served = await serve(**settings)
    code, said = await probed(**{**settings, "port": served.app.port})
    assert (code, said) == (0, f"127.0.0.1:{served.app.port} SERVING\n")


async def test_another_certificate_than_the_configured_one_is_refused(
    serve: Serve, tmp_path: Path
) -> None:
    pair = Authority(tmp_path, "authority").issue("server")
    other = Authority(tmp_path, "other").issue("impostor")
    served = await serve(tls_certificate=pair.certificate, tls_key=pair.key)
    code, said = await probed(
        port=served.app.port, tls_certificate=other.certificate, tls_key=other.key
    )
    assert code == 1
    assert "CERTIFICATE_VERIFY_FAILED" in said


async def test_clients_with_certificates_include_the_probe(serve: Serve, tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    pair = authority.issue("server")
    settings = {
        "tls_certificate": pair.certificate,
        "tls_key": pair.key,
        "tls_client_ca": authority.certificate,
    }
    served = await serve(**settings)
    code, said = await probed(**{**settings, "port": served.app.port})
    assert code == 0, said


async def test_no_server_is_named_with_its_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        code, said = await probed("--live", "--timeout", "2", port=port)
    assert code == 1
    assert f"127.0.0.1:{port} does not answer: UNAVAILABLE" in said


@pytest.mark.parametrize(("setting", "value"), [("port", 0), ("prot", 1)])
async def test_wrong_settings_have_a_code_of_their_own(setting: str, value: int) -> None:
    code, said = await probed(**{setting: value})
    assert code == 2
    assert setting in said


async def test_a_server_without_sandboxes_lives_and_is_not_ready() -> None:
    backend = Backend(
        name="fake",
        executor=FakeExecutor(),
        walls=(),
        language_versions={"python": "3.11.7"},
    )
    backend.outages.put_nowait(False)
    async with serving(Settings(port=0, drain_seconds=0), backend) as app:
        while not backend.outages.empty():  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0)
        assert (await probed(port=app.port))[0] == 1
        code, said = await probed("--live", port=app.port)
    assert (code, "NOT_SERVING" in said) == (0, True)
