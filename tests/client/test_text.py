from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainer_client.text import completion_text, transcript, well_formed


@given(st.text(st.characters()))
def test_any_text_can_be_sent_and_sound_text_is_left_alone(text):
    safe = well_formed(text)
    safe.encode()
    assert well_formed(safe) == safe
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert safe == text


def test_a_lone_surrogate_is_replaced_and_a_pair_is_joined():
    assert well_formed("a\ud800b") == "a\ufffdb"
    assert well_formed("\ud83d\ude00") == "\U0001f600"


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("plain", "plain"),
        ({"role": "assistant", "content": "one"}, "one"),
        ([{"role": "assistant", "content": "one"}], "one"),
        (
            [
                {"role": "assistant", "content": "first"},
                {"role": "tool", "content": "42"},
                {"role": "assistant", "content": "last"},
            ],
            "last",
        ),
        (
            [
                {"role": "assistant", "content": "answer"},
                {"role": "assistant", "content": None, "tool_calls": [{}]},
                {"role": "user", "content": "thanks"},
            ],
            "answer",
        ),
        (
            [
                {"role": "assistant", "content": "answer", "tool_calls": [{}]},
                {"role": "tool", "content": "42"},
                {"role": "assistant", "content": "", "tool_calls": [{}]},
            ],
            "answer",
        ),
        (
            [
                {"role": "assistant", "content": "answer"},
                {"role": "user", "content": "again"},
                {"role": "assistant", "content": ""},
            ],
            "",
        ),
        (
            [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "a"},
                        {"type": "image"},
                        {"type": "text", "text": "b"},
                    ],
                }
            ],
            "ab",
        ),
        ([{"role": "assistant", "content": None}], ""),
        ([{"role": "user", "content": "only me"}], ""),
        ([], ""),
    ],
)
def test_the_text_is_that_of_the_last_message_of_the_assistant(completion, text):
    assert completion_text(completion) == text


@pytest.mark.parametrize("completion", [7, None, [["nested"]], ["text in a list"]])
def test_what_is_no_completion_is_a_type_error(completion):
    with pytest.raises(TypeError, match=r"not (a number|nothing|a list|text)"):
        completion_text(completion)


CALL = {"type": "function", "function": {"name": "submit", "arguments": {"code": "a\nb", "x": 1}}}


def test_a_transcript_has_all_turns_with_their_calls():
    turns = [
        {"role": "assistant", "content": "I try.", "tool_calls": [CALL, "odd", {"function": {}}]},
        {"role": "tool", "name": "submit", "content": "A test failed."},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ]
    assert transcript(turns).splitlines() == [
        "[assistant]",
        "I try.",
        "call of submit",
        "code:",
        "```",
        "a",
        "b",
        "```",
        "x: 1",
        "call: odd",
        "call of None: None",
        "[tool submit]",
        "A test failed.",
        "[assistant]",
        "Done.",
    ]


@pytest.mark.parametrize("completion", ["plain", [{"role": "assistant", "content": "plain"}]])
def test_a_transcript_of_one_answer_is_the_answer(completion):
    assert transcript(completion) == "plain"
