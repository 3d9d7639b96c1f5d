"""Programs are taken out of completions as their authors meant them."""

from __future__ import annotations

import ast
import io
import json
import textwrap
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_server.domain import Extraction
from reward_server.grading.extraction import extract
from reward_server.grading.extraction.extract import Extracted
from reward_server.languages import load_languages
from tests.support.sampling import sampled, times
from tests.support.timing import cpu_seconds, takes_at_most

PYTHON = load_languages().find("python")
PROMPT = 'import math\n\n\ndef helper():\n    return 1\n\n\ndef f(x):\n    """Doc."""\n'
BODY = "    return helper() + x\n"
WHOLE = "def f(x):\n    return helper() + x\n"


def take(
    completion: str,
    *,
    mode: Extraction = Extraction.AUTO,
    prompt: str = "",
    wanted: str = "f",
) -> Extracted:
    return extract.extract(
        completion,
        extraction=mode,
        dialect=PYTHON,
        prompt=prompt,
        wanted=frozenset({wanted} if wanted else ()),
    )


def call(source: str, *arguments: object) -> object:
    scope: dict[str, object] = {}
    exec(source, scope)
    function = scope["f"]
    assert callable(function)
    return function(*arguments)


# ------------------------------------------------------------------------------------ modes


def test_auto_takes_text_without_a_fence_as_it_is() -> None:
    assert take("x = 1\n") == Extracted(source="x = 1\n")


def test_auto_takes_the_fenced_code() -> None:
    assert take("Hi\n```python\nx = 1\n```\n") == Extracted(source="x = 1\n", has_code_block=True)


def test_markdown_finds_no_code_without_a_fence() -> None:
    taken = take("x = 1\n", mode=Extraction.MARKDOWN)
    assert taken == Extracted(source="", found=False)


def test_none_looks_at_nothing() -> None:
    text = "<think>```python\nx = 1\n```"
    assert take(text, mode=Extraction.NONE).source == text


def test_an_empty_completion_leaves_the_prompt() -> None:
    assert take("", prompt=PROMPT).source == PROMPT
    assert take("").source == ""


# --------------------------------------------------------------------------- prompt and code


@pytest.mark.parametrize("mode", [Extraction.AUTO, Extraction.NONE])
def test_a_bare_body_continues_the_prompt(mode: Extraction) -> None:
    assert take(BODY, mode=mode, prompt=PROMPT).source == PROMPT + BODY


def test_a_body_behind_a_line_break_continues_the_prompt() -> None:
    assert call(take("\n" + BODY, prompt=PROMPT.rstrip()).source, 2) == 3


def test_a_prompt_without_a_last_line_break_gets_one() -> None:
    assert call(take(BODY, prompt=PROMPT.rstrip()).source, 2) == 3


def test_a_prompt_that_stops_within_a_statement_is_continued_there() -> None:
    source = take("x + 1)", prompt="def f(x):\n    return (").source
    assert source == "def f(x):\n    return (x + 1)"


def test_a_body_whose_first_line_lost_its_indentation_gets_it_back() -> None:
    code = "total = helper()\n    for n in [x]:\n        total += n\n    return total\n"
    assert call(take(code, prompt=PROMPT).source, 2) == 3


def test_a_body_that_begins_with_a_loop_and_lost_its_first_indentation_gets_it_back() -> None:
    code = "for n in [x]:\n        return helper() + n\n    return None\n"
    assert call(take(code, prompt=PROMPT).source, 2) == 3


def test_a_body_that_lost_all_its_indentation_gets_it_back() -> None:
    code = (
        "def inner(n):\n    return n\nif x > 100:\n    return 0\nelse:\n    return helper() + x\n"
    )
    assert call(take(code, prompt=PROMPT).source, 2) == 3


def test_a_fenced_body_continues_the_prompt() -> None:
    assert call(take(f"So:\n```python\n{BODY}```", prompt=PROMPT).source, 2) == 3


@pytest.mark.parametrize("fence", ["{}", "```python\n{}```", "1. Text\n\n   ```\n   {}   ```"])
def test_a_restated_function_has_the_prompts_imports_and_helpers_in_front(fence: str) -> None:
    code = WHOLE.replace("\n", "\n   ").rstrip(" ") if fence.startswith("1") else WHOLE
    source = take(fence.format(code), prompt=PROMPT).source
    assert source.count("def f") == 1
    assert "import math" in source
    assert call(source, 2) == 3


