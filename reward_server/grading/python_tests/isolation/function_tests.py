"""Reads whether function tests need the solution's process; `function_files` writes them for it.

Some tests need the solution itself: they subclass its classes, read its code, or patch what it
uses. As a file of unittest they run in its process and get perturbed copies, as other such
files do.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from reward_server.domain import FunctionTests, Placement
from reward_server.grading import syntax
from reward_server.grading.python_tests.function_files import (
    PATH,
    SOLUTION_PATH,
    FunctionFile,
    Writer,
    file_of,
    owner_of,
)
from reward_server.grading.python_tests.isolation import (
    kinds,
    own_classes,
    policy,
    process_state,
    prompt_state,
    solution_classes,
)
from reward_server.grading.python_tests.isolation.abridged import abridge
from reward_server.grading.python_tests.isolation.files import Reading, read_suite
from reward_server.grading.syntax import FUNCTIONS
from reward_server.recent import Recent

# Without one of these words, or of `_NAMES`, no rule in `files` and `solution_classes` finds a
# reason.
_TRIGGERS = re.compile(
    r"\b(?:import|class|type|open|Path|vars|exec|eval|compile|help|setattr|delattr|reload"
    r"|SystemExit|KeyboardInterrupt|GeneratorExit|BaseException|SkipTest|signature|seed|register)\b"
    r"|set[a-z_]+\(|_time(?:_ns)?\(|chdir|umask"
    r"|__[a-z]|patch|get[a-z]+\(|redirect_|solution|asdict|astuple|is_dataclass|[Ww]arn|[Ll]ogs"
    r"|asyncio|AsyncMock|async\s+def|\.a?throw\(|ExceptionGroup|except\s*\*"
    r"|\n[ \t]*(?:with|match)\s|\bproperty\b|staticmethod|classmethod"
    r"|issubclass|Stop[A-Za-z]*Iteration|\b[A-Z](?:\w*[a-z]\w*)?[.\[(]"
    r"|\bis\s+(?:not\s+)?(?!True\b|False\b|None\b)[A-Za-z_]|\bassertIs(?:Not)?\("
    r"|\b(?:map|filter|zip|enumerate|reversed)\b(?!\s*\()|\bdel\s+\w|=\s*None\b"
)
_NAMES = re.compile(rf"\b(?:{'|'.join(sorted(policy.NAMES))})\b")
_OWNERS = re.compile(r"\b([a-z_]\w*+)\.")
_WATCHED = process_state.WATCHED | {"np", "numpy"}
# All completions of a task have the same tests, and a text remembers its own hash.
_KEPT_BYTES, _BYTES_OF_CHARACTER = 64 << 20, 4
_found = Recent[bool](_KEPT_BYTES)
_LONG_CHARACTERS = 1 << 15
# Reasons that the rules for test files find, and that do not count for function tests, because
# the judge of function tests can answer in these cases.
_ISOLATED_REASONS = policy.PROXIES_CAN | {
    *("uses dataclasses", "calls seed()", "calls setrecursionlimit()"),
    *("calls set_int_max_str_digits()", kinds.ASKED),
}
# These count in a prompt, since a prompt's settings do not reach the solution's process.
_PROMPT_REASONS = frozenset(
    ("calls seed()", "calls setrecursionlimit()", "calls set_int_max_str_digits()")
)
# Reasons that do not count in a prompt: objects of its classes are the same in both processes.
_OF_TESTS_ALONE = (_ISOLATED_REASONS - _PROMPT_REASONS) | own_classes.REASONS


def function_file(tests: FunctionTests, prompt: str) -> FunctionFile | None:
    """Writes function tests as a test file; returns None if that is impossible.

    Args:
        tests: the tests.
        prompt: trusted code before the solution, whose helpers the tests may use. The file has
            copies of the helpers, unless the prompt is a reason why the tests need the solution's
            process.
    """
    texts = (tests.setup_code, tests.test_code, *tests.asserts)
    seen = prompt_state.seen_by(prompt, tests.entry_point, texts)
    try:
        of_prompt = (
            *seen.reasons,
            *_reasons_of_prompt(tests, seen),
            *prompt_state.of_ends(prompt),
        )
        given = seen.imports if of_prompt else (*seen.imports, *_helpers(tests, seen))
        text = _short(tests, given)
        trees = {PATH: syntax.parse(text)}
        reading = read_suite(trees, [(PATH, text)], SOLUTION_PATH)
        wanted = reading.wanted - (
            prompt_state.whole_classes(prompt) - {owner_of(tests.entry_point)}
        )
        of_classes = solution_classes.reasons(trees.values(), wanted)
        reasons = dict.fromkeys((*_needed(reading.reasons, tests), *of_classes, *of_prompt))
        if reasons or tests.placement is Placement.BESIDE:
            return file_of(*Writer(tests, given).text(), tuple(reasons))
        return file_of(text, {})
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def may_need_solution(tests: FunctionTests, prompt: str = "") -> bool:
    """Returns False if no rule can apply to tests or to a prompt's code; parses neither."""
    texts = (tests.setup_code, tests.test_code, *tests.asserts)
    if any(map(_has_trigger, texts)):
        return True
    return bool(prompt) and _prompt_has_trigger(prompt, tests.entry_point, texts)


