"""Files of a request reach programs in every language, when they are compiled and when they run.

The table has a row for each language and kind of request; the program of a row reads files of every
form. Languages that this host has run on the local backend, on images every other
language in one row, and all in all rows under REWARD_SERVER_TEST_ALL=1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any

import httpx
import pytest

from codereward.v1 import reward_service_pb2 as pb
from reward_server.app import App
from reward_server.domain import Integrity, Limits, Verdict
from reward_server.errors import InvalidRequestError
from reward_server.languages import Language, load_languages
from reward_server.rpc import convert
from reward_server.rpc.convert import Bounds
from reward_server.settings import DEFAULT_MAXIMUM_LIMITS
from tests.support.sampling import TAKES_ALL, sampled
from tests.support.tools import needs

from . import given
from .conftest import HOST_LANGUAGES

pytestmark = pytest.mark.asyncio(loop_scope="session")

BOUNDS = Bounds(
    languages=load_languages(), default_limits=Limits(), maximum_limits=DEFAULT_MAXIMUM_LIMITS
)
ALL = sorted(given.READ, key=lambda language: language.name)
ON_HOST = [one for one in ALL if one in HOST_LANGUAGES]
Row = Callable[[App, Language], Any]


async def _judged(app: App, request: pb.ScoreRequest) -> str:
    """Judges a completion; returns what is wrong with the answer, or nothing."""
    said = await app.evaluation.score(convert.submission(request, BOUNDS))
    return "" if said.verdict is Verdict.PASSED else f"{said.verdict.name}: {said.message}"


async def _stdio(app: App, language: Language) -> str:
    return await _judged(app, given.as_stdio(language, given.READ[language]))


async def _tests(app: App, language: Language) -> str:
    if "program" not in language.test_kinds:
        return ""
    return await _judged(app, given.as_tests(language, given.READ[language]))


async def _execute(app: App, language: Language) -> str:
    job = convert.job(given.execute(language, given.READ[language]), BOUNDS)
    execution, _ = await app.evaluation.execute(job)
    printed = execution.stdout.data.decode()
    return "" if printed == given.OUTPUT else f"{execution.message}: {printed}"


async def _door(app: App, language: Language) -> str:
    async with httpx.AsyncClient(base_url=f"http://{app.http_address}", timeout=300) as client:
        body = given.run_code(language, given.READ[language])
        answer = (await client.post("/run_code", json=body)).json()
    return "" if answer["run_result"]["stdout"] == given.OUTPUT else str(answer)


ROWS: dict[str, Row] = {
    "score stdio": _stdio,
    "score program": _tests,
    "execute": _execute,
    "run_code": _door,
}


async def _complaints(app: App, language: Language, rows: Collection[str] = ROWS) -> dict[str, str]:
    said = await asyncio.gather(*(ROWS[name](app, language) for name in rows))
    return {name: text for name, text in zip(rows, said, strict=True) if text}


@pytest.mark.parametrize("language", ON_HOST, ids=lambda language: language.name)
async def test_files_of_every_form_reach_a_program_here(language: Language, host: App) -> None:
    assert await _complaints(host, language) == {}


@pytest.mark.parametrize("language", sampled(ALL, 2), ids=lambda language: language.name)
async def test_files_of_every_form_reach_a_program_in_its_image(
    language: Language, app: App
) -> None:
    mine = list(ROWS)[ALL.index(language) // 2 % len(ROWS)]
    assert await _complaints(app, language, ROWS if TAKES_ALL else (mine,)) == {}


# ------------------------------------------------------------ what stands apart from the table

# A prompt, a solution that reads a file, and tests that run apart from it.
CALLS = [(name, number) for number, name in enumerate("abcd", 1)]
APART = {
    "c++17": (
        "#include <fstream>\n#include <string>\nusing namespace std;\nstring read(string name) {",
        'string text; getline(ifstream("given/" + name), text); return text; }',
        "#undef NDEBUG\n#include <cassert>\nint main() {"
        + "".join(f' assert(read("{name}") == "{number}");' for name, number in CALLS)
        + " }",
    ),
    "java": (
        "import java.util.*;\nclass Solution {\n    public String read(String name) {",
        'try { return new Scanner(new java.io.File("given/" + name)).next(); }\n'
        "catch (Exception e) { return null; } } }",
        "public class Main { public static void main(String[] args) {\nSolution s = new Solution();"
        + "".join(
            f'if (!s.read("{name}").equals("{number}")) throw new AssertionError();\n'
            for name, number in CALLS
        )
        + "} }",
    ),
    "javascript": (
        "const read = (name) => {",
        "return require('fs').readFileSync(`given/${name}`, 'utf8').trim(); };",
        "const assert = require('assert');\n"
        + "".join(f"assert.strictEqual(read('{name}'), '{number}');\n" for name, number in CALLS),
    ),
    "go": (
        'package main\n\nimport "os"\n\nfunc read(name string) string {',
        'text, _ := os.ReadFile("given/" + name); return string(text[:1]) }',
        'package main\n\nimport "testing"\n\nfunc TestRead(t *testing.T) {\n'
        + "".join(f'if read("{name}") != "{number}" {{ t.Fatal() }}\n' for name, number in CALLS)
        + "}",
    ),
    "rust": (
        "fn read(name: String) -> String {",
        'std::fs::read_to_string(format!("given/{name}")).unwrap().trim().to_string() }',
        "fn main() {}\n#[cfg(test)]\nmod tests {\nuse super::*;\n#[test]\nfn reads() {\n"
        + "".join(
            f'assert_eq!(read(String::from("{name}")), "{number}");\n' for name, number in CALLS
        )
        + "} }",
    ),
}
# A compiler or an interpreter reads them.
COMPILED = {
    "c": """
