"""Finds objects of the tests' own classes that the solution gets.

An object of a class that the tests define arrives in the solution's process as another object. Data
of a derived class arrives as data of its base class. An object or a class arrives as a proxy that
calls the judge, and an exception as one of Python's exceptions. So `type(x) is list` holds for a
list of a derived class, and `vars(x)`, `isinstance(x, kind)`, `callable(x)` or `except Own` fail an
honest solution. Tests run in the solution's process if they pass such an object in a call, a
container or an answer. The same holds if they raise such an exception where the solution can catch
it. These rules also cover a few classes of libraries.

The module follows names through the statements that bind them: those that may refer to an object of
such a class, and those that may refer to something of the solution. It may find too many; then the
label is SHARED without need.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from reward_server.grading import syntax
from reward_server.grading.python_tests.isolation.kinds import bindings
from reward_server.grading.python_tests.isolation.names import File
from reward_server.grading.syntax import FUNCTIONS, Function, dotted, without_call

HANDS_OVER = "hands over a thing of a class of the tests' own"
RAISES = "raises an exception of the tests' own where the solution meets it"
REASONS = frozenset((HANDS_OVER, RAISES))

_SELVES = frozenset(("self", "cls"))
_ENUMERATIONS = frozenset(("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"))
_MAKERS = frozenset(("make_dataclass", "new_class", *_ENUMERATIONS))
# Base classes whose objects cross completely, if the class adds no method.
_PLAIN_BASES = frozenset(("NamedTuple", "namedtuple", "TypedDict"))
# Classes of libraries whose objects do not arrive as they are.
_OF_LIBRARIES = frozenset(("types.SimpleNamespace", "http.HTTPStatus", "http.HTTPMethod"))
_ERROR = re.compile(r"[A-Z]\w*(?:Error|Exception|Warning|Timeout|Expired|Empty|Full)")
# Functions that return data for any argument.
_TELLING = frozenset(
    (
        *("str", "repr", "len", "int", "float", "bool", "hash", "id", "isinstance", "issubclass"),
        *("hasattr", "callable", "vars", "dir", "asdict", "astuple", "format", "join", "count"),
        *("index", "all", "any", "ascii", "print", "fields", "dumps", "is_dataclass", "keys"),
        *("range", "encode", "startswith", "endswith", "raises"),
    )
)
# Functions that call an argument, that expect an exception from it, and that ask for a class.
_CALLING = frozenset(
    (
        *("map", "filter", "partial", "reduce", "sorted", "min", "max", "starmap", "accumulate"),
        *("groupby", "takewhile", "dropwhile", "submit", "run", "to_thread", "apply"),
    )
)
_EXPECTING = frozenset(
    ("raises", "assertRaises", "assertRaisesRegex", "warns", "assertWarns", "assertWarnsRegex")
)
_ASKING = frozenset(("isinstance", "issubclass", "assertIsInstance", "assertNotIsInstance"))
_SETTING = frozenset(("setattr", "setitem"))
_ENTERING = frozenset(("enter_context", "enter_async_context", "enterContext"))
_PUTTING = frozenset(
    ("append", "appendleft", "add", "insert", "extend", "update", "setdefault", "put")
)
_ASKED = (ast.In, ast.NotIn, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_CONTAINERS = frozenset(("list", "dict", "set", "deque", "defaultdict", "Counter", "OrderedDict"))

# The number of the outermost function to which a name belongs, or 0; and the name. The name of an
# attribute begins with a dot.
_Key = tuple[int, str]


def reasons(files: Sequence[tuple[File, Callable[[ast.AST], bool]]]) -> Iterator[str]:
    """Yields why tests need the solution's process.

    Args:
        files: each file with a function that returns True for code in it that uses the solution.
    """
    known = _Known([file for file, _ in files])
    if not known.is_any:
        return
    looks = [_Look(file, hears, known) for file, hears in files]
    size = -1
    while size < known.size:
        size = known.size
        for look in looks:
            look.follow()
    for look in looks:
        yield from look.reasons()


class _Known:
    """The definitions of the files, and what their names may stand for.

    Attributes:
        own: the names of the tests' classes.
        plain: those whose objects cross as they are, unlike the class itself.
        enumerations: those whose attributes are objects.
        functions: the tests' functions, by name.
        renamed: the names by which files import such functions.
        things: names that may stand for such a class or object, or a function that returns one.
        raisers: the names of functions that may raise an exception of such a class.
        lent: names that may stand for a name of the solution.
        met: names that may stand for a value that the solution returned.
        is_any: whether there is anything to find.
    """

    def __init__(self, files: Sequence[File]) -> None:
        self.own, self.plain, self.enumerations = set[str](), set[str](), set[str]()
        self.functions: dict[str, list[Function]] = {}
        self.things, self.raisers = set[_Key](), set[_Key]()
        self.lent, self.met = set[_Key](), set[_Key]()
        nodes = [(file, node) for file in files for node in syntax.walk(file.tree)]
        for _, node in nodes:
            match node:
                case ast.ClassDef():
                    self._define(node)
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                    self._make(name, call)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self.functions.setdefault(node.name, []).append(node)
        self.renamed: dict[str, str] = {}
        for _, node in nodes:
            if isinstance(node, ast.alias) and node.asname:
                for names in (self.own, self.plain, self.enumerations):
                    names |= {node.asname} if node.name in names else set()
                if node.name in self.functions:
                    self.renamed[node.asname] = node.name
        self.is_any = bool(self.own or self.plain) or any(
            is_of_library(file, node) or _makes_class(node)
            for file, node in nodes
            if isinstance(node, ast.expr)
        )

    @property
    def size(self) -> int:
        """The number of known names."""
        return sum(map(len, (self.things, self.raisers, self.lent, self.met)))

    def _define(self, node: ast.ClassDef) -> None:
        methods = [one.name for one in node.body if isinstance(one, FUNCTIONS)]
        bases = {_last(without_call(one)) for one in node.bases}
        is_case = any(name.startswith("test") for name in methods)
        if is_case or any(base.endswith("TestCase") for base in bases):
            return
        is_plain = not bases.isdisjoint(_PLAIN_BASES) and not methods
        (self.plain if is_plain else self.own).add(node.name)
        if not bases.isdisjoint(_ENUMERATIONS | self.enumerations):
            self.enumerations.add(node.name)

    def _make(self, name: str, call: ast.Call) -> None:
        maker = _last(call.func)
        if maker in _PLAIN_BASES:
            self.plain.add(name)
        elif _makes_class(call):
            self.own.add(name)
        if maker in _ENUMERATIONS:
            self.enumerations.add(name)


def is_of_library(file: File, node: ast.expr) -> bool:
    """Returns True for the name of a library's class whose objects do not arrive as they are."""
    origin = file.origin(node)
    is_error = _ERROR.fullmatch(origin.rpartition(".")[2]) is not None
    return origin in _OF_LIBRARIES or (is_error and "." in origin)


