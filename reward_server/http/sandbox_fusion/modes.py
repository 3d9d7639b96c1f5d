"""SandboxFusion's modes of test frameworks: programs that run the tests in the code of a request.

As for every program here, the caller decides by the exit code, and nothing is judged. A mode is
offered where the server has its framework for test files too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files

from reward_server.errors import UnsupportedError
from reward_server.rpc.convert import Bounds

_GO_TEST = re.compile(
    r"^[ \t]*func[ \t]+(Test(?![a-z])\w*)[ \t]*\(\s*\w+[ \t]+\*testing\.T\b", re.MULTILINE
)
_GO_MAIN = re.compile(r"^([ \t]*func[ \t]+)main([ \t]*\([ \t]*\))", re.MULTILINE)
_GO_PACKAGE = re.compile(r"^([ \t]*package[ \t]+)\w+", re.MULTILINE)
_GO = """package main

import "testing"

func main() {{
	all := func(string, string) (bool, error) {{ return true, nil }}
	testing.Main(all, []testing.InternalTest{{{tests}}}, nil, nil)
}}
"""
# As for test files, only the plug-ins of pytest are loaded, and that of coroutines if it is named.
_PYTEST = """import os, sys, pytest
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
sys.exit(pytest.main(["-p", "no:cacheprovider", {options}"test_submission.py"]))
"""
_ASYNCIO = '"-p", "pytest_asyncio.plugin", '
_JAVA_CLASS = re.compile(
    r"^[ \t]*public[ \t]+(?:\w+[ \t]+)*(?:class|interface|enum|record)[ \t]+(\w+)", re.MULTILINE
)
_JUNIT, _JUNIT_RUN = "CodeRewardTests.java", "CodeRewardRun.java"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """A program that runs tests, with the files beside it."""

    source: str
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """A mode of a test framework.

    Args:
        language: the language of its program.
        framework: the framework that the language must have.
        tested: returns the program that runs the tests in a code.
        passed: what the framework's command prints besides if all tests pass.
    """

    language: str
    framework: str
    tested: Callable[[str], Tested]
    passed: str = ""


def _pytest(code: str) -> Tested:
    options = _ASYNCIO if "asyncio" in code else ""
    return Tested(source=_PYTEST.format(options=options), files={"test_submission.py": code})


def _go_test(code: str) -> Tested:
    tests = ", ".join(f'{{"{name}", {name}}}' for name in _GO_TEST.findall(code))
    return Tested(
        source=_GO_PACKAGE.sub(r"\1main", _GO_MAIN.sub(r"\1codeRewardMain\2", code), count=1),
        files={"codereward_main.go": _GO.format(tests=tests)},
    )


def _junit(code: str) -> Tested:
    found = _JAVA_CLASS.search(code)
    drivers = files("reward_server.http.sandbox_fusion.drivers")
    return Tested(
        source=(drivers / _JUNIT).read_text(),
        files={
            f"{found[1] if found else 'Main'}.java": code,
            _JUNIT_RUN: (drivers / _JUNIT_RUN).read_text(),
        },
    )


_MODES = {
    "pytest": Mode(language="python", framework="pytest", tested=_pytest),
    "go_test": Mode(
        language="go", framework="go_test", tested=_go_test, passed="ok  \tcommand-line-arguments\n"
    ),
    "junit": Mode(language="java", framework="junit", tested=_junit),
}
_ABSENT = {
    "jest": "Jest and its `expect` are not in this server's images",
    "kotlin_script": "scripts are not run here; send a program with `main` as kotlin",
}


def mode_named(name: str, bounds: Bounds) -> Mode | None:
    """Returns the mode of a name; None if it is none.

    Raises:
        UnsupportedError: SandboxFusion has it, and this server does not.
    """
    if name in _ABSENT:
        raise UnsupportedError(f"language: {name}: {_ABSENT[name]}")
    mode = _MODES.get(name)
    if mode is None:
        return None
    if mode.framework not in bounds.languages.find(mode.language).frameworks:
        raise UnsupportedError(f"language: {name}: {mode.framework} is not installed here")
    return mode
