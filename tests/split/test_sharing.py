"""Test programs taken apart, whose tests can tell values from their copies.

What they see apart is what they see in one program; where that cannot be, they are not taken apart.
A run takes every fourth program of JavaScript; REWARD_SERVER_TEST_ALL=1 takes all.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from reward_server.grading.compiled_tests.split import Source
from reward_server.grading.compiled_tests.split import java as java_rules
from tests.split import sharing_programs as programs
from tests.split.programs import WORD, Workshop, judged, printed, workshop
from tests.split.sharing_programs import Probe
from tests.support.sampling import sampled
from tests.support.tools import needs

pytestmark = pytest.mark.timeout(300)
HEAD = "#include <stdexcept>\n#include <string>\n#include <vector>\nusing namespace std;\n"
ASSERT = "#undef NDEBUG\n#include <cassert>\n"


@pytest.fixture(scope="module")
def shop_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Workshop]:
    languages = {"cpp": "c++17"}
    return cache(
        lambda name: workshop(languages.get(name, name), name, tmp_path_factory.mktemp(name))
    )


@pytest.mark.parametrize(
    ("language", "made", "probes"),
    [
        pytest.param("java", programs.java, programs.JAVA, marks=needs("javac"), id="java"),
        pytest.param("go", programs.go, programs.GO, marks=needs("go"), id="go"),
    ],
)
def test_tests_see_apart_what_they_see_in_one_program(
    shop_of: Callable[[str], Workshop],
    language: str,
    made: Callable[[Mapping[str, Probe]], tuple[str, str, str]],
    probes: Mapping[str, Probe],
) -> None:
    shop = shop_of(language)
    prompt, completion, tests = made(probes)
    # The rule that keeps tests of views in one program would keep them all.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(java_rules, "writes_to_views", lambda tests, method: False)
        split = shop.taken_apart(prompt, tests)
    assert split is not None
    solution = shop.compiled(split.serving(prompt + completion))
    lines = printed(shop.tests_program(split, tests), solution).splitlines()
    seen = dict(line.split(": ") for line in lines if ": " in line)
    assert seen == {name: probe.seen for name, probe in probes.items()}


@pytest.mark.parametrize("name", sampled(list(programs.JAVASCRIPT), step=8))
@needs("node")
def test_a_program_of_javascript_comes_to_the_same_end_apart(
    shop_of: Callable[[str], Workshop], tmp_path: Path, name: str
) -> None:
    solution, *all_tests = programs.JAVASCRIPT[name]
    for tests, passes in zip(all_tests, (True, False), strict=True):
        body = f"{programs.ASSERT}{tests}\n"
        whole = subprocess.run(["node", "-e", f"{solution}\n{body}"], capture_output=True)
        split = shop_of("javascript").taken_apart("", body)
        assert (whole.returncode == 0) is passes, whole.stderr
        assert split is not None, tests
        ending = f"process.stdout.write('\\n{WORD}\\n')\n"
        own = Source(text=f"{split.stubs.text}\n{body}{ending}", files=split.stubs.files)
        outcome = judged(
            node(own, tmp_path / f"tests {passes}", *split.stubs.options),
            node(split.serving(solution), tmp_path / f"solution {passes}"),
        )
        assert outcome.passed is passes, outcome


def node(source: Source, folder: Path, *options: str) -> list[str]:
    """Returns the command that runs a program of JavaScript."""
    folder.mkdir()
    for name, data in {**source.files, "main.js": source.text.encode()}.items():
        (folder / name).write_bytes(data)
    return ["env", "-C", str(folder), "node", *options, "main.js"]


def cpp(checks: str) -> str:
    return f"{ASSERT}int main() {{\n{checks}\n}}\n"


def rust(checks: str) -> str:
    return f"fn main() {{\n{checks}\n}}\n"


TOGETHER = [
    pytest.param(language, prompt, main(checks), id=f"{language} {name}")
    for language, main, rows in (
        ("cpp", cpp, programs.CPP_TOGETHER),
        ("rust", rust, programs.RUST_TOGETHER),
        ("java", str, programs.JAVA_TOGETHER),
    )
    for name, (prompt, checks) in rows.items()
]


@pytest.mark.parametrize(("language", "prompt", "tests"), TOGETHER)
def test_tests_in_which_copies_would_show_are_not_taken_apart(
    shop_of: Callable[[str], Workshop], language: str, prompt: str, tests: str
) -> None:
    head = HEAD if language == "cpp" else ""
    assert shop_of(language).taken_apart(head + prompt, tests) is None


@pytest.mark.parametrize("checks", programs.RUST_APART.values(), ids=programs.RUST_APART)
def test_tests_in_rust_in_which_copies_do_not_show_are_taken_apart(
    shop_of: Callable[[str], Workshop], checks: str
) -> None:
    assert shop_of("rust").taken_apart("fn f(a: &mut Vec<i32>) {", rust(checks)) is not None


@pytest.mark.parametrize("name", programs.CPP_ALONE)
def test_tests_in_cpp_in_which_copies_do_not_show_are_taken_apart(
    shop_of: Callable[[str], Workshop], name: str
) -> None:
    prompt, checks = programs.CPP_ALONE[name]
    assert shop_of("cpp").taken_apart(HEAD + prompt, cpp(checks)) is not None


@pytest.mark.parametrize("name", sampled(list(programs.CPP_APART), step=8))
@needs("g++")
def test_honest_solutions_in_cpp_pass_apart(shop_of: Callable[[str], Workshop], name: str) -> None:
    prompt, completion, checks = programs.CPP_APART[name]
    split = shop_of("cpp").taken_apart(HEAD + prompt, cpp(checks))
    assert split is not None
    solution = shop_of("cpp").compiled(split.serving(HEAD + prompt + completion))
    outcome = judged(shop_of("cpp").tests_program(split, cpp(checks)), solution)
    assert outcome.passed, outcome
