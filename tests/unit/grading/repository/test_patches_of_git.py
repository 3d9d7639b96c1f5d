"""Patches that git writes change what `git apply` changes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reward_server.grading.repository.patches import PatchError, apply_patch
from reward_server.grading.repository.tree import Tree

LINES = "".join(f"line {number}\n" for number in range(1, 13))
OTHER = "".join(f"other {number}\n" for number in range(1, 13))
EDITED = LINES.replace("line 6", "sixth")
# As in the settings of a user who has none.
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of files, and how git shows it; files whose text begins with #! are executable."""

    before: Mapping[str, str | bytes]
    after: Mapping[str, str | bytes]
    options: tuple[str, ...] = ()
    settings: tuple[str, ...] = field(default=())
    is_staged: bool = False


def edit(*options: str, settings: tuple[str, ...] = (), is_staged: bool = False) -> Change:
    """An edit, a new file, a deletion and a rename with an edit."""
    before = {"pkg/a.py": LINES, "gone.txt": "a\n", "b/old.py": OTHER}
    after = {"pkg/a.py": EDITED, "w/new.py": "x = 1\n", "c/new.py": OTHER + "more\n"}
    return Change(
        before=before, after=after, options=options, settings=settings, is_staged=is_staged
    )


MNEMONIC = ("-c", "diff.mnemonicPrefix=true")
CHANGES: Mapping[str, Change] = {
    "usual prefixes": edit(),
    "mnemonic prefixes of index and working tree": edit(settings=MNEMONIC),
    "mnemonic prefixes of commit and index": edit(settings=MNEMONIC, is_staged=True),
    "mnemonic prefixes of commit and working tree": edit("HEAD", settings=MNEMONIC),
    "no prefix": edit("--no-prefix"),
    "no prefix and no renames": edit("--no-prefix", "--no-renames"),
    "mnemonic prefixes and no renames": edit("--no-renames", settings=MNEMONIC),
    "a swap": Change(before={"a": LINES, "b": OTHER}, after={"a": OTHER, "b": LINES}),
    "a swap without renames": Change(
        before={"a": LINES, "b": OTHER}, after={"a": OTHER, "b": LINES}, options=("--no-renames",)
    ),
    "a swap with edits": Change(
        before={"a": LINES, "b": OTHER}, after={"a": OTHER + "more\n", "b": EDITED}
    ),
    "a swap of modes": Change(
        before={"a": f"#!{LINES}", "b": OTHER}, after={"a": OTHER, "b": f"#!{LINES}"}
    ),
    "a circle of three": Change(
        before={"a": LINES, "b": OTHER, "c": "#!x\n" * 9},
        after={"b": LINES, "c": OTHER, "a": "#!x\n" * 9},
    ),
    "a chain": Change(before={"a": LINES, "b": OTHER}, after={"b": LINES, "c": OTHER}),
    "a copy": Change(
        before={"a": LINES}, after={"a": EDITED, "b": LINES}, options=("--find-copies-harder",)
    ),
    "a rename in place of a deleted file": Change(
        before={"a": LINES, "b": OTHER}, after={"b": LINES}
    ),
    "an executable file": Change(before={"a": LINES}, after={"a": "#!/bin/sh\n"}),
    "mode alone": Change(before={"x y": "#!1\n"}, after={"x y": "#!1\n"}, options=("MODE",)),
    "names with spaces and quotes": Change(
        before={'a "b".txt': LINES, "tab\there": LINES, "ä/ö ü": LINES, "end ": LINES},
        after={'a "b".txt': EDITED, "tab\there": EDITED, "ä/ö ü": EDITED, "end ": EDITED},
    ),
    "names with spaces, without prefix": Change(
        before={"a b": LINES, "new": ""}, after={"a b": EDITED, "x y": ""}, options=("--no-prefix",)
    ),
    "an end is added": Change(before={"a": LINES[:-1]}, after={"a": LINES}),
    "an end is removed": Change(before={"a": LINES}, after={"a": LINES[:-1]}),
    "no end": Change(before={"a": LINES[:-1]}, after={"a": EDITED[:-1] + "3"}),
    "no end in a new file": Change(before={"b": ""}, after={"b": "", "a": "one\ntwo"}),
    "line ends of Windows": Change(
        before={"a": LINES.replace("\n", "\r\n")}, after={"a": EDITED.replace("\n", "\r\n")}
    ),
    "line ends of Windows become those of Unix": Change(
        before={"a": LINES.replace("\n", "\r\n")}, after={"a": LINES}
    ),
    "line ends of both kinds": Change(
        before={"a": "a\r\nb\nc\r\n"}, after={"a": "a\r\nB\nc\r\nd\n"}
    ),
    "a carriage return in a line": Change(before={"a": "a\rb\nc\n"}, after={"a": "a\rB\nc\n"}),
    "other ends of lines": Change(
        before={"a": "a\x0cb\u2028c\x1dd\ne\n"}, after={"a": "a\x0cb\u2028c\x1dD\ne\n"}
    ),
    "no context": Change(
        before={"a": LINES}, after={"a": EDITED.replace("line 9\n", "")}, options=("-U0",)
    ),
    "whole functions as context": Change(
        before={"a": LINES}, after={"a": EDITED}, options=("-W", "--stat", "-p")
    ),
}


