"""The texts of tests given as Python, compiled and sorted by kind."""

from __future__ import annotations

import builtins
import functools
import re
from dataclasses import dataclass
from types import CodeType, TracebackType

from ...channel.cache import remembered
from ...requests import FunctionRequest
from ..text import names, purity
from .suite import TaskError

CHECK = "check"
_CHECK_DEFINITION = re.compile(r"^(?:async +)?def +check *\( *(\w*)|^check *=", re.MULTILINE)
_MAX_SHOWN = 200


@dataclass(frozen=True, kw_only=True)
class Text:
    """One text."""

    name: str
    source: str
    code: CodeType

    @functools.cached_property
    def mentioned(self) -> frozenset[str]:
        """The names of globals and attributes that the text uses."""
        return names.mentioned(self.code)

    @functools.cached_property
    def is_plain(self) -> bool:
        """Returns True if the text leaves nothing behind when it runs; see `purity`."""
        return purity.is_plain(self.source, self.code)

    @functools.cached_property
    def class_body_names(self) -> frozenset[str]:
        """The names that class bodies look up themselves."""
        return names.in_class_bodies(self.code)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """All texts of an execution's tests.

    Args:
        support: texts that run before the tests.
        script: statements that together are one test, if the tests have this form.
        has_check: whether the support defines check().
        reads_parameter: whether check() reads its parameter, the solution.
        asserts: texts that are each a test.
    """

    support: tuple[Text, ...]
    script: Text | None
    has_check: bool
    reads_parameter: bool
    asserts: tuple[Text, ...]

    @property
    def all(self) -> tuple[Text, ...]:
        """Every text, in the order in which they run."""
        return (*self.support, *([self.script] if self.script else []), *self.asserts)

    @property
    def class_body_names(self) -> frozenset[str]:
        """The names that class bodies look up themselves."""
        return frozenset[str]().union(*(text.class_body_names for text in self.all))

    @property
    def are_plain(self) -> bool:
        """Returns True if the texts leave nothing behind when they run; see `purity`."""
        return all(text.is_plain for text in self.all)

    def check_that_they_ask(self, entry_point: str) -> None:
        """Refuses texts that cannot use the solution.

        Raises:
            TaskError: they use no name that could be the solution's.
        """
        if self.reads_parameter:
            if not entry_point:
                raise TaskError("check() has a parameter, and there is no entry point")
            return
        used = frozenset[str]().union(*(text.mentioned for text in self.all))
        own = {CHECK} if self.has_check else set[str]()
        foreign = (name for name in used - own if not hasattr(builtins, name))
        if entry_point not in used and not any(foreign):
            raise TaskError("the tests never ask the solution for anything")

    def place_of(self, error: BaseException) -> str:
        """Returns the innermost line of the texts in an exception's traceback, or ""."""
        place = ""
        texts = {text.code.co_filename: text for text in self.all}
        traceback: TracebackType | None = error.__traceback__
        while traceback is not None:
            text = texts.get(traceback.tb_frame.f_code.co_filename)
            if text is not None:
                line = text.source.splitlines()[traceback.tb_lineno - 1].strip()
                place = f"{text.name}, line {traceback.tb_lineno}: {line[:_MAX_SHOWN]}"
            traceback = traceback.tb_next
        return place


@remembered
def _compiled(name: str, source: str) -> Text:
    try:
        code = compile(source, f"<{name}>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TaskError(f"{name} does not compile: {error}") from None
    return Text(name=name, source=source, code=code)


def read(request: FunctionRequest) -> Sources:
    """Sorts the texts of a request.

    Raises:
        TaskError: one of them does not compile, or there are no tests among them.
    """
    asserts = enumerate(request.asserts, 1)
    setup, source = request.setup_code, request.test_code
    support = [_compiled("setup_code", setup)] if setup else []
    code = _compiled("test_code", source) if source else None
    has_check, reads_parameter = _check_in(source)
    is_script = code is not None and not has_check and names.checks_at_top_level(source)
    if code is not None and not is_script:
        support.append(code)
    texts = Sources(
        support=tuple(support),
        script=code if is_script else None,
        has_check=has_check,
        reads_parameter=reads_parameter,
        asserts=tuple(_compiled(f"assert {number}", text) for number, text in asserts),
    )
    if not (texts.has_check or texts.script or texts.asserts):
        raise TaskError("there are no tests")
    return texts


@remembered
def _check_in(source: str) -> tuple[bool, bool]:
    """Returns whether a text defines check(), and whether check() reads its parameter."""
    definition = _CHECK_DEFINITION.search(source)
    return definition is not None, definition is not None and _reads_parameter(definition, source)


def _reads_parameter(definition: re.Match[str], source: str) -> bool:
    parameter = definition[1]
    if parameter is None:  # it is bound to something other than a plain function
        return True
    return parameter != "" and len(re.findall(rf"\b{parameter}\b", source)) > 1
