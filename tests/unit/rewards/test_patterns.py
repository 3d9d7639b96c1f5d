"""A reward for a regular expression, which may take for ever."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import signal
from collections.abc import Collection
from pathlib import Path

import pytest

from tests.support.forks import printed_by
from trainer_client.rewards import pattern_reward

ENDLESS = "(a+)+$"


def one(reward, *texts):
    return reward(prompts=["?"] * len(texts), completions=list(texts))


def matchers(others: Collection[int] = ()) -> list[int]:
    """Returns the matching processes that are children of this one, but for others."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and b"ITIMER_PROF" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return [pid for pid in found if pid not in others]


@pytest.fixture
def others() -> list[int]:
    """Returns the matching processes of rewards that other tests still hold."""
    gc.collect()
    return matchers()


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        ({}, "<a>\n1\n</a>", 1.0),
        ({"value": 0.25}, "<a>1</a>", 0.25),
        ({"flags": 0}, "<a>\n1\n</a>", 0.0),
        ({"flags": re.IGNORECASE}, "<A>1</A>", 1.0),
        ({}, "so <a>1</a>", 0.0),
        ({"search": True}, "so <a>1</a> it is", 1.0),
        ({"characters": 7}, "<a>1</a>", 0.0),
        ({"characters": 8}, "<a>1</a>", 1.0),
        ({}, "", 0.0),
        ({}, "<a>\u2028\ud800 \x00 \u00e4</a>", 1.0),
    ],
)
def test_a_match_earns_its_value(options, text, expected):
    assert one(pattern_reward("<a>.*</a>", **options), text) == [expected]


def test_a_text_that_takes_too_long_does_not_match_and_the_next_are_judged():
    reward = pattern_reward(ENDLESS, seconds=0.05)
    assert one(reward, "aaa", "a" * 60 + "!", "a", "a" * 60 + "!", "b") == [1.0, 0.0, 1.0, 0.0, 0.0]


def test_a_process_that_something_else_ended_has_judged_nothing(others):
    reward = pattern_reward("a")
    one(reward, "a")
    [process] = matchers(others)
    os.kill(process, signal.SIGKILL)
    assert one(reward, "a", "a") == [None, 1.0]


def test_the_process_ends_with_its_reward(others):
    reward = pattern_reward("a")
    one(reward, "a")
    assert len(matchers(others)) == 1
    del reward
    gc.collect()
    assert matchers(others) == []


def test_chats_are_judged_and_the_name_is_given():
    reward = pattern_reward("yes|", name="agrees")
    assert reward.__name__ == "agrees"
    chat = [{"role": "assistant", "content": "yes"}]
    assert reward(prompts=[[], []], completions=[chat, []]) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"pattern": "("}, r"pattern: missing \)"),
        ({"pattern": "a", "seconds": 0}, "must be above 0"),
        ({"pattern": "a", "characters": -1}, "must be above 0"),
    ],
)
def test_what_cannot_be_matched_is_refused_when_it_is_made(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        pattern_reward(**arguments)


def test_an_interrupted_text_leaves_no_answer_to_the_next(others):
    reward = pattern_reward(ENDLESS, seconds=30.0)
    assert one(reward, "a") == [1.0]

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            one(reward, "a" * 24 + "!")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
    assert one(reward, "a", "b", "aa") == [1.0, 0.0, 1.0]
    assert len(matchers(others)) == 1


# Python 3.12 warns of forking where other tests have left threads.
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_a_matcher_of_its_own():
    reward = pattern_reward("a+")
    assert one(reward, "a") == [1.0]
    before = matchers()
    child = os.fork()
    if child == 0:
        right = False
        try:
            judged = one(reward, *["b"] * 50)
            right = judged == [0.0] * 50 and len(matchers()) == 1
        finally:
            os._exit(not right)
    assert one(reward, *["a"] * 50) == [1.0] * 50
    assert os.waitpid(child, 0)[1] == 0
    assert matchers() == before


FORKING = """
import os, sys
from trainer_client.rewards import pattern_reward

reward = pattern_reward("a+")

def judged():
    return reward(prompts=["?"], completions=["aa"])[0]

print(judged(), flush=True)
child = os.fork()
if child == 0:
    if sys.argv[1] == "used":
        judged()
    sys.exit()
print(*(judged() for _ in range(50)), os.waitpid(child, 0)[1], judged())
"""


@pytest.mark.parametrize("matcher", ["used", "unused"])
def test_a_forked_process_that_ends_in_order_leaves_its_parents_matcher_alone(matcher):
    assert printed_by(FORKING, matcher).split() == ["1.0"] * 51 + ["0", "1.0"]
