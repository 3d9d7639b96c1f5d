# ruff: noqa: E501  # programs in another language
"""Go programs put together of parts: one clause of a package, then imports, none in vain."""

from __future__ import annotations

import pytest

from reward_server.domain import Extraction
from reward_server.grading.extraction.extract import extract
from reward_server.languages import load_languages
from reward_server.languages.go_source import arranged, with_tests

FUNCTION = "func A(s string) string { return strings.ToUpper(s) }\n"
FORMS = {
    "imports without a clause": f'import (\n\t"strings"\n)\n\n{FUNCTION}',
    "imports before the clause": f'import "strings"\npackage a\n{FUNCTION}',
    "imports of the tests, too": f'import "strings"\n{FUNCTION}package main\nimport (\n"strings"; "fmt"\n)\n',
    "an import that is not used": f'import ("strings"; "os")\n{FUNCTION}',
    "no import": FUNCTION,
    "comments in between": f'import ( // strings, "os"\n"strings" /* ) */\n)\n{FUNCTION}',
    "an import in a raw text": f'{FUNCTION}var text = `\nimport "os"\n`\n',
}


@pytest.mark.parametrize("form", FORMS)
def test_each_import_stands_once_and_first(form: str) -> None:
    head, _, rest = arranged(FORMS[form]).partition("\n")
    assert head.startswith("package main; ")
    assert head.count('"strings"') == 1
    assert '"os"' not in head
    assert "strings.ToUpper" in head + rest
    assert ('"os"' in rest) == ("raw" in form)


def test_lines_stay_where_they_are() -> None:
    text = f'import (\n"strings"\n)\npackage x\n{FUNCTION}'
    assert arranged(text).split("\n").index(FUNCTION.strip()) == 4


def test_names_that_are_declared_or_renamed_are_no_packages() -> None:
    head = arranged("func sort() {}\nvar x = sort.Ints\n")
    assert '"sort"' not in head
    assert 'import s "sort"; ' in arranged('import s "sort"\nvar x = s.Ints\n')
    assert 'import _ "embed"; ' in arranged('import _ "embed"\n')


PROMPT = 'import (\n    "math"\n    "sort"\n)\n\n// Doc.\nfunc A(x float64) float64 {\n'
WHOLE = 'package main\n\nimport (\n    "math"\n)\n\nfunc A(x float64) float64 {\n    return math.Abs(x)\n}\n'


@pytest.mark.parametrize(
    "completion",
    [
        "    return math.Abs(x)\n}\n",
        f"```go\n{WHOLE}```",
        f"```go\n{WHOLE[WHOLE.index('func') :]}```",
    ],
)
def test_an_answer_to_a_prompt_with_grouped_imports_is_a_program(completion: str) -> None:
    language = load_languages().find("go")
    source = arranged(
        extract(completion, extraction=Extraction.AUTO, dialect=language, prompt=PROMPT).source
    )
    assert source.startswith('package main; import "math"; ')
    assert source.count("func A(") == 1
    assert source.count("import") == 1
    assert source.count('"math"') == 1
    assert '"sort"' not in source


CALLED = {
    "func TestA(t *testing.T) {}": '{"TestA", TestA}',
    "func Test(\n\t_ *testing.T,\n) {}\nfunc Test1(*T) {}": '{"Test", Test}, {"Test1", Test1}',
    "func (s S) TestA(t *testing.T) {}\nfunc TestÄ(t *tt.T) {}": '{"TestÄ", TestÄ}',
    "func Tested(t *testing.T) {}\nfunc main() {}": "run(mS, nil, []Stest{})",
    "func TestA(a int) bool { return true }\nfunc main() {}": "run(mS, nil, []Stest{})",
    "/* func TestB(t *testing.T) {} */ func TestA(t *testing.T) { `\nfunc TestC(t *testing.T) {}\n` }": '{{"TestA", TestA}}',
    "}\nfunc TestA(t *testing.T) {}\nfunc TestMain(m *testing.M) {}": "run(nil, TestMain, []Stest{{",
}
REFUSED = {
    "// func main() {}\nfunc Testa(t *testing.T) {}": "neither a main nor a func TestX",
    "func TestMain(m *testing.M) {}": "neither a main nor a func TestX",
    "func TestA(t *testing.T) {}\nfunc FuzzA(f *testing.F) {}": "has FuzzA, which is not run",
    "func TestA(t *testing.T) {}\nfunc ExampleA() {\n\tA()\n\t// Output: 1\n}": "has ExampleA",
}


@pytest.mark.parametrize("tests", CALLED)
def test_all_that_gos_own_runner_calls_is_called(tests: str) -> None:
    assert CALLED[tests] in with_tests(tests, "S")


@pytest.mark.parametrize("tests", REFUSED)
def test_what_would_not_be_called_is_refused(tests: str) -> None:
    with pytest.raises(ValueError, match=REFUSED[tests]):
        with_tests(tests, "S")


def test_a_main_of_tests_gets_a_stand_in_for_all_of_them() -> None:
    made = with_tests("func TestMain(m *testing.M) { M() }\nfunc TestA(t *testing.T) {}", "S")
    assert "func TestMain(m *SM) { M() }" in made