def test_a_restated_helper_replaces_the_prompts() -> None:
    source = take(
        "```python\ndef helper():\n    return 5\n\n" + WHOLE + "```", prompt=PROMPT
    ).source
    assert source.count("def helper") == 1
    assert call(source, 2) == 7


def test_a_restatement_with_a_future_import_still_compiles() -> None:
    source = take("from __future__ import annotations\n" + WHOLE, prompt=PROMPT).source
    assert source.startswith("from __future__ import annotations\n")
    assert call(source, 2) == 3


def test_a_prompt_without_a_body_is_not_left_behind() -> None:
    assert call(take(WHOLE, prompt="def helper():\n    return 1\n\ndef f(x):\n").source, 2) == 3


def test_a_recursive_body_that_names_its_function_inside_is_no_restatement() -> None:
    code = "    def f(n):\n        return n\n    return f(x)\n"
    assert take(code, prompt=PROMPT).source == PROMPT + code


def test_a_body_that_goes_on_with_other_functions_is_no_restatement() -> None:
    code = BODY + "\n\ndef f2():\n    pass\n"
    assert take(code, prompt=PROMPT).source == PROMPT + code


LEETCODE = "class Solution:\n    def twoSum(self, nums: list) -> int:\n        "


@pytest.mark.parametrize(
    "completion",
    [
        "return sum(nums)",
        "total = 0\n        return total + sum(nums)\n",
        "        return sum(nums)\n",
        "\n        return sum(nums)\n",
        "    def twoSum(self, nums: list) -> int:\n        return sum(nums)\n",
        "def twoSum(self, nums: list) -> int:\n    return sum(nums)\n",
        "class Solution:\n    def twoSum(self, nums):\n        return sum(nums)\n",
        "```python\nclass Solution:\n    def twoSum(self, nums):\n        return sum(nums)\n```",
        "```python\ndef twoSum(self, nums):\n    return sum(nums)\n```",
    ],
)
def test_a_method_is_continued_or_restated(completion: str) -> None:
    source = take(completion, prompt=LEETCODE, wanted="Solution").source
    scope: dict[str, type] = {}
    exec(source, scope)
    assert scope["Solution"]().twoSum([1, 2]) == 3


@pytest.mark.parametrize(
    "prompt",
    [
        "Write a function f that adds one.",
        "# Task\nWrite it",
        "Hello",
        "Don't fail:\n>>> f(1)\n2\n",
        "\x00",
        "return the sum of the list",
        "(" * 10_000,
        "Your code should pass:\n```python\nassert f(1) == 2\n```\n",
    ],
)
def test_prose_is_not_put_in_front_of_code(prompt: str) -> None:
    assert take("def f(x):\n    return x\n", prompt=prompt).source == "def f(x):\n    return x\n"


def test_a_prompt_too_long_to_be_kept_is_read_all_the_same() -> None:
    code = PROMPT.replace("Doc.", "Doc. " * 10_000)
    assert call(take(BODY, prompt=code).source, 2) == 3
    assert take(WHOLE, prompt="Write the function f. " * 10_000).source == WHOLE


def test_code_quoted_in_a_chat_prompt_gives_its_imports_and_helpers() -> None:
    prompt = f"Complete this:\n```python\n{PROMPT}```\nThe call `f(1)` gives 2."
    assert call(take(f"```python\n{WHOLE}```", prompt=prompt).source, 2) == 3


def test_code_that_could_stand_alone_is_not_indented() -> None:
    prompt = "def helper():\n    return 1\n"
    code = "for i in range(3):\n    print(helper())\n"
    assert take(code, prompt=prompt, wanted="").source == prompt + code


def test_the_prompt_is_given_back_fit_to_be_run() -> None:
    assert take(BODY, prompt=PROMPT).prompt == PROMPT
    assert take(BODY, prompt="import math\ndef f(x):\n").prompt == "import math\ndef f(x): pass\n"
    assert take(BODY, prompt='import math\ndef f(x):\n    """Open').prompt == "import math\n"
    assert take(BODY, prompt="Write f.").prompt == ""


# ---------------------------------------------------------------------------------- blocks


