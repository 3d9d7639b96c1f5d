"""Trees that threads make at once, while garbage collections give each other thread its turn."""

from __future__ import annotations

import argparse
import ast
import asyncio.tasks
import gc
import inspect
import time
import types
import typing
import unittest.case
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from reward_server.grading import syntax
from trainer_client.tasks import source

TEXT = "x = [" + ", ".join("(1 + f(2))[0]" for _ in range(30)) + "]"


@pytest.fixture
def restless_collector() -> Iterator[None]:
    def give_way(phase: str, _details: dict[str, int]) -> None:
        time.sleep(0)

    thresholds = gc.get_threshold()
    gc.callbacks.append(give_way)
    gc.set_threshold(100)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(give_way)


@pytest.mark.usefixtures("restless_collector")
@pytest.mark.parametrize("parse", [syntax.parse, source.parsed])
def test_threads_parse_at_once(parse: Callable[[str], ast.Module]) -> None:
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(parse, [TEXT] * 20))
    assert {ast.dump(tree) for tree in found} == {ast.dump(parse(TEXT))}


@pytest.mark.parametrize(
    ("text", "name", "last"),
    [
        ("os", "os", "os"),
        ("os.path.join", "os.path.join", "join"),
        ("os.path.join('a')", "", ""),
        ("f().path", "", ""),
        ("1", "", ""),
    ],
)
def test_names_with_attributes_are_read_and_other_expressions_are_not(
    text: str, name: str, last: str
) -> None:
    node = syntax.parse_expression(text)
    assert (syntax.dotted(node), syntax.last_name(node)) == (name, last)


def test_a_call_is_taken_off_an_expression() -> None:
    for text in ("mark.skip", "mark.skip('why')"):
        assert syntax.dotted(syntax.without_call(syntax.parse_expression(text))) == "mark.skip"


@pytest.mark.parametrize("module", [ast, argparse, asyncio.tasks, typing, unittest.case])
def test_nodes_are_walked_in_the_order_of_the_library(module: types.ModuleType) -> None:
    tree = syntax.parse(inspect.getsource(module))
    assert list(syntax.walk(tree)) == list(ast.walk(tree))
    for node in ast.walk(tree):
        assert syntax.children(node) == list(ast.iter_child_nodes(node))
