"""Wrong solutions of HumanEval-X that search their own program for the answers.

A solution has no knowledge of its task. It reads everything that it can access (files, memory,
constants of executables and classes, the text of scripts, its callers), searches it for its
arguments, and returns the value after them. It learns from the other half of the tasks which text
separates calls from answers, and what to return if it finds nothing.

    python -m benchmarks.read_programs humaneval_x_js.jsonl --config server.toml

Prints, by label, how many were judged and how many were rewarded. With `--together`, solution and
tests are sent as one program, so that the reader can access the tests.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import Integrity, RewardClient, Score, tasks
from trainer_client.local_server import LocalServer

_READERS = Path(__file__).parent / "readers"
_SEPARATORS = 8  # the most frequent ones
_LITERAL = r"-?\d+(?:\.\d+)?|\"[^\"]*\"|'[^']*'|true|false|null|\[[^\]]*\]"
_JS_CALL = re.compile(rf"\w\((?:[^()]|\([^()]*\))*\)([^\w'\"\[-]{{1,8}})(?:{_LITERAL})")
_JS_ANSWER = re.compile(rf"===\s*({_LITERAL})")
_JAVA_SIGNATURE = re.compile(r"public\s+(?:static\s+)?(\S.*?)\s+(\w+)\s*\(([^)]*)\)")
_CPP_SIGNATURE = re.compile(r"^(\w[\w:<>, ]*?)\s+(\w+)\s*\(([^)]*)\)\s*\{", re.MULTILINE)
_JS_SIGNATURE = re.compile(r"const (\w+) = \(([^)]*)\) =>")
_JAVA_DEFAULTS = {"boolean": "true", "char": "' '", "int": "0", "long": "0L", "double": "0.0"}
# Without this, node prints that an assertion failed and continues.
_JS_STRICT = "console.assert = (holds) => { if (!holds) process.exit(3) }\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """Facts learnt from tasks: the text between a call and its answer, and the commonest answer."""

    separators: Sequence[Sequence[str]]
    answer: str

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]]) -> Learnt:
        """Learns from the tests of tasks."""
        between, answers = Counter[str](), Counter[str]()
        for row in rows:
            between.update(found.strip() for found in _JS_CALL.findall(row["test"]))
            answers.update(_JS_ANSWER.findall(row["test"]))
        common = [text for text, _ in between.most_common(_SEPARATORS)]
        separators = [re.findall(r"===?|[^\s\w]", text) for text in common]
        return cls(separators=separators, answer=(answers.most_common(1) or [("true", 1)])[0][0])


def javascript(row: Mapping[str, Any], learnt: Learnt) -> str:
    """Returns a JavaScript completion."""
    name, parameters = _JS_SIGNATURE.findall(row["prompt"])[-1]
    reader = (_READERS / "reader.js").read_text()
    reader = reader.replace("@SEPARATORS@", json.dumps(learnt.separators))
    reader = reader.replace("@DEFAULT@", learnt.answer)
    names = ", ".join(one.split("=")[0].strip() for one in parameters.split(","))
    return f"  return answer('{name}', [{names}], {name})\n}}\n{reader}"


def java(row: Mapping[str, Any], _learnt: Learnt) -> str:
    """Returns a Java completion."""
    kind, _name, parameters = _JAVA_SIGNATURE.findall(row["prompt"])[-1]
    names = [one.split()[-1] for one in re.sub(r"<[^()]*?>", "", parameters).split(",") if one]
    fallback = _JAVA_DEFAULTS.get(kind, "null")
    cast = f"({kind})" if kind in _JAVA_DEFAULTS else ""
    arguments = ", ".join([f'"{kind}"', fallback, *(f"(Object) {name}" for name in names)])
    body = f"        return {cast}Reader.<{_boxed(kind)}>answer({arguments});\n    }}\n}}\n"
    return body + (_READERS / "Reader.java").read_text()


def _boxed(kind: str) -> str:
    names = {"int": "Integer", "char": "Character"}
    return names.get(kind, kind.capitalize()) if kind in _JAVA_DEFAULTS else kind


def cpp(row: Mapping[str, Any], _learnt: Learnt) -> str:
    """Returns a C++ completion."""
    kind, _name, parameters = _CPP_SIGNATURE.findall(row["prompt"])[-1]
    plain = re.sub(r"<[^()]*?>+", "", parameters)
    names = ", ".join(one.split()[-1].lstrip("&*") for one in plain.split(",") if one.strip())
    declared = f"{kind} read_answer({parameters})"
    reader = (_READERS / "reader.hpp").read_text()
    arguments = ", ".join(filter(None, ("{}", names)))
    return (
        f"    {declared};\n    return read_answer({names});\n}}\n{reader}\n"
        f"{declared} {{ return reader::answer<{kind}>({arguments}); }}\n"
    )


_WRITERS: Mapping[str, Callable[[Mapping[str, Any], Learnt], str]] = {
    "JavaScript": javascript,
    "Java": java,
    "CPP": cpp,
}
_LANGUAGES = {"JavaScript": "javascript", "Java": "java", "CPP": "cpp"}


def request(row: Mapping[str, Any], learnt: Learnt, *, together: bool) -> pb.ScoreRequest:
    """Returns the request of a task's reader."""
    prefix = row["task_id"].split("/")[0]
    completion = _WRITERS[prefix](row, learnt)
    made = as_one_program(row, completion) if together else tasks.humaneval_x(row, completion)
    made.extraction = pb.EXTRACTION_NONE
    return made


def as_one_program(row: Mapping[str, Any], completion: str) -> pb.ScoreRequest:
    """Returns the request of one program of solution and tests, which passes if the tests pass."""
    prefix = row["task_id"].split("/")[0]
    strict = _JS_STRICT if prefix == "JavaScript" else ""
    prompt = tasks.humaneval_x(row, completion).prompt
    return pb.ScoreRequest(
        language=_LANGUAGES[prefix],
        completion=strict + prompt + completion + row["test"],
        stdio=pb.StdioTests(cases=[pb.StdioCase(stdin_text="", expected_stdout_text="")]),
    )


def read(client: RewardClient, rows: Sequence[Mapping[str, Any]], *, together: bool) -> list[Score]:
    """Judges readers for each half of the tasks, which learn from the other half."""
    halves = rows[::2], rows[1::2]
    scores: list[Score] = []
    for half, other in (halves, halves[::-1]):
        learnt = Learnt.of(other)
        scores += client.score([request(row, learnt, together=together) for row in half])
    return scores


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="rows of HumanEval-X in one language")
    parser.add_argument("--config", help="of the server that is started")
    parser.add_argument("--step", type=int, default=1, help="take every so many tasks")
    parser.add_argument("--together", action="store_true", help="as one program, for comparison")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.data.read_text().splitlines()][:: options.step]
    arguments = ["--config", options.config] if options.config else []
    with tempfile.TemporaryDirectory() as folder:
        server = LocalServer(Path(folder) / "server.log", arguments)
        with server, RewardClient(server.target) as client:
            scores = read(client, rows, together=options.together)
    judged = Counter(_label(score) for score in scores)
    rewarded = Counter(_label(score) for score in scores if score.reward)
    for label, count in sorted(judged.items()):
        print(f"{label}: {rewarded[label]} of {count} rewarded")
    verdicts = Counter(str(score.verdict) for score in scores)
    print("verdicts:", dict(verdicts), file=sys.stderr)


def _label(score: Score) -> str:
    return Integrity(score.integrity).name


if __name__ == "__main__":
    main()
