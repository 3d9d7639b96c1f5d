"""The candidate's shim answers each question, whatever the solution does with it."""

from __future__ import annotations

import json
import socket
import textwrap
import threading
import types
from typing import Any

import pytest

from reward_server.runner.candidate.answers import Answers
from reward_server.runner.channel.frames import NUMBER, Frames

F = {"h": ["name", "f"]}


def asked(source: str, *questions: list[Any], result_bytes: int = 100_000) -> list[Any]:
    """Returns the answers to questions."""
    module = types.ModuleType("solution")
    exec(textwrap.dedent(source), vars(module))
    ours, theirs = socket.socketpair()
    frames, answers = Frames(ours), []
    ours.settimeout(30)
    run = Answers(Frames(theirs), module, result_bytes).run
    shim = threading.Thread(target=run, daemon=True)
    shim.start()
    for number, question in enumerate(questions):
        frames.send(NUMBER.pack(number) + json.dumps(question).encode())
        frame = frames.receive()
        assert frame[: NUMBER.size] == NUMBER.pack(number)
        answers.append(json.loads(frame[NUMBER.size :]))
    ours.close()
    shim.join()
    theirs.close()
    return answers


BASE = ["builtins.Exception"]
ARITHMETIC = ["builtins.ArithmeticError", BASE]
ANSWERS = {
    "data": ("def f(x): return [x]", ["return", {"r": 0}, [["l", 3]], [], False]),
    "a subclass": (
        "class E(list): pass\ndef f(x): return E([x])",
        ["return", {"r": 0}, [["l", 3]], [], True],
    ),
    "an object": ("def f(x): return f", ["return", {"h": ["object", 0]}, [], [], False]),
    "a type": ("def f(x): return int", ["return", {"h": ["type", "int"]}, [], [], False]),
    "nothing by that name": (
        "",
        [
            *("raise", ["builtins.NameError", BASE], ["name 'f' is not defined"]),
            *("name 'f' is not defined", {}, [], [], False),
        ],
    ),
    "a class by the name of a built-in": (
        "class ValueError(Exception): pass\ndef f(x): raise ValueError(x)",
        ["raise", ["ValueError", BASE], [3], "3", {}, [], [], False],
    ),
    "fields that are no data": (
        "class E(Exception):\n    pass\ndef f(x):\n    e = E()\n    e.x, e.y = x, {f}\n    raise e",
        [
            *("raise", ["E", BASE], [], "", {"x": 3, "y": {"r": 0}}),
            *([["s", {"h": ["object", 0]}]], [], False),
        ],
    ),
    "an exit": ("def f(x): raise SystemExit(x)", ["exit", "SystemExit: 3"]),
    "an iterator that fails": (
        "def f(x): return map(lambda y: 1 // y, [1, 0])",
        [
            "return",
            {
                "i": [
                    [1],
                    None,
                    {
                        "h": [
                            *(
                                "error",
                                ["builtins.ZeroDivisionError", ARITHMETIC],
                            ),
                            *(
                                ["integer division or modulo by zero"],
                                "integer division or modulo by zero",
                            ),
                        ]
                    },
                ]
            },
            *([], [], False),
        ],
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_what_the_solution_returned_or_raised(name: str) -> None:
    source, answer = ANSWERS[name]
    assert asked(source, ["call", [F, 3], []]) == [answer]


HOSTILE = {
    "no text of an exception": """
        class E(Exception):
            def __str__(self): raise KeyError
        def f(x): raise E
    """,
    "no class of an exception": """
        class E(Exception):
            __module__ = None
        def f(x): raise E
    """,
    "a list that cannot be read": """
        class E(list):
            def __iter__(self): raise ValueError
            def __len__(self): raise ValueError
        def f(x): return E([1])
    """,
    "an object that lies about its class": """
        class E:
            @property
            def __class__(self): raise ValueError
        def f(x): return E()
    """,
    "an iterator without end": "import itertools\ndef f(x): return itertools.repeat(3)",
    "an integer without end": "def f(x): return 1 << (1 << 26)",
    "a list that holds itself": "def f(x):\n    a = []\n    a.append(a)\n    return a",
    "a deep tuple": "def f(x):\n    for _ in range(10**5): x = (x,)\n    return x",
    "no room left": "def f(x): return f(x)",
    "a text without end": "def f(x): return 'x' * 10**7",
    "a long word at the end": "def f(x): raise SystemExit('x' * 10**7)",
    "a long reason": """
        class Long(Exception):
            def __str__(self): return 'x' * 10**7
        def f(x): raise Long
    """,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_each_question_has_one_bounded_answer_whatever_comes_of_it(name: str) -> None:
    first, second = asked(HOSTILE[name], ["call", [F, 3], []], ["value", [3], []])
    assert first[0] in ("return", "raise", "exit", "large")
    assert len(json.dumps(first)) <= 100_000
    assert second == ["return", 3, [], [], False]


def test_only_containers_whose_content_changed_are_written_again() -> None:
    source = "def f(xs, ys, zs):\n    xs.append(ys)\n    ys[0] = True\n    zs[0] = 2\n    zs[0] = 1"
    operands = [F, {"r": 0}, {"r": 1}, {"r": 2}]
    [answer] = asked(source, ["call", operands, [["l"], ["l", 1], ["l", 1]]])
    assert answer[3] == [[0, ["l", {"r": 1}]], [1, ["l", True]]]


def test_an_array_that_got_another_shape_does_not_cross() -> None:
    pytest.importorskip("numpy")
    rows = [["a", "<i8", [1], "\1" + "\0" * 7]]
    source = "def f(xs): xs.shape = (1, 1)"
    [answer] = asked(source, ["call", [F, {"r": 0}], rows])
    assert answer == ["large", "cannot cross: an array has another shape than before"]
