"""A language whose compiler does not run is not offered; a server that must have it says why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reward_server import backends
from reward_server.backends import running_backend
from reward_server.errors import SettingsError
from reward_server.languages import Languages, load_languages
from reward_server.settings import Settings
from tests.support.tools import needs

pytestmark = needs("javac")


@pytest.fixture
def incomplete_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with Java, of whose files sandboxes see only the links in /usr/bin."""
    known = load_languages()
    java = known.find("java")
    assert java.toolchain is not None
    incomplete = replace(java, toolchain=replace(java.toolchain, paths=()))
    languages = Languages((known.find("python"), incomplete))
    monkeypatch.setattr(backends, "load_languages", lambda: languages)


@pytest.mark.usefixtures("incomplete_java")
async def test_a_language_that_does_not_run_is_not_offered() -> None:
    async with running_backend(Settings(workers=1)) as backend:
        assert backend.language_versions.keys() == {"python"}


@pytest.mark.usefixtures("incomplete_java")
async def test_a_server_that_must_have_it_refuses_to_start_with_the_compilers_words() -> None:
    with pytest.raises(SettingsError, match=r"languages: not found here: java \(.*javac.*\)"):
        async with running_backend(Settings(workers=1, languages=("java", "python"))):
            pytest.fail("served")
