from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_server.grading.extraction.markdown import (
    answer_text,
    fenced_blocks,
    unquoted,
    visible_text,
)


def test_what_is_between_think_tags_is_not_visible() -> None:
    assert visible_text("a<think>b</think>c<THINK>d</THINK>e") == "ace"


def test_a_lone_closing_tag_ends_thoughts_that_the_prompt_began() -> None:
    assert visible_text("thoughts\n</think>\nanswer") == "\nanswer"


def test_thoughts_that_never_end_hide_the_rest() -> None:
    assert visible_text("before <think> x = 1") == "before "


def test_a_tag_in_a_string_of_the_program_is_not_reasoning() -> None:
    code = "x = text.replace('<think>', '').replace(\"</think>\", '')"
    assert visible_text(code) == code


def test_thoughts_that_mention_their_own_tag_end_at_the_closing_one() -> None:
    assert visible_text("<think>about <think> tags</think>rest") == "rest"


def test_the_last_answer_counts() -> None:
    assert answer_text("<answer>one</answer> no, <answer>two</answer> bye") == "two"


def test_an_answer_that_never_ends_goes_to_the_end() -> None:
    assert answer_text("so: <answer>two\nlines") == "two\nlines"


def test_text_without_answer_tags_has_no_answer() -> None:
    assert answer_text("</answer> print('<answer>')") is None


def test_a_block_has_its_tag_in_lower_case() -> None:
    blocks = fenced_blocks('``` {.Python title="x"}\na\n```')
    assert [(block.tag, block.text) for block in blocks] == [("python", "a\n")]


def test_tildes_fence_and_backticks_inside_them_are_text() -> None:
    (block,) = fenced_blocks("~~~py\na\n```\nb\n~~~\nrest")
    assert block.text == "a\n```\nb\n"


def test_an_unclosed_block_goes_to_the_end() -> None:
    (block,) = fenced_blocks("```python\na\nb")
    assert block.text == "a\nb"


def test_a_fence_stuck_to_the_last_line_of_code_closes() -> None:
    (block,) = fenced_blocks("```python\nreturn 1```\nThis works.")
    assert block.text == "return 1"


@pytest.mark.parametrize(
    "rest",
    [
        "<|im_end|>",
        ".",
        " This adds one.",
        "**Explanation**\n\nIt adds one.",
        "</solution>",
        " ```text\n2\n```",
        " The function `f` adds one.",
        "Explanation\n\nIt adds one.",
        " (see below)\n```\n2\n```",
        "~~~",
    ],
)
def test_a_block_ends_at_its_fence_whatever_stands_behind(rest: str) -> None:
    block = fenced_blocks(f"So:\n```python\na\n```{rest}")[0]
    assert (block.tag, block.text) == ("python", "a\n")


def test_a_fence_stuck_to_code_may_have_tags_behind() -> None:
    (block,) = fenced_blocks("```python\nx = '```a'\nreturn 1```<|im_end|></s>\n")
    assert block.text == "x = '```a'\nreturn 1"


@pytest.mark.parametrize("info", ["python", "{.python}", 'py title="x"', "python{1,3}"])
def test_a_fence_with_a_language_closes_a_block_that_was_left_open(info: str) -> None:
    blocks = fenced_blocks(f"```python\na\n```{info}\nb\n```")
    assert [block.text for block in blocks] == ["a\n", "b\n"]


def test_a_shorter_fence_inside_a_longer_one_is_text() -> None:
    (block,) = fenced_blocks("````python\na\n```\nb\n````")
    assert block.text == "a\n```\nb\n"


def test_a_deeper_fence_is_part_of_a_docstring() -> None:
    text = '```python\ndef f():\n    """\n    ```\n    f()\n    ```\n    """\n```\nx'
    (block,) = fenced_blocks(text)
    assert block.text.endswith('    """\n')


def test_a_block_in_a_list_loses_the_indentation_of_its_fence() -> None:
    (block,) = fenced_blocks("1. So:\n   ```python\n   def f():\n       return 1\n   ```")
    assert block.text == "def f():\n    return 1\n"


def test_a_block_behind_a_bullet_is_found() -> None:
    (block,) = fenced_blocks("- ```python\n  a\n  ```\n")
    assert block.text == "a\n"


def test_blocks_inside_a_block_of_markdown_are_found() -> None:
    blocks = fenced_blocks("````markdown\nText\n```python\na\n```\n````")
    assert [(block.tag, block.text) for block in blocks] == [("python", "a\n")]


def test_code_between_single_backticks_is_no_block() -> None:
    assert fenced_blocks("use `f()` or ```f()``` here\n``` `x` ```") == []


def test_a_block_behind_words_is_found_if_it_has_a_tag() -> None:
    (block,) = fenced_blocks("**So:** ```python\na\n```\nwords ```\n")
    assert (block.tag, block.text, block.start) == ("python", "a\n", 0)


def test_a_fence_behind_words_of_code_is_text() -> None:
    (block,) = fenced_blocks("```python\nx = 1  # as in ```python\ny = 'or ```python\n```")
    assert block.text == "x = 1  # as in ```python\ny = 'or ```python\n"
    assert fenced_blocks("x = 1  # as in ```python\n") == []


def test_blocks_in_a_quotation_lose_its_marks() -> None:
    text = unquoted("> So:\n>\n> ```python\n> def f():\n>     return 1\n>```\n")
    assert [block.text for block in fenced_blocks(text)] == ["def f():\n    return 1\n"]


def test_a_quotation_beside_other_fences_or_without_any_stays() -> None:
    for text in ("> a\n```\n> b\n```", "> a\n>>> f()\n"):
        assert unquoted(text) == text


@given(st.text(alphabet="`~ \npy<>/think", max_size=200))
def test_no_text_upsets_the_search(text: str) -> None:
    visible_text(text)
    answer_text(text)
    unquoted(text)
    for block in fenced_blocks(text):
        assert 0 <= block.start < len(text)


@given(st.text(max_size=200).filter(lambda code: "`" not in code and "\r" not in code))
def test_whatever_is_fenced_comes_out_as_it_is(code: str) -> None:
    (block,) = fenced_blocks(f"Text:\n```python\n{code}\n```\nText.")
    assert block.text == code + "\n"
