"""The rules for objects that tests may pass to the solution, and for the operations on them.

What this stops: an object that gives access to more than the tests intend. With a path or `open`,
the solution could read any file of the judge, including the request with its expected values.
`getattr`, `str.format` and `configure_mock` take names of attributes, and so reach the globals of
every function. If a method could be replaced, it would answer as the solution likes. So these rules
hold:

- An object crosses if the tests define it (by identity, see `own`), or if it is listed here because
  it only computes. No listed operation takes a name of an attribute.
- The solution can call a function and read its docstring, get an iterator's next element, and read
  an object's public attributes that the tests or a listed class define. The same rule applies to
  the values of these attributes.
- The solution can write to a stream in memory, unless the test derives expected values from it.
- The solution can call a class if all its base classes are the tests' own or listed, and if it does
  not make classes or mocks.
- Of the tests' own objects, the solution can only set data: nothing that can be called, and a
  property only through a setter of the tests. Data can only be replaced by data, so that no object
  of the solution answers in its place.
- The solution can call a mock and read its children and `return_value`. It cannot use other
  attributes that every mock has, since they configure the mock.
- No address of the judge's memory crosses in a representation or a hash.

What it does not do: it does not protect the values that the tests' own functions and objects
return.
"""

from __future__ import annotations

import abc
import builtins
import functools
import io
import operator
import re
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard, cast

from ...channel.codec import TYPES, DataOnly, Foreign, NotDataError, ProtocolViolation
from ...channel.encoding import Encoder
from ...sharing.objects import fields_of
from ...values import live
from ..text import purity
from .own import Asking, AskingABC, Own

FUNCTION, ITERATOR, OBJECT, MOCK = "function", "iterator", "object", "mock"
OBJECT_ITERATOR = "object iterator"  # an object that also has a next element
_OBJECTS = (OBJECT, OBJECT_ITERATOR)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Functions that only compute: those without side effects, and some that pure tests do not use.
_FUNCTIONS: Mapping[str, frozenset[str]] = {
    **purity.MODULES,
    "builtins": _words(
        "abs all any ascii bin callable chr divmod hash hex isinstance issubclass iter len max"
        " min next oct ord pow print repr round sorted sum"
    ),
    "cmath": _words("exp isclose log phase polar rect sqrt"),
    "datetime": _words("date datetime time timedelta timezone"),
    "decimal": _words("Decimal"),
    "statistics": _words("fmean mean median mode multimode pstdev pvariance stdev variance"),
    "textwrap": _words("dedent fill indent shorten wrap"),
    "types": _words("SimpleNamespace"),
    "unicodedata": _words("category combining name normalize"),
}
# Classes of libraries whose objects may be passed, and whose public attributes may be read.
_CLASSES: Mapping[str, frozenset[str]] = {
    "_io": _words("BytesIO StringIO"),
    "_queue": _words("SimpleQueue"),
    "_random": _words("Random"),
    "array": _words("array"),
    "builtins": _words(
        "bool bytearray bytes complex dict float frozenset int list memoryview object range set"
        " slice str tuple"
    ),
    "collections": _words("Counter OrderedDict UserDict UserList defaultdict deque"),
    "collections.abc": _words(
        "Collection Container Hashable ItemsView Iterable Iterator KeysView Mapping MappingView"
        " MutableMapping MutableSequence MutableSet Reversible Sequence Set Sized ValuesView"
    ),
    "datetime": _words("date datetime time timedelta timezone tzinfo"),
    "decimal": _words("Decimal"),
    "enum": _words("Enum Flag IntEnum IntFlag ReprEnum StrEnum"),
    "fractions": _words("Fraction"),
    "numbers": _words("Complex Number Rational Real"),
    "numpy.random._generator": _words("Generator"),
    "numpy.random.mtrand": _words("RandomState"),
    "queue": _words("LifoQueue PriorityQueue Queue"),
    "random": _words("Random"),
    "re": _words("Match Pattern"),
    "types": _words("SimpleNamespace"),
    "unittest.mock": _words("_SentinelObject"),
}
_ABSTRACT = ("abc", "typing")  # modules of base classes without effects
_EXCEPTION_FIELDS = _words("args code errno filename name strerror value")
_OPERATORS = vars(operator).keys() | {
    *("__bool__", "__float__", "__int__", "__iter__", "__len__", "__next__"),
    *("__repr__", "__reversed__", "__round__", "__str__"),
}
_TEMPLATES = frozenset(("format", "format_map"))  # their text names attributes of their arguments
_MOCKS = "unittest.mock"
_RETURN_VALUE = "return_value"
_ADDRESS = re.compile(r"( at 0x|id=')[0-9a-f]+")
_SETTABLE_DATA_BYTES = 1 << 20

