"""Finds settings and hooks of pytest that change which tests a suite has.

If there are any, the text of the suite does not show all its tests. Only settings that are known
not to change collection are accepted. Any other setting makes the list of tests uncertain and so
weakens the label, and nothing else.
"""

from __future__ import annotations

import ast
import configparser
import os
import shlex
from collections.abc import Iterator, Mapping

from codereward.toml_text import parse_toml
from reward_server.grading import syntax

# The files of settings that pytest reads, with the table that holds them.
_TABLES = {
    "pytest.ini": "pytest",
    ".pytest.ini": "pytest",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
    "pytest.toml": "pytest",
    ".pytest.toml": "pytest",
    "pyproject.toml": "tool",
}
_HARMLESS_SETTINGS = frozenset(
    (
        *("markers", "filterwarnings", "minversion", "console_output_style", "xfail_strict"),
        *("pythonpath", "cache_dir", "tmp_path_retention_count", "tmp_path_retention_policy"),
        *("asyncio_mode", "asyncio_default_fixture_loop_scope", "timeout", "timeout_method"),
        *("faulthandler_timeout", "verbosity_assertions", "verbosity_test_cases"),
        *("truncation_limit_lines", "truncation_limit_chars", "strict_markers", "strict_config"),
        *("disable_test_id_escaping_and_forfeit_all_rights_to_community_support", "addopts"),
    )
)
_HARMLESS_PREFIXES = ("log_", "junit_", "doctest_")
_HARMLESS_OPTIONS = frozenset(
    (
        *("-q", "-qq", "--quiet", "-v", "-vv", "-vvv", "--verbose", "-s", "-l", "--showlocals"),
        *("--tb", "--color", "--durations", "--durations-min", "--strict", "--strict-markers"),
        *("--strict-config", "--import-mode", "--no-header", "--no-summary", "--show-capture"),
        *("--capture", "--assert", "--disable-warnings", "--full-trace", "--code-highlight"),
    )
)
_VALUED_OPTIONS = frozenset(
    (
        *("--tb", "--color", "--durations", "--durations-min", "--import-mode"),
        *("--show-capture", "--capture", "--assert", "-W"),
    )
)
_HARMLESS_HOOKS = (
    *("pytest_report_", "pytest_terminal_", "pytest_assert", "pytest_addoption"),
    *("pytest_warning_", "pytest_unconfigure", "pytest_sessionfinish", "pytest_exception_"),
)


def settings_change_collection(path: str, text: str) -> bool:
    """Returns True if a file of settings may change which tests are collected."""
    table = _TABLES.get(os.path.basename(path))
    if table is None:
        return False
    try:
        settings = _toml(text, table) if path.endswith(".toml") else _ini(text, table)
        return not all(_is_harmless(name, value) for name, value in settings.items())
    except (configparser.Error, ValueError, AttributeError, TypeError):
        return True


def _words(value: object) -> list[str]:
    return shlex.split(value) if isinstance(value, str) else list(value)  # type: ignore[call-overload]  # a list in TOML; else a TypeError, which is met


def _ini(text: str, table: str) -> Mapping[str, object]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string("\n".join(map(_with_single_spaces, text.splitlines())))
    return dict(parser.items(table)) if parser.has_section(table) else {}


def _with_single_spaces(line: str) -> str:
    """Returns a line without long runs of spaces behind its indentation.

    The time of Python's reader grows with the square of their length, and it stops all threads.
    """
    words = line.split()
    return line[: len(line) - len(line.lstrip())] + " ".join(words)


def _toml(text: str, table: str) -> Mapping[str, object]:
    tables = parse_toml(text)
    if table == "pytest":
        return dict(tables.get("pytest", {}))
    ours = dict(tables.get("tool", {}).get("pytest", {}))
    options = ours.pop("ini_options", {})
    return {**ours, **options}


def _is_harmless(name: str, value: object) -> bool:
    if name == "addopts":
        return _are_harmless(_words(value))
    return name in _HARMLESS_SETTINGS or name.startswith(_HARMLESS_PREFIXES)


def _are_harmless(options: list[str]) -> bool:
    waiting = iter(options)
    for option in waiting:
        name, equals, _ = option.partition("=")
        if name == "-p":
            if not next(waiting, "").startswith("no:"):
                return False
        elif name in _VALUED_OPTIONS and not equals:
            next(waiting, "")
        elif name not in _HARMLESS_OPTIONS and not _is_summary(name):
            return False
    return True


def _is_summary(option: str) -> bool:
    return option.startswith("-r") and not option.startswith("--") and option[2:].isalpha()


def hooks_change_collection(tree: ast.Module) -> bool:
    """Returns True if a file has hooks or names that change what pytest collects or runs."""
    return any(
        name.startswith("pytest_") and not name.startswith(_HARMLESS_HOOKS)
        for name in _defined(tree)
    )


def _only_adds_markers(function: ast.FunctionDef) -> bool:
    return all(
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr == "addinivalue_line"
        for node in function.body
    )


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in syntax.walk(tree):
        match node:
            case ast.FunctionDef(name="pytest_configure") if _only_adds_markers(node):
                continue
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name
