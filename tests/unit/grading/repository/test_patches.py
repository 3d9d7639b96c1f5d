"""Patches change what they say, and nothing if they do not fit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_server.grading.repository.patches import PatchError, apply_patch
from reward_server.grading.repository.tree import Tree

LINES = b"one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
BASE = Tree(files={"a.txt": LINES, "pkg/b.py": b"x = 1\n"}, executable=frozenset({"pkg/b.py"}))
EDIT = "--- a/a.txt\n+++ b/a.txt\n@@ -2,3 +2,3 @@\n two\n-three\n+3\n four\n"


def _changed(patch: str, base: Tree = BASE) -> dict[str, bytes]:
    return dict(apply_patch(base, patch).files)


def test_a_hunk_replaces_lines() -> None:
    assert _changed(EDIT)["a.txt"] == LINES.replace(b"three", b"3")


def test_a_hunk_whose_line_number_is_off_fits_at_the_nearest_place() -> None:
    assert _changed(EDIT.replace("-2,3 +2,3", "-40,3 +40,3")) == _changed(EDIT)
    repeated = Tree(files={"a.txt": LINES * 3})
    near = EDIT.replace("-2,3 +2,3", "-10,3 +10,3")
    assert _changed(near, repeated)["a.txt"] == LINES + LINES.replace(b"three", b"3") + LINES


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        (EDIT.replace(" two", " 2"), "does not fit 'a.txt' at line 2"),
        (EDIT.replace("a.txt", "none.txt"), "changes 'none.txt', which is not there"),
        (EDIT.replace(" four\n", ""), "cut short"),
        (EDIT.replace("a/a.txt\n+++ b/a.txt", "a/../up\n+++ b/../up"), "is no path"),
        ("--- /dev/null\n+++ b//etc/passwd\n@@ -0,0 +1 @@\n+x\n", "is no path"),
        ("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x\n", "is there already"),
        ("--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+x\n", "names no file"),
        ("diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n", "makes a link"),
        ("diff --git a/a.txt b/a.txt\nGIT binary patch\n", "binary"),
        ("--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "not all of its lines"),
        (EDIT.replace("@@ -2,3 +2,3 @@", "@@ ... @@"), "a hunk begins with '@@ ... @@' instead"),
        (EDIT.replace("@@ -2,3 +2,3 @@", "@@"), "a hunk begins with '@@' instead of '@@ -1,3"),
        (EDIT.replace("@@ -2,3 +2,3 @@", "@@ def f():"), "a hunk begins with '@@ def f"),
        (EDIT.replace("@@ -2,3 +2,3 @@", "@@@ -2,3 -2,3 +2,3 @@@"), "a hunk begins with '@@@ -2"),
        (EDIT + "@@ ... @@\n-five\n+5\n", "a hunk begins with '@@ ... @@'"),
        ("--- a/a.txt\n+++ b/a.txt\n-three\n+3\n", "the part of the patch for 'a.txt' has no hunk"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(patch: str, problem: str) -> None:
    with pytest.raises(PatchError, match=problem):
        apply_patch(BASE, patch)


WINDOWS = EDIT.replace("\n", "\r\n")


@pytest.mark.parametrize(
    "patch",
    [
        WINDOWS,
        f"diff --git a/a.txt b/a.txt\r\nindex 1..2 100644\r\n{WINDOWS}",
        WINDOWS.replace("-three\r\n+3\r\n", "-three\r\n+3\n"),
        EDIT.replace("+++ b/a.txt\n", "+++ b/a.txt\r\n"),
    ],
)
def test_a_patch_that_got_line_ends_of_windows_on_its_way_fits(patch: str) -> None:
    assert _changed(patch) == _changed(EDIT)


def test_a_line_that_a_patch_with_line_ends_of_windows_adds_gets_those_of_the_file() -> None:
    added = "--- a/a.txt\r\n+++ b/a.txt\r\n@@ -1,0 +2 @@\r\n+more\r\n"
    assert _changed(added)["a.txt"] == LINES.replace(b"one\n", b"one\nmore\n")


def test_line_ends_of_windows_in_hunks_alone_are_part_of_the_lines() -> None:
    ends = EDIT.replace("+3\n", "+3\r\n")
    assert _changed(ends)["a.txt"] == LINES.replace(b"three\n", b"3\r\n")
    with pytest.raises(PatchError, match="does not fit"):
        apply_patch(BASE, EDIT.replace("-three\n", "-three\r\n"))


def test_files_are_made_renamed_deleted_and_made_executable() -> None:
    patch = (
        "diff --git a/new.sh b/new.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new.sh\n"
        "@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"
        "diff --git a/a.txt b/c.txt\nsimilarity index 90%\nrename from a.txt\nrename to c.txt\n"
        "diff --git a/pkg/b.py b/pkg/b.py\ndeleted file mode 100755\n"
        "--- a/pkg/b.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n"
    )
    changed = apply_patch(BASE, patch)
    assert dict(changed.files) == {"new.sh": b"one\ntwo", "c.txt": LINES}
    assert changed.executable == {"new.sh"}


def test_words_around_a_patch_and_line_ends_of_windows_are_accepted() -> None:
    base = Tree(files={"a.txt": LINES.replace(b"\n", b"\r\n")})
    changed = _changed(f"Here it is:\n\n{EDIT}\nThat is all.\n", base)
    assert changed["a.txt"] == LINES.replace(b"\n", b"\r\n").replace(b"three", b"3")


def test_a_hostile_patch_is_bounded() -> None:
    base = Tree(files={"a.txt": b"x\n" * 300_000})
    hunk = "@@ -1,2 +1,1 @@\n x\n-y\n"
    with pytest.raises(PatchError, match=r"too far off|does not fit"):
        apply_patch(base, "--- a/a.txt\n+++ b/a.txt\n" + hunk * 20)


@pytest.mark.parametrize(
    ("line", "times", "patch", "problem"),
    [
        (b"a\n", 1, "--- a/f\n+++ b/f\n@@ -999999999 +1 @@\n-c\n+d\n", "does not fit"),
        (
            b"a\n",
            8000,
            "--- a/f\n+++ b/f\n@@ -1,4001 +0,0 @@\n" + "-a\n" * 4000 + "-b\n",
            "too far off",
        ),
        (b"a", 9 << 20, "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+b\n" * 9, "large files too often"),
        (
            b"a",
            9 << 20,
            "".join(f"diff --git a/f b/{n}\ncopy from f\ncopy to {n}\n" for n in range(9)),
            "more than 67108864 bytes",
        ),
        (b"", 1, f"--- /dev/null\n+++ b/{'x' * 256}\n@@ -0,0 +1 @@\n+b\n", "longer than 255 bytes"),
    ],
    ids=["far", "equal lines", "many parts", "copies", "long name"],
)
def test_a_patch_that_costs_too_much_is_refused(
    line: bytes, times: int, patch: str, problem: str
) -> None:
    with pytest.raises(PatchError, match=problem):
        apply_patch(Tree(files={"f": line * times}), patch)


def test_line_ends_of_both_kinds_in_a_file_are_kept() -> None:
    base = Tree(files={"f": b"a\r\nb\nc\n"})
    patch = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\r\n-b\n+d\n c\n"
    assert _changed(patch, base) == {"f": b"a\r\nd\nc\n"}


@pytest.mark.parametrize(
    ("names", "path"),
    [('"a/\\303\\244.py" "b/\\303\\244.py"', "ä.py"), ("pkg/c.py pkg/c.py", "pkg/c.py")],
)
def test_an_empty_file_is_made_by_its_name_alone(names: str, path: str) -> None:
    patch = f"diff --git {names}\nnew file mode 100644\nindex 0000000..e69de29\n"
    assert _changed(patch)[path] == b""


_TEXTS = st.lists(st.sampled_from(["a", "b", "", "c d", "-x", "+y"]), max_size=12)


@given(old=_TEXTS, new=_TEXTS, ends=st.tuples(st.booleans(), st.booleans()))
def test_what_diff_writes_is_applied(
    old: list[str],
    new: list[str],
    ends: tuple[bool, bool],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.getbasetemp()
    texts = [
        "\n".join(lines) + ("\n" if lines and end else "")
        for lines, end in zip((old, new), ends, strict=True)
    ]
    for name, text in zip(("old", "new"), texts, strict=True):
        Path(folder, name).write_text(text)
    patch = subprocess.run(
        ["diff", "-u", "--label", "a/f", "--label", "b/f", "old", "new"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    base = Tree(files={"f": texts[0].encode()})
    assert apply_patch(base, patch).files["f"].decode() == texts[1]
