from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from reward_server.errors import SettingsError
from reward_server.tenants.tenant import MOST_TENANTS, Quotas, Tenant, Tenants
from reward_server.tenants.token_file import MOST_TOKENS, first_token, parse_token_file

LINES, TABLE = Path("tokens"), Path("tokens.toml")
SECRET = "s3cret-word"
RED = '[[tenants]]\nname = "red"\ntokens = ["red-token"]\n'


def digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def test_tokens_are_read_one_a_line() -> None:
    found = parse_token_file("# of the trainers\nfirst\n\n  second \n", LINES)
    assert [one.digest for one in found] == [digest("first"), digest("second")]
    assert [one.tenant.name for one in found] == ["(line 2)", "(line 4)"]
    assert found[0].owner != found[1].owner


@pytest.mark.parametrize("content", ["", "# nothing\n", f"two {SECRET}\n", f"pä{SECRET}\n"])
def test_a_file_of_lines_without_a_fit_token_is_refused(content: str) -> None:
    with pytest.raises(SettingsError, match="token_file") as refused:
        parse_token_file(content, LINES)
    assert SECRET not in str(refused.value)


def test_tenants_have_names_weights_and_quotas() -> None:
    text = (
        f'# tenants\n{RED}weight = 2\nslots = 4\n[[tenants]]\nname = "blue"\n'
        f'tokens = ["old", "new"]\ntoken_digests = ["{digest("third").hex().upper()}"]\n'
        "requests_in_flight = 8\nbytes_in_flight = 1024\nstored_tasks_count = 3\n"
        "stored_tasks_bytes = 2048\n"
    )
    found = parse_token_file(text, LINES)
    assert [(one.owner, one.digest) for one in found] == [
        ("red", digest("red-token")),
        *(("blue", digest(token)) for token in ("old", "new", "third")),
    ]
    assert found[0].tenant == Tenant(name="red", weight=2.0, quotas=Quotas(slots=4))
    assert found[1].tenant.weight == 1.0
    assert found[1].tenant.quotas == Quotas(
        requests_in_flight=8, bytes_in_flight=1024, stored_tasks_count=3, stored_tasks_bytes=2048
    )
    assert Tenants(found).of("blue") is found[1].tenant


def test_owners_that_no_file_names_have_names_that_no_file_can_give() -> None:
    tenants = Tenants()
    assert tenants.of("").name == "(everybody)"
    assert tenants.of("trainer\nexample").name == "(trainer?example)"
    assert tenants.of("").quotas == Quotas()
    with pytest.raises(SettingsError, match="name"):
        parse_token_file('[[tenants]]\nname = "(everybody)"\ntokens = ["t"]\n', TABLE)


@pytest.mark.parametrize(
    ("line", "number", "told"),
    [
        ("weight = -1", 5, "tenants[0].weight must be a number from 0.01 to 100"),
        ("weight = nan", 5, "tenants[0].weight must be a number"),
        ("weight = true", 5, "tenants[0].weight must be a number"),
        ('weight = "1"', 5, "tenants[0].weight must be a number"),
        ("slots = 0", 5, "tenants[0].slots must be a whole number from 1 to 1099511627776"),
        ("requests_in_flight = 1.5", 5, "tenants[0].requests_in_flight must be a whole number"),
        ("bytes_in_flight = true", 5, "tenants[0].bytes_in_flight must be a whole number"),
        ("stored_tasks_count = -1", 5, "tenants[0].stored_tasks_count must be a whole number"),
        (f'{SECRET} = "x"', 2, "tenants[0] holds an unknown field; the known ones are name"),
        (f'token_digests = ["{SECRET}"]', 5, "token_digests must be 64 hexadecimal digits each"),
        (f'token_digests = "{SECRET}"', 5, "token_digests must be a list of texts"),
        (f'[[tenants]]\nname = "{SECRET} x"', 6, "tenants[1].name must be 1 to 63 letters"),
        ('[[tenants]]\nname = "blue"\ntokens = []', 7, "tenants[1].tokens with token_digests"),
        (f'[[tenants]]\nname = "blue"\ntokens = ["a {SECRET}"]', 7, "a token holds characters"),
        ('[[tenants]]\nname = "blue"\ntokens = [""]', 7, "a token is empty"),
        (f'[[tenants]]\nname = "blue"\ntokens = ["{"x" * 4097}"]', 7, "more than 4096"),
        ('[[tenants]]\nname = "red"\ntokens = ["x"]', 6, "also the one of the tenant at line 3"),
        (
            '[[tenants]]\nname = "blue"\ntokens = ["red-token"]',
            7,
            "tenants[1].tokens is also the one of the tenant at line 4",
        ),
        (f"tokens2 = {SECRET}", 5, "is not TOML"),
        (f'[other]\nx = "{SECRET}"', 0, "a field outside of [[tenants]]"),
    ],
)
def test_a_wrong_line_is_named_with_its_field_and_limit_and_without_its_text(
    line: str, number: int, told: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        parse_token_file(f"# no secrets\n{RED}{line}\n", TABLE)
    message = str(refused.value)
    assert message.startswith("token_file: tokens.toml")
    assert told in message
    assert not number or f"line {number}:" in message
    assert SECRET not in message
    assert "red-token" not in message


def test_a_probe_takes_the_first_token_that_is_not_a_digest() -> None:
    assert first_token("# none\none\ntwo\n", LINES) == "one"
    hidden = f'[[tenants]]\nname = "blue"\ntoken_digests = ["{digest("t").hex()}"]\n'
    assert first_token(hidden + RED, TABLE) == "red-token"
    assert first_token(hidden, TABLE) is None


def test_numbers_of_tenants_and_tokens_are_bounded() -> None:
    many = "".join(
        f'[[tenants]]\nname = "t{number}"\ntokens = ["{number}"]\n'
        for number in range(MOST_TENANTS + 1)
    )
    with pytest.raises(SettingsError, match=f"257 tenants; 1 to {MOST_TENANTS}"):
        parse_token_file(many, TABLE)
    tokens = ", ".join(f'"{number}"' for number in range(MOST_TOKENS + 1))
    with pytest.raises(SettingsError, match="holds 17; 1 to 16"):
        parse_token_file(f'[[tenants]]\nname = "a"\ntokens = [{tokens}]\n', TABLE)


@pytest.mark.parametrize("content", ["", "tenants = 3", "tenants = []", "tenants = [1]"])
def test_a_table_without_tenants_is_refused(content: str) -> None:
    with pytest.raises(SettingsError, match=r"token_file: tokens\.toml: "):
        parse_token_file(content, TABLE)


def test_a_misspelt_header_is_not_taken_for_a_token() -> None:
    with pytest.raises(SettingsError, match="a field outside of"):
        parse_token_file('[[tenant]]\nname = "red"\ntokens = ["x"]\n', LINES)
