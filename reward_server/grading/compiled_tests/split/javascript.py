"""Splits test programs in JavaScript and TypeScript.

The text of the prompt and the tests decides, by its tokens. A name that the tests use and do not
declare is a function of the solution, and becomes a stub. If more than data could cross, or if the
identity of a value could matter, the program is not split: `_TestsReader` lists these cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

from reward_server.grading.compiled_tests.split.base import Source, Split, Task
from reward_server.grading.compiled_tests.split.hazards.lent import lends_names
from reward_server.grading.compiled_tests.split.hazards.many_calls import calls_often
from reward_server.grading.compiled_tests.split.hazards.unseen import (
    is_asked_javascript,
    is_timed_javascript,
    is_unseen_javascript,
    is_waiting_javascript,
)
from reward_server.grading.compiled_tests.split.javascript_aliases import Aliases
from reward_server.grading.compiled_tests.split.javascript_iterators import Iterations
from reward_server.grading.compiled_tests.split.javascript_state import is_state
from reward_server.grading.compiled_tests.tokens import Kind, Token, match_brackets, tokenize
from reward_server.languages.assertions import Assertions

_SUPPORT = "split.js"
_LOCK = "split_lock.js"
# No text becomes code in the tests' program, and no key leads from one object to another's fields.
_OPTIONS = ("--disallow-code-generation-from-strings", "--disable-proto=delete")
_SOLUTION = "solution.js"
_DECLARING = frozenset(("const", "let", "var"))
_LITERALS = (Kind.STRING, Kind.NUMBER)
_STATEMENT_ENDS = frozenset((";", "{", "}"))


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_BEFORE_VALUES = _set("await case do else in of return throw typeof void yield")
_RESERVED = _set(
    """await break case catch class const continue debugger default delete do else enum extends
    false finally for function if import in instanceof let new null return super switch this throw
    true try typeof undefined var void while yield"""
)
# Keywords in some places, and names in all others.
_CONTEXTUAL = _set(
    """as async declare from get implements infer interface is keyof namespace of private protected
    public readonly satisfies set static type unique"""
)
_GLOBALS = _set(
    """AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean Buffer DataView
    Date Error EvalError Float32Array Float64Array Infinity Int16Array Int32Array Int8Array Intl
    JSON Map Math NaN Number Object Promise RangeError ReferenceError RegExp Set String Symbol
    SyntaxError TextDecoder TextEncoder TypeError URIError URL Uint16Array Uint32Array Uint8Array
    Uint8ClampedArray WeakMap WeakSet clearInterval clearTimeout console decodeURI
    decodeURIComponent encodeURI encodeURIComponent escape isFinite isNaN parseFloat parseInt
    performance process queueMicrotask require setImmediate setInterval setTimeout structuredClone
    unescape
    any bigint boolean never number object string symbol unknown ArrayLike Iterable Iterator
    IterableIterator NonNullable Omit Parameters Partial Pick PromiseLike Readonly ReadonlyArray
    ReadonlyMap ReadonlySet Record Required ReturnType"""
)
# Node has these, too. A use of one in tests may mean Node's or the solution's.
_OF_NODE = _set(
    """AbortController AbortSignal Atomics Blob BroadcastChannel CustomEvent DOMException Event
    EventTarget FinalizationRegistry File Float16Array FormData Headers Iterator MessageChannel
    MessagePort Request Response SharedArrayBuffer URLSearchParams WeakRef WebSocket atob btoa
    crypto fetch navigator"""
)
# Methods that data has and that the solution's own objects seldom have.
_DATA_METHODS = _set(
    """at charAt charCodeAt codePointAt concat endsWith entries every filter find findIndex flat
    flatMap forEach getTime hasOwnProperty includes indexOf join keys lastIndexOf localeCompare
    map match padEnd padStart reduce reduceRight repeat replace replaceAll reverse search slice
    some sort split startsWith substr substring toExponential toFixed toISOString toJSON
    toLowerCase toPrecision toReversed toSorted toString toUpperCase trim trimEnd trimStart
    values valueOf"""
)
# Assertions that call their first argument.
_ASSERTING_CALLS = _set("doesNotReject doesNotThrow rejects throws")
_ASSIGNING = _set("= += -= *= /= %= &= |= ^=")
# Methods that store their arguments in an object.
_KEEPING = _set("add fill push set splice unshift")
# Modules that run no text and reach neither files nor processes; `split_lock.js` has them, too.
_MODULES = (
    "assert(?:/strict)?|buffer|events|path|perf_hooks|querystring|string_decoder"
    "|timers(?:/promises)?|url|util(?:/types)?"
)
_REQUIRED = rf"\brequire\b(?!\s*\(\s*[\"'](?:node:)?(?:{_MODULES})[\"']\s*\))"
_NAMED_MODULE = re.compile(
    rf"\b(?:const|let|var)\s+(\w+)\s*=\s*require\s*\(\s*[\"']((?:node:)?(?:{_MODULES}))[\"']\s*\)"
    r"(?!\s*[.\[(])"
)
_DECLARED_REQUIRE = re.compile(r"\bdeclare\s+(?:var|let|const|function)\s+require\b[^;\n]*")
_CONSOLE = "assert|count|debug|dir|error|group|groupEnd|info|log|table|time|timeEnd|trace|warn"
_PROCESS = "argv|exit|exitCode|hrtime|nextTick|platform|uptime|versions?"
# Names that run text, or that lead to such names. Helpers of a prompt may not use them, either.
_RUNNING = re.compile(
    rf"{_REQUIRED}|\b(?:eval|Function|globalThis|global|arguments|__proto__|WebAssembly)\b"
    r"|\bimport\s*\("
)
# Names that use more than values: the other program's globals, prototypes and modules.
_REACHING = re.compile(
    r"\b(?:Proxy|Reflect|prototype|export|class|constructor|import|setPrototypeOf|defineProperty"
    r"|module|exports|with)\b"
    r"|\b(?:console|process|Math|Date|JSON|Object|Array|String|Number)\s*(?:\.\s*\w+)+\s*=(?!=)"
    rf"|\bconsole\b(?!\s*\.\s*(?:{_CONSOLE})\b)|\bprocess\b(?!\s*\.\s*(?:{_PROCESS})\b)"
    r"|\bthis\b(?!\s*\.\s*\w)|\b[gs]et\s+(?:\w+\s*\(|\[)"
)
# The name of a field that does not cross.
_UNNAMEABLE = "__proto__"
_NAME = re.compile(r"(?<![\w$.])[A-Za-z_$][\w$]*")
_PLAIN_TEXT = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
# Private fields, which only the constructor of a class makes.
_PRIVATE = re.compile(r"#[A-Za-z_$]")
# Classes that a class may not extend. Their prototypes are frozen, so its objects could not assign
# to names that they inherit.
_EXTENDING = re.compile(
    r"\bextends\s+(?:\w*Array|\w*Map|\w*Set|Promise|RegExp|Date|String|Number|Boolean|Buffer"
    r"|DataView|WeakRef)\b"
)
# A prompt that mentions proxies asks for objects that compute their fields when these are read.
_PROXY = re.compile(r"(?i)prox(?:y|ies)")
_EMPTY_CONSTRUCTOR = re.compile(r"constructor \( [^)]* \) \{ \}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _JavaScriptSplit:
    """A test program that was taken apart.

    Args:
        helpers: the text of the prompt's complete definitions.
        names: the functions of the solution that the tests call.
        classes: the classes that the prompt defines completely.
        modules: modules of the library, each after the name that the tests give it.
        is_typed: whether the program is TypeScript.
    """

    helpers: str
    names: tuple[str, ...]
    classes: tuple[str, ...]
    modules: tuple[tuple[str, str], ...]
    is_typed: bool

    @property
    def stubs(self) -> Source:
        """See `Split.stubs`."""
        module, lock = self._required(_SUPPORT), self._required(_LOCK)
        annotation = ": any" if self.is_typed else ""
        classes = ", ".join(self.classes)
        made = "".join(
            f'const {name}{annotation} = {module}.stub("{name}", {{ {classes} }});\n'
            for name in self.names
        )
        text = f"{self.helpers}\n{made}{lock}.lock([{classes}]);\n"
        return Source(text=text, files=_support(_SUPPORT, _LOCK), options=_OPTIONS)

    def _required(self, name: str) -> str:
        return f'(require("./{name}") as any)' if self.is_typed else f'require("./{name}")'

    def serving(self, solution: str) -> Source:
        """See `Split.serving`."""
        functions, classes = map(_found, (self.names, self.classes))
        if self.is_typed:
            tail = f"\n;{self._required(_SUPPORT)}.serve({functions}, {classes});\n"
            return Source(text=solution + tail, files=_support(_SUPPORT))
        exported = (
            f"{solution}\n;module.exports = {{ functions: {functions}, classes: {classes} }};\n"
        )
        named = "".join(
            f'Object.defineProperty(globalThis, "{name}", '
            f'{{ configurable: true, get: () => require("{of}") }});\n'
            for name, of in self.modules
        )
        return Source(
            text=f'{named}require("./{_SUPPORT}").load("./{_SOLUTION}");\n',
            files={**_support(_SUPPORT), _SOLUTION: exported.encode("utf-8", "surrogatepass")},
            is_ready=True,
        )


def _found(names: Iterable[str]) -> str:
    """Returns code for an object with the values of those names that a program has."""
    found = (f'"{name}": typeof {name} === "undefined" ? undefined : {name}' for name in names)
    return f"{{ {', '.join(found)} }}"


@cache
def _support(*names: str) -> Mapping[str, bytes]:
    return {name: files(__package__).joinpath(name).read_bytes() for name in names}


def split_javascript(task: Task) -> Split | None:
    """Takes a JavaScript program apart; see `Splitter`."""
    return _split(task, is_typed=False)


def split_typescript(task: Task) -> Split | None:
    """Takes a TypeScript program apart; see `Splitter`."""
    return _split(task, is_typed=True)


def _split(task: Task, *, is_typed: bool) -> Split | None:
    prompt = _read_prompt(task.prompt, task.language)
    if prompt is None or _UNNAMEABLE in task.tests:
        return None
    tests = _TestsReader(task.tests, task.language, prompt)
    if not tests.is_data_only() or lends_names(task) or calls_often(task, tests.stubs):
        return None
    return _JavaScriptSplit(
        helpers=prompt.helpers,
        names=tuple(sorted(tests.stubs)),
        classes=prompt.classes,
        modules=tests.modules,
        is_typed=is_typed,
    )


# --------------------------------------------------------------------------------- the prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declaration:
    """A declaration at the top level of a program.

    Args:
        word: the keyword of the declaration.
        name: the name that is declared.
        start: the position in the text where it begins.
        end: the position where the next one begins, or the end of the text.
        tokens: its tokens, without blanks.
    """

    word: str
    name: str
    start: int
    end: int
    tokens: Sequence[Token]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prompt:
    """The definitions of a prompt.

    Args:
        function: the function that the solution completes, or "" if there is no prompt.
        helpers: the text in front of that function, with complete definitions.
        names: the names that the helpers define.
        classes: those of the names that are classes.
    """

    function: str = ""
    helpers: str = ""
    names: frozenset[str] = frozenset()
    classes: tuple[str, ...] = ()


_TYPES = frozenset(("interface", "type", "enum"))
_NAMED_BY = frozenset((*_DECLARING, "function", "class", *_TYPES))
_PREFIXES = frozenset(("async", "export", "default", "declare", "abstract"))


def _read_prompt(text: str, language: Assertions) -> _Prompt | None:
    """Reads a prompt. Returns None if tests with this prompt cannot be split."""
    if not text.strip():
        return _Prompt()
    if _PROXY.search(text):
        return None
    tokens = tokenize(text, language)
    brackets = match_brackets(tokens)
    if brackets is None or brackets.unopened:
        return None
    declared = list(_declarations(tokens, len(text)))
    functions = [one for one in declared if _is_function(one)]
    if not functions or (brackets.unclosed and functions[-1] is not declared[-1]):
        return None
    asked, helpers = functions[-1], functions[:-1]
    before = [one for one in declared if one.start < asked.start]
    if _is_generator(asked) or any(_is_empty(one) for one in helpers):
        return None
    code = _code(tokenize(text[: asked.start], language))
    if any(one.search(code) for one in (_RUNNING, _EXTENDING, _PRIVATE)) or is_unseen_javascript(
        code
    ):
        return None
    if _keeps_state(text[: before[0].start if before else asked.start], before, language):
        return None
    return _Prompt(
        function=asked.name,
        helpers=text[: asked.start],
        names=frozenset(one.name for one in before),
        classes=tuple(one.name for one in before if one.word == "class"),
    )


def _keeps_state(head: str, before: Sequence[_Declaration], language: Assertions) -> bool:
    """Returns True if a prompt keeps state, of which each program would have a copy."""
    first = [token.text for token in tokenize(head, language) if not token.is_blank]
    strict = all(text in ("'use strict'", '"use strict"', ";") for text in first)
    return not strict or any(is_state(one.tokens) for one in before)


def _declarations(tokens: Sequence[Token], end: int) -> Iterator[_Declaration]:
    solid = [token for token in tokens if not token.is_blank]
    found: list[tuple[int, str, str]] = []
    depth = 0
    for index, token in enumerate(solid):
        depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
        if depth or token.text not in _NAMED_BY or _text(solid, index - 1) == ".":
            continue
        at = index + 1 + (_text(solid, index + 1) == "*")
        is_whole = token.text in _DECLARING or _begins_statement(solid, index)
        if at < len(solid) and solid[at].kind is Kind.WORD and is_whole:
            found.append((_first_of(solid, index), token.text, solid[at].text))
    for number, (first, word, name) in enumerate(found):
        last = found[number + 1][0] if number + 1 < len(found) else len(solid)
        until = solid[last].start if last < len(solid) else end
        yield _Declaration(
            word=word, name=name, start=solid[first].start, end=until, tokens=solid[first:last]
        )


def _begins_statement(solid: Sequence[Token], index: int) -> bool:
    """Returns True if a word begins a statement, unlike `function` in `x = function () {}`."""
    before = _text(solid, _first_of(solid, index) - 1)
    return before in ("", *_STATEMENT_ENDS, ")") or before[-1].isalnum()


def _first_of(solid: Sequence[Token], index: int) -> int:
    while _text(solid, index - 1) in _PREFIXES:
        index -= 1
    return index


def _text(solid: Sequence[Token], index: int) -> str:
    return solid[index].text if 0 <= index < len(solid) else ""


def _is_function(one: _Declaration) -> bool:
    if one.word in _DECLARING:
        return any(token.text in ("=>", "function") for token in one.tokens)
    return one.word in ("function", "class") and one.name != ""


def _is_generator(one: _Declaration) -> bool:
    """Returns True if a prompt asks for a generator or a class."""
    texts = [token.text for token in one.tokens]
    star = any(pair == ("function", "*") for pair in pairwise(texts))
    return one.word == "class" or star


def _is_empty(one: _Declaration) -> bool:
    """Returns True if a function has no body, so that the solution is to fill it."""
    text = " ".join(token.text for token in one.tokens)
    return "{ }" in _EMPTY_CONSTRUCTOR.sub("", text)


# ---------------------------------------------------------------------------------- the tests


class _TestsReader:
    """Finds the functions of the solution that tests call, and whether only data would cross.

    More than data would cross if the tests
    - use globals, prototypes, modules or the solution's classes (`_REACHING`);
    - use an undeclared name otherwise than in calls, or declare the function that the prompt asks
      for;
    - pass a function to the solution;
    - call a result, call a method of it that data lacks, or pass arguments to a method of it, since
      an object of the solution could have a method of that name;
    - use a timer, or wait for the first of several promises, since the solution's program runs only
      while the tests wait for one of its promises;
    - set or remove a field of a result, since the solution could compute that field;
    - keep a promise in order to wait for it later;
    - wait for promises and read a clock, unless each call is awaited at once;
    - call methods of a promise, since an awaited value need not be a promise;
    - iterate over an answer that may have changed since it was returned (`Iterations`);
    - read an argument again after the call and also use the result, or compute something from that
      argument, since the solution could change the argument and so an expected value;
    - could run text as code (`_RUNNING`).

    Attributes:
        stubs: the functions of the solution that the tests call.
    """

    def __init__(self, text: str, language: Assertions, prompt: _Prompt) -> None:
        self._prompt = prompt
        tokens = tokenize(text, language)
        self._solid = [token for token in tokens if not token.is_blank]
        self._code = _code(tokens)
        self._lines = [text.count("\n", 0, token.start) for token in self._solid]
        brackets = match_brackets(self._solid)
        self._whole = brackets is not None and not brackets.unopened and not brackets.unclosed
        self._partners = brackets.partners if brackets else {}
        self._around = list(_around(self._solid))
        called = {self._text(index) for index in range(len(self._solid)) if self._is_called(index)}
        self._keywords = _RESERVED | (_CONTEXTUAL - called - {prompt.function})
        self._declared = frozenset(self._declarations())
        self._in_templates = frozenset(_names_in_templates(tokens)) - self._keywords
        self.stubs = self._free_names()
        self._callers = {*self.stubs, *self._aliases()}
        self._openings = {end: start for start, end in self._partners.items()}
        self._functions = self._defined_functions()
        self._parameters_of = self._parameters_by_name()

    def is_data_only(self) -> bool:
        """Returns True if the tests can be split."""
        if is_unseen_javascript(self._code) or is_asked_javascript(self._code):
            return False
        if self._looks_into_helpers():
            return False
        if not self._whole or _REACHING.search(self._code) or _RUNNING.search(self._code):
            return False
        asked = {self._prompt.function} if self._prompt.function else self.stubs
        if not self.stubs or not self.stubs <= asked or self.stubs & _OF_NODE:
            return False
        if self._in_templates - (self._declared | _GLOBALS | self._prompt.names):
            return False
        calls = [index for index in self._words() if self._text(index) in self._callers]
        if not all(self._is_allowed(index) for index in calls):
            return False
        made = [index for index in calls if self._text(index + 1) == "("]
        if is_waiting_javascript(self._code):
            is_timed = is_timed_javascript(self._code)
            if not all(map(self._is_awaited if is_timed else self._is_taken_at_once, made)):
                return False
        if not all(map(self._hands_data, made)):
            return False
        results = self._results(made)
        if any(map(self._is_changed, results)) or self._iterates_late(made, results):
            return False
        return all(self._is_used_as_data(at + 1) for at in results) and self._looks_once(made)

    @property
    def modules(self) -> tuple[tuple[str, str], ...]:
        """Modules of the library, each after the name that the tests give it."""
        return tuple(_NAMED_MODULE.findall(self._code))

    def _looks_into_helpers(self) -> bool:
        """Returns True if tests read a field of a function or class of the prompt."""
        return any(
            self._text(index + 1) in (".", "?.", "[") and self._text(index + 3) != "("
            for index in self._words()
            if self._text(index) in self._prompt.names
        )

    # ------------------------------------------------------------------------------ tokens

    def _text(self, index: int) -> str:
        return _text(self._solid, index)

    def _words(self) -> Iterator[int]:
        """Yields the positions of names that are neither keywords, properties nor keys."""
        for index, token in enumerate(self._solid):
            is_name = token.kind is Kind.WORD and token.text not in self._keywords
            if is_name and not self._is_property(index) and not self._is_key(index):
                yield index

    def _is_property(self, index: int) -> bool:
        spreads = [self._text(index - back) for back in (1, 2, 3)] == [".", ".", "."]
        return self._text(index - 1) in (".", "?.") and not spreads

    def _is_called(self, index: int) -> bool:
        """Returns True if a word that may be a keyword is called as a function here."""
        if self._text(index + 1) != "(" or self._is_property(index):
            return False
        before = self._solid[index - 1]
        is_operator = (
            index > 0
            and self._lines[index] == self._lines[index - 1]
            and before.kind in (Kind.CLOSE, Kind.WORD, *_LITERALS)
            and before.text not in _BEFORE_VALUES
        )
        behind = self._text(self._partners.get(index + 1, index) + 1)
        return not is_operator and behind not in ("=>", "{", ":")

    def _is_key(self, index: int) -> bool:
        return self._text(index + 1) == ":" and self._text(index - 1) in ("{", ",")

    def _inside(self, index: int) -> range:
        """Returns the positions inside the brackets that open at a position."""
        return range(index + 1, self._partners.get(index, index + 1))

    # ------------------------------------------------------------------------------- names

    def _declarations(self) -> Iterator[str]:
        for index, token in enumerate(self._solid):
            if token.text in _DECLARING:
                yield from self._declarators(index + 1)
            elif token.text == "function":
                at = index + 1 + (self._text(index + 1) == "*")
                named = self._solid[at].kind is Kind.WORD if at < len(self._solid) else False
                yield from self._names_at(at)
                yield from self._names_at(at + named)
            elif token.text == "catch" or (token.text in _TYPES and self._text(index + 1) != "("):
                yield from self._names_at(index + 1)
            elif token.text == "=>":
                yield from self._parameters(index)

    def _declarators(self, index: int) -> Iterator[str]:
        """Yields all names that a `const`, `let` or `var` declares, also after commas."""
        yield from self._names_at(index)
        line, depth = self._lines[min(index, len(self._lines) - 1)], 0
        for at in range(index, len(self._solid)):
            token = self._solid[at]
            depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
            if depth < 0 or token.text == ";" or self._text(at) in ("of", "in"):
                return
            if depth == 0 and token.text == ",":
                line = self._lines[min(at + 1, len(self._lines) - 1)]
                yield from self._names_at(at + 1)
            elif depth == 0 and self._lines[at] > line and self._text(at - 1) not in ("=", ","):
                return

    def _names_at(self, index: int) -> Iterator[str]:
        """Yields the name at a position, or the names in the brackets that open there."""
        if index >= len(self._solid):
            return
        if self._solid[index].kind is Kind.WORD:
            yield self._text(index)
        elif self._solid[index].kind is Kind.OPEN:
            yield from (
                self._text(at) for at in self._inside(index) if self._solid[at].kind is Kind.WORD
            )

    def _parameters(self, arrow: int) -> Iterator[str]:
        if self._text(arrow - 1) != ")":
            yield self._text(arrow - 1)
            return
        for start, end in self._partners.items():
            if end == arrow - 1:
                yield from self._names_at(start)

    def _free_names(self) -> frozenset[str]:
        known = self._declared | _GLOBALS | self._prompt.names
        return frozenset(self._text(index) for index in self._words()) - known

    def _aliases(self) -> Iterator[str]:
        """Yields other names of stubs, as in `let candidate = f`."""
        for index in self._words():
            if self._text(index) in self.stubs and self._is_aliased(index):
                yield self._text(index - 2)

    def _is_aliased(self, index: int) -> bool:
        declares = self._text(index - 1) == "=" and self._text(index - 3) in _DECLARING
        return declares and self._ends_at(index + 1)

    def _ends_at(self, index: int) -> bool:
        """Returns True if a statement ends before the token at a position."""
        if index >= len(self._solid) or self._text(index) in (";", "}"):
            return True
        goes_on = re.match(r"[-+*/%.,?:=<>&|(\[^)\]]", self._text(index)) is not None
        return self._lines[index] > self._lines[index - 1] and not goes_on

    # ------------------------------------------------------------------------------- calls

    def _is_allowed(self, index: int) -> bool:
        """Returns True if a name of the solution is called, or assigned to another name."""
        before = self._text(index - 1)
        if before == "typeof":  # a stub is a function, whatever the solution has
            return self._text(index + 1) == "("
        if self._is_aliased(index):
            return True
        if before in _DECLARING and self._text(index) not in self.stubs:
            return True
        return self._text(index + 1) == "(" and before not in ("new", "function")

    def _hands_data(self, index: int) -> bool:
        """Returns True if no argument of a call is a function, and its result is used as data."""
        end = self._partners[index + 1] + 1
        return not self._gives_function(index + 1) and self._is_used_as_data(end)

    def _is_used_as_data(self, end: int) -> bool:
        """Returns True if the expression that ends before a position is used as data, also outside
        of the round brackets around it."""
        return all(map(self._is_data_at, (end, *(at + 1 for at in self._groups(end - 1)))))

    def _groups(self, index: int) -> Iterator[int]:
        """Yields the ends of the round brackets around a position, except those of calls."""
        around = self._around[index]
        while around >= 0 and self._text(around) == "(":
            before = self._text(around - 1)
            is_call = before != "" and (before[-1] in "_$)]" or before[-1].isalnum())
            if is_call and before not in _BEFORE_VALUES:
                return
            yield self._partners[around]
            around = self._around[around]

    def _is_awaited(self, index: int) -> bool:
        """Returns True if tests await a call at once, so nothing else runs before its answer."""
        return self._text(index - 1) == "await" and self._text(index - 2) not in ("=>", "async")

    def _is_taken_at_once(self, index: int) -> bool:
        """Returns True if tests do not keep the promise of a call in order to wait for it later."""
        before, around = self._text(index - 1), self._around[index]
        if before == "=>":
            return self._text(around - 1) in _ASSERTING_CALLS
        while self._text(around) == "[":
            around = self._around[around]
        is_given = self._text(around) == "(" and self._text(around - 1) not in _KEEPING
        return before == "await" or is_given

    def _gives_function(self, bracket: int) -> bool:
        skipped = -1
        for at in self._inside(bracket):
            if at <= skipped:
                continue
            token = self._text(at)
            if token == "(" and self._solid[at - 1].kind in (Kind.WORD, Kind.CLOSE):
                skipped = self._partners[at]  # arguments of another call
            elif token in ("=>", "function", "async") or token in self._functions:
                return True
        return False

    def _defined_functions(self) -> frozenset[str]:
        """Returns the names of functions that the tests define."""
        return frozenset(
            name
            for name in self._declared
            if re.search(
                rf"\bfunction\s*\*?\s*{re.escape(name)}\b"
                rf"|\b{re.escape(name)}\s*(?::[^=]*)?=\s*(?:async\s*)?"
                r"(?:function\b|\w+\s*=>|\([^()]*\)\s*(?::[^=]*)?=>)",
                self._code,
            )
        )

    def _is_data_at(self, index: int) -> bool:
        """Returns True if the expression that ends before a position is used as data."""
        if self._text(index) == "(":
            return self._lines[index] > self._lines[index - 1] and self._ends_at(index)
        return all(map(self._is_asked, self._called_behind(index)))

    def _is_changed(self, index: int) -> bool:
        """Returns True if the code at a name sets or removes a field of its object.

        Items do not count. Parameters of the tests' functions do not count either, since their
        arguments need not be answers.
        """
        if any(self._text(index) in names for names in self._parameters_of.values()):
            return False
        end, is_field = index + 1, False
        while self._text(end) in (".", "["):
            is_field = self._text(end) == "." or self._solid[end + 1].kind is Kind.STRING
            end = self._partners.get(end, end + 1) + 1
        is_set = self._text(end) in _ASSIGNING or (
            self._text(end) == self._text(end + 1) and self._text(end) in ("+", "-")
        )
        is_removed = self._text(index - 1) == "delete" or (
            self._text(index - 1) == self._text(index - 2) and self._text(index - 1) in ("+", "-")
        )
        return is_field and (is_set or is_removed)

    def _called_behind(self, index: int) -> Iterator[int]:
        """Yields the methods of the chain of calls that begins at a position."""
        while self._text(index) in (".", "?.", "[", "!"):
            is_word = self._text(index) in (".", "?.") and self._text(index + 1) not in ("(", "[")
            index = self._partners.get(index, index + is_word) + 1
            if self._text(index) == "(":
                yield index - 1
                index = self._partners.get(index, index) + 1

    def _is_asked(self, method: int) -> bool:
        """Returns True if a method is a method of data, and is called without arguments."""
        name = self._text(method)
        return name in _DATA_METHODS and self._text(method + 2) == ")"

    def _results(self, calls: Sequence[int]) -> list[int]:
        """Returns the positions of names that get results of calls, or objects that hold them."""
        named: dict[str, list[int]] = {}
        for at in self._words():
            named.setdefault(self._text(at), []).append(at)
        found, places = set[str](), [*calls]
        while places:
            names = set(self._receivers(places.pop())) - found
            found |= names
            places += [at for name in names for at in named.get(name, ())]
        return [at for name in found for at in named.get(name, ())]

    def _receivers(self, index: int) -> Iterator[str]:
        """Yields the variables and parameters of the tests that are assigned the value at a
        position."""
        first = index
        while (around := self._around[first]) >= 0 and self._text(around) in ("[", "("):
            if self._text(around) == "(" and self._text(around - 1) in self._declared:
                yield from self._parameters_of[self._text(around - 1)]
            if not self._is_literal_at(first, around):
                break
            first = around
        at = first - 1 - (self._text(first - 1) == "await")
        if self._text(at) not in ("=", "of"):
            return
        yield from self._names_at(self._openings.get(at - 1, at - 1))

    def _is_literal_at(self, index: int, bracket: int) -> bool:
        """Returns True if a bracket begins a list literal, and an item begins at the position."""
        first = index - (self._text(index - 1) == "await")
        begins = self._text(first - 1) in ("[", ",", ".")
        is_item = self._solid[bracket - 1].kind not in (Kind.WORD, Kind.CLOSE)
        return (
            self._text(bracket) == "[" and begins and (is_item or self._text(bracket - 1) == "of")
        )

    def _parameters_by_name(self) -> Mapping[str, frozenset[str]]:
        """Returns the parameters of each function that the tests define."""
        found: dict[str, frozenset[str]] = dict.fromkeys(self._declared, frozenset())
        for at in self._words():
            if self._text(at) not in self._functions:
                continue
            if self._text(at - 1) in ("function", "*"):
                found[self._text(at)] |= {*self._names_at(at + 1)}
            elif self._text(at + 1) == "=":
                first = at + 2 + (self._text(at + 2) in ("async", "function"))
                first += self._text(first) in ("function", "*")
                found[self._text(at)] |= {*self._names_at(first)}
        return found

    def _iterates_late(self, calls: Sequence[int], results: Sequence[int]) -> bool:
        """Returns True if tests iterate over an answer that could have changed since its call."""
        given = [at for index in calls for at in self._given(index)]
        words = tuple(self._words())
        return Iterations(
            self._solid, self._partners, words, calls, results, given, self._functions
        ).are_late()

    # --------------------------------------------------------------------------- arguments

    def _looks_once(self, calls: Sequence[int]) -> bool:
        """Returns True if tests do not read arguments again, or use nothing else of such calls.

        In the second case the calls' results are not used, and each argument is only compared.
        """
        given = {index: self._given(index) for index in calls}
        handed = {at for places in given.values() for at in places}
        objects = {self._text(at): at for at in handed if not self._is_primitive(at)}
        if objects.keys() & self._in_templates:
            return False
        aliases = Aliases(self._solid, self._partners, tuple(self._words()), calls)
        looks = {
            name: [at for at in self._looks(name, aliases) if at not in handed] for name in objects
        }
        watched = [
            index
            for index, places in given.items()
            if any(looks.get(self._text(at)) for at in places)
        ]
        seen = {
            at for one in watched for place in given[one] for at in looks.get(self._text(place), ())
        }
        return all(self._is_statement(index) for index in watched) and all(
            self._is_taken_before(at) if at < watched[0] else self._is_compared(at) for at in seen
        )

    def _looks(self, name: str, aliases: Aliases) -> Iterator[int]:
        """Yields the positions that read the object of a name, or an object that contains it."""
        related = aliases.of(name)
        names = related.names - _GLOBALS
        for at in self._words():
            is_known = self._text(at) in names and at not in related.places
            is_count = self._text(at) != name and self._text(at + 2) == "length"
            if is_known and not is_count and not self._is_set_at(at):
                yield at

    def _is_taken_before(self, index: int) -> bool:
        """Returns True if the code at a position, before a call, gives an object no other name."""
        before, after = self._text(index - 1), self._text(index + 1)
        if after in (".", "?.", "["):
            return True
        is_item = before in ("[", "{", ":") or (before == "," and after in ("]", "}"))
        return not is_item and not (before == "=" and self._ends_at(index + 1))

    def _is_compared(self, index: int) -> bool:
        """Returns True if a statement reads a changed object once, and assigns nothing before.

        Otherwise the expected value could be computed from the object, which the solution changed.
        """
        first, last = index, index + 1
        while not self._begins_at(first):
            first -= 1
        while last < len(self._solid) and not self._begins_at(last):
            last += 1
        texts = [self._text(at) for at in range(first, last)]
        named = [
            at
            for at in self._words()
            if first <= at < last and self._text(at) == texts[index - first]
        ]
        return len(named) == 1 and "=" not in texts[: index - first]

    def _given(self, index: int) -> list[int]:
        """Returns the positions of names in the arguments of a call."""
        inside = self._inside(index + 1)
        arrows = [at for at in inside if self._text(at) == "=>"]
        known = self._declared - {name for at in arrows for name in self._parameters(at)}
        return [
            at
            for at in self._words()
            if at in inside and self._text(at) in known and self._text(at + 1) != "("
        ]

    def _is_set_at(self, index: int) -> bool:
        return self._text(index - 1) in _DECLARING or self._text(index + 1) in ("=", "of")

    def _is_primitive(self, index: int) -> bool:
        """Returns True if only numbers and texts are assigned to a name."""
        name = self._text(index)
        given = [at + 2 for at in self._words() if self._text(at) == name and self._is_set_at(at)]
        return bool(given) and all(self._is_primitive_at(at) for at in given)

    def _is_primitive_at(self, index: int) -> bool:
        if index >= len(self._solid) or self._text(index - 1) not in ("=", "of"):
            return False
        if self._text(index - 1) == "of":
            return self._text(index) == "[" and self._are_primitive(self._inside(index))
        if self._text(index) == "Math":
            return True
        alone = not re.match(r"[.\[(]", self._text(index + 1))
        return self._solid[index].kind in _LITERALS and alone

    def _are_primitive(self, places: range) -> bool:
        """Returns True if the items of an array are numbers, texts or other primitive values."""
        texts = {self._text(at) for at in places if not self._is_property(at)}
        names = {self._text(at) for at in self._words() if at in places}
        return not texts & {"[", "{", "=>", "new", "function"} and names <= _GLOBALS

    def _is_statement(self, index: int) -> bool:
        """Returns True if the result of a call is not used."""
        first = index - (self._text(index - 1) == "await")
        return self._begins_at(first) and self._ends_at(self._partners[index + 1] + 1)

    def _begins_at(self, index: int) -> bool:
        """Returns True if a statement begins at a position."""
        if index == 0 or self._text(index - 1) in _STATEMENT_ENDS:
            return True
        ended = self._solid[index - 1].kind in (Kind.WORD, Kind.CLOSE, *_LITERALS)
        return ended and self._lines[index] > self._lines[index - 1]


def _around(solid: Sequence[Token]) -> Iterator[int]:
    """Yields the position of the innermost bracket around each token, or -1."""
    open_at = [-1]
    for index, token in enumerate(solid):
        if token.kind is Kind.CLOSE and len(open_at) > 1:
            open_at.pop()
        yield open_at[-1]
        if token.kind is Kind.OPEN:
            open_at.append(index)


def _code(tokens: Sequence[Token]) -> str:
    """Returns a text without comments, and with empty string literals.

    Names of modules and templates with expressions are kept.
    """
    solid = [token for token in tokens if token.kind is not Kind.COMMENT]
    kept: list[str] = []
    for token in solid:
        is_plain = token.kind is Kind.STRING and not _holds_code(token.text)
        names_module = kept[-2:] == ["require", "("]
        kept.append('""' if is_plain and not names_module else token.text)
    return _DECLARED_REQUIRE.sub("", "".join(kept))


def _names_in_templates(tokens: Sequence[Token]) -> Iterator[str]:
    """Yields the names in expressions of template literals."""
    for token in tokens:
        if token.kind is not Kind.STRING or not _holds_code(token.text):
            continue
        for expression in token.text.split("${")[1:]:
            depth, end = 1, 0
            while depth and end < len(expression):
                depth += (expression[end] == "{") - (expression[end] == "}")
                end += 1
            yield from _NAME.findall(_PLAIN_TEXT.sub("", expression[:end]))


def _holds_code(text: str) -> bool:
    """Returns True if a string literal is a template with expressions."""
    return text.startswith("`") and "${" in text
