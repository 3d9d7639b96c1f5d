"""Each test whose end a pass reaches gets an assertion there, and no other."""

from __future__ import annotations

import random

from reward_server.grading.copies.endings import with_endings


def _marked(text: str) -> list[str]:
    lines = with_endings(text, random.Random(1)).splitlines()
    return [line.strip() for line in lines if "assert int('" in line or "def " in line]


def test_tests_get_an_assertion_at_their_end() -> None:
    text = "def test_a():\n    check(1)\n\nclass TestB:\n    def test_c(self):\n        check(2)\n"
    marked = _marked(text)
    assert [line.partition("(")[0] for line in marked] == [
        "def test_a",
        "assert int",
        "def test_c",
        "assert int",
    ]
    assert marked[1] != marked[3]


def test_a_test_that_may_pass_elsewhere_gets_none() -> None:
    for text in (
        "def test_a():\n    if x:\n        return\n    check(1)\n",
        "def test_a():\n    yield\n",
        "@raises(AssertionError)\ndef test_a():\n    check(1)\n",
        "@pytest.mark.xfail\ndef test_a():\n    check(1)\n",
        "def helper():\n    check(1)\n",
    ):
        assert len(_marked(text)) == 1


def test_returns_of_inner_functions_do_not_count() -> None:
    text = (
        "@pytest.mark.parametrize('x', [1])\n"
        "def test_a(x):\n    f = lambda: 1\n    def g():\n        return 1\n"
    )
    assert any(line.startswith("assert int") for line in _marked(text))


def test_a_file_that_is_not_python_stays() -> None:
    assert with_endings("def (", random.Random(1)) == "def ("