_STREAMS = (io.BytesIO, io.StringIO)
_CHANGING = _words("get get_nowait put put_nowait truncate write writelines")  # change these
_QUEUES = ("_queue", "queue")  # the modules that define queues

_NATIVE_METHODS = (
    types.MethodDescriptorType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
BOUND = (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)
_GETTERS = (operator.attrgetter, operator.methodcaller)
_CALLABLE = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    functools.partial,
    operator.itemgetter,
    *_NATIVE_METHODS,
    *_GETTERS,
)
_LRU_CACHE = type(functools.lru_cache(lambda: None))
_NEVER = (
    types.ModuleType,
    types.FrameType,
    types.CodeType,
    types.CellType,
    types.TracebackType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    types.MappingProxyType,
)
_DATA = (bool, int, float, complex, str, bytes, list, tuple, set, frozenset, dict)


def is_public(name: object) -> TypeGuard[str]:
    """Returns True if a solution may request this name."""
    return type(name) is str and not name.startswith("_")


def is_hashed_by_address(owner: object) -> bool:
    """Returns True if an object's hash is made from its address."""
    kind = type(owner)
    is_default = kind.__hash__ is object.__hash__
    return is_default or issubclass(kind, BOUND) or _is_mock_class(kind)


def is_stream(value: object) -> bool:
    """Returns True for a stream in memory, to which a solution may write."""
    return isinstance(value, _STREAMS)


def is_used_up(value: object) -> bool:
    """Returns True for a stream or queue, whose content a solution's use changes."""
    return is_stream(value) or type(value).__module__ in _QUEUES


def without_addresses(text: str) -> str:
    """Returns a text without the addresses that representations contain."""
    return _ADDRESS.sub(r"\g<1>0", text)


class RefusedAttributeError(AttributeError):
    """The attribute exists, but the solution must not use it."""


