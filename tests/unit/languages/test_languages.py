"""Language files say what they must, and commands are made of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from reward_server.domain import (
    CapturedStream,
    Commands,
    Ending,
    Execution,
    Job,
    Limits,
    Program,
    Termination,
    TerminationKind,
)
from reward_server.errors import UnsupportedError
from reward_server.language_versions import Found, versions_of
from reward_server.languages import Language, load_languages, parse_language
from reward_server.sandbox.docker import images

ALL = load_languages().all
LIMITS = Limits(memory_bytes=100 << 20)

SMALL = """
name = "small"
aliases = ["s"]
image = "own"
source = "{stem}.s"
stem = 'class (\\w+)'
comment = "#"
test_kinds = ["stdio"]
fence_tags = ["small"]
code_line = "let"

[variants]
"small2" = "two"
"small1" = "one"

[variant_aliases]
small1 = ["s1"]

[toolchain]
version = ["smallc", "--version"]
version_pattern = 'version ([\\d.]+)'
compile = [["smallc", "-m{memory_mebibytes}", "--std={variant}", "{source}"]]
keep = ["*.o"]
run = ["./{stem}", "{nothing}"]
environment = { NAME = "{stem}" }
limits = { cpu_time_seconds = 3.0 }

[probe]
works = ""
refused = ""
fails = ""
endless = ""
"""


@pytest.mark.parametrize("language", ALL, ids=lambda one: one.name)
def test_a_language_is_complete(language: Language) -> None:
    assert language.image in images.names()
    assert language.fence_tags
    assert language.code_line.match(language.probe.works.strip().splitlines()[0])
    for sentence in ("Here is the solution:", "The function adds two numbers.", "Sure!"):
        assert not language.code_line.match(sentence)
    if language.toolchain is not None:
        assert language.toolchain.run
        assert bool(language.toolchain.program.compile) == bool(language.toolchain.program.keep)


def test_no_two_languages_share_a_name() -> None:
    names = [name.lower() for one in ALL for name in (one.name, *one.aliases)]
    assert sorted(names) == sorted(set(names))


def test_every_image_has_a_language() -> None:
    assert all(images.languages_of(name) for name in images.names())


def test_variants_are_languages_and_the_plain_name_is_the_firsts() -> None:
    first, second = parse_language(SMALL)
    assert (first.name, first.aliases, first.variant) == ("small2", ("small", "s"), "two")
    assert (second.name, second.aliases, second.variant) == ("small1", ("s1",), "one")


def test_commands_are_filled_in_from_the_program_and_its_limits() -> None:
    language = parse_language(SMALL)[1]
    work = language.compilation("class Own {}", {"data": b"1"}, LIMITS)
    assert work == Commands(
        commands=(("smallc", "-m75", "--std=one", "Own.s"),),
        environment={"NAME": "Own"},
        files={"data": b"1", "Own.s": b"class Own {}"},
        keep=("*.o",),
    )
    assert language.execution("no name", b"made", LIMITS) == Commands(
        commands=(("./Main", "{nothing}"),), environment={"NAME": "Main"}, product=b"made"
    )


def test_a_library_has_commands_of_its_own_and_lies_beside_programs() -> None:
    table = """
