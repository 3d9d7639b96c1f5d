from __future__ import annotations

import dataclasses

import pytest

from trainer_client import Connection, Tls
from trainer_client.transport.channel import ConnectionOptions, grpc_target


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("rewards.example:50051", "rewards.example:50051"),
        ("dns:///rewards.example:50051", "dns:///rewards.example:50051"),
        ("unix:/run/rewards.sock", "unix:/run/rewards.sock"),
        (" 10.0.0.1:1 , 10.0.0.2:2,", "ipv4:10.0.0.1:1,10.0.0.2:2"),
        (["10.0.0.1:1", "10.0.0.2:2"], "ipv4:10.0.0.1:1,10.0.0.2:2"),
        ("ipv4:///10.0.0.1:1,10.0.0.2:2", "ipv4:10.0.0.1:1,10.0.0.2:2"),
        ("[::1]:1,[::2]:2", "ipv6:[::1]:1,[::2]:2"),
        ("localhost:1,127.0.0.2:2", "ipv4:127.0.0.1:1,127.0.0.2:2"),
    ],
)
def test_a_target_is_written_the_way_grpc_balances_over(target, expected):
    assert grpc_target(target) == expected


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("", "no address"),
        ([" "], "no address"),
        ("127.0.0.1:1,[::1]:2", "all IPv4 or all IPv6"),
        ("127.0.0.1:1,127.0.0.2", "names no port; a server listens on 50051 unless told"),
        ("localhost", "localhost:50051"),
        ("localhost:", "localhost:50051"),
        ("dns:///rewards.example", "names no port"),
        ("[::1]", "names no port"),
        ("http://localhost:50051/", "is a URL; write localhost:50051, HOST:PORT alone"),
        ("https://rewards.example:443", "for TLS, give its certificates"),
        ("grpc://localhost:1", "is a URL"),
        ("127.0.0.1:1,no-such-host.invalid:2", "cannot resolve"),
    ],
)
def test_a_target_that_cannot_work_is_refused_with_a_reason(target, problem):
    with pytest.raises(ValueError, match=problem):
        grpc_target(target)


@pytest.mark.parametrize(
    "target",
    ["localhost:1", "dns:///a.example:1", "unix:/run/x", "ipv4:127.0.0.1:1", "[::1]:50051"],
)
def test_a_target_that_grpc_takes_for_what_it_is_stays_as_it_is(target):
    assert grpc_target(target) == target


@pytest.mark.parametrize(
    "name", ["timeout_seconds", "rpc_timeout_seconds", "max_in_flight", "batch_size"]
)
def test_a_limit_that_would_let_nothing_through_is_refused(name):
    with pytest.raises(ValueError, match=name):
        Connection("localhost:1", **{name: 0})


def test_a_client_key_without_its_certificate_is_refused():
    with pytest.raises(ValueError, match="go together"):
        Tls(private_key=b"key")


def test_secrets_stay_out_of_representations():
    tls = Tls(certificate_chain=b"chain", private_key=b"hush")
    text = repr(Connection("localhost:1", token="hush", tls=tls)) + repr(tls)
    assert "hush" not in text


def test_every_field_of_a_connection_is_an_option_of_the_clients():
    fields = {field.name: field.type for field in dataclasses.fields(Connection)}
    del fields["target"]
    options = {
        name: hint.__forward_arg__ for name, hint in ConnectionOptions.__annotations__.items()
    }
    assert options == fields
