"""The examples in the client's docstrings, as they stand, against a real server."""

from __future__ import annotations

import ast
import doctest
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import trainer_client
from tests.conftest import REPOSITORY
from trainer_client import rewards, tasks
from trainer_client.adapters.common.settings import PREFIX, forget
from trainer_client.local_server import LocalServer

ADDRESS = "localhost:50051"
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
PUBLIC = {*trainer_client.__all__, *rewards.__all__, *tasks.__all__}


def examples() -> Iterator[doctest.DocTest]:
    """Returns the examples of each class and function; reads the text, and imports no trainer."""
    parser = doctest.DocTestParser()
    for file in sorted((REPOSITORY / "trainer_client").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            text = ast.get_docstring(node) if isinstance(node, DEFINITIONS) else None
            if text and ">>> " in text:
                yield parser.get_doctest(text, {}, node.name, str(file), node.lineno)


EXAMPLES = tuple(examples())


@pytest.fixture
def environment(
    lasting_server: LocalServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[None]:
    """Describes the server to adapters, and makes the files that examples read."""
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv(f"{PREFIX}TARGET", lasting_server.target)
    monkeypatch.chdir(tmp_path)
    Path("ca.pem").write_text("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")
    forget()
    yield
    forget()


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(
    "test", [pytest.param(one, id=f"{Path(one.filename).stem}-{one.name}") for one in EXAMPLES]
)
def test_an_example_prints_what_it_says(test: doctest.DocTest, lasting_server: LocalServer):
    for example in test.examples:
        example.source = example.source.replace(ADDRESS, lasting_server.target)
    said: list[str] = []
    found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert found.attempted
    assert not found.failed, "".join(said)


def test_the_public_names_have_examples():
    assert len(PUBLIC & {one.name for one in EXAMPLES}) >= 20
