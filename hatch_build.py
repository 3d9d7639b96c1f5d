"""Writes the commit that a package is built of into the package."""

from __future__ import annotations

import os
import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SOURCE = "proto/codereward/build.py"
# "HASH DATE", for builds of a copy without the repository, such as that of the container image.
_VARIABLE = "BUILD_COMMIT"


class RecordCommit(BuildHookInterface[Any]):
    """Adds `codereward/build.txt`; a source distribution has that of its own build already."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the file, unless nobody knows the commit; a checkout asks git when it runs."""
        source = runpy.run_path(str(Path(self.root) / _SOURCE))
        packed = Path(_SOURCE).with_name(source["RECORD"])
        if version == "editable" or (Path(self.root) / packed).exists():
            return
        given = os.environ.get(_VARIABLE, "").split()
        found = source["Commit"](*given) if given else source["commit_of"](Path(self.root))
        if found.hash == source["UNKNOWN"]:
            return
        self._folder = tempfile.TemporaryDirectory()
        record = Path(self._folder.name) / packed.name
        record.write_text(" ".join(found).rstrip())
        if self.target_name == "wheel":
            packed = packed.relative_to("proto")
        build_data["force_include"][str(record)] = str(packed)
