"""Reads the rows of data sets that requests bring, and names the field that is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from reward_server.errors import InvalidRequestError
from reward_server.http.sandbox_fusion.answers import Seconds

DATA = "config.provided_data"
Row = Mapping[str, Any]
_T = TypeVar("_T")
_KINDS: Mapping[type, str] = {str: "text", list: "list", dict: "object"}


class TestConfig(BaseModel):
    """The settings of a request, which hold the row or the rows too."""

    __test__ = False
    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset_type: str | None = None
    language: str | None = None
    locale: str | None = None
    is_fewshot: bool | None = None
    compile_timeout: Seconds | None = None
    run_timeout: Seconds | None = None
    custom_extract_logic: str | None = None
    provided_data: list[dict[str, Any]] | dict[str, Any] | None = None
    extra: dict[str, Any] = {}


def one_row(config: TestConfig) -> Row:
    """Returns the one row of a request.

    Raises:
        InvalidRequestError: there is none, or a list.
    """
    if not isinstance(config.provided_data, dict):
        raise InvalidRequestError(DATA, "must be a row; this server has no data sets of its own")
    return config.provided_data


def all_rows(config: TestConfig) -> list[dict[str, Any]]:
    """Returns the rows of a request.

    Raises:
        InvalidRequestError: there is no list of them.
    """
    if not isinstance(config.provided_data, list):
        raise InvalidRequestError(
            DATA, "must be a list of rows; this server has no data sets of its own"
        )
    return config.provided_data


def text(row: Row, name: str) -> str:
    """Returns a text of a row.

    Raises:
        InvalidRequestError: it is absent, or no text.
    """
    return _checked(row.get(name), str, f"{DATA}.{name}")


def structure(row: Row, name: str, kind: type[_T]) -> _T:
    """Returns a list or an object of a row, which may be a text that holds its JSON.

    Raises:
        InvalidRequestError: it is absent, or something else.
    """
    value = row.get(name)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise InvalidRequestError(f"{DATA}.{name}", "is not JSON") from None
    return _checked(value, kind, f"{DATA}.{name}")


def optional_text(of: Mapping[str, Any], name: str, field: str) -> str:
    """Returns a text that may be absent; it is "" then.

    Raises:
        InvalidRequestError: it is no text.
    """
    value = of.get(name)
    return "" if value is None else _checked(value, str, f"{field}.{name}")


def texts(values: list[Any], field: str) -> list[str]:
    """Returns the texts of a list.

    Raises:
        InvalidRequestError: one is none.
    """
    return [_checked(one, str, f"{field}[{number}]") for number, one in enumerate(values)]


def only(given: Mapping[str, Any], allowed: frozenset[str], field: str) -> None:
    """Refuses keys that this server does not know, unless they are switched off.

    Raises:
        InvalidRequestError: there is one.
    """
    for name, value in given.items():
        if value and name not in allowed:
            raise InvalidRequestError(f"{field}.{name[:64]}", "is not supported here")


def _checked(value: object, kind: type[_T], field: str) -> _T:
    if isinstance(value, kind):
        return value
    problem = "is absent" if value is None else f"is no {_KINDS[kind]}"
    raise InvalidRequestError(field, problem)
