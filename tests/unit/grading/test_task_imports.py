"""What a task imports, read from its text alone, and what is left when an import goes."""

from __future__ import annotations

import pytest

from reward_server.domain import (
    Framework,
    FunctionTests,
    ProgramTests,
    StdioCase,
    StdioTests,
    Submission,
    Tests,
    UnitTests,
)
from reward_server.grading.task_imports import (
    are_classes_of_many,
    imports_of,
    unused,
    without,
)
from reward_server.languages import load_languages
from reward_server.languages.imports import Import

NO_TESTS = StdioTests(cases=(StdioCase(stdin=b"", expected_stdout=b""),))


def submission(language: str, tests: str | Tests = "", prompt: str = "") -> Submission:
    given = ProgramTests(test_code=tests) if isinstance(tests, str) else tests
    return Submission(completion="", language=language, prompt=prompt, tests=given)


def modules(language: str, tests: str | Tests = "", prompt: str = "") -> list[str]:
    found = imports_of(submission(language, tests, prompt), load_languages().find(language))
    return [one.module for one in found]


def unit(framework: Framework, text: str, name: str = "a") -> UnitTests:
    return UnitTests(framework=framework, files=((name, text),), solution_path="")


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("java", "import a.b.C;\nimport static a.D.*;\n// import e.F;\n", ["a.b", "a.D"]),
        ("javascript", "const {a, b: c} = require('x/y');\nrequire('z');", ["x/y", "z"]),
        ("javascript", "import a, {b as c} from '@s/x';\nimport 'z';", ["@s/x", "z"]),
        ("javascript", "const a = require('./x'), b = require('/y');", []),
        ("javascript", "function f() {\n  const a = require('x');\n}", []),
        ("javascript", "const text = `\nrequire('x');\n`; 'use strict';", []),
        ("typescript", "import type { A } from 'x';\nimport * as y from 'y';", ["x", "y"]),
        ("go", 'package main\nimport (\n\t"a.b/c"\n\td "e"\n)\nimport . "f"', ["a.b/c", "e", "f"]),
        ("c++", '#include <a/b.hpp>\n  # include <c>\n#include "d.h"', ["a/b.hpp", "c"]),
        ("c++", "#ifdef X\n#include <a>\n#endif\n#include <b>", []),
        ("ruby", "require 'a'\nrequire(\"b/c\")\nrequire './d'\n  require 'e'", ["a", "b/c"]),
        (
            "perl",
            "use strict;\nuse A::B qw(c d);\nuse 5.010;\nuse C;\npackage C;",
            ["strict", "A::B"],
        ),
        ("php", "require 'a.php';\nrequire_once('b.php');\ninclude 'c.php';", ["a.php", "b.php"]),
        ("lua", "local a = require('a')\nlocal b = require \"b.c\"\nlocal c = 1", ["a", "b.c"]),
        ("haskell", "import qualified Data.Map as M\nimport Data.List\n  (sort)", None),
        ("d", "import std.stdio;\nimport a.b : c;", ["std.stdio", "a.b"]),
        ("r", "library(a)\nlibrary('b')\nf <- function() library(c)", ["a", "b"]),
        ("racket", "#lang racket\n(require rackunit)", ["rackunit"]),
    ],
)
def test_imports_of_test_programs(language: str, text: str, found: list[str] | None) -> None:
    expected = ["Data.Map", "Data.List"] if found is None else found
    assert modules(language, text) == expected


def test_imports_of_python_are_the_statements_of_a_module() -> None:
    code = (
        "from __future__ import annotations\nimport a.b as c\nfrom d import (e,\n    f)\n"
        "from solution import f\nfrom . import g\ntry:\n    import h\nexcept ImportError: pass\n"
        "def check(f):\n    '''\nimport i\n'''\n    import j\n"
    )
    assert modules("python", FunctionTests(test_code=code)) == ["a.b", "d"]
    prompt = "import a\n\ndef f(x):\n"
    assert modules("python", FunctionTests(), prompt) == ["a"]
    assert modules("python", NO_TESTS, prompt) == ["a"]
    assert modules("python", unit(Framework.PYTEST, "import a"), prompt) == ["a"]


