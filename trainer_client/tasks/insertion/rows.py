"""Rows of DS-1000, whose test program inserts the solution at "[insert]" of another program."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks.limits import bounded
from trainer_client.tasks.rows import Reader, Row
from trainer_client.text import well_formed

INSERT = "[insert]"
_FUNCTIONS = ("generate_test_case", "exec_test", "test_execution")
_FIGURES = "checks a figure that is drawn in the solution's process, and no figure can cross"
_TENSORS = "uses TensorFlow, whose values cannot cross"
_REMEDY = "leave such rows out, for example by metadata.library"
# Names of modules that a test program uses, and why its row is refused.
_UNSERVED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("matplotlib", "seaborn", "PIL"), _FIGURES),
        **dict.fromkeys(("tensorflow", "keras"), _TENSORS),
    }
)

_PROGRAM = """\
import sys, types
for name, text in {modules!r}.items():
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, name, "exec"), vars(module))
module.{call}
"""


@bounded("ds1000")
def ds1000(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of DS-1000: `code_context`.

    The row's test program runs as an interactor, and what it would run by `exec` runs in the
    solution's process (see `remote`). Only data crosses between the two.

    Raises:
        TaskError: a field is absent or wrong, or the row compares figures or uses TensorFlow.
    """
    reader = Reader("ds1000", row)
    tree = reader.python("code_context")
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for name in _FUNCTIONS:
        if name not in defined:
            raise reader.error("code_context", f"does not define {name}()")
    if not any(isinstance(text, str) and INSERT in text for text in _assigned(tree)):
        raise reader.error("code_context", f"has no text with {INSERT}, where the solution goes")
    for name in _imported(tree):
        if name in _UNSERVED:
            raise reader.error("code_context", f"{_UNSERVED[name]}; {_REMEDY}")
    request = pb.ScoreRequest(id=id, completion=well_formed(completion))
    request.stdio.cases.add()
    request.stdio.harness = _program("serve()")
    request.stdio.checker.CopyFrom(
        pb.Checker(
            kind=pb.CHECKER_KIND_INTERACTOR,
            program=_program(f"judge({reader.text('code_context')!r})"),
            program_language="python",
        )
    )
    return request


def _program(call: str) -> str:
    """Returns a program that makes this package's modules and calls a function of the last."""
    return _PROGRAM.format(modules=_modules(), call=call)


@cache
def _modules() -> dict[str, str]:
    folder = resources.files(__package__)
    return {
        f"{__package__}.{name}": folder.joinpath(f"{name}.py").read_text("utf-8")
        for name in ("values", "remote")
    }


def _assigned(tree: ast.Module) -> Iterator[object]:
    """Yields the constants that a module assigns to names."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            yield node.value.value


def _imported(tree: ast.Module) -> Iterator[str]:
    """Yields the packages that a module imports anywhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module.partition(".")[0]
