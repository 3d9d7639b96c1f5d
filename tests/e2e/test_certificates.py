"""TLS with certificates of both sides, made by the commands of the documentation."""

from __future__ import annotations

import json
import re
import shlex
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from google.protobuf import json_format
from typer.testing import CliRunner

from codereward.v1 import reward_service_pb2 as pb
from reward_server.cli.certificates import certificates_app
from reward_server.errors import SettingsError, StartError
from tests.rpc.certificates import Authority
from trainer_client import RewardClient, Score, Tls
from trainer_client.trl.settings.sections import ServerSection

COMMAND = (sys.executable, "-c", "from reward_server.cli import main; main()")
REQUEST = pb.ScoreRequest(
    completion="def double(x): return x + x",
    function=pb.FunctionTests(entry_point="double", asserts=["assert double(3) == 6"]),
)
FILES = {f"{name}.{end}" for name in ("authority", "server", "trainer") for end in ("key", "pem")}


def called(folder: Path, *arguments: str) -> str:
    """Runs a command of certificates; returns what it prints."""
    result = CliRunner().invoke(
        certificates_app, [*arguments, "--folder", str(folder)], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def documented(repository: Path, tmp_path: Path) -> dict[str, str]:
    """Runs the documented commands, with loopback as an address; returns what each printed."""
    page = (repository / "docs/how-to/serve.md").read_text()
    lines = re.findall(r"^reward-server (certificates (?:server|client) .*)$", page, re.MULTILINE)
    printed = {}
    for line in lines:
        arguments = shlex.split(line.replace("10.0.0.7", "127.0.0.1"), comments=True)
        printed[arguments[1]] = subprocess.run(
            [*COMMAND, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
    assert set(printed) == {"server", "client"}
    return printed


@contextmanager
def serving(folder: Path, settings: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Runs a server with these settings; gives the process and the address."""
    file = folder / "server.toml"
    file.write_text(f"port = 0\nworkers = 1\n{settings}")
    command = [*COMMAND, "serve", "--config", str(file), "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder
    ) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        try:
            assert line, server.communicate()
            yield server, json.loads(line)["address"]
        finally:
            server.terminate()


def python_of_the_page(repository: Path) -> str:
    page = (repository / "docs/how-to/serve.md").read_text()
    return str(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0])


def scored(target: str, tls: Tls | None) -> Score:
    with RewardClient(target, tls=tls, outage_seconds=0.5) as client:
        [score] = client.score([REQUEST])
    return score


def test_documented_commands_make_a_server_that_only_certified_clients_reach(
    documented: dict[str, str], repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "certificates"
    assert {path.name for path in folder.iterdir()} == FILES
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.glob("*.key")} == {0o600}
    monkeypatch.chdir(tmp_path)
    with serving(tmp_path, documented["server"]) as (server, address):
        namespace: dict[str, object] = {}
        code = python_of_the_page(repository).replace("rewards.internal:50051", address)
        exec(code, namespace)
        tls, client = namespace["tls"], namespace["client"]
        assert isinstance(tls, Tls)
        assert isinstance(client, RewardClient)
        with client:
            assert [one.reward for one in client.score([REQUEST])] == [1.0]
            strangers = (
                Tls(root_certificates=tls.root_certificates),
                signed_by_another(tls, tmp_path),
                None,
            )
            for stranger in strangers:
                assert scored(address, stranger).error is not None
            before = shown(address, tls)
            called(folder, "renew", "server", "trainer")
            reload(server)
            assert shown(address, tls) != before
            assert [one.reward for one in client.score([REQUEST])] == [1.0]
        assert graded(address, folder, "trainer") == {"PASSED": 1}
        renewed = settings_of_a_trainer(documented["client"])
        assert renewed != tls
        assert scored(address, renewed).reward == 1.0


def graded(target: str, folder: Path, client: str) -> dict[str, int]:
    """Grades by `reward-server grade`; returns how often each verdict occurs."""
    tasks, results = folder.parent / "tasks.jsonl", folder.parent / "results.jsonl"
    tasks.write_text(json_format.MessageToJson(REQUEST, indent=None) + "\n")
    connection = ("--target", target, "--tls-ca", str(folder / "authority.pem"))
    shown = ("--tls-certificate", str(folder / f"{client}.pem"))
    key = ("--tls-key", str(folder / f"{client}.key"))
    said = subprocess.run(
        [*COMMAND, "grade", tasks, "--out", results, "--json", *connection, *shown, *key],
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(said.stdout)["verdicts"])


def signed_by_another(tls: Tls, folder: Path) -> Tls:
    (folder / "other").mkdir()
    key, chain = Authority(folder / "other", "authority").issue("trainer").read()
    return Tls(root_certificates=tls.root_certificates, private_key=key, certificate_chain=chain)


def settings_of_a_trainer(printed: str) -> Tls:
    """Reads what the command printed as `reward-train` reads its configuration."""
    section = ServerSection.model_validate(tomllib.loads(printed)["server"])
    tls = section.options["tls"]
    assert tls is not None
    return tls


def shown(address: str, tls: Tls) -> bytes:
    """Returns the certificate that the server shows."""
    host, _, port = address.partition(":")
    context = ssl.create_default_context(cadata=(tls.root_certificates or b"").decode())
    with (
        socket.create_connection((host, int(port)), timeout=60) as plain,
        context.wrap_socket(plain, server_hostname=host) as encrypted,
    ):
        return encrypted.getpeercert(binary_form=True) or b""


def reload(server: subprocess.Popen[str]) -> None:
    """Sends SIGHUP, and waits until the server says that it has read the files."""
    server.send_signal(signal.SIGHUP)
    assert server.stderr is not None
    watchdog = threading.Timer(30, server.kill)
    watchdog.start()
    try:
        assert any("were reloaded" in line for line in server.stderr)
    finally:
        watchdog.cancel()


def test_a_file_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    called(tmp_path, "server", "a.example", "::1", "10.0.0.1")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(StartError, match="exists; choose another name"):
        called(tmp_path, "server", "b.example")
    (tmp_path / "server.pem").unlink()
    with pytest.raises(StartError, match=r"server\.key exists"):
        called(tmp_path, "server", "b.example")
    del before["server.pem"]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_renewal_keeps_names_lifetime_and_rights_and_changes_the_key(tmp_path: Path) -> None:
    called(tmp_path, "server", "a.example", "::1", "--days", "20")
    called(tmp_path, "client", "trainer")
    key, certificate = tmp_path / "server.key", tmp_path / "server.pem"
    key.chmod(0o640)
    before = [key.read_bytes(), (tmp_path / "trainer.pem").read_bytes()]
    result = CliRunner().invoke(certificates_app, ["list", "--folder", str(tmp_path)])
    assert result.exit_code == 1
    assert "server.pem for a.example, ::1, valid until" in result.output
    assert called(tmp_path, "renew").count("valid until") == 1
    assert key.read_bytes() != before[0]
    assert stat.S_IMODE(key.stat().st_mode) == 0o640
    assert (tmp_path / "trainer.pem").read_bytes() == before[1]
    renewed = x509.load_pem_x509_certificate(certificate.read_bytes())
    assert (renewed.not_valid_after_utc - datetime.now(UTC)).days in (19, 20)
    called(tmp_path, "renew", "server", "--days", "90")
    called(tmp_path, "list")
    assert {path.name for path in tmp_path.iterdir()} == FILES


def test_certificates_stay_valid_when_the_authority_is_renewed(tmp_path: Path) -> None:
    called(tmp_path, "server", "a.example")
    authority = tmp_path / "authority.pem"
    before = authority.read_bytes()
    called(tmp_path, "renew", "authority", "--days", "5000")
    assert authority.read_bytes() != before
    issuer = x509.load_pem_x509_certificate(authority.read_bytes())
    issued = x509.load_pem_x509_certificate((tmp_path / "server.pem").read_bytes())
    issued.verify_directly_issued_by(issuer)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("server", "https://a.example"), "host 'https://a.example': is no address and no name"),
        (("server", "a.example:50051"), "without a scheme and a port"),
        (("server", f"{'a' * 64}.example"), "is no address"),
        (("server", *(f"h{number}" for number in range(101))), "at most 100 are allowed"),
        (("server", "a.example", "--days", "0"), "days 0: use 1 to 36500"),
        (("server", "a.example", "--days", "5000"), "renew it first"),
        (("server", "a.example", "--name", "authority"), "and not 'authority'"),
        (("client", "../trainer"), "use 1 to 64 letters"),
        (("client", "a" * 65), "use 1 to 64 letters"),
    ],
)
def test_wrong_input_is_named_with_its_limit(
    arguments: tuple[str, ...], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=re.escape(problem)):
        called(tmp_path, *arguments)
    assert {path.name for path in tmp_path.iterdir()} <= {"authority.pem", "authority.key"}


def test_a_folder_without_certificates_is_told(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="make one with `reward-server certificates server`"):
        called(tmp_path, "list")


def test_without_the_package_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "reward_server.cli.authority", raising=False)
    monkeypatch.setitem(sys.modules, "reward_server.cli.certificate_files", None)
    with pytest.raises(StartError, match=r"pip install '\.\[certificates\]' in a checkout"):
        called(tmp_path, "list")