def test_a_solution_may_define_what_tests_import_in_languages_with_modules_in_a_file() -> None:
    uses = "use shapes::Circle;\n#[test] fn t() {}"
    assert modules("rust", uses) == []
    assert modules("rust", uses, "fn f() {\n") == ["shapes"]
    assert modules("rust", uses, "mod shapes {}\nfn f() {\n") == []
    assert modules("rust", "", "use std::fmt;\nuse crate::a;\nuse b;\nfn f() {\n") == ["b"]
    files = unit(Framework.CARGO_TEST, "use solution::f;\nuse rand::Rng;", "tests/a.rs")
    assert modules("rust", files) == ["rand"]
    assert modules("scala", "import Shapes._\nimport cats.data.State") == []
    prompt = "import cats.data.State\nobject Main {\n  def f(x: Int): Int = {\n"
    assert modules("scala", "import Shapes._", prompt) == ["cats.data", "Shapes"]


@pytest.mark.parametrize(
    ("statements", "undefined", "are_many"),
    [
        (["import com.acme.Calc;"], ["Calc"], False),
        (["import static com.acme.Calc.add;", "import com.acme.Calc;"], [], False),
        (["import com.acme.*;"], ["Calc"], False),
        (["import com.acme.*;"], ["Calc", "Mode"], True),
        (["import static org.assertj.core.api.Assertions.assertThat;"], ["Calc"], True),
        (["import org.junit.*;", "import static org.junit.Assert.*;"], ["Test", "Calc"], True),
    ],
)
def test_one_file_has_one_public_class(
    statements: list[str], undefined: list[str], are_many: bool
) -> None:
    text = "\n".join(statements)
    task = submission("java", unit(Framework.JUNIT, text, "ATest.java"))
    found = imports_of(task, load_languages().find("java"))
    assert [one.statement for one in found] == statements
    assert are_classes_of_many(found, undefined) is are_many


@pytest.mark.parametrize(
    ("language", "prompt", "tests", "spare"),
    [
        ("rust", "use rand::Rng;\nuse md5;\nfn f() {\n", "rand::random(); fn t() {}", ["md5"]),
        ("rust", "use a::{B, c as d};\nuse e::*;\nfn f() {\n", "", ["a"]),
        ("java", "import a.B;\nimport a.C;\nclass P { B f() {\n", "} }", ["a"]),
        ("java", "import a.*;\nclass P { int f() {\n", "} }", []),
        ("go", 'import (\n\t"x.y/is"\n\t"x.y/v2/eq"\n)\nfunc F() {\n', "eq.Is()", ["x.y/is"]),
        ("lua", "", "local a = require('a')\nlocal b = require('b')\nb.is(1)", ["a"]),
        ("ruby", "", "require 'a'\nputs 1", []),
    ],
)
def test_an_import_is_unused_if_the_text_has_none_of_its_names(
    language: str, prompt: str, tests: str, spare: list[str]
) -> None:
    task, known = submission(language, tests, prompt), load_languages().find(language)
    assert [one.module for one in unused(imports_of(task, known), task, known)] == spare


def test_imports_that_are_left_out_keep_the_lines_of_a_task() -> None:
    lost = (
        Import(statement="use a::{\n  B,\n};", module="a"),
        Import(statement="use c;", module="c"),
    )
    prompt = "use a::{\r\n  B,\r\n};\r\nuse d;\n    use c;\nfn f() {\n"
    task = Submission(
        completion="use c;\nfn f() { use c; }",
        prompt=prompt,
        tests=ProgramTests(test_code="mod tests {\n    use c;\n}"),
        task_fingerprint=b"known",
    )
    left = without(task, lost)
    assert left.prompt == "\n\n\r\nuse d;\n    \nfn f() {\n"
    assert left.completion == "\nfn f() { use c; }"
    assert left.tests == ProgramTests(test_code="mod tests {\n    \n}")
    assert left.task_fingerprint == b""


def test_the_tests_of_each_kind_lose_their_imports() -> None:
    lost = (Import(statement="import a", module="a"),)
    function = FunctionTests(test_code="import a\nx", setup_code="import a", asserts=("import a",))
    bare = FunctionTests(test_code="\nx", setup_code="", asserts=("import a",))
    assert without(submission("python", function), lost).tests == bare
    files = unit(Framework.PYTEST, "import a\nx")
    assert without(submission("python", files), lost).tests == unit(Framework.PYTEST, "\nx")
    assert without(submission("python", NO_TESTS), lost).tests == NO_TESTS
