from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from reward_server.domain import MEBIBYTE, Limits
from reward_server.errors import SettingsError
from reward_server.settings import load_settings, read_token_file


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("REWARD_SERVER_"):
            monkeypatch.delenv(name)


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    return tmp_path / "server.toml"


@pytest.fixture
def pem(tmp_path: Path) -> str:
    file = tmp_path / "any.pem"
    file.write_text("-")
    return str(file)


@pytest.mark.promise("By default the server listens on loopback alone.", "Service")
def test_the_defaults_stand_alone_and_are_safe() -> None:
    settings = load_settings({})
    assert settings.host == "127.0.0.1"
    assert 1 <= settings.workers <= len(os.sched_getaffinity(0))
    assert settings.limits == Limits()
    assert settings.allow_missing == ()


def test_a_flag_beats_the_environment_which_beats_the_file(
    monkeypatch: pytest.MonkeyPatch, toml: Path
) -> None:
    toml.write_text("port = 1\nworkers = 1\nqueue_capacity = 1\n")
    monkeypatch.setenv("REWARD_SERVER_PORT", "2")
    monkeypatch.setenv("REWARD_SERVER_WORKERS", "2")
    settings = load_settings({"port": 3}, toml)
    assert (settings.port, settings.workers, settings.queue_capacity) == (3, 2, 1)


def test_the_environment_names_the_file(monkeypatch: pytest.MonkeyPatch, toml: Path) -> None:
    toml.write_text("port = 4\n")
    monkeypatch.setenv("REWARD_SERVER_CONFIG", str(toml))
    assert load_settings({}).port == 4


def test_limits_merge_name_by_name_from_every_source(
    monkeypatch: pytest.MonkeyPatch, toml: Path
) -> None:
    toml.write_text("[default_limits]\ncpu_time_seconds = 3\nprocesses = 5\n")
    monkeypatch.setenv("REWARD_SERVER_DEFAULT_LIMITS__PROCESSES", "7")
    settings = load_settings({"default_limits": {"calls": 9}}, toml)
    assert settings.limits == Limits(cpu_time_seconds=3.0, processes=7, calls=9)


def test_lists_are_written_plainly_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARD_SERVER_ALLOW_MISSING", "seccomp, landlock")
    monkeypatch.setenv("REWARD_SERVER_SANDBOX_PACKAGES", "/one:/two")
    settings = load_settings({})
    assert settings.allow_missing == ("seccomp", "landlock")
    assert settings.sandbox_packages == (Path("/one"), Path("/two"))


def test_lists_are_lists_in_the_file(toml: Path) -> None:
    toml.write_text('allow_missing = ["seccomp"]\nsandbox_packages = ["/one"]\n')
    settings = load_settings({}, toml)
    assert settings.allow_missing == ("seccomp",)
    assert settings.sandbox_packages == (Path("/one"),)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("wrokers = 2", "wrokers"),
        ("workers = 0", "workers"),
        ('workers = "many"', "workers"),
        ("queue_capacity = -1", "queue_capacity"),
        ("port = 70000", "port"),
        ('backend = "chroot"', "'local', 'docker' or 'socket'"),
        ("[default_limits]\ncpu = 3", "default_limits.cpu"),
        ("[default_limits]\nmemory_bytes = 0", "default_limits.memory_bytes"),
        ("[default_limits]\nmemory_bytes = nan", "default_limits.memory_bytes"),
        ("[default_limits]\ncpu_time_seconds = nan", "default_limits.cpu_time_seconds"),
        ("[maximum_limits]\ncpu_time_seconds = inf", "maximum_limits.cpu_time_seconds"),
        ("drain_seconds = nan", "drain_seconds"),
        ("[default_limits]\ncpu_time_seconds = 900", "above maximum_limits.cpu_time_seconds"),
        ("workers =", "is not TOML"),
    ],
)
def test_a_wrong_file_is_refused_by_name(toml: Path, content: str, told: str) -> None:
    toml.write_text(content)
    with pytest.raises(SettingsError, match="(?s)" + told.replace(".", r"\.")) as refused:
        load_settings({}, toml)
    assert "pydantic" not in str(refused.value)


