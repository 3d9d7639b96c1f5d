"""Reads the tables of what compiled tests may hold that run apart from the solution.

Each language has a table, `<language>.toml`. Types and fields are those of the language's grammar
for tree-sitter. Whatever a table does not name is refused. Its keys:

base        the language whose table this one adds to; absent if it is a whole one
grammar     the module and the function that give the grammar
syntax      types of nodes that may stand in tests; `literals` may, too
leaves      types of nodes that are names
literals    types of nodes that are a number, a text or another value without parts
computed    types of nodes whose value is a number, a text or a truth
fresh       types of nodes that write a new value, made of what is in them
names       functions and types of the library, and of what runs the tests
libraries   names behind which functions of the library stand, such as Math, with these functions
members     methods and fields of data, and of what runs the tests
asked       those of the members that may be called on an answer
given       functions and members that may be given an answer
ordered     the same of answers of whole numbers, which have an order
real        the same of other answers; the absolute value of a whole one may be negative
makers      functions that return a new value, made of their arguments
plain       functions and members whose answer is a number or a text
types       types of numbers and texts
prints      functions and members that only show their arguments
formats     functions and members whose first argument is a format
signs       operators with one operand; absent if all are allowed
tells       functions whose answer is a text of a value, for which a type may have a method
identity    operators that compare identities of objects
interned    literals that may be the same object in all of a program; absent if none has an identity
elements    primitive types of which there may be containers; absent if all may be
cursors     those of the members that give iterators
gathers     nodes and functions that go through the items of a value; an answer only as it comes,
            since an iterator may give other items later
states      nodes that declare variables, or are no declarations
kinds       nodes that declare types
raised      types of exceptions that cross; absent if all do
globals     names that the language has, and that tests may not use
members_of  nodes that name a member, each with the fields of the object and of the member
declares    nodes that declare names, each with the fields that hold them
binds       nodes that give values to names, each with the fields of the names and of the values
calls       nodes that call, each with the fields of the function and of the arguments
indexes     nodes that index, each with the fields of the container and of the index
functions   nodes that are a function
loops       nodes that repeat their body
imports     nodes whose names are checked where these are used
modules     modules that may be imported; absent if the names that they give are on the lists
macros      regular expressions that are replaced before the text is parsed
"""

from __future__ import annotations

import functools
import importlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Parser

_WORDS = """
    syntax leaves literals computed fresh names members asked given ordered real makers plain types
    prints formats signs identity functions loops imports modules interned states elements
    cursors kinds raised tells globals gathers
""".split()  # noqa: SIM905  # one word a key
_PAIRS = ("members_of", "binds", "calls", "indexes")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """The table of a language; see above."""

    grammar: tuple[str, str]
    syntax: frozenset[str]
    leaves: frozenset[str]
    literals: frozenset[str]
    computed: frozenset[str]
    fresh: frozenset[str]
    names: frozenset[str]
    libraries: Mapping[str, frozenset[str]]
    members: frozenset[str]
    makers: frozenset[str]
    plain: frozenset[str]
    asked: frozenset[str]
    given: frozenset[str]
    ordered: frozenset[str]
    real: frozenset[str]
    types: frozenset[str]
    prints: frozenset[str]
    formats: frozenset[str]
    signs: frozenset[str]
    tells: frozenset[str]
    identity: frozenset[str]
    members_of: Mapping[str, tuple[str, str]]
    declares: Mapping[str, tuple[str, ...]]
    binds: Mapping[str, tuple[str, str]]
    calls: Mapping[str, tuple[str, str]]
    indexes: Mapping[str, tuple[str, str]]
    functions: frozenset[str]
    loops: frozenset[str]
    imports: frozenset[str]
    modules: frozenset[str]
    interned: frozenset[str]
    states: frozenset[str]
    elements: frozenset[str]
    cursors: frozenset[str]
    kinds: frozenset[str]
    raised: frozenset[str]
    globals: frozenset[str]
    gathers: frozenset[str]
    macros: Mapping[str, str]


@functools.cache
def table(language: str) -> Table:
    """Reads the table of a language."""
    read = _read(language)
    module, function = read["grammar"].split(".")
    made: dict[str, Any] = {key: frozenset(read.get(key, "").split()) for key in _WORDS}
    made |= {key: _pairs(read[key]) for key in _PAIRS}
    return Table(
        grammar=(module, function),
        libraries={key: frozenset(value.split()) for key, value in read["libraries"].items()},
        declares={key: tuple(value.split()) for key, value in read["declares"].items()},
        macros=read.get("macros", {}),
        **made,
    )


def _read(language: str) -> dict[str, Any]:
    """Reads a table, with what its base has."""
    text = files(__package__).joinpath(f"{language}.toml").read_text("utf-8")
    read: dict[str, Any] = tomllib.loads(text)
    if "base" not in read:
        return read
    whole = _read(read.pop("base"))
    for key, value in read.items():
        if isinstance(value, dict):
            whole[key] = whole[key] | value
        else:
            whole[key] = value if key == "grammar" else f"{whole[key]} {value}"
    return whole


def _pairs(read: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    return {key: (value.split()[0], value.split()[-1]) for key, value in read.items()}


@functools.cache
def parser(language: str) -> Parser:
    """Returns a parser of a language.

    Raises:
        ImportError: the packages of the extra are not installed.
    """
    tree_sitter = importlib.import_module("tree_sitter")
    module, function = table(language).grammar
    grammar = getattr(importlib.import_module(module), function)()
    made: Parser = tree_sitter.Parser(tree_sitter.Language(grammar))
    return made
