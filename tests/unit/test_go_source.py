# ruff: noqa: E501  # programs in another language
"""Go programs put together of parts: one clause of a package, then imports, none in vain."""

from __future__ import annotations

import pytest

from reward_server.domain import Extraction
from reward_server.grading.extraction import extract
from reward_server.languages import load_languages
from reward_server.languages.go_source import arranged

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