def test_the_last_block_that_defines_the_function_is_taken() -> None:
    text = (
        "```python\ndef f(): return 1\n```\nBetter:\n```python\ndef f(): return 2\n```\n"
        "Use:\n```python\nprint(f())\n```\nOutput:\n```\n2\n```"
    )
    assert take(text).source == "def f(): return 2\n"


@pytest.mark.parametrize(
    "stub",
    [
        "def f(x): ...\n",
        "def f(x):\n    '''Doc.\n\n    More.'''\n    pass\n",
        "@cache\ndef f(x: int) -> int:  # as asked\n    raise NotImplementedError('later')\n",
        "class f:\n    def g(self): ...\n\nprint(f())\n",
    ],
)
def test_a_stub_behind_the_solution_is_not_taken(stub: str) -> None:
    taken = take(f"```python\n{WHOLE}```\nSignature:\n```python\n{stub}```\n")
    assert taken.source.endswith(WHOLE)
    assert "..." in take("```python\ndef f(x): ...\n```").source
    for later in ("def f(x): return 1\n", "def f(x):\n    ...\n    return 1\n", "f = abs\n"):
        assert take(f"```python\n{WHOLE}```\n```python\n{later}```\n").source == later


def test_without_a_known_name_the_last_block_of_the_language_is_taken() -> None:
    text = "```python\nx = 1\n```\n```python\nx = 2\n```\n```bash\nls\n```\n```\nout\n```"
    assert take(text, wanted="").source == "x = 2\n"


def test_a_block_without_a_tag_is_taken_where_none_has_one() -> None:
    assert take("```\ndef f(): pass\n```\nprints\n```\n3\n```").source == "def f(): pass\n"


def test_a_block_without_a_tag_that_defines_the_function_beats_a_tagged_example() -> None:
    assert take("```\ndef f(): pass\n```\n```python\nf()\n```").source == "def f(): pass\n"


def test_a_block_of_another_language_is_code_nevertheless() -> None:
    assert take("```java\nint x;\n```") == Extracted(source="int x;\n", has_code_block=True)


def test_helpers_in_blocks_of_their_own_are_joined() -> None:
    text = (
        "1:\n```python\nimport math\n```\nthen\n```python\ndef g(x):\n    return math.floor(x)\n"
        "```\nso\n```python\ndef f(x):\n    return g(x)\n```\nTry:\n```python\nprint(f(9.5))\n```"
    )
    out = io.StringIO()
    with redirect_stdout(out):
        assert call(take(text).source, 2.5) == 2
    assert out.getvalue() == ""


def test_reasoning_does_not_count() -> None:
    text = "<think>\n```python\ndef f(): return 1\n```\n</think>\n```python\ndef f(): return 2\n```"
    assert take(text).source == "def f(): return 2\n"


def test_the_answer_is_looked_at_first() -> None:
    text = "```python\ndef f(): return 1\n```\n<answer>```python\ndef f(): return 2\n```</answer>"
    assert take(text).source == "def f(): return 2\n"


def test_an_answer_without_a_fence_is_code_unless_there_is_a_fence_elsewhere() -> None:
    assert take("So <answer>\nx = 1\n</answer> it is").source == "\nx = 1\n"
    assert take("```python\nx = 2\n```\n<answer>see above</answer>").source == "x = 2\n"


@pytest.mark.parametrize("rest", ["", "<|im_end|>", " This adds", "**So**"])
def test_code_that_ends_in_the_fence_its_prompt_opened_ends_there(rest: str) -> None:
    taken = take(BODY + f"```{rest}\n\nThis adds.\n```python\nf(3)\n```", prompt=PROMPT)
    assert taken == Extracted(source=PROMPT + BODY, prompt=PROMPT, has_code_block=True)


def test_a_fence_in_the_docstring_of_bare_code_is_not_taken_for_one() -> None:
    code = 'def f():\n    """Example:\n\n```\nf()\n```\n    """\n    return 1\n'
    assert take(code) == Extracted(source=code)


def test_foreign_line_ends_and_a_byte_order_mark_are_removed() -> None:
    assert take("\ufeff```python\r\nx = 1\r\ny = 2\r```\r\n").source == "x = 1\ny = 2\n"


def test_null_characters_and_lone_surrogates_are_kept_or_replaced_without_a_crash() -> None:
    assert take("x = '\x00'").source == "x = '\x00'"
    assert take("x = '\ud800'").source == "x = '?'"


# ------------------------------------------------------------------------------- everything


