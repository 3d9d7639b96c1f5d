"""What tests need beyond what README names: they ask for it here, and are skipped without it.

Reasons are short, and the same wherever the same thing is absent: the last lines of a run count
them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections import Counter
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest

from reward_server.languages import load_languages
from reward_server.sandbox.local.host_files import shows_all

BUILD = Path(__file__).parents[2] / "build"
# Beside the user's folders, those of daemons and of this environment.
FOLDERS = f"{os.environ['PATH']}:/usr/sbin:/sbin:{sysconfig.get_path('scripts')}"


@cache
def find(program: str) -> str | None:
    """Returns the path of a program, or None.

    A language's program counts where the sandboxes of the local backend have it, nowhere else.
    """
    if program in _of_languages() and not shows_all([program]):
        return None
    name, *plugin = program.split()
    found = shutil.which(name, path=FOLDERS)
    return found if found and (not plugin or _runs(found, *plugin, "version")) else None


@cache
def _of_languages() -> frozenset[str]:
    toolchains = (one.toolchain for one in load_languages().all)
    return frozenset().union(*(one.executables for one in toolchains if one is not None))


def _runs(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def offered(*languages: str) -> tuple[str, ...]:
    """Returns those of some languages that the local backend has here; skips tests without any."""
    known = load_languages()
    toolchains = {name: known.find(name).toolchain for name in languages}
    found = [name for name, one in toolchains.items() if one is None or shows_all(one.executables)]
    if not found:
        pytest.skip(f"no {' or '.join(languages)}")
    return tuple(found)


def needs(*things: str) -> pytest.MarkDecorator:
    """Marks what is skipped unless all of these are here: programs, or "root"."""
    absent = _absent(things)
    return pytest.mark.skipif(absent != "", reason=absent)


def require(*things: str) -> None:
    """Skips a test, or the tests of a fixture, unless all of these are here."""
    if absent := _absent(things):
        pytest.skip(absent)


def _absent(things: tuple[str, ...]) -> str:
    return next((f"no {one}" for one in things if not _is_here(one)), "")


def _is_here(thing: str) -> bool:
    return os.geteuid() == 0 if thing == "root" else find(thing) is not None


def require_package(folder: str, package: str) -> Path:
    """Returns a folder of packages that `make test` fills; skips tests if it has not this one."""
    if not (BUILD / folder / package).is_dir():
        pytest.skip(f"no {package} in build/{folder}")
    return BUILD / folder


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    """Ends what a run says with how many tests were skipped for which reason."""
    yield
    skipped = terminalreporter.stats.get("skipped", ())
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    if reasons:
        counted = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
        terminalreporter.write_line(f"skipped: {counted}")
