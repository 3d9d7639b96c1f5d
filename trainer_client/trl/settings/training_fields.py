"""The names of TRL's settings, read from its source, because importing it takes many seconds."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path

from trainer_client.tasks.source import parsed

# The source files of GRPOConfig and of its base classes.
_SOURCES = (
    ("trl", "trainer/grpo_config.py"),
    ("trl", "trainer/base_config.py"),
    ("transformers", "training_args.py"),
)


def training_fields() -> frozenset[str]:
    """Returns the names of GRPOConfig's fields, or none if the sources do not contain them."""
    names: set[str] = set()
    for package, file in _SOURCES:
        found = set(_annotated_names(package, file))
        if not found:
            return frozenset()
        names |= found
    return frozenset(names)


def _annotated_names(package: str, file: str) -> Iterator[str]:
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / file
        if not path.is_file():
            continue
        for node in ast.walk(parsed(path.read_text("utf-8"))):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield node.target.id
