from __future__ import annotations

import pytest

from reward_server.domain import Framework, ProgramTests, UnitTests
from reward_server.errors import OverloadedError, UnknownTaskError, UnsupportedError
from reward_server.languages import load_languages
from reward_server.rpc.convert import Task
from reward_server.rpc.tasks import StoreLimits, TaskStore, memory_bytes

KIBIBYTE = 1024
PYTHON = load_languages().find("python")


def program(size: int, letter: str = "x") -> Task:
    tests = ProgramTests(test_code=letter * size)
    return Task(language=PYTHON, prompt="", tests=tests, data_files=())


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def filled(store: TaskStore, owner: str, *names: str, size: int = KIBIBYTE) -> list[bytes]:
    return [store.put(owner, name.encode(), lambda _: program(size)) for name in names]


def known(store: TaskStore, owner: str, digest: bytes) -> bool:
    try:
        store.find(owner, digest)
    except UnknownTaskError:
        return False
    return True


def test_the_task_that_was_not_used_for_longest_is_displaced() -> None:
    store = TaskStore(StoreLimits(owner_count=3))
    first, second, third = filled(store, "a", "1", "2", "3")
    store.find("a", first)
    filled(store, "a", "2")  # stored again
    filled(store, "a", "4")
    assert [known(store, "a", one) for one in (first, second, third)] == [True, True, False]
    assert store.count == 3


def test_a_task_is_converted_once() -> None:
    store = TaskStore(StoreLimits())
    (digest,) = filled(store, "a", "1")
    assert store.put("a", b"1", lambda _: pytest.fail("converted again")) == digest


def test_a_task_that_is_wrong_or_too_large_displaces_nothing() -> None:
    store = TaskStore(StoreLimits(owner_bytes=8 * KIBIBYTE))
    digests = filled(store, "a", "1", "2")

    def wrong(_: bytes) -> Task:
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011  # the one above
        store.put("a", b"3", wrong)
    with pytest.raises(UnsupportedError, match="stored_tasks_bytes is 8192"):
        filled(store, "a", "4", size=9 * KIBIBYTE)
    assert all(known(store, "a", digest) for digest in digests)


def test_a_task_for_which_others_leave_no_room_is_refused_and_displaces_nothing() -> None:
    store = TaskStore(StoreLimits(owner_bytes=64 * KIBIBYTE, total_bytes=64 * KIBIBYTE))
    (theirs,) = filled(store, "a", "1", size=50 * KIBIBYTE)
    (mine,) = filled(store, "b", "2", size=5 * KIBIBYTE)
    with pytest.raises(OverloadedError, match="stored_tasks_total_bytes"):
        filled(store, "b", "3", size=20 * KIBIBYTE)
    assert known(store, "a", theirs)
    assert known(store, "b", mine)
    filled(store, "b", "4", size=8 * KIBIBYTE)
    assert known(store, "a", theirs)
    assert not known(store, "b", mine)


def test_a_task_that_nobody_uses_is_forgotten_and_frees_its_room() -> None:
    clock = Clock()
    store = TaskStore(StoreLimits(seconds=10), clock)
    first, second = filled(store, "a", "1", "2")
    clock.seconds = 6
    store.find("a", second)
    clock.seconds = 11
    assert [known(store, "a", first), known(store, "a", second)] == [False, True]
    clock.seconds = 30
    filled(store, "b", "3")
    assert (store.count, store.size_bytes < 3 * KIBIBYTE) == (1, True)


def test_the_memory_of_a_task_counts_wide_characters_and_every_object() -> None:
    narrow, wide = memory_bytes(program(KIBIBYTE)), memory_bytes(program(KIBIBYTE, "\U0001f600"))
    assert KIBIBYTE <= narrow < 2 * KIBIBYTE
    assert wide >= 4 * KIBIBYTE
    files = tuple((f"test_{number}.py", "x" * KIBIBYTE) for number in range(64))
    many = UnitTests(framework=Framework.PYTEST, files=files)
    assert memory_bytes(many) >= 64 * KIBIBYTE + 64 * 100
