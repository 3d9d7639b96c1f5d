"""The definitions of the tests themselves, recorded while their modules are executed.

What this stops: an object that falsely claims to be the tests' own. Any code can write a name such
as `__module__`. It cannot forge the globals of a function, or the fact that the creation of a class
was observed.

What it does not do: it does not decide which operations on such an object are allowed; see
`membrane`.
"""

from __future__ import annotations

import abc
import builtins
import os
import sys
import types
from collections.abc import Callable, Mapping
from types import FunctionType

PROMPT = "<prompt>"  # the file name of the prompt's code
_WRAPPERS = 8
_build_class = builtins.__build_class__


class Asking(type):
    """A class of the prompt, from which the solution may derive classes in its own process.

    Attributes:
        asks: requests an operation of the solution by name; set by the session.
    """

    asks: Callable[[str, object, type], bool] = staticmethod(lambda *_: False)

    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) or Asking.asks("isinstance", instance, cls)

    def __subclasscheck__(cls, subclass: type) -> bool:
        if not isinstance(subclass, type):
            return Asking.asks("issubclass", subclass, cls)
        return super().__subclasscheck__(subclass)


class AskingABC(Asking, abc.ABCMeta):
    """An abstract class of the prompt, like `Asking`."""


_PLAIN_METACLASSES = (type, abc.ABCMeta, Asking, AskingABC)


class Own:
    """The functions and classes of one execution's tests, and of its prompt.

    Attributes:
        classes: the classes that the tests define by a statement.
    """

    def __init__(self) -> None:
        self._namespaces: list[Mapping[str, object]] = []
        self.classes: set[type] = set()
        self._folder = ""

    def add_namespace(self, namespace: dict[str, object], *, has_classes: bool) -> None:
        """Records definitions in these globals as the tests' own.

        Args:
            namespace: globals in which nothing was executed yet.
            has_classes: whether the code that will be executed in them defines classes.
        """
        self._namespaces.append(namespace)
        if has_classes:
            own_builtins = {**vars(builtins), "__build_class__": self._build_class}
            namespace["__builtins__"] = own_builtins

    def add_folder(self, folder: str) -> None:
        """Records definitions of modules below a folder as the tests' own, in this whole
        process."""
        self._folder = os.path.join(folder, "")
        vars(builtins)["__build_class__"] = self._build_class

    def has_function(self, function: object) -> bool:
        """Returns True if the tests define a function or the function that it wraps."""
        for _ in range(_WRAPPERS):
            if type(function) is not FunctionType:
                return False
            if self._is_namespace(function.__globals__):
                return True
            function = vars(function).get("__wrapped__")
        return False

    def has_class(self, kind: type) -> bool:
        """Returns True if the tests define a class."""
        return kind in self.classes or self._is_bound(kind)

    def _is_bound(self, kind: type) -> bool:
        """Returns True if a library made a class that is bound to its name in the tests'
        globals."""
        module, name = kind.__module__, kind.__name__
        own = [known for known in self._namespaces if known.get("__name__") == module]
        imported = getattr(sys.modules.get(module), "__dict__", {})
        if self._is_namespace(imported):
            own.append(imported)
        return any(namespace.get(name) is kind for namespace in own)

    def _is_namespace(self, namespace: Mapping[str, object]) -> bool:
        if any(known is namespace for known in self._namespaces):
            return True
        path = namespace.get("__file__") if self._folder else None
        return type(path) is str and path.startswith(self._folder)

    def _build_class(
        self, body: FunctionType, name: str, /, *bases: object, **settings: object
    ) -> object:
        if body.__code__.co_filename == PROMPT or any(type(base) is Asking for base in bases):
            kinds = [type(base) for base in types.resolve_bases(bases)]
            given = settings.get("metaclass", type)
            if all(kind in _PLAIN_METACLASSES for kind in (*kinds, given)):
                is_abstract = given is abc.ABCMeta or any(
                    issubclass(one, abc.ABCMeta) for one in kinds
                )
                settings["metaclass"] = AskingABC if is_abstract else Asking
        made: object = _build_class(body, name, *bases, **settings)
        if isinstance(made, type) and self._is_namespace(body.__globals__):
            self.classes.add(made)
        return made