@settings(max_examples=times(300, by_default=60))
@given(
    st.text(alphabet="`~ \n\tdefx():=return\"'#<>/think@", max_size=120),
    st.sampled_from(["", PROMPT, LEETCODE, "Write f.", "def f(x):\n    return ("]),
    st.sampled_from(Extraction),
)
def test_no_completion_crashes_it(completion: str, prompt: str, mode: Extraction) -> None:
    taken = take(completion, mode=mode, prompt=prompt)
    assert taken.found or (taken.source == "" and mode is Extraction.MARKDOWN)


@given(st.text(max_size=100))
def test_no_prompt_crashes_it(prompt: str) -> None:
    take(WHOLE, prompt=prompt)


HOSTILE = {
    "fences": "```python\n",
    "bare fences": "```\n",
    "ticks": "`",
    "tilde fences": "~~~\n```\n",
    "quotes": '"""\\',
    "mixed quotes": "'''\"\"\"",
    "spaces": " ",
    "empty lines": "\n",
    "brackets": "(",
    "decorators": "@a\n",
    "names": "a",
    "assignments": "A = 1\n",
    "definitions": "def f(x):\n    return f\n",
    "think": "<think>",
    "answer": "<answer>",
    "markdown": "````markdown\n```python\n",
    "tabs and returns": "\t\r",
    "colons": "a:",
}


@cache
def seconds_to_take(text: str) -> float:
    return cpu_seconds(lambda: take(text, prompt=PROMPT))


LEADS = ("", "x = 1\n", "```python\n")


