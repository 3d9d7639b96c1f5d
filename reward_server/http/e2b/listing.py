"""What a caller asks of the list of sandboxes: filters, order and pages, as in E2B's API."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal
from urllib.parse import unquote_plus

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import QueryParams

from reward_server.errors import InvalidRequestError
from reward_server.http.bodies import wrong_field
from reward_server.http.e2b.sandboxes import Sandbox

MOST_LISTED = 100
RUNNING, _PAUSED = "running", "paused"
_SEPARATOR = "_"

Key = tuple[datetime, str]


class Query(BaseModel):
    """The parameters of a list."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    metadata: str = ""
    state: str = f"{RUNNING},{_PAUSED}"
    order: Literal["asc", "desc"] = "desc"
    startedAfter: AwareDatetime | None = None  # noqa: N815  # the names in E2B's API
    template: str = ""
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = MOST_LISTED
    nextToken: str = ""  # noqa: N815


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A part of the list.

    Args:
        sandboxes: those on it.
        total: how many there are on all pages.
        next_token: names the next page; empty on the last one.
    """

    sandboxes: Sequence[Sandbox] = field(default_factory=tuple)
    total: int
    next_token: str


def query_of(parameters: QueryParams) -> Query:
    """Reads the parameters of a list.

    Raises:
        InvalidRequestError: one is unknown, is given twice or has no meaning.
    """
    given = dict(parameters)
    if len(given) < len(parameters.multi_items()):
        raise InvalidRequestError("query", "has a parameter twice")
    try:
        return Query.model_validate(given)
    except ValidationError as error:
        raise wrong_field(error) from None


def page_of(sandboxes: Sequence[Sandbox], query: Query) -> Page:
    """Returns the part of a caller's sandboxes that a query asks for.

    Raises:
        InvalidRequestError: a parameter has no meaning.
    """
    states, metadata = _states(query.state), _metadata(query.metadata)
    found = [
        one
        for one in sandboxes
        if RUNNING in states
        and metadata.items() <= one.metadata.items()
        and query.template in ("", one.template)
        and (query.startedAfter is None or one.started_at >= query.startedAfter)
    ]
    is_newest_first = query.order == "desc"
    found.sort(key=_key, reverse=is_newest_first)
    after = _after(query.nextToken)
    rest = found if after is None else [one for one in found if _key(one) != after]
    if after is not None:
        rest = [one for one in rest if (_key(one) < after) is is_newest_first]
    told = rest[: query.limit]
    token = _token(_key(told[-1])) if len(told) < len(rest) else ""
    return Page(sandboxes=told, total=len(found), next_token=token)


def _states(text: str) -> frozenset[str]:
    states = frozenset(text.split(","))
    if not states <= {RUNNING, _PAUSED}:
        raise InvalidRequestError("state", f"must be {RUNNING}, {_PAUSED} or both with a comma")
    return states


def _metadata(text: str) -> dict[str, str]:
    """Reads `key=value&...`, whose keys and values are encoded, and encoded again as a whole."""
    pairs = [one.partition("=") for one in unquote_plus(text).split("&") if one]
    if not all(mark for _, mark, _ in pairs):
        raise InvalidRequestError("metadata", "must be key=value, or several with & between them")
    return {unquote_plus(name): unquote_plus(value) for name, _, value in pairs}


def _key(sandbox: Sandbox) -> Key:
    return sandbox.started_at, sandbox.session.id


def _token(key: Key) -> str:
    text = f"{key[0].isoformat()}{_SEPARATOR}{key[1]}"
    return base64.urlsafe_b64encode(text.encode()).decode()


def _after(token: str) -> Key | None:
    """Returns the last sandbox of the page before."""
    if not token:
        return None
    try:
        moment, _, name = base64.urlsafe_b64decode(token).decode().partition(_SEPARATOR)
        found = datetime.fromisoformat(moment)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise InvalidRequestError("nextToken", "is no token of this list")
    return found, name
