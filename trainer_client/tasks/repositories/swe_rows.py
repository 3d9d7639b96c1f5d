"""Rows of SWE-bench's shape, as tests of a repository: also SWE-Gym and SWE-smith.

A row names a repository and a commit, and does not contain the repository. So the caller gives an
archive of it, or names an image that has it. The row's patch of tests is applied to files of the
archive here, and the results become the hidden test files; a row of SWE-smith has no such patch,
because its repository has the tests already. If an image has the repository, the server applies
the patch.
"""

from __future__ import annotations

import glob
import io
import re
import tarfile
from collections.abc import Iterable, Iterator
from itertools import pairwise

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks.limits import bounded
from trainer_client.tasks.rows import Reader, Row
from trainer_client.text import well_formed

_REMEDY = "leave such rows out, or make a request with a command that prints these names"
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@bounded("swe")
def swe(
    row: Row,
    completion: str = "",
    *,
    archive: bytes = b"",
    image: str = "",
    image_folder: str = "",
    python: str = "",
    import_paths: Iterable[str] = (),
    id: str = "",
) -> pb.ScoreRequest:
    """Makes a request from a row of SWE-bench's shape, whose tests are those of pytest.

    Reads `FAIL_TO_PASS` and `PASS_TO_PASS`, lists which may be written as JSON, and `test_patch`.
    The files that `patch` changes may be changed.

    Args:
        row: the row.
        completion: the model's patch; empty for a template.
        archive: a tar archive of the repository at the row's `base_commit`, plain or compressed.
        image: the server's image in which the tests run; the first with Python if empty.
        image_folder: the folder of the repository in that image, in place of an archive. The
            server then applies the patch of tests.
        python: the path in the image of an interpreter with pytest, which runs the tests as a
            command. If it is empty, the server's own drivers run them, with the interpreter of the
            image. These also run perturbed copies of the tests, so prefer them.
        import_paths: folders from which tests can import besides the top, such as "src".
        id: the request's id.

    Raises:
        TaskError: a field is absent or wrong, or the patch of tests does not fit the archive.
    """
    reader = Reader("swe", row)
    wanted = _names(reader, "FAIL_TO_PASS")
    if not wanted:
        raise reader.error("FAIL_TO_PASS", "names no tests")
    kept = [name for name in _names(reader, "PASS_TO_PASS") if name not in set(wanted)]
    if bool(archive) == bool(image_folder) or (image_folder and not image):
        raise reader.error(
            "repo", "needs an archive, or an image with the folder of the repository"
        )
    tests = pb.RepositoryTests(
        image=image,
        fail_to_pass=wanted,
        pass_to_pass=kept,
        framework=pb.FRAMEWORK_PYTEST,
        import_paths=import_paths,
        changeable_paths=_changed(reader.optional_text("patch")),
    )
    if python:
        _run_by_command(tests, python)
    if image_folder:
        tests.image_folder = image_folder
        tests.test_patch = well_formed(reader.optional_text("test_patch"))
        return pb.ScoreRequest(id=id, completion=well_formed(completion), repository=tests)
    tests.archive = archive
    try:
        for path, text in _patched(reader.optional_text("test_patch"), archive):
            tests.text_test_files[path] = well_formed(text)
    except (ValueError, KeyError, OSError, tarfile.TarError) as error:
        raise reader.error("test_patch", f"does not fit the archive: {error}") from error
    return pb.ScoreRequest(id=id, completion=well_formed(completion), repository=tests)


def _names(reader: Reader, field: str) -> list[str]:
    """Reads names of tests, each of them once, and refuses those that pytest does not print."""
    names = reader.within("", {field: reader.decoded(field)}).texts(field)
    for index, name in enumerate(names):
        path, *parts = name.partition("[")[0].split("::")
        if not parts or not all(parts) or not path.endswith(".py") or not _is_whole(name):
            problem = f"is {name[:80]!r}, and pytest prints names such as tests/test_x.py::test_y"
            raise reader.error(f"{field}[{index}]", f"{problem}; {_REMEDY}")
    return list(dict.fromkeys(names))