class _Look:
    """Finds uses of such objects in one file."""

    def __init__(self, file: File, hears: Callable[[ast.AST], bool], known: _Known) -> None:
        self._file, self._hears, self._known = file, hears, known
        self._nodes = list(syntax.walk(file.tree))
        self._function: dict[int, Function] = {}  # the innermost one around a node
        self._outermost: dict[int, Function] = {}
        self._class: dict[int, ast.ClassDef] = {}  # the innermost one around a node
        self._find_places(file.tree)
        self._own_names = {
            id(one): _names_of(one) for one in {*self._outermost.values(), *self._functions()}
        }
        self._bindings = [
            pair
            for node in self._nodes
            for target, value in bindings(node)
            for pair in _paired(target, value)
        ]
        self._containers = {
            self._key(target)
            for target, value in self._bindings
            if isinstance(value, _DISPLAYS)
            or (isinstance(value, ast.Call) and _last(value.func) in _CONTAINERS)
        }

    def _functions(self) -> Iterator[Function]:
        return (node for node in self._nodes if isinstance(node, FUNCTIONS))

    def _find_places(self, tree: ast.Module) -> None:
        waiting: list[ast.AST] = [tree]
        while waiting:
            node = waiting.pop()
            function, kind = self._function.get(id(node)), self._class.get(id(node))
            outermost = self._outermost.get(id(node))
            if isinstance(node, FUNCTIONS):
                function, outermost = node, outermost or node
            elif isinstance(node, ast.ClassDef):
                kind = node
            for child in syntax.children(node):
                waiting.append(child)
                if function is not None and outermost is not None:
                    self._function[id(child)], self._outermost[id(child)] = function, outermost
                if kind is not None:
                    self._class[id(child)] = kind

    # ------------------------------------------------------------------------ what names mean

    def _key(self, node: ast.AST) -> _Key | None:
        """Returns the key of a name or an attribute; None for other expressions."""
        match node:
            case ast.Name(id=name):
                return self._key_of(name, node)
            case ast.Attribute(attr=name):
                return (0, f".{name}")
        return None

    def _key_of(self, name: str, node: ast.AST) -> _Key:
        """Returns the key of a name at the place of a node."""
        outermost = self._outermost.get(id(node))
        if outermost is not None and name in self._own_names[id(outermost)]:
            return (id(outermost), name)
        return (0, self._known.renamed.get(name, name))

    def _key_of_function(self, function: Function) -> _Key:
        kind = self._class.get(id(function))
        if kind is not None and function in kind.body:
            return (0, f".{function.name}")
        outermost = self._outermost.get(id(function))
        return (id(outermost) if outermost is not None else 0, function.name)

    def follow(self) -> None:
        """Finds names that may stand for such objects."""
        known = self._known
        for target, value in self._bindings:
            self._keep(set(self._kept(target)), value)
        for node in self._nodes:
            function = self._function.get(id(node))
            match node:
                case ast.Call():
                    self._follow_call(node)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._follow_fixtures(node)
                case ast.Return() | ast.Yield() | ast.YieldFrom():
                    if function is not None and self.is_own(node.value):
                        known.things.add(self._key_of_function(function))
                case ast.ExceptHandler(type=kind, name=str(name)) if self.is_own(kind):
                    known.things.add(self._key_of(name, node))
                case ast.Raise() if function is not None and self._is_raising(node):
                    known.raisers.add(self._key_of_function(function))

    def _keep(self, keys: set[_Key], value: ast.expr) -> None:
        """Records that names may stand for a value."""
        known = self._known
        known.things |= keys if self.is_own(value) else set()
        known.lent |= keys if self._is_lent(value) else set()
        known.met |= keys if self._meets(value) else set()

    def _kept(self, target: ast.AST) -> Iterator[_Key]:
        """Yields the names that a target binds or changes."""
        match target:
            case ast.Name() if self._is_of_class(target):
                yield (0, f".{target.id}")
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    yield from self._kept(part)
            case ast.Subscript(value=part) | ast.Starred(value=part):
                yield from self._kept(part)
            case ast.Attribute(value=part) if not _is_self(part):
                yield from self._kept(_innermost(part))
        if (key := self._key(target)) is not None:
            yield key

    def _is_of_class(self, name: ast.Name) -> bool:
        kind, function = self._class.get(id(name)), self._function.get(id(name))
        return kind is not None and (function is None or function is self._function.get(id(kind)))

    def _follow_call(self, call: ast.Call) -> None:
        """Records what parameters of the tests' functions, and containers, are given."""
        known, function = self._known, self._function.get(id(call))
        if function is not None and self._key(call.func) in known.raisers:
            known.raisers.add(self._key_of_function(function))
        given = _given(call)
        if isinstance(call.func, ast.Attribute) and any(map(self.is_own, given)):
            known.things |= set(self._kept(call.func.value))
        name = "__init__" if self._names_class(call.func) else _last(call.func)
        for called in known.functions.get(name, ()):
            for parameter, value in _passed(called, call):
                self._keep({(self._number_of(called), parameter)}, value)

    def _follow_fixtures(self, function: Function) -> None:
        """Records that parameters stand for the values of fixtures and of rows of tables."""
        known, number = self._known, self._number_of(function)
        rows = [
            one
            for one in function.decorator_list
            if isinstance(one, ast.Call) and any(map(self.is_own, _given(one)))
        ]
        for name in _parameters(function):
            is_fixture = (0, name) in known.things and name in known.functions
            is_row = any(_last(one.func) == "parametrize" for one in rows)
            known.things |= {(number, name)} if is_fixture or is_row else set()
        if any(_last(one.func) == "fixture" for one in rows):
            known.things.add(self._key_of_function(function))

    def _number_of(self, function: Function) -> int:
        """Returns the number of a function in the keys of its names, in any file."""
        return id(self._outermost.get(id(function), function))

    def _is_raising(self, node: ast.Raise) -> bool:
        if node.exc is None or not self.is_own(node.exc):
            return False
        return not is_of_library(self._file, without_call(node.exc))

    # ----------------------------------------------------------------------- what things are

    def _names_class(self, node: ast.expr) -> bool:
        return _last(node) in self._known.own | self._known.plain

    def is_own(self, node: ast.expr | None) -> bool:
        """Returns True if an expression may be a class of the tests, its object, or hold one."""
        known = self._known
        match node:
            case None | ast.Constant() | ast.JoinedStr() | ast.Compare():
                return False
            case ast.Call():
                return self._gives_own(node)
            case ast.Name(id=name) if name in _SELVES:
                kind = self._class.get(id(node))
                return kind is not None and kind.name in known.own
            case ast.Name() | ast.Attribute():
                return self._is_own_name(node)
            case ast.Lambda(body=part) | ast.Starred(value=part) | ast.Await(value=part):
                return self.is_own(part)
            case ast.NamedExpr(value=part) | ast.Subscript(value=part):
                return self.is_own(part)
            case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part):
                return self.is_own(part)
            case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
                return self.is_own(one) or self.is_own(other)
            case ast.DictComp(key=one, value=other):
                return self.is_own(one) or self.is_own(other)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return any(map(self.is_own, parts))
            case ast.BoolOp(values=parts):
                return any(map(self.is_own, parts))
            case ast.Dict(keys=keys, values=values):
                return any(map(self.is_own, (*keys, *values)))
        return False

    def _is_own_name(self, node: ast.Name | ast.Attribute) -> bool:
        known = self._known
        keys = {self._key(node)}
        if isinstance(node, ast.Attribute) and node.attr in known.functions:
            keys.add((0, node.attr))  # of a module
        if self._names_class(node) or not keys.isdisjoint(known.things | known.raisers):
            return True
        if is_of_library(self._file, node):
            return True
        if not isinstance(node, ast.Attribute):
            return False
        owner = self._file.origin(node.value)
        return _last(node.value) in known.enumerations or owner in _OF_LIBRARIES

    def _gives_own(self, call: ast.Call) -> bool:
        name, known = _last(call.func), self._known
        if _makes_class(call):
            return True
        if name in _TELLING:
            return False
        if name in known.plain:
            return any(map(self.is_own, _given(call)))
        if isinstance(call.func, (ast.Name, ast.Attribute)) and self._is_own_name(call.func):
            return True
        if name in known.functions:
            return False  # it gives none, or else its name was known
        owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        return any(map(self.is_own, [*owner, *_given(call)]))

    def _is_lent(self, node: ast.expr) -> bool:
        """Returns True for a name that may stand for a name of the solution."""
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return False
        return self._key(node) in self._known.lent or self._hears(node)

    def _meets(self, node: ast.AST) -> bool:
        """Returns True for code that uses the solution, under any name."""
        if self._hears(node):
            return True
        keys = set(map(self._key, syntax.walk(node)))
        return not (keys.isdisjoint(self._known.met) and keys.isdisjoint(self._known.lent))

    # ----------------------------------------------------------------------- what is done

    def reasons(self) -> Iterator[str]:
        """Yields the reasons."""
        for node in self._nodes:
            if self._hands_over(node):
                yield HANDS_OVER
            elif isinstance(node, (ast.With, ast.AsyncWith)) and self._raises_in(node):
                yield RAISES

    def _hands_over(self, node: ast.AST) -> bool:
        match node:
            case ast.Call():
                return self._hands_over_in(node)
            case ast.Assign(targets=targets, value=value):
                return any(map(self._is_place, targets)) and self.is_own(value)
            case ast.AnnAssign(target=target, value=value):
                return self._is_place(target) and self.is_own(value)
            case ast.AugAssign(target=target, value=value):
                return self.is_own(value) and self._meets_object(target)
            case ast.Subscript(value=owner, slice=key):
                return self.is_own(key) and self._meets_object(owner)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, _ASKED):
                sides = ((left, right), (right, left))
                return any(self.is_own(one) and self._meets_object(other) for one, other in sides)
            case ast.BinOp(left=left, right=right):
                sides = ((left, right), (right, left))
                return any(self.is_own(one) and self._meets_object(other) for one, other in sides)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self._is_decorated(node) and self._is_own_function(node)
            case ast.ClassDef(name=name):
                return name in self._known.own and self._is_decorated(node)
        return False

    def _is_place(self, target: ast.expr) -> bool:
        """Returns True for an attribute or element of an object of the solution."""
        if not isinstance(target, (ast.Attribute, ast.Subscript)):
            return False
        return _last(target.value) not in _SELVES and self._meets_object(target.value)

    def _meets_object(self, node: ast.expr) -> bool:
        """Returns True if an expression may be the solution's object, and no container of the
        tests."""
        return self._key(node) not in self._containers and self._meets(node)

    def _hands_over_in(self, call: ast.Call) -> bool:
        given, name = _given(call), _last(call.func)
        own = [one for one in given if self.is_own(one)]
        if not own:
            return False
        if name in _ASKING:
            return own[0] is given[0] and any(map(self._meets, given[1:]))
        if name in _SETTING:
            return self._meets_object(given[0])
        if name in _EXPECTING | _CALLING:
            others = given[name in _EXPECTING :]
            return any(map(self._is_lent, others)) and any(map(self.is_own, others))
        if isinstance(call.func, ast.Attribute) and name in _PUTTING:
            return self._meets_object(call.func.value)
        is_own = self._names_class(call.func) or name in self._known.functions
        return not is_own and self._meets(call.func)

    def _is_decorated(self, node: Function | ast.ClassDef) -> bool:
        return any(map(self._meets, node.decorator_list))

    def _is_own_function(self, function: Function) -> bool:
        known, key = self._known, self._key_of_function(function)
        kind = self._class.get(id(function))
        is_method = kind is not None and kind.name in known.own and function in kind.body
        return is_method or key in known.things or key in known.raisers

    def _raises_in(self, block: ast.With | ast.AsyncWith) -> bool:
        """Returns True if a manager of the solution may see such an exception."""
        parts = [part for statement in block.body for part in syntax.walk(statement)]
        entered = [one for part in parts if isinstance(part, ast.Call) for one in _entered(part)]
        managers = [*(item.context_expr for item in block.items), *entered]
        if not any(self._meets(one) for one in managers if not _is_of_tests(one)):
            return False
        return any(
            (isinstance(part, ast.Raise) and self._is_raising(part))
            or (isinstance(part, ast.Call) and self._key(part.func) in self._known.raisers)
            for part in parts
        )


