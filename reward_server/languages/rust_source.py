"""Rust's text where published tests have another form than a program with a main."""

from __future__ import annotations

import re

_CRATES = re.compile(r"(?m)^[ \t]*use\s+(rand|regex|md5)\b((?:(?!\buse\b)[^;])*+);[ \t]*$")
_NAME = re.compile(r"\w+")
_MAIN = re.compile(r"\bfn\s+main\s*\(\s*\)")
_CFG = re.compile(r"#\s*\[\s*cfg\s*\(\s*test\s*\)\s*\]")
_MODULE = re.compile(r"\bmod\s+(\w+)\s*\{")
_TEST = re.compile(
    r"(?P<before>(?:#\s*\[(?!\s*test\s*\])[^\[\]]*\]\s*)*)#\s*\[\s*test\s*\]\s*"
    r"(?P<after>(?:#\s*\[[^\[\]]*\]\s*)*)(?:pub\s+)?fn\s+(?P<name>\w+)(?=\s*\(\s*\))"
)


def without_crates(text: str) -> str:
    """Leaves out imports of crates that data sets have in every prompt, where none is used."""
    used = set(_NAME.findall(_CRATES.sub("", text)))

    def kept(found: re.Match[str]) -> str:
        names = {found[1], *_NAME.findall(found[2])}
        return "\n" * found[0].count("\n") if names.isdisjoint(used) else found[0]

    return _CRATES.sub(kept, text)


def with_main(tests: str) -> str:
    """Makes a main of tests that a test harness would call, one after another, in their order."""
    found = list(_TEST.finditer(tests))
    if _MAIN.search(tests) or not found:
        return tests
    calls = "".join(_call(one, _owner(tests, one.start())) for one in found)
    tests = _CFG.sub("", _TEST.sub(r"pub fn \g<name>", tests))
    return f"{tests}\nfn main() {{{calls} }}\n"


def _owner(tests: str, at: int) -> str:
    """Returns the modules around a place, by the brackets that are open there."""
    return "".join(
        f"{one[1]}::" for one in _MODULE.finditer(tests, 0, at) if _is_open(tests[one.end() : at])
    )


def _is_open(between: str) -> bool:
    bare = re.sub(r"//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'", "", between)
    return bare.count("}") <= bare.count("{")


def _call(test: re.Match[str], owner: str) -> str:
    attributes = test["before"] + test["after"]
    name = f"{owner}{test['name']}"
    if re.search(r"\bignore\b", attributes):
        return ""
    if re.search(r"\bshould_panic\b", attributes):
        return f" if std::panic::catch_unwind(|| {{ {name}(); }}).is_ok() {{ panic!() }}"
    # Before Rust 1.75 exit codes can't be compared, but only shown.
    ended = f"std::process::Termination::report({name}())"
    fine = 'format!("{:?}", std::process::ExitCode::SUCCESS)'
    return f' if format!("{{:?}}", {ended}) != {fine} {{ panic!() }}'