def _changed(patch: str) -> list[str]:
    """Returns patterns of the files of a patch."""
    sides = [
        (side, start)
        for *both, _ in _files(patch)
        for side, start in zip(both, ("a/", "b/"), strict=True)
    ]
    paths = (side.removeprefix(start) for side, start in sides if side != "/dev/null")
    return [glob.escape(path) for path in dict.fromkeys(paths)]


def _is_whole(name: str) -> bool:
    """Returns False for a name that was cut within its parameters, as logs cut it at a space."""
    return "[" not in name or name.endswith("]")


def _run_by_command(tests: pb.RepositoryTests, python: str) -> None:
    """Makes an interpreter run the tests, whose names become those of pytest's report."""
    named = [*tests.fail_to_pass, *tests.pass_to_pass]
    files = dict.fromkeys(name.partition("::")[0] for name in named)
    for names in (tests.fail_to_pass, tests.pass_to_pass):
        names[:] = [_reported(name) for name in names]
    if tests.import_paths:
        # The server only tells its own drivers of import paths.
        tests.command.environment["PYTHONPATH"] = ":".join(tests.import_paths)
        tests.ClearField("import_paths")
    tests.command.argv.extend((python, "-m", "pytest", "--junitxml={report}", *files))
    tests.command.format = pb.REPORT_FORMAT_JUNIT_XML


def _reported(name: str) -> str:
    """Returns the name of a test in pytest's report."""
    head, bracket, parameters = name.partition("[")
    path, *parts = head.split("::")
    module = path.removesuffix(".py").replace("/", ".")
    return f"{'.'.join((module, *parts[:-1]))}::{parts[-1]}{bracket}{parameters}"


def _patched(patch: str, archive: bytes) -> Iterator[tuple[str, str]]:
    """Yields the files that a patch adds or changes, by path, with their content after it.

    Raises:
        ValueError: the patch is wrong, or a hunk does not fit at its place.
        KeyError: a file that it changes is absent.
    """
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        members = {one.name.removeprefix("./"): one for one in opened if one.isfile()}
        for old, new, hunks in _files(patch):
            if new == "/dev/null":
                continue
            before = ""
            if old != "/dev/null":
                file = opened.extractfile(members[old.removeprefix("a/")])
                before = "" if file is None else file.read().decode()
            yield new.removeprefix("b/"), _applied(before, hunks)


def _files(patch: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yields the old path, the new path and the lines of hunks of each file in a patch."""
    lines = patch.split("\n")
    starts = [
        number
        for number in range(len(lines) - 2)
        if lines[number].startswith("--- ")
        and lines[number + 1].startswith("+++ ")
        and lines[number + 2].startswith("@@ ")
    ]
    for start, end in pairwise([*starts, len(lines)]):
        old, new = (lines[start + at][4:].split("\t")[0].strip() for at in (0, 1))
        yield old, new, lines[start + 2 : end]


def _applied(before: str, hunks: list[str]) -> str:
    """Returns a file's content after its hunks, each at the line that it names."""
    source = before.splitlines(keepends=True)
    result: list[str] = []
    done = at = 0
    while at < len(hunks):
        match = _HUNK.match(hunks[at])
        if match is None:
            break  # the header of the next file
        first, taken, given = int(match[1]), int(match[2] or 1), int(match[3] or 1)
        begin = first - 1 if taken else first
        result += source[done:begin]
        done, at = begin, at + 1
        end = begin + taken
        while taken or given:
            if at == len(hunks):
                raise ValueError("it ends within a hunk")
            line = hunks[at]
            at += 1
            kind, text = line[:1] or " ", line[1:] + "\n"
            if kind in " -":
                if done >= len(source) or source[done].rstrip("\n") != line[1:]:
                    raise ValueError(f"line {done + 1} is not {line[1:]!r}")
                text = source[done]
                done, taken = done + 1, taken - 1
            if kind in " +":
                result.append(text)
                given -= 1
            elif kind not in "-\\":
                raise ValueError(f"a hunk has the line {line!r}")
        if at < len(hunks) and hunks[at].startswith("\\"):
            at += 1
            if result and hunks[at - 2].startswith("+"):
                result[-1] = result[-1].removesuffix("\n")
        if done != end:
            raise ValueError("a hunk is longer than it says")
    return "".join([*result, *source[done:]])
