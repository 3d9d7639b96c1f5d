"""Reads which tests a `tests/test.sh` of Harbor runs, if its reward is that of pytest alone.

The script is not run. It says what it says only if each of its steps is one of the published kinds
below; any other step may decide the reward, so that the script is refused.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator

from trainer_client.tasks.repositories.dockerfile import IMAGE_REMEDY
from trainer_client.tasks.repositories.task_folder import FolderError

PLACE = "tests/test.sh"
COMMAND_REMEDY = "give the tests by command=TestCommand(...) and fail_to_pass=[...]"
_SENTENCE = r"[^>|`$();&]*"
# Steps that cannot change the result of pytest, each with its reason.
_QUIET = (
    (r"set [-+][\w ]+", "an option of the shell"),
    (r"mkdir -p /logs(/verifier)?", "the folder of the reward"),
    (rf"(?:echo|printf) {_SENTENCE}", "a line of the log"),
    (r"apt(-get)? update( -\S+)*", "packages are installed by other steps"),
    (r"curl -\w+ https://astral\.sh/uv/\S*install\.sh \| (env \S+ )?(ba)?sh", "installs uv"),
    (r"(source|\.) \S+/env", "finds uv"),
    (r"export PATH=\S+", "finds uv"),
    (r"uv (venv|init)\b[\w .=-]*", "an environment for the packages of other steps"),
)
_INSTALLS = re.compile(
    r"(?:apt(?:-get)? install|(?:uv )?pip3? install|python3? -m pip install|uv add) (.*)"
)
# What the server has, or does not need because it runs pytest itself.
_PACKAGES = frozenset(
    (
        *("pytest", "pytest-json-ctrf", "pip", "uv", "setuptools", "wheel"),
        *("curl", "ca-certificates", "python3", "python3-pip", "python3-venv", "python3-pytest"),
    )
)

_OPTIONS = re.compile(
    r"-r\w+|-[vqsx]+|-l|--tb=\w+|--no-header|--disable-warnings|--color=\w+|--maxfail=1"
    r"|--(?:ctrf|junitxml|junit-xml)=\S+|-p=?no:cacheprovider"
)
_OPTIONS_WITH_VALUE = ("--ctrf", "--junitxml", "--junit-xml")

_REWARD = re.compile(r"echo (.+?) ?> ?[\"']?/logs/verifier/reward\.(txt|json)[\"']?")
_STATUS = re.compile(r"(\w+)=\$\?")
_IF_STATUS = re.compile(r"if \[\[? [\"']?\$\{?(\?|\w+)\}?[\"']? (?:-eq|==?) [\"']?0[\"']? \]\]?")
_GUARD = re.compile(r'if \[\[? "?\$\(?(?:PWD|pwd)\)?"? ==? "?/"? \]\]?')
_EXIT = re.compile(r"exit(?: [\"']?[\w$?{}:-]+[\"']?)?")
# Of the kinds that `_Script` tells apart: a guard, pytest, its status, and a reward for each.
_COURSE = re.compile(r"(gxf)?(ps?i|I)1e0fx?")


def targets_of(text: str, workdir: str, *, has_image: bool) -> list[tuple[int, str]]:
    """Returns what pytest is told to run, as paths below `tests/`, with the line of each.

    An empty path stands for all tests.

    Args:
        text: the script.
        workdir: the working folder of the task, in which the script begins.
        has_image: whether an image has the packages that it installs.

    Raises:
        FolderError: a step is not known, or the reward is not that of pytest alone.
    """
    script = _Script(workdir, has_image=has_image)
    kinds, last = "", 1
    for number, step in _steps(text):
        kind = script.kind(number, step)
        kinds, last = kinds + kind, number if kind else last
    if not _COURSE.fullmatch(kinds):
        problem = "the reward is not 1 if pytest passes, and 0 if it fails"
        raise FolderError(f"{PLACE}:{last}", f"{problem}: {COMMAND_REMEDY}")
    return script.targets


class _Script:
    """Tells the steps of a script apart."""

    def __init__(self, workdir: str, *, has_image: bool) -> None:
        self._workdir = workdir
        self._has_image = has_image
        self._status = "?"
        self.targets: list[tuple[int, str]] = []

    def kind(self, number: int, step: str) -> str:
        """Returns the letter of a step in `_COURSE`; "" if the step changes nothing.

        Raises:
            FolderError: the step is not known.
        """
        if reward := _REWARD.fullmatch(step):
            return self._reward(number, reward[1], is_json=reward[2] == "json")
        if step in ("else", "fi"):
            return step[0]
        if _GUARD.fullmatch(step):
            return "g"
        if _EXIT.fullmatch(step):
            return "x"
        if status := _STATUS.fullmatch(step):
            self._status = status[1]
            return "s"
        if (asked := _IF_STATUS.fullmatch(step)) and asked[1] == self._status:
            return "i"
        if step == f"cd {self._workdir}" or any(re.fullmatch(one, step) for one, _ in _QUIET):
            return ""
        if installs := _INSTALLS.fullmatch(step):
            self._packages(number, installs[1].split())
            return ""
        if self._pytest(number, step.removeprefix("if ")):
            return "I" if step.startswith("if ") else "p"
        raise FolderError(f"{PLACE}:{number}", f"{step[:80]!r} is not known: {COMMAND_REMEDY}")

    def _reward(self, number: int, text: str, *, is_json: bool) -> str:
        try:
            (word,) = shlex.split(text)
            value = json.loads(word)
            if is_json and isinstance(value, dict) and value.keys() == {"reward"}:
                value = value["reward"]
            return {1: "1", 0: "0"}[value]
        except (ValueError, KeyError, TypeError, RecursionError):
            problem = f"the reward {text[:80]!r} is neither 1 nor 0"
            raise FolderError(f"{PLACE}:{number}", f"{problem}: {COMMAND_REMEDY}") from None

    def _packages(self, number: int, words: list[str]) -> None:
        for word in words:
            name = re.split(r"[\[=<>!~;@]", word.strip("\"'"), maxsplit=1)[0].lower()
            if name.startswith("-") or name in _PACKAGES or self._has_image:
                continue
            problem = f"installs {name!r}, which sandboxes need not have: {IMAGE_REMEDY}"
            raise FolderError(f"{PLACE}:{number}", problem)

    def _pytest(self, number: int, step: str) -> bool:
        """Reads a command; returns False if it is not one of pytest."""
        try:
            words = shlex.split(step)
        except ValueError:
            return False
        words = self._without_runner(number, words)
        if words[:1] != ["pytest"] or any(set(word) & set("|&;<>$`") for word in words):
            return False
        skips = False
        for word in words[1:]:
            if skips or _OPTIONS.fullmatch(word):
                skips = False
            elif word in _OPTIONS_WITH_VALUE:
                skips = True
            elif word == "/tests" or word.startswith("/tests/"):
                self.targets.append((number, word.removeprefix("/tests").strip("/")))
            else:
                problem = f"pytest's argument {word!r} is not known: {COMMAND_REMEDY}"
                raise FolderError(f"{PLACE}:{number}", problem)
        if not self.targets:
            problem = "pytest runs no files of /tests, which alone are hidden"
            raise FolderError(f"{PLACE}:{number}", f"{problem}: {COMMAND_REMEDY}")
        return True

    def _without_runner(self, number: int, words: list[str]) -> list[str]:
        if words[:1] == ["uvx"]:
            rest = words[1:]
        elif words[:2] == ["uv", "run"]:
            rest = words[2:]
        else:
            rest = words
        while rest is not words and rest and rest[0].startswith("-"):
            option, _, value = rest[0].partition("=")
            taken = 1 if value else 2
            if option in ("--with", "-w"):
                self._packages(number, [value or rest[1]] if len(rest) >= taken else [])
            elif option not in ("-p", "--python"):
                return []
            rest = rest[taken:]
        if rest[:2] in (["python", "-m"], ["python3", "-m"]):
            rest = rest[2:]
        if rest and re.split("[=@<>~]", rest[0])[0] == "pytest":
            return ["pytest", *rest[1:]]
        return rest


def _steps(text: str) -> Iterator[tuple[int, str]]:
    """Yields the line and the text of each step, with single spaces and without `then`."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        number, whole = at + 1, ""
        while at < len(lines):
            line, at = lines[at].strip(), at + 1
            whole += line.removesuffix("\\") + " "
            if line.startswith("#") or not line.endswith("\\"):
                break
        if whole.startswith("#"):
            continue
        for step in re.split(r" && |; (?!then)|;$", re.sub(r"\s+", " ", whole).strip()):
            step = re.sub(r" ?; ?then$", "", step.strip())
            if step and step != "then":
                yield number, step