#include <stdio.h>
int main(void) {
  int numbers[] = {
#include "given/a"
    ,
#include "given/b"
    ,
#include "given/c"
    ,
#include "given/d"
  };
  for (int i = 0; i < 4; ++i) printf("%d\\n", numbers[i]);
}
""",
    "c++": "#include <cstdio>\nint main() {\n"
    + "".join(f'std::printf("%d\\n",\n#include "given/{name}"\n);\n' for name in "abcd")
    + "}",
    "rust": "fn main() {"
    + "".join(f'print!("{{}}", include_str!("given/{name}"));' for name in "abcd")
    + "}",
    "bash": "".join(f"echo $(( $(< given/{name}) ))\n" for name in "abcd"),
    "php": "<?php\n" + "".join(f'include "given/{name}";\n' for name in "abcd"),
}


def _on_host(names: Mapping[str, object]) -> list[str]:
    return [name for name in names if load_languages().find(name) in HOST_LANGUAGES]


@pytest.mark.parametrize("name", _on_host(APART))
async def test_files_reach_a_solution_whose_tests_run_apart(name: str, host: App) -> None:
    prompt, solution, tests = APART[name]
    request = given.score(
        load_languages().find(name),
        prompt=prompt,
        completion=solution,
        program={"test_code": tests},
        require_integrity=Integrity.ISOLATED.value,
    )
    assert await _judged(host, request) == ""


@pytest.mark.parametrize("name", _on_host(COMPILED))
async def test_files_of_every_form_reach_the_compiler(name: str, host: App) -> None:
    assert await _judged(host, given.as_stdio(load_languages().find(name), COMPILED[name])) == ""


async def test_data_stays_as_it_is_whatever_a_run_does_to_it(host: App) -> None:
    source = """
if echo changed > given/c; then echo "could write"; fi 2> given/told
chmod u+w given/c; echo changed > given/c; echo changed > given/b; echo kept > kept
"""
    both = f"[ -e kept ] && exit 3\n{given.READ[load_languages().find('bash')]}\n{source}"
    assert await _judged(host, given.as_stdio(load_languages().find("bash"), both)) == ""


@needs("g++")
async def test_texts_of_tests_stay_with_the_compiler(host: App) -> None:
    listing = """
#include <dirent.h>
#include <string>
static std::string names() {
  std::string all;
  for (DIR *folder = opendir("."); dirent *one = readdir(folder);) all += one->d_name, all += ' ';
  return all;
}
"""
    tests = """
#include <cassert>
#include <algorithm>
int main() {
  std::string all = names();
  assert(std::count(all.begin(), all.end(), ' ') == 4);  // ., .., main and given
}
"""
    request = given.score(
        load_languages().find("c++"), completion=listing, program={"test_code": tests}
    )
    assert await _judged(host, request) == ""


@pytest.mark.parametrize("path", ["main", "main/a.txt", "main.cpp"])
async def test_a_file_in_the_place_of_the_program_is_refused_by_name(path: str) -> None:
    request = given.score(load_languages().find("c++"), completion="", stdio={"cases": [{}]})
    request.data_files[path] = b""
    with pytest.raises(InvalidRequestError, match="is the place of another file") as refused:
        convert.submission(request, BOUNDS)
    assert refused.value.field == f'data_files["{path}"]'


@needs("javac")
async def test_what_was_made_wins_over_a_file_of_its_name(host: App) -> None:
    source = "public class Main { public static void main(String[] a) { new Other(); } }\n"
    source += 'class Other { Other() { System.out.print("1\\n2\\n3\\n4\\n"); } }'
    request = given.as_stdio(load_languages().find("java"), source)
    request.text_files["Other.class"] = "no class"
    assert await _judged(host, request) == ""


async def test_every_language_has_a_row() -> None:
    images = {(language.image, language.source) for language in load_languages().all}
    assert {(language.image, language.source) for language in ALL} == images
