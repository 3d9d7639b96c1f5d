"""Completions in other languages become whole programs, whatever the model left out or repeated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_server.domain import Extraction
from reward_server.grading.extraction import other_languages
from reward_server.grading.extraction.extract import Extracted, extract
from reward_server.languages import load_languages

CPP = load_languages().find("c++")

PROMPT = """/*
Adds two numbers; use it
from anywhere.
*/
#include <vector>
using namespace std;
int twice(int x) { return 2 * x; }
int add(int a, int b){
"""
BODY = "    return a + b;\n}\n"
FUNCTION = "int add(int a, int b) {\n    return a + b;\n}\n"

CLASS_PROMPT = """import java.util.*;

class Solution {
    /**
     Adds. {
     */
    public int add(int a, int b) {
"""


def extracted(completion: str, prompt: str = PROMPT) -> Extracted:
    return extract(completion, extraction=Extraction.AUTO, dialect=CPP, prompt=prompt)


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(
    "completion", [BODY, f"```cpp\n{BODY}```", f"It goes on:\n```c++\n{BODY}```\nDone."]
)
def test_a_body_goes_on_where_the_prompt_stops(completion: str) -> None:
    assert extracted(completion).source == PROMPT + BODY


@pytest.mark.parametrize("prompt", [PROMPT, CLASS_PROMPT])
def test_a_body_with_a_variable_of_the_function_s_name_goes_on(prompt: str) -> None:
    body = "    int add = a;\n    add += b;\n    return add;\n" + "}\n" * (1 + (prompt != PROMPT))
    assert extracted(body, prompt).source == prompt + body


def test_a_body_without_its_closing_brace_is_closed() -> None:
    source = extracted("    return a + b;\n").source
    assert squeezed(source) == squeezed(PROMPT + BODY)


@pytest.mark.parametrize("before", ["", "#include <vector>\n", "using namespace std;\n"])
def test_a_function_stated_again_gets_the_imports_and_helpers_it_left_out(before: str) -> None:
    source = extracted(f"```cpp\n{before}{FUNCTION}```").source
    assert source.count("#include <vector>") == 1
    assert source.count("using namespace std;") == 1
    assert source.count("int twice") == 1
    assert source.count("int add(") == 1
    assert "from anywhere" not in source


def test_a_helper_stated_again_is_not_defined_twice() -> None:
    source = extracted(f"```cpp\nint twice(int x) {{ return x + x; }}\n{FUNCTION}```").source
    assert source.count("int twice") == 1
    assert source.count("#include <vector>") == 1


def test_a_recursive_call_is_no_definition() -> None:
    body = "    return b ? add(a + 1, b - 1) : a;\n}\n"
    assert extracted(body).source == PROMPT + body


@pytest.mark.parametrize(
    "completion",
    [
        "        return a + b;\n    }\n}\n",
        "        return a + b;\n    }\n",
        "        return a + b;\n",
        "    public int add(int a, int b) {\n        return a + b;\n    }\n",
        "class Solution {\n    public int add(int a, int b) {\n        return a + b;\n    }\n}\n",
    ],
)
def test_a_method_ends_up_in_its_class_with_the_imports(completion: str) -> None:
    source = extracted(f"```\n{completion}```", CLASS_PROMPT).source
    bare = source.replace("Adds. {", "")
    assert source.startswith("import java.util.*;")
    assert bare.count("class Solution") == bare.count("public int add(") == 1
    assert bare.count("{") == bare.count("}") == 2


def test_prose_in_front_of_the_code_is_no_prompt() -> None:
    source = extracted(f"```cpp\n{FUNCTION}```", "Write a function that adds two numbers.").source
    assert source == FUNCTION


def test_a_prompt_may_quote_its_code() -> None:
    prompt = f"Complete this function:\n\n```cpp\n{PROMPT}```\n"
    assert extracted(f"```cpp\n{BODY}```", prompt).source == PROMPT + BODY


def test_the_block_that_defines_what_was_asked_for_is_taken() -> None:
    blocks = f"```cpp\n{FUNCTION}```\nUse it so:\n```cpp\nint y = add(1, 2);\n```\n"
    assert "int y" not in extracted(blocks).source


def test_a_block_in_another_language_is_not_taken() -> None:
    blocks = f"```cpp\n{FUNCTION}```\nIn Python:\n```python\ndef add(a, b): return a + b\n```\n"
    assert "def add" not in extracted(blocks, "").source


def test_a_preprocessor_line_is_no_comment() -> None:
    assert extracted(f"#include <vector>\n{FUNCTION}", "").source.startswith("#include")


@pytest.mark.parametrize(
    ("code", "name", "defined"),
    [
        ("int add(int a) {", "add", True),
        ("vector<int> add(int a)", "add", True),
        ("const add = (a) => a", "add", True),
        ("function add(a) {", "add", True),
        ("fn add<T>(a: T) -> T {", "add", True),
        ("func add(a int) int {", "add", True),
        ("def add(a):", "add", True),
        ("add :: Int -> Int", "add", True),
        ("(define (add a b)", "add", True),
        ("  return add(1);", "add", False),
        ("x = new add(1);", "add", False),
        ("std::cout << add(1);", "add", False),
        ("int added(int a) {", "add", False),
        ("anything", "", False),
    ],
)
def test_definitions_are_told_from_uses(code: str, name: str, defined: bool) -> None:
    assert other_languages.defines(code, name) is defined


@given(st.text(alphabet="{}()ab \n/*\"'=:<>#", max_size=200), st.text("{}add( \n;=", max_size=100))
def test_no_text_upsets_it(prompt: str, completion: str) -> None:
    read = other_languages.read_prompt(prompt, CPP)
    assert (
        other_languages.continue_prompt(read, completion)
        .rstrip("\n}")
        .endswith(completion.rstrip("\n}")[-10:])
    )