compile = [["smallc", "{sources}", "{libraries}", "-lm"]]
keep = ["main"]
library = { compile = [["smallc", "-c", "{source}"]], keep = ["lib.o"] }
"""
    own = re.sub(r"(?m)^compile = .*\nkeep = .*\n", lambda _: table, SMALL, count=1)
    language = parse_language(own)[0]
    library = language.compilation("f", {}, LIMITS, is_library=True)
    assert (library.commands, library.keep) == ((("smallc", "-c", "Main.s"),), ("lib.o",))
    program = language.compilation("g", {"lib.o": b"", "other.o": b""}, LIMITS)
    assert program.commands == (("smallc", "Main.s", "lib.o", "-lm"),)
    assert language.compilation("g", {}, LIMITS).commands == (("smallc", "Main.s", "-lm"),)


def test_a_program_cannot_name_a_place_to_fill_in() -> None:
    language = replace(parse_language(SMALL)[1], stem=re.compile("class (.+)!"))
    work = language.compilation("class {variant}!", {}, LIMITS)
    assert work.commands[0][-1] == "{variant}.s"


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ('test_kinds = ["stdio"]', 'test_kinds = ["magic"]'),
        ("limits = { cpu_time_seconds = 3.0 }", "limits = { patience = 3.0 }"),
        ('comment = "#"', 'comment = "#"\nlimits = { patience = 1 }'),
    ],
)
def test_an_unknown_kind_of_tests_or_limit_is_refused(text: str, other: str) -> None:
    with pytest.raises(ValueError, match="unknown"):
        parse_language(SMALL.replace(text, other))


def test_names_are_found_whatever_their_letter_case() -> None:
    assert load_languages().find("CPP").name == "c++17"
    with pytest.raises(UnsupportedError, match=r"'cobol' is not offered; offered are: .*python"):
        load_languages().find("cobol")


def test_a_language_puts_its_limits_over_the_servers() -> None:
    language = parse_language(SMALL)[0]
    assert language.compile_limits(LIMITS) == replace(LIMITS, cpu_time_seconds=3.0)
    assert language.default_limits(LIMITS) == LIMITS


# --------------------------------------------------------------------------------- versions


class Asked:
    """Answers questions for a version."""

    slots = 2

    def __init__(self, answers: Mapping[str, Execution]) -> None:
        self._answers = answers
        self.jobs: list[Job] = []

    async def run(self, job: Job) -> Execution:
        self.jobs.append(job)
        if isinstance(job.work, Program):
            return said(b"3.11.9 unittest\n")
        assert isinstance(job.work, Commands)
        return self._answers[job.work.commands[0][0]]


def said(out: bytes, status: int = 0, **changes: Any) -> Execution:
    return Execution(
        ending=Ending.COMPLETED,
        termination=Termination(kind=TerminationKind.EXITED, value=status),
        **{"stdout": CapturedStream(data=out, size_bytes=len(out)), **changes},
    )


@pytest.mark.parametrize(
    ("answer", "version", "reason"),
    [
        (said(b"small version 1.2.3 (x)"), "1.2.3", None),
        (said(b"", stderr=CapturedStream(data=b"version 2\n", size_bytes=10)), "2", None),
        (said(b"version 1.2.3", 127), None, "version 1.2.3"),
        (said(b"", 127), None, "exit status 127"),
        (said(b"what?"), None, "what?"),
    ],
)
async def test_a_language_is_there_when_it_tells_its_version(
    answer: Execution, version: str | None, reason: str | None
) -> None:
    python = load_languages().find("python")
    wanted = (python, parse_language(SMALL)[0])
    executor = Asked({"smallc": answer})
    survey = await versions_of(executor, wanted)
    assert survey.found["python"] == Found(version="3.11.9", frameworks=("unittest",))
    found = survey.found.get("small2")
    assert (found.version if found else None, survey.absent.get("small2")) == (version, reason)


async def test_dialects_ask_their_common_question_once() -> None:
    executor = Asked({"smallc": said(b"version 1.2.3")})
    survey = await versions_of(executor, parse_language(SMALL))
    found = {name: one.version for name, one in survey.found.items()}
    assert found == {"small1": "1.2.3", "small2": "1.2.3"}
    assert [job.language for job in executor.jobs] == ["small2"]


def test_no_harness_in_rust_compares_exit_codes_which_cannot_be_before_1_75() -> None:
    rust = load_languages().find("rust")
    assert rust.program is not None
    assert rust.unit is not None
    for text in (rust.program.ending, *rust.unit.files.values()):
        assert not re.search(r"[!=]=\s*std::process::ExitCode", text)
