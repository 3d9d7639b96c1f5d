"""Rows in many languages, whose tests are programs: HumanEval-X and MultiPL-E."""

from __future__ import annotations

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks.functions import humaneval
from trainer_client.tasks.limits import bounded
from trainer_client.tasks.rows import Reader, Row
from trainer_client.text import well_formed

# The prefixes of a HumanEval-X row's `task_id`.
_HUMANEVAL_X = {
    "CPP": "c++",
    "Java": "java",
    "JavaScript": "javascript",
    "Go": "go",
    "Rust": "rust",
}
# The same of McEval, for languages in which a test program decides.
_MCEVAL = {
    "C": "c",
    "CPP": "c++",
    "C#": "c#",
    "Common Lisp": "common-lisp",
    "Elixir": "elixir",
    "Go": "go",
    "Haskell": "haskell",
    "Java": "java",
    "JavaScript": "javascript",
    "Kotlin": "kotlin",
    "Lua": "lua",
    "Pascal": "pascal",
    "Perl": "perl",
    "PHP": "php",
    "R": "r",
    "Racket": "racket",
    "Ruby": "ruby",
    "Rust": "rust",
    "Scala": "scala",
    "Shell": "bash",
    "TypeScript": "typescript",
}
# MultiPL-E's names that are no names of languages. Servers know most of the other short names.
_MULTIPL_E = {"go_test.go": "go", "adb": "ada"}


@bounded("humaneval_x")
def humaneval_x(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a HumanEval-X row: `task_id`, `prompt`, `test`, for Go `test_setup`.

    The rows for Python are rows of HumanEval; `humaneval` reads them.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("humaneval_x", row)
    prefix = reader.text("task_id").split("/")[0]
    if prefix not in _HUMANEVAL_X:
        raise reader.error("task_id", f"must begin with one of {', '.join(_HUMANEVAL_X)}")
    test_code = reader.text("test")
    if reader.has("test_setup"):
        test_code = f"{reader.text('test_setup')}\n{test_code}"
    return _request(_HUMANEVAL_X[prefix], reader.text("prompt"), test_code, completion, id)


@bounded("multipl_e")
def multipl_e(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a MultiPL-E row: `language`, `prompt`, `tests`.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("multipl_e", row)
    name = reader.text("language")
    language = _MULTIPL_E.get(name, name)
    return _request(language, reader.text("prompt"), reader.text("tests"), completion, id)


@bounded("mceval")
def mceval(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of McEval: `task_id`, `prompt`, `test`, for Python `entry_point`.

    Raises:
        TaskError: a field is absent or wrong, or the language is not one of `_MCEVAL`.
    """
    reader = Reader("mceval", row)
    prefix = reader.text("task_id").split("/")[0]
    if prefix == "Python":
        return humaneval(row, completion, id=id)
    if prefix not in _MCEVAL:
        problem = f"is of {prefix[:80]!r}, whose rows are not judged here; leave them out"
        raise reader.error("task_id", problem)
    return _request(
        _MCEVAL[prefix], reader.text("prompt") + "\n", reader.text("test"), completion, id
    )


def _request(
    language: str, prompt: str, test_code: str, completion: str, id: str
) -> pb.ScoreRequest:
    return pb.ScoreRequest(
        id=id,
        language=language,
        prompt=prompt,
        completion=well_formed(completion),
        program=pb.ProgramTests(test_code=test_code),
    )