def _prompt_has_trigger(prompt: str, entry_point: str, texts: tuple[str, ...]) -> bool:
    size = len(prompt) + sum(map(len, texts))
    if size > _LONG_CHARACTERS:
        return True  # a long text is read in a thread

    def read() -> bool:
        seen = prompt_state.seen_by(prompt, entry_point, texts)
        code = "\n".join(map(ast.unparse, seen.statements))
        has_reason = bool(seen.reasons or prompt_state.of_ends(prompt))
        return has_reason or (bool(code) and _has_trigger(code))

    return _found.find((prompt, entry_point, *texts), _BYTES_OF_CHARACTER * size, read)


def _helpers(tests: FunctionTests, seen: prompt_state.Seen) -> Iterator[ast.stmt]:
    """Yields the functions of a prompt other than the entry point."""
    owner = owner_of(tests.entry_point)
    for one in seen.statements:
        if isinstance(one, FUNCTIONS) and owner and one.name != owner:
            yield one


def _reasons_of_prompt(tests: FunctionTests, seen: prompt_state.Seen) -> Iterator[str]:
    """Yields the reasons that the rules for test files find in a prompt's code."""
    if seen.statements:
        before = _reading(tests, seen.imports).reasons
        for reason in _reading(tests, seen.statements, seen.functions).reasons:
            if reason not in before and reason not in _OF_TESTS_ALONE:
                yield f"the prompt's code {reason}"


def _reading(
    tests: FunctionTests, given: Sequence[ast.stmt], heard_by: frozenset[str] = frozenset()
) -> Reading:
    text = _short(tests, given)
    return read_suite({PATH: syntax.parse(text)}, [(PATH, text)], SOLUTION_PATH, heard_by)


def _short(tests: FunctionTests, given: Sequence[ast.stmt]) -> str:
    """Returns the text of a file whose large literals are short."""
    writer = Writer(tests, given)
    for one in writer.statements:
        abridge(one)
    return writer.text()[0]


def _has_trigger(text: str) -> bool:
    def read() -> bool:
        is_watched = not _WATCHED.isdisjoint(_OWNERS.findall(text))
        return is_watched or any(one.search(text) is not None for one in (_TRIGGERS, _NAMES))

    return _found.find(text, _BYTES_OF_CHARACTER * len(text), read)


def _needed(reasons: Iterable[str], tests: FunctionTests) -> Iterator[str]:
    text = "\n".join((tests.setup_code, tests.test_code, *tests.asserts))
    for reason in reasons:
        if reason == "uses inspect" and _only_signatures(text):
            continue
        if reason not in _ISOLATED_REASONS:
            yield reason


def _only_signatures(text: str) -> bool:
    """Returns True if a text uses only names of `inspect` for which proxies answer."""
    used = {
        node.attr
        for node in syntax.walk(syntax.parse(text))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "inspect"
    }
    return bool(used) and used <= {"signature", "getdoc", "Parameter"}