def _makes_class(node: ast.expr) -> bool:
    """Returns True for a call that makes a class."""
    if not isinstance(node, ast.Call):
        return False
    name = _last(node.func)
    return len(node.args) > 1 and (name == "type" or name in _MAKERS)


def _paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yields the names of a tuple, each with its value, if the text shows the values."""
    match target, value:
        case ast.Tuple(elts=ones), ast.Tuple(elts=others) if len(ones) == len(others):
            for one, other in zip(ones, others, strict=True):
                yield from _paired(one, other)
        case _:
            yield target, value


def _last(node: ast.expr) -> str:
    """Returns the last part of a name, also after a call in it."""
    return node.attr if isinstance(node, ast.Attribute) else dotted(node)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in _SELVES


def _innermost(node: ast.expr) -> ast.expr:
    """Returns the expression at the root of attributes: a name, or an attribute of `self`."""
    while isinstance(node, ast.Attribute) and not _is_self(node.value):
        node = node.value
    return node


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(one.value for one in call.keywords)]


def _parameters(function: Function) -> list[str]:
    given = function.args
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _passed(function: Function, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """Yields the parameters of a function, each with its argument in a call."""
    names = [name for name in _parameters(function) if name not in _SELVES]
    yield from zip(names, call.args, strict=False)
    yield from ((one.arg, one.value) for one in call.keywords if one.arg is not None)


def _names_of(function: Function) -> set[str]:
    """Returns the names of a function's variables, also of the functions inside it."""
    parts = list(syntax.walk(function))
    shared = {name for one in parts if isinstance(one, ast.Global) for name in one.names}
    stored = {
        one.id for one in parts if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    inner = {one.name for one in parts if isinstance(one, FUNCTIONS) and one is not function}
    caught = {one.name for one in parts if isinstance(one, ast.ExceptHandler) and one.name}
    given = {one.arg for one in parts if isinstance(one, ast.arg)}
    return (stored | inner | caught | given) - shared


def _entered(call: ast.Call) -> list[ast.expr]:
    """Returns the manager that a stack of managers enters."""
    return call.args if _last(call.func) in _ENTERING else []


def _is_of_tests(manager: ast.expr) -> bool:
    """Returns True for a manager of the test framework, which the solution does not see."""
    return isinstance(manager, ast.Call) and _last(manager.func) in _EXPECTING | {"subTest"}