@pytest.mark.parametrize(
    ("lead", "seed"),
    [
        pytest.param(lead, seed, id=f"{name} after {lead!r}")
        for name, seed in HOSTILE.items()
        for lead in sampled(LEADS, 2)
    ],
)
def test_time_grows_no_faster_than_the_text(lead: str, seed: str) -> None:
    small, large = (lead + seed * (size // len(seed)) for size in (10_000, 100_000))
    least = max(seconds_to_take(text) for text in (small, "x = [1, 2]\n" * 1000))
    assert takes_at_most(30 * least, lambda: take(large, prompt=PROMPT))


def test_text_beyond_the_reading_limit_is_taken_as_it_is() -> None:
    text = "```python\nx = 1\n```" + " " * extract.READ_CHARACTERS
    assert take(text).source == text
    assert not take(text, mode=Extraction.MARKDOWN).found


# -------------------------------------------------------------------------------- HumanEval


def _only_function(row: dict[str, str]) -> str:
    whole = row["prompt"] + row["canonical_solution"]
    definitions = [
        node
        for node in ast.parse(whole).body
        if isinstance(node, ast.FunctionDef) and node.name == row["entry_point"]
    ]
    return ast.get_source_segment(whole, definitions[-1]) or ""


FORMS: dict[str, Callable[[dict[str, str]], str]] = {
    "body": lambda row: row["canonical_solution"],
    "fenced body": lambda row: f"Sure:\n```python\n{row['canonical_solution']}```\nDone.",
    "stripped body": lambda row: row["canonical_solution"].strip(),
    "flush body": lambda row: textwrap.dedent(row["canonical_solution"].replace("\n   \n", "\n")),
    "function": _only_function,
    "whole": lambda row: row["prompt"] + row["canonical_solution"],
    "chat": lambda row: (
        f"<think>Hm, ```python\nx\n```</think>Here:\n```python\n{_only_function(row)}\n```\n"
        f"Use it:\n```python\nassert {row['entry_point']}(1, 2, 3, 4) == 5\n```\n"
    ),
}


@pytest.fixture(scope="module")
def rows(data_folder: Path) -> list[dict[str, str]]:
    lines = (data_folder / "HumanEval.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("quoted", [False, True], ids=["code prompt", "chat prompt"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_every_humaneval_solution_survives_extraction(
    rows: list[dict[str, str]], form: Callable[[dict[str, str]], str], quoted: bool
) -> None:
    for row in sampled(rows, 4):
        prompt = row["prompt"]
        if quoted:
            prompt = f"Please complete:\n```python\n{prompt}```\nThanks!"
        source = take(form(row), prompt=prompt, wanted=row["entry_point"]).source
        scope: dict[str, object] = {}
        with redirect_stdout(io.StringIO()):
            exec(source + "\n" + row["test"], scope)
            exec(f"check({row['entry_point']})", scope)


def test_a_humaneval_solution_is_exactly_the_prompt_and_the_completion(
    rows: list[dict[str, str]],
) -> None:
    for row in rows:
        source = take(row["canonical_solution"], prompt=row["prompt"], wanted=row["entry_point"])
        assert source.source == row["prompt"] + row["canonical_solution"]


# ----------------------------------------------------------------------- indentation and endings


def code_of(completion: str, extraction: Extraction = Extraction.AUTO) -> str:
    return extract.extract(
        completion, extraction=extraction, dialect=PYTHON, wanted=frozenset({"f"})
    ).source


@pytest.mark.parametrize(
    ("completion", "code"),
    [
        ("```python\n\tdef f(x):\n\t\treturn x\n```", "def f(x):\n\treturn x\n"),
        ("\tdef f(x):\n\t    return x\n", "def f(x):\n    return x\n"),
        ("```\r\n\tdef f(x):\r\n\t\treturn x\r\n```", "def f(x):\n\treturn x\n"),
        ("\fdef f(x):\r\n\treturn x\r\n", "\fdef f(x):\n\treturn x\n"),
        ("\f\tdef f(x):\n\t\treturn x\n", "def f(x):\n\treturn x\n"),
        ("1. So:\n   ```python\n   def f(x):\n   \treturn x\n   ```", "def f(x):\n\treturn x\n"),
        ("1. ```python\n\tdef f(x):\n\t\treturn x\n   ```", "def f(x):\n\treturn x\n"),
        (
            "   ```\n  def f(x):\n    if x:\n      return x\n   ```",
            "def f(x):\n  if x:\n    return x\n",
        ),
        ("        # so\n    def f(x):\n        return x\n", "    # so\ndef f(x):\n    return x\n"),
        ("    def f(x):\n\t    return x\n", "def f(x):\n        return x\n"),
    ],
)
def test_lines_of_code_keep_their_indentation_relative_to_each_other(
    completion: str, code: str
) -> None:
    assert code_of(completion) == code
    assert call(code_of(completion), 2) == 2


@given(st.sampled_from(["\t", "    ", "  ", "\t  ", " \t"]), st.sampled_from(["\t", "  ", "    "]))
def test_code_that_is_indented_as_a_whole_is_taken_back(before: str, step: str) -> None:
    code = f"def f(x):\n{step}for n in [x]:\n{step * 2}if n:\n{step * 3}return n\n"
    fenced = f"```python\n{textwrap.indent(code, before)}```"
    assert code_of(fenced) == code
    assert code_of(textwrap.indent(code, before), Extraction.NONE) == code


ENDS = (
    *("def random", "def g(x", "def g(x):", "def g(x):\n    '''Returns", "def g(x):\n    if x"),
    *("class", "class G:", "@cached", "async def g", "print(f(1", "print(f('a", "x = [1,\n  2,"),
    *("if __name__ ==", "if __name__ == '__main__':", "from math import", "import", "y = f(1) +"),
)


@pytest.mark.parametrize("end", ENDS)
def test_a_last_statement_that_stops_early_is_dropped_behind_a_whole_definition(end: str) -> None:
    assert call(take(f"{BODY}\n{end}", prompt=PROMPT).source, 2) == 3
    assert code_of(f"{WHOLE}\n\n{end}").rstrip() == WHOLE.rstrip()


@pytest.mark.parametrize(
    "code",
    [
        f"{WHOLE}\nprint(f(1))",
        f"{WHOLE}\n# it's done",
        f"{WHOLE}\ny = (f(1) if f(2)\n     else 3)",
        f"{WHOLE}\ny = [n\n     for n in [1]\n     if n]\n",
        f"{WHOLE}\ny = '''\n   if x\n'''\n",
        f"{WHOLE}\ny = ...",
        f"{WHOLE}\ny = 1.",
        f"{WHOLE}\ny = 1,\n",
        f"{WHOLE}\nfrom math import *",
        "x = '''\ndef f():\n    pass\n\ndef g'''\n",
        "def f(x):\n    return (x",
        "def g():\n    pass\n\ndef f(x):\n    return (x",
        f"{WHOLE}\nThat is all, and it's right.",
    ],
)
def test_what_is_whole_or_asked_for_stays(code: str) -> None:
    assert code_of(code) == code
