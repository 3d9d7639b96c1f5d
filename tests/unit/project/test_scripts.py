"""The shell scripts of deployment and continuous integration."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.tools import needs


@needs("shellcheck")
def test_shellcheck_finds_nothing_in_the_scripts(repository: Path) -> None:
    folders = [repository / ".ci", repository / "deploy"]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    scripts = [
        path
        for path in files
        if path.read_bytes().startswith((b"#!/bin/sh", b"#!/usr/bin/env bash"))
    ]
    assert len(scripts) >= 6
    checked = subprocess.run(
        ["shellcheck", "--external-sources", *scripts], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