def git(place: Path, *arguments: str, stdin: bytes | None = None) -> bytes:
    return subprocess.run(
        ["git", "-C", place, *arguments],
        input=stdin,
        capture_output=True,
        check=True,
        env=ENVIRONMENT,
    ).stdout


def write(place: Path, files: Mapping[str, str | bytes]) -> None:
    for path in [one for one in place.iterdir() if one.name != ".git"]:
        subprocess.run(["rm", "-r", path], check=True)
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        path.chmod(0o755 if path.read_bytes().startswith(b"#!") else 0o644)


def tree(place: Path) -> Tree:
    paths = [one for one in place.rglob("*") if one.is_file() and ".git" not in one.parts]
    names = {str(one.relative_to(place)): one for one in paths}
    return Tree(
        files={name: path.read_bytes() for name, path in names.items()},
        executable=frozenset(n for n, path in names.items() if path.stat().st_mode & 0o100),
    )


def shown(place: Path, change: Change) -> bytes:
    """Returns git's patch of a change, and leaves the files as they were before it."""
    git(place, "init", "-q")
    write(place, change.before)
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (("add", "-A"), (*who, "commit", "-qm", "before", "--allow-empty")):
        git(place, *command)
    write(place, change.after)
    options = [one for one in change.options if one != "MODE"]
    if len(options) < len(change.options):
        for path in change.after:
            (place / path).chmod(0o644)
    git(place, "add", "-A", *(() if change.is_staged else ("-N",)))
    staged = ("--cached",) if change.is_staged else ()
    patch = git(place, *change.settings, "diff", *staged, *options)
    git(place, "reset", "-q", "--hard")
    git(place, "clean", "-qfd")
    return patch


@pytest.mark.parametrize("name", CHANGES)
def test_a_patch_of_git_changes_what_git_apply_changes(name: str, tmp_path: Path) -> None:
    change = CHANGES[name]
    patch = shown(tmp_path, change)
    base = tree(tmp_path)
    ours = apply_patch(base, patch.decode())
    level = ("-p0",) if "--no-prefix" in change.options else ()
    git(tmp_path, "apply", "--whitespace=nowarn", "--unidiff-zero", *level, "-", stdin=patch)
    theirs = tree(tmp_path)
    assert base != theirs
    assert (dict(ours.files), ours.executable) == (dict(theirs.files), theirs.executable)


@pytest.mark.parametrize("options", [(), ("--binary",)], ids=["named", "with contents"])
def test_a_patch_of_a_binary_file_is_refused(options: tuple[str, ...], tmp_path: Path) -> None:
    change = Change(before={"a": b"\0\1"}, after={"a": b"\0\2"}, options=options)
    patch = shown(tmp_path, change)
    with pytest.raises(PatchError, match="binary file; send the file instead"):
        apply_patch(tree(tmp_path), patch.decode())


RENAME = "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n"
CREATE = "diff --git a/b b/b\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+x\n"
REFUSED = {
    "a rename onto a file": RENAME,
    "a copy onto a file": RENAME.replace("rename", "copy"),
    "two renames of a file onto one": RENAME + RENAME,
    "a new file onto a file": CREATE,
    "a change of a deleted file": (
        "diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-2\n"
        "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-2\n+3\n"
    ),
    "a change of a renamed file": (
        RENAME.replace("b/b", "b/c").replace("to b", "to c")
        + "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+3\n"
    ),
}


@pytest.mark.parametrize("patch", REFUSED.values(), ids=REFUSED)
def test_what_git_apply_refuses_is_refused(patch: str, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, {"a": "1\n", "b": "2\n"})
    with pytest.raises(PatchError):
        apply_patch(tree(tmp_path), patch)
    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path, "apply", "-", stdin=patch.encode())