class Membrane:
    """The rule for the tests of one execution.

    Args:
        own: the definitions of the tests themselves.
        withholds: called before a change of a protected object; returns True if it must not be
            made.
    """

    def __init__(self, own: Own, withholds: Callable[[], bool] = lambda: True) -> None:
        self._own = own
        self._withholds = withholds
        self._protected: dict[int, object] = {}

    def objects_in(self, values: Iterable[object]) -> list[object]:
        """Returns the objects of the tests' own classes in values, and in their fields."""
        waiting, found, seen = list(values), list[object](), set[int]()
        while waiting:
            value = waiting.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, (list, tuple, set, frozenset, dict)):
                waiting += live.elements(value)
            elif self.may_change(value):
                found.append(value)
                waiting += fields_of(value).values()
        return found

    def may_change(self, value: object) -> bool:
        """Returns True for an object whose fields or content a use by the solution may change."""
        kind = type(value)
        return kind is types.SimpleNamespace or is_used_up(value) or self._own.has_class(kind)

    def protect(self, objects: Iterable[object]) -> None:
        """Prevents the solution from setting fields of objects and from writing to streams."""
        self._protected.update((id(one), one) for one in objects)

    def keeps(self, owner: object) -> bool:
        """Returns True if a change of an object must not be made."""
        return id(owner) in self._protected and self._withholds()

    def kind_of(self, value: object) -> str:
        """Returns the way in which an object is passed.

        Raises:
            NotDataError: it must not be handed over.
        """
        kind = type(value)
        if _is_mock_class(kind):
            return MOCK
        if isinstance(value, type):
            if self._may_be_made(value):
                return FUNCTION
        elif issubclass(kind, _CALLABLE) or kind is _LRU_CACHE:
            if self._may_be_called(value):
                return FUNCTION
        elif self._is_open(kind) or issubclass(kind, BaseException):
            return OBJECT_ITERATOR if hasattr(kind, "__next__") else OBJECT
        elif hasattr(kind, "__next__") and not issubclass(kind, _NEVER):
            return ITERATOR
        name = getattr(value, "__qualname__", kind.__qualname__)
        raise NotDataError(f"{name} cannot be handed to the solution")

    def perform(self, operation: str, owner: object, operands: list[object]) -> object:
        """Performs an operation on an object that was passed.

        Raises:
            ProtocolViolation: the candidate's shim would not request it.
            AttributeError: there is no such attribute, or the solution must not read or set it.
        """
        kind = self.kind_of(owner)
        match operation, operands:
            case ["get", ["__doc__"]] if kind == FUNCTION:
                return _docstring(owner)
            case ["get", ["__signature__"]] if kind == FUNCTION:
                return _signature(owner)
            case ["get", [name]] if kind in (*_OBJECTS, MOCK):
                return self.get(owner, name)
            case ["set", [name, value]] if kind in (*_OBJECTS, MOCK):
                self.set(owner, name, value)
                return None
        action = _OPERATIONS[kind].get(operation)
        if action is None or (action is _call and kind in _OBJECTS and not self._calls(owner)):
            raise ProtocolViolation("an operation that is not offered")
        answer = action(owner, *operands)
        return self._told(owner, operands, answer) if kind == FUNCTION else answer

    def _told(self, function: object, operands: list[object], answer: object) -> object:
        """Returns a function's answer, without addresses unless the tests define the function."""
        if type(answer) is not str or self._own.has_function(_function_of(function)):
            return answer
        owner = getattr(function, "__self__", None)
        is_partial = isinstance(function, functools.partial)
        tells_of_data = not is_partial and _is_data([owner, *operands])
        return answer if tells_of_data else without_addresses(answer)

    def _calls(self, owner: object) -> bool:
        """Returns True if the tests define an object's `__call__`."""
        definer = _definer(type(owner), "__call__")
        return definer is not None and self._own.has_class(definer)

    # ------------------------------------------------------------------------ attributes

    def get(self, owner: object, name: object) -> object:
        """Returns a public attribute.

        Raises:
            AttributeError: there is none that the solution may read.
        """
        if not is_public(name) or not self._may_be_read(owner, name):
            exists = _definer(type(owner), str(name)) is not None
            raise (RefusedAttributeError if exists else AttributeError)(name)
        return getattr(owner, name)

    def set(self, owner: object, name: object, value: object) -> None:
        """Sets an attribute of an object to data.

        Raises:
            AttributeError: the solution must not set it.
        """
        may_be_set = _may_be_set_on_mock if _is_mock_class(type(owner)) else self.may_be_set
        if not is_public(name) or not may_be_set(owner, name, value) or self.keeps(owner):
            raise RefusedAttributeError(f"{name} cannot be set by the solution")
        setattr(owner, name, value)

    def _may_be_read(self, owner: object, name: str) -> bool:
        kind = type(owner)
        if _is_mock_class(kind):
            return name == _RETURN_VALUE or name not in _names_of_every_mock()
        if name in _own_fields(owner):
            return True
        definer = _definer(kind, name)
        if definer is None:
            return self._answers_any_name(kind)
        if issubclass(definer, BaseException) and definer.__module__ == "builtins":
            return name in _EXCEPTION_FIELDS
        if name in _CHANGING and is_used_up(owner) and self.keeps(owner):
            return False
        if _is_listed(_CLASSES, kind):
            return name not in _TEMPLATES
        return self._is_open(definer) and (name not in _TEMPLATES or self._own.has_class(definer))

    def may_be_set(self, owner: object, name: str, value: object) -> bool:
        """Returns True if an object's field is data of the tests and may be set to a value."""
        kind = type(owner)
        if not self._own.has_class(kind) and kind is not types.SimpleNamespace:
            return False
        definer = _definer(kind, name)
        field = None if definer is None else vars(definer)[name]
        if isinstance(field, property):
            return self._own.has_function(field.fset)
        fields = _own_fields(owner)
        if isinstance(field, types.MemberDescriptorType):  # one of `__slots__`
            return _may_replace(getattr(owner, name, None), value)
        if hasattr(type(field), "__get__"):
            return False
        if definer is None and name not in fields and self._answers_any_name(kind):
            return False
        return _may_replace(fields.get(name, field), value)

    def _answers_any_name(self, kind: type) -> bool:
        definer = _definer(kind, "__getattr__")
        return definer is not None and self._own.has_class(definer)

    # --------------------------------------------------------------------------- classes

    def _is_open(self, kind: type) -> bool:
        """Returns True if objects of a class may be passed."""
        if issubclass(kind, (type, *_NEVER)):
            return False
        return self._own.has_class(kind) or _is_listed(_CLASSES, kind)

    def _may_be_made(self, kind: type) -> bool:
        """Returns True if a class may be called."""
        if issubclass(kind, type) or _is_mock_class(kind):
            return False
        if not self._own.has_class(kind):
            return _is_listed(_FUNCTIONS, kind)
        return self._is_tame_metaclass(kind) and all(map(self._is_tame, kind.__mro__))

    def _is_tame(self, base: type) -> bool:
        if self._own.has_class(base) or _is_listed(_CLASSES, base):
            return True
        return base.__module__ in _ABSTRACT or issubclass(base, BaseException)

    def _is_tame_metaclass(self, kind: type) -> bool:
        metaclass = type(kind)
        if metaclass in (type, abc.ABCMeta, Asking, AskingABC) or self._own.has_class(metaclass):
            return True
        # A call of an enumeration without members makes a class.
        return metaclass.__module__ == "typing" or bool(getattr(kind, "__members__", None))

    # ------------------------------------------------------------------------- functions

    def _may_be_called(self, function: object) -> bool:
        if isinstance(function, _GETTERS):
            return all(map(is_public, _names_in(function)))
        if isinstance(function, functools.partial):
            bound = (function.func, *function.args, *function.keywords.values())
            functions = list(filter(callable, bound))
            tells_hash = any(one is hash for one in functions)  # it would reveal a hash
            return not tells_hash and all(map(self._is_offered, functions))
        if isinstance(function, _LRU_CACHE):
            return self._own.has_function(function.__wrapped__)
        if isinstance(function, types.MethodType):
            return self._is_method(function)
        if isinstance(function, types.FunctionType):
            return self._own.has_function(function) or _is_known_function(function)
        if isinstance(function, types.BuiltinFunctionType):
            return self._is_native(function)
        if isinstance(function, types.MethodWrapperType):
            return self._is_native_method(type(function.__self__), function.__name__)
        if isinstance(function, _NATIVE_METHODS):
            owner = cast("types.MethodDescriptorType", function).__objclass__
            name = function.__name__
            return name not in _TEMPLATES and self._is_native_method(owner, name)
        return isinstance(function, operator.itemgetter)

    def _is_offered(self, value: object) -> bool:
        try:
            return bool(self.kind_of(value))
        except NotDataError:
            return False

    def _is_method(self, method: types.MethodType) -> bool:
        function: object = method.__func__
        if self._own.has_function(function):
            return True
        name: str = getattr(function, "__name__", "")
        definer = _definer(type(method.__self__), name) if is_public(name) else None
        is_defined = definer is not None and vars(definer).get(name) is function
        return is_defined and _is_listed(_CLASSES, cast("type", definer))

    def _is_native(self, function: types.BuiltinFunctionType) -> bool:
        """Returns True if a native function, or a method bound to an object or a class, may be
        called."""
        owner = function.__self__
        if isinstance(owner, types.ModuleType):
            return _is_known_function(function)
        if function.__name__ in _CHANGING and self.keeps(owner):
            return False
        return self._is_native_method(
            owner if isinstance(owner, type) else type(owner), function.__name__
        )

    def _is_native_method(self, owner: type, name: str) -> bool:
        definer = _definer(owner, name)
        if definer is None or not (is_public(name) or name in _OPERATORS):
            return False
        return _is_listed(_CLASSES, definer) or _is_listed(_CLASSES, owner)


