"""What pages of runs are rendered with: templates that escape, and a content security policy.

A page carries its style and its script, and the policy allows these two by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources

from jinja2 import Environment, FunctionLoader, StrictUndefined


def template(name: str, package: str = "trainer_client.report") -> str:
    """Reads a file of a package's templates."""
    return resources.files(package).joinpath("templates", name).read_text("utf-8")


def rendered(page: str, values: dict[str, object]) -> str:
    """Renders a page's template; every value is escaped, unless it is marked as markup."""
    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(template),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text: str = environment.from_string(page).render(values)
    return text


def policy(style: str, script: str, sources: Sequence[str]) -> str:
    """Returns a policy that allows one style, one script, and the given sources of other kinds."""
    return "; ".join(
        [
            "default-src 'none'",
            *sources,
            f"style-src {_hash(style)}",
            f"script-src {_hash(script)}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ]
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
