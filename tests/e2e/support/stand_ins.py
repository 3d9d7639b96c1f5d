"""Runs a module in an environment that lacks packages which trainers import and rewards do not use.

    python stand_ins.py openai,anthropic examples.adapters.verifiers

Scoring code is a trainer's own; clients of models, browsers and clouds are these stand-ins: every
name in them is a class that can be made of anything, and holds nothing.
"""

from __future__ import annotations

import importlib
import logging
import runpy
import sys
from collections.abc import Collection, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from pydantic_core import core_schema


class Anything(type):
    """The class of stand-ins: their attributes are stand-ins too."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stand_in(name)


def stand_in(name: str) -> type:
    """Makes a class that can be a base, an annotation, an exception or a decorator."""
    return Anything(
        name,
        (Exception,),
        {
            "__init__": lambda self, *args, **kwargs: None,
            "__getattr__": lambda self, name: stand_in(name),
            "__call__": lambda self, *args, **kwargs: args[0] if args else None,
            "__class_getitem__": classmethod(lambda cls, key: cls),
            "__get_pydantic_core_schema__": classmethod(lambda *args: core_schema.any_schema()),
        },
    )


class StandIn(ModuleType):
    """A module that has every name."""

    __path__: Sequence[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = stand_in(name)
        setattr(self, name, made)
        return made


class Finder(MetaPathFinder, Loader):
    """Finds stand-ins for packages, by their names or those of their parents."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        known = any(f"{name}.".startswith(f"{package}.") for package in self._names)
        return ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def give_modelscope_values() -> None:
    """Gives what ms-swift uses of modelscope while it is imported."""
    logger = logging.getLogger("modelscope")
    logger.addHandler(logging.NullHandler())
    loggers: Any = importlib.import_module("modelscope.utils.logger")
    loggers.get_logger = lambda *args, **kwargs: logger
    paths: Any = importlib.import_module("modelscope.hub.utils.utils")
    paths.get_cache_dir = lambda *args: "modelscope"


if __name__ == "__main__":
    names = sys.argv[1].split(",")
    sys.path.pop(0)  # this folder
    sys.meta_path.insert(0, Finder(names))
    if "modelscope" in names:
        give_modelscope_values()
    runpy.run_module(sys.argv[2], run_name="__main__", alter_sys=True)