def _is_listed(table: Mapping[str, frozenset[str]], value: type) -> bool:
    """Returns True if a class is the one that its module has under a listed name."""
    name, module = value.__name__, value.__module__
    return name in table.get(module, ()) and _is_in(module, name, value)


def _docstring(function: object) -> str | None:
    text = getattr(function, "__doc__", None)
    return text if type(text) is str else None


def _function_of(callee: object) -> object:
    """Returns the function that a method or a cache calls."""
    if isinstance(callee, types.MethodType):
        return callee.__func__
    return callee.__wrapped__ if isinstance(callee, _LRU_CACHE) else callee


def _is_known_function(function: types.FunctionType | types.BuiltinFunctionType) -> bool:
    """Returns True if a listed module has this function under a listed name."""
    name = function.__name__
    return _is_autospecced(function) or any(
        name in names and _is_in(module, name, function) for module, names in _FUNCTIONS.items()
    )


def _is_in(module: str, name: str, value: object) -> bool:
    return vars(sys.modules[module]).get(name) is value if module in sys.modules else False


def _names_in(getter: object) -> list[str]:
    """Returns the attribute names of a getter."""
    reduced: Any = getter.__reduce__()
    made, arguments = reduced
    if isinstance(made, functools.partial):
        arguments = made.args
    paths = arguments if isinstance(getter, operator.attrgetter) else arguments[:1]
    return [part for path in paths for part in str(path).split(".")]