def test_every_wrong_setting_is_told_with_where_it_was_set(
    monkeypatch: pytest.MonkeyPatch, toml: Path
) -> None:
    toml.write_text("workers = 0\n")
    monkeypatch.setenv("REWARD_SERVER_PORT", "none")
    monkeypatch.setenv("REWARD_SERVER_DEFAULT_LIMITS__CALLS", "0")
    with pytest.raises(SettingsError) as refused:
        load_settings({"queue_capacity": 0}, toml)
    lines = sorted(str(refused.value).splitlines())
    assert [line.partition(":")[0] for line in lines] == [
        "default_limits.calls",
        "port",
        "queue_capacity",
        "workers",
    ]
    assert lines[0].endswith("(set by REWARD_SERVER_DEFAULT_LIMITS__CALLS)")
    assert lines[1].endswith("(set by REWARD_SERVER_PORT)")
    assert lines[2].endswith("(set by --queue-capacity)")
    assert lines[3].endswith(f"(set by {toml})")


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        (["WROKERS"], "REWARD_SERVER_WROKERS: is no setting; did you mean REWARD_SERVER_WORKERS?"),
        (["COLOUR"], "REWARD_SERVER_COLOUR: is no setting"),
        (["METRIC_PORT"], "REWARD_SERVER_METRIC_PORT: is no setting; did you mean "),
        (["DEFAULT_LIMIT__CALLS"], "REWARD_SERVER_DEFAULT_LIMIT__CALLS: is no setting"),
        (["DEFAULT_LIMITS__CAL"], "default_limits.cal: is no setting; did you mean calls?"),
        (["B", "A"], "REWARD_SERVER_A: is no setting\nREWARD_SERVER_B: is no setting"),
    ],
)
def test_a_variable_that_is_no_setting_is_refused(
    monkeypatch: pytest.MonkeyPatch, variables: list[str], told: str
) -> None:
    for name in variables:
        monkeypatch.setenv(f"REWARD_SERVER_{name}", "9")
    with pytest.raises(SettingsError) as refused:
        load_settings({})
    assert str(refused.value).startswith(told)


@pytest.mark.parametrize(
    ("flags", "assigned", "told"),
    [
        ({"queue_capcity": 1}, ["queue_capcity"], "queue_capacity? (set by --set queue_capcity)"),
        ({"workers": 0}, [], "(set by --workers)"),
        (
            {"default_limits": {"cpu_time": "3"}},
            ["default_limits"],
            "did you mean cpu_time_seconds? (set by --set default_limits.cpu_time)",
        ),
    ],
)
def test_a_wrong_flag_is_told_as_it_was_written(
    flags: dict[str, Any], assigned: list[str], told: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings(flags, assigned=assigned)
    assert str(refused.value).endswith(told)


def test_variables_that_kubernetes_makes_of_services_are_no_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "SERVICE_HOST": "10.0.0.1",
        "SERVICE_PORT_GRPC": "50051",
        "METRICS_SERVICE_PORT": "9464",
        "PORT_50051_TCP": "tcp://10.0.0.1:50051",
        "PORT_50051_TCP_ADDR": "10.0.0.1",
        "HTTP_BLUE_PORT": "tcp://10.0.0.1:8080",
    }.items():
        monkeypatch.setenv(f"REWARD_SERVER_{name}", value)
    assert load_settings({}).port == 50051


def test_the_address_of_a_kubernetes_service_is_not_taken_for_a_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REWARD_SERVER_PORT", "tcp://10.0.0.1:50051")
    with pytest.raises(SettingsError, match="enableServiceLinks"):
        load_settings({})


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"cannot read .*none\.toml"):
        load_settings({}, tmp_path / "none.toml")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_needs_no_credentials(host: str) -> None:
    assert load_settings({"host": host}).host == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", ""])
def test_a_public_address_needs_certificate_and_credentials(host: str, pem: str) -> None:
    with pytest.raises(SettingsError, match="tls_certificate"):
        load_settings({"host": host, "token_file": pem})
    with pytest.raises(SettingsError, match="token_file or tls_client_ca"):
        load_settings({"host": host, "tls_certificate": pem, "tls_key": pem})
    tls = {"host": host, "tls_certificate": pem, "tls_key": pem}
    assert load_settings({**tls, "token_file": pem}).host == host
    assert load_settings({**tls, "tls_client_ca": pem}).host == host
    assert load_settings({"host": host, "insecure_public": True}).host == host


def test_certificate_and_key_go_together(pem: str) -> None:
    with pytest.raises(SettingsError, match="go together"):
        load_settings({"tls_certificate": pem})
    with pytest.raises(SettingsError, match="tls_client_ca needs"):
        load_settings({"tls_client_ca": pem})


def test_a_token_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="not UTF-8"):
        read_token_file(file)


def test_maxima_stay_above_the_defaults_they_come_with() -> None:
    settings = load_settings({"maximum_limits": {"memory_bytes": 2048 * MEBIBYTE}})
    assert settings.most_limits.memory_bytes == 2048 * MEBIBYTE
    assert settings.most_limits.cpu_time_seconds >= settings.limits.cpu_time_seconds


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        ({"session_memory_bytes": 1000}, "at least 67108864"),
        ({"session_memory_bytes": 1 << 30, "backend": "socket"}, "offers no sessions"),
        ({"session_memory_bytes": 1 << 30, "session_idle_seconds": 9999}, "session_max_idle"),
    ],
)
def test_settings_of_sessions_that_do_not_go_together_are_refused(
    flags: dict[str, object], problem: str
) -> None:
    with pytest.raises(SettingsError, match=problem):
        load_settings(flags)
