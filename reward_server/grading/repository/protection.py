"""Makes a repository of the changes that count, and lays hidden files over it.

All else comes from the repository before the changes: tests, settings of tools whether known or
not, packages of others. Where the task lists a file that has settings of a test framework among
others, these do not change.

What it does not stop: the repository's own code. It runs in the process of the tests, and can do
there what any of these files could do; see the threat model.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from codereward.toml_text import parse_toml
from reward_server.grading.repository.changes import LANGUAGES, Language, Rule
from reward_server.grading.repository.tree import Tree, folders_of

_PACKAGE = "package.json"
_OF_PACKAGE = ("jest", "mocha", "ava", "vitest", "tap", "nyc")
_MOST_JSON_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A repository as tests find it, and the number of changes that did not count."""

    tree: Tree
    uncounted: int


def composed(
    base: Tree,
    changed: Tree,
    hidden: Mapping[str, bytes],
    *,
    language: str = "python",
    protected: Sequence[str] = (),
    changeable: Sequence[str] = (),
    import_paths: Sequence[str] = (),
) -> Composed:
    """Makes a repository of the changes that count and the hidden files.

    Args:
        base: the repository before the changes.
        changed: the repository after them.
        hidden: hidden files, by path.
        language: name of the language of the repository's source. In an unknown one only changes
            count that the task lists.
        protected: patterns of paths whose changes do not count.
        changeable: patterns of paths whose changes count, unless they are protected. Tests are
            only those that a pattern names without wildcards.
        import_paths: folders from which tests import.
    """
    rule = Rule(
        base=base,
        changed=changed.files,
        hidden=hidden,
        language=LANGUAGES.get(language, Language(endings=())),
        protected=protected,
        changeable=changeable,
        import_paths=import_paths,
    )
    differing = set(_differing(base, changed))
    counted = set(filter(rule.counts, differing))
    kept = {path: text for path, text in base.files.items() if path not in counted}
    new = {path: text for path, text in changed.files.items() if path in counted}
    files = _with_settings(base.files, {**kept, **new})
    executable = (changed.executable & counted) | (base.executable - counted)
    files = _laid_over(hidden, files)
    tree = Tree(files=files, executable=frozenset(executable & files.keys()))
    return Composed(tree=tree, uncounted=len(differing) - len(counted))


def _differing(base: Tree, changed: Tree) -> Iterator[str]:
    """Yields the paths of files that changed, also in whether they may be executed."""
    modes = base.executable ^ changed.executable
    for path in {**base.files, **changed.files}:
        if path in modes or base.files.get(path) != changed.files.get(path):
            yield path


def _with_settings(base: Mapping[str, bytes], changed: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns files in which the settings for test frameworks are those of the repository."""
    files = dict(changed)
    for path in {*base, *changed}:
        section = _SECTIONS.get(posixpath.basename(path))
        if section and section(files.get(path, b"")) != section(base.get(path, b"")):
            files.pop(path, None)
            files |= {path: base[path]} if path in base else {}
    return files


def _laid_over(upper: Mapping[str, bytes], lower: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns the files of both; a lower one that is in an upper one's way is left out."""
    folders = folders_of(upper)
    kept = {
        path: text
        for path, text in lower.items()
        if path not in folders and upper.keys().isdisjoint(folders_of([path]))
    }
    return {**kept, **upper}


def _of_toml(content: bytes) -> object:
    try:
        tool = parse_toml(content.decode()).get("tool", {})
        return tool.get("pytest") if isinstance(tool, dict) else tool
    except ValueError:
        return content


def _of_package(content: bytes) -> object:
    """Returns the settings of test frameworks in a `package.json`, and scripts that run tests."""
    package = _object(content)
    scripts = package.get("scripts")
    named = scripts.items() if isinstance(scripts, dict) else ()
    settings = [package.get(name) for name in (*_OF_PACKAGE, "")]
    return settings, {name: text for name, text in named if "test" in name}


def _object(content: bytes) -> Mapping[str, object]:
    """Returns an object of JSON; of other bytes, one that no others have."""
    if len(content) <= _MOST_JSON_BYTES:
        try:
            found = json.loads(content or b"{}")
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
    return {"": content}


def _of_ini(*sections: str) -> Callable[[bytes], object]:
    heads = tuple(f"[{name}]" for name in sections)

    def read(content: bytes) -> object:
        try:
            lines = content.decode().splitlines()
        except ValueError:
            return content
        found, is_inside = [], False
        for line in filter(None, map(_without_comment, lines)):
            if line.lstrip().startswith(heads):
                is_inside = True
            elif line.startswith("[") and line.endswith("]"):
                is_inside = False
            if is_inside:
                found.append(line)
        return found

    return read


def _without_comment(line: str) -> str:
    # In a value, "#" and ";" begin no comment.
    is_head = line.startswith("[") or line.lstrip().startswith(("#", ";"))
    return (re.split("[#;]", line, maxsplit=1)[0] if is_head else line).rstrip()


# Files of which only the settings for test frameworks must not change.
_SECTIONS: Mapping[str, Callable[[bytes], object]] = {
    "pyproject.toml": _of_toml,
    _PACKAGE: _of_package,
    "setup.cfg": _of_ini("tool:pytest", "aliases"),
    "tox.ini": _of_ini("pytest"),
    **dict.fromkeys(("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"), bytes),
}
