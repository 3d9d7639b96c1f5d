"""What was made of texts is kept by the memory that it takes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from reward_server.evaluation.graders import base
from reward_server.grading.extraction import other_languages
from reward_server.languages import load_languages
from reward_server.languages.masking import masked
from reward_server.recent import Recent


def test_a_value_is_made_once_while_it_is_kept() -> None:
    made = list[str]()
    recent: Recent[str | None] = Recent(10_000)
    for key in ("a", "b", "a", "b"):
        assert recent.find(key, 1, lambda key=key: made.append(key)) is None  # type: ignore[misc]
    assert made == ["a", "b"]


def test_the_values_that_were_used_least_recently_go_first() -> None:
    recent: Recent[int] = Recent(3 * 2048)
    for number in range(3):
        recent.put(number, 1024, number)
    assert recent.get(0) == 0
    recent.put(3, 1024, 3)
    assert [recent.get(number) for number in range(4)] == [0, None, 2, 3]


def test_a_value_without_room_drops_no_other() -> None:
    recent: Recent[int] = Recent(4096)
    recent.put("small", 10, 1)
    recent.put("large", 4096, 2)
    assert (recent.get("small"), recent.get("large")) == (1, None)


def test_a_value_that_is_put_again_counts_once() -> None:
    recent: Recent[int] = Recent(4096)
    for number in range(100):
        recent.put("one", 1024, number)
    recent.put("other", 1024, 0)
    assert (recent.get("one"), recent.get("other")) == (99, 0)


def test_threads_share_it() -> None:
    recent: Recent[int] = Recent(50 * 1124)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: recent.find(n % 97, 100, lambda: n % 97), range(5_000)))
    assert found == [number % 97 for number in range(5_000)]
    kept = [number for number in range(97) if recent.get(number) is not None]
    assert len(kept) == 50


@pytest.mark.parametrize("characters", [100, 100_000])
async def test_texts_are_read_once_whatever_their_length(characters: int) -> None:
    read = list[str]()

    def noted(text: str) -> int:
        read.append(text)
        return len(text)

    recent: Recent[int] = Recent(1 << 20)
    for _ in range(3):
        assert await base.read_once(recent, 2, characters, noted, "x" * characters) == characters
    assert len(read) == 1


_GO = load_languages().find("go")
_MEBIBYTE = 1 << 20


def _masked(number: int) -> str:
    assert _GO.program is not None
    return masked(_prompt(number) * 8, _GO.program.assertions)


def _prompt(number: int) -> str:
    return f"// {number}\n".ljust(_MEBIBYTE, "x")


@pytest.mark.parametrize(
    ("read", "count"),
    [
        (lambda number: other_languages.read_prompt(_prompt(number), _GO), 16),
        (_masked, 3),
    ],
    ids=["prompts", "masked programs"],
)
def test_what_callers_send_fills_no_cache(read: Callable[[int], object], count: int) -> None:
    read(-1)
    tracemalloc.start()
    try:
        for number in range(count):
            read(number)
        assert tracemalloc.get_traced_memory()[0] < 12 * _MEBIBYTE
    finally:
        tracemalloc.stop()
