"""Reads tenants from the token file, which has one of two forms.

A file of lines holds one bearer token in each; blank lines and those that begin with # do not
count. A file whose first other line begins with `[`, or whose name ends in `.toml`, is TOML:

    [[tenants]]
    name = "red"              # shown in metrics and refusals
    tokens = ["..."]          # one, or two while a token is replaced
    token_digests = ["..."]   # instead of tokens: their SHA-256 digests in hexadecimal
    weight = 2.0
    requests_in_flight = 64
    slots = 4
    bytes_in_flight = 268435456
    stored_tasks_count = 1000
    stored_tasks_bytes = 67108864
    sessions = 8

No message quotes a token or any other text of the file: it names the file, the field and the line.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NoReturn

from reward_server.errors import SettingsError
from reward_server.tenants.tenant import MOST_TENANTS, Credential, Quotas, Tenant

MOST_TOKENS = 16  # of one tenant
MOST_TOKEN_CHARACTERS = 4096  # of one token; clients and proxies bound headers
LEAST_WEIGHT, MOST_WEIGHT = 0.01, 100.0
MOST_OF_QUOTA = 1 << 40
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_DIGEST = re.compile(r"[0-9a-fA-F]{64}")
_HEADER = re.compile(r"\s*\[\[\s*tenants\s*\]\]")
_QUOTAS = tuple(field.name for field in fields(Quotas))
_FIELDS = ("name", "tokens", "token_digests", "weight", *_QUOTAS)
_PLACE = re.compile(r"line (\d+)")


def parse_token_file(text: str, file: Path) -> tuple[Credential, ...]:
    """Returns the credentials of a token file.

    Args:
        text: what the file holds.
        file: its path, for messages, and because its ending shows the form.

    Raises:
        SettingsError: a line is wrong; the message names the field, the line and the limit.
    """
    lines = text.splitlines()
    if _is_table(lines, file):
        return _Table(file, text, lines).credentials()
    return _tokens_of(lines, file)


def first_token(text: str, file: Path) -> str | None:
    """Returns a valid token, or None if the file only holds digests.

    Args:
        text: what the file holds.
        file: its path.

    Raises:
        SettingsError: a line is wrong.
    """
    parse_token_file(text, file)
    lines = text.splitlines()
    if not _is_table(lines, file):
        return next(line.strip() for line in lines if _counts(line))
    tenants = tomllib.loads(text)["tenants"]
    return next((token for one in tenants for token in one.get("tokens", ())), None)


def _is_table(lines: list[str], file: Path) -> bool:
    first = next((line.strip() for line in lines if _counts(line)), "")
    return file.suffix == ".toml" or first.startswith("[")


def _counts(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")


def _tokens_of(lines: list[str], file: Path) -> tuple[Credential, ...]:
    found = []
    for number, line in enumerate(lines, 1):
        if not _counts(line):
            continue
        if problem := _problem_of_token(line.strip()):
            raise SettingsError(f"token_file: {file}, line {number}: the token {problem}")
        digest = hashlib.sha256(line.strip().encode()).digest()
        tenant = Tenant(name=f"(line {number})")
        found.append(Credential(digest=digest, owner=digest.hex(), tenant=tenant))
    if not found:
        raise SettingsError(f"token_file: {file} holds no token")
    return tuple(found)


def _problem_of_token(token: str) -> str:
    if not (token.isascii() and token.isprintable()) or " " in token:
        return "holds characters other than visible ASCII"
    if len(token) > MOST_TOKEN_CHARACTERS:
        return f"has {len(token)} characters, more than {MOST_TOKEN_CHARACTERS}"
    return ""


@dataclass(frozen=True, slots=True)
class _Table:
    """A token file in TOML."""

    file: Path
    text: str
    lines: list[str]

    def credentials(self) -> tuple[Credential, ...]:
        entries = self._entries()
        names, digests = dict[str, int](), dict[bytes, int]()
        found = []
        for index, entry in enumerate(entries):
            tenant = self._tenant(index, entry)
            self._refuse_twin(index, "name", names.setdefault(tenant.name, index))
            for field, digest in self._digests(index, entry):
                self._refuse_twin(index, field, digests.setdefault(digest, index))
                found.append(Credential(digest=digest, owner=tenant.name, tenant=tenant))
        return tuple(found)

    def _entries(self) -> list[Mapping[str, object]]:
        try:
            content = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            place = _PLACE.search(str(error))  # the rest of the message may quote the file
            where = f", line {place[1]}" if place else ""
            raise SettingsError(f"token_file: {self.file}{where}: is not TOML") from None
        entries = content.pop("tenants", None)
        if content:
            raise SettingsError(f"token_file: {self.file}: a field outside of [[tenants]]")
        if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
            raise SettingsError(f"token_file: {self.file}: tenants must be tables [[tenants]]")
        if not 0 < len(entries) <= MOST_TENANTS:
            raise SettingsError(
                f"token_file: {self.file}: {len(entries)} tenants; 1 to {MOST_TENANTS} may be"
            )
        return entries

    def _tenant(self, index: int, entry: Mapping[str, object]) -> Tenant:
        if entry.keys() - set(_FIELDS):
            # Its name is not shown, since it may be a token that was pasted in the wrong place.
            known = ", ".join(_FIELDS)
            self._refuse(index, "", f"holds an unknown field; the known ones are {known}")
        name = entry.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            self._refuse(
                index,
                "name",
                "must be 1 to 63 letters, digits, `.`, `_` and `-` of ASCII, the first of them a "
                "letter or digit",
            )
        quotas = Quotas(**{field: self._quota(index, entry, field) for field in _QUOTAS})
        return Tenant(name=name, weight=self._weight(index, entry), quotas=quotas)

    def _weight(self, index: int, entry: Mapping[str, object]) -> float:
        weight = entry.get("weight", 1.0)
        is_number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not is_number or not LEAST_WEIGHT <= float(str(weight)) <= MOST_WEIGHT:
            self._refuse(
                index, "weight", f"must be a number from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}"
            )
        return float(str(weight))

    def _quota(self, index: int, entry: Mapping[str, object], field: str) -> int | None:
        value = entry.get(field)
        if value is None:
            return None
        if type(value) is not int or not 1 <= value <= MOST_OF_QUOTA:
            self._refuse(index, field, f"must be a whole number from 1 to {MOST_OF_QUOTA}")
        return value

    def _digests(self, index: int, entry: Mapping[str, object]) -> Iterator[tuple[str, bytes]]:
        count = 0
        for field, read in (("tokens", self._of_token), ("token_digests", self._of_digest)):
            for text in self._texts(index, entry, field):
                count += 1
                yield field, read(index, text)
        if not 1 <= count <= MOST_TOKENS:
            self._refuse(
                index, "tokens", f"with token_digests holds {count}; 1 to {MOST_TOKENS} may be"
            )

    def _texts(self, index: int, entry: Mapping[str, object], field: str) -> list[str]:
        values = entry.get(field, [])
        if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
            self._refuse(index, field, "must be a list of texts")
        return values

    def _of_token(self, index: int, token: str) -> bytes:
        if problem := _problem_of_token(token) or ("" if token else "is empty"):
            self._refuse(index, "tokens", f"a token {problem}")
        return hashlib.sha256(token.encode()).digest()

    def _of_digest(self, index: int, text: str) -> bytes:
        if not _DIGEST.fullmatch(text):
            self._refuse(index, "token_digests", "must be 64 hexadecimal digits each")
        return bytes.fromhex(text)

    def _refuse_twin(self, index: int, field: str, first: int) -> None:
        if first != index:
            line = self._line(first, field)
            self._refuse(index, field, f"is also the one of the tenant at line {line}")

    def _refuse(self, index: int, field: str, problem: str) -> NoReturn:
        path = f"tenants[{index}]{field and '.'}{field}"
        line = self._line(index, field)
        raise SettingsError(f"token_file: {self.file}, line {line}: {path} {problem}")

    def _line(self, index: int, field: str) -> int:
        """Returns the line of a field, or that of its tenant's header if it has none."""
        headers = self._numbers(_HEADER.match)
        begin = headers[index] if index < len(headers) else 1
        end = headers[index + 1] if index + 1 < len(headers) else len(self.lines) + 1
        of_field = re.compile(rf"\s*[\"']?{field}[\"']?\s*=")
        named = self._numbers(of_field.match) if field else []
        return next((number for number in named if begin < number < end), begin)

    def _numbers(self, matches: Callable[[str], object]) -> list[int]:
        return [number for number, line in enumerate(self.lines, 1) if matches(line)]
