"""Ends the output of a run that an internal error of pytest ended with what led to it.

pytest prints no summary then, and with several processes the error of one comes long before the
end of the output.
"""

from __future__ import annotations

import pytest

LINES = 6  # of the first error: the last call, and what it raised
CHARACTERS = 160  # of a line


class InternalErrors:
    """Keeps the first internal error and the tests that failed before the run ended."""

    def __init__(self) -> None:
        self._failed: list[str] = []
        self._first: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            why = crash.message if crash else report.longreprtext
            line = " ".join(f"{report.when} of {report.nodeid}: {why}".split())
            self._failed.append(line[: 2 * CHARACTERS])

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        text = f"{type(excinfo.value).__name__}: {excinfo.value}"
        self._first = self._first or text.splitlines()[-LINES:]

    def pytest_unconfigure(self) -> None:
        if self._first:
            lines = [*self._failed[-LINES:], "the first internal error:", *self._first]
            print(*(line[: 2 * CHARACTERS] for line in lines), sep="\n")  # noqa: T201


def pytest_configure(config: pytest.Config) -> None:
    """Adds it to the process that prints the output."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(InternalErrors())
