"""Names that somebody misspelt: the message names the one that was probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

_COMPARED_CHARACTERS = 80  # no name is longer, and each takes its time

# Kubernetes makes these of the names of services, in every pod that does not forbid it.
_OF_A_SERVICE = re.compile(
    r"(.+_)?SERVICE_(HOST|PORT(_\w+)?)|(.+_)?PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?", re.ASCII
)


def unknown_variables(
    environment: Mapping[str, str],
    prefix: str,
    known: Collection[str],
    others: Collection[str] = (),
) -> Iterator[str]:
    """Yields a sentence for each variable that has the prefix and is no setting.

    Args:
        environment: the values of variables, by name.
        prefix: what the variables of settings begin with, in upper case.
        known: the names of the settings, in lower case; `__` separates those of a table.
        others: names of variables with the prefix that are no settings, without the prefix.
    """
    for variable, value in sorted(environment.items()):
        name = variable.upper().removeprefix(prefix)
        if name == variable.upper() or name in others or _is_of_a_service(name, value):
            continue
        if name.lower().partition("__")[0] not in known:
            close = did_you_mean(name, (one.upper() for one in known), prefix)
            yield f"{variable}: is no setting{close}"


def did_you_mean(name: str, known: Iterable[str], prefix: str = "") -> str:
    """Returns "; did you mean X?" for the known name that is most similar, or ""."""
    close = difflib.get_close_matches(name[:_COMPARED_CHARACTERS], list(known), n=1)
    return f"; did you mean {prefix}{close[0]}?" if close else ""


def _is_of_a_service(name: str, value: str) -> bool:
    is_address = name.endswith("PORT") and "://" in value
    return is_address or _OF_A_SERVICE.fullmatch(name) is not None