def _definer(kind: type, name: str) -> type | None:
    """Returns the class that defines a name for a class's objects."""
    return next((base for base in kind.__mro__ if name in vars(base)), None)


def _own_fields(owner: object) -> Mapping[str, object]:
    try:
        fields = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    return fields if type(fields) is dict else {}


def _may_replace(before: object, value: object) -> bool:
    if isinstance(before, Foreign):
        return True
    if callable(before):
        return False
    return not (isinstance(before, _DATA) and isinstance(value, Foreign))


# ------------------------------------------------------------------------------------ mocks


def _mock_module() -> types.ModuleType | None:
    return sys.modules.get(_MOCKS)


def _is_mock_class(kind: type) -> bool:
    module = _mock_module()
    return module is not None and issubclass(kind, module.NonCallableMock)


def _is_autospecced(function: object) -> bool:
    """Returns True for a function that `create_autospec` made."""
    if type(function) is not types.FunctionType or _mock_module() is None:
        return False
    return _is_mock_class(type(vars(function).get("mock")))


@functools.cache
def _names_of_every_mock() -> frozenset[str]:
    module: Any = _mock_module()
    return frozenset(dir(module.MagicMock())) | frozenset(dir(module.AsyncMock()))


def _may_be_set_on_mock(owner: object, name: str, value: object) -> bool:
    """Returns True for data under a name that neither every mock nor a child has."""
    fields = _own_fields(owner)
    children: Any = fields["_mock_children"]
    if name in _names_of_every_mock() or name in children:
        return False
    return not callable(fields.get(name)) and _is_data(value)


def _is_data(value: object) -> bool:
    try:
        Encoder(DataOnly(), _SETTABLE_DATA_BYTES).value(value)
    except NotDataError:
        return False
    return True


# ------------------------------------------------------------------------------- operations


def _signature(function: Any) -> tuple[object, ...]:
    """Returns rows of name, kind, whether there is a default, and annotations, one for each
    parameter.

    The values of defaults are not sent, because tests may keep expected values in them.

    Raises:
        AttributeError: the function has no signature.
    """
    import inspect  # slow to import, and few solutions need it

    try:
        told = inspect.signature(function)
    except (TypeError, ValueError):
        raise AttributeError("__signature__") from None
    return (
        *(
            (one.name, int(one.kind), one.default is not one.empty, *_annotation(one.annotation))
            for one in told.parameters.values()
        ),
        ("return", -1, False, *_annotation(told.return_annotation)),
    )


def _annotation(told: object) -> tuple[object, ...]:
    """Returns an annotation if it is a text, or a class that crosses by its name."""
    is_told = type(told) is str or any(told is known for known in TYPES.values())
    return (told,) if is_told else ()


def _call(function: Any, args: object, kwargs: object) -> object:
    if type(args) is not list or type(kwargs) is not dict or not all(map(_is_text, kwargs)):
        raise ProtocolViolation("not arguments")
    return function(*args, **kwargs)


def _is_text(name: object) -> bool:
    return type(name) is str


def _text(owner: object) -> str:
    return without_addresses(str(owner))


def _representation(owner: object) -> str:
    return without_addresses(repr(owner))


_CALL: Mapping[str, Callable[..., object]] = {"call": _call}
_NEXT: Mapping[str, Callable[..., object]] = {"next": builtins.next, "iter": builtins.iter}
_EVERYTHING: Mapping[str, Callable[..., object]] = {
    **_CALL,
    "iter": builtins.iter,
    "len": builtins.len,
    "bool": builtins.bool,
    "str": _text,
    "repr": _representation,
    "hash": builtins.hash,
    "item": operator.getitem,
    "set_item": operator.setitem,
    "contains": operator.contains,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_OPERATIONS = {
    FUNCTION: _CALL,
    ITERATOR: _NEXT,
    OBJECT: _EVERYTHING,
    OBJECT_ITERATOR: {**_EVERYTHING, **_NEXT},
    MOCK: _EVERYTHING,
}
