"""Compares the CPU time of verdicts on compiled programs, on two servers that run at the same time.

    python -m benchmarks.compiled.verdicts humaneval_x_cpp.jsonl ../before . --config server.toml

Sends reference solutions of HumanEval-X in C++ or Java, and solutions of stdio problems
(`tests/languages`), to the servers of two checkouts in turns, one request at a time. The first
pass, which compiles the tests' programs, does not count; no request is identical to another. Each
checkout has its own `.venv`. `--config` is of the first server, `--config-after` of the second.
Prints CPU milliseconds of a verdict, including the engine's containers, and the ratio, for each
round and for all.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from benchmarks.measure import load
from benchmarks.measure.served import served
from benchmarks.two_programs import milliseconds
from codereward.v1 import reward_service_pb2 as pb
from tests.languages.problems import PROBLEMS, SOLUTIONS, Problem, read_solutions
from trainer_client import tasks

KINDS = ("HumanEval-X", "stdio")
_LANGUAGES = {"CPP": "cpp", "Java": "java"}
Make = Callable[[str], pb.ScoreRequest]  # given a comment that makes the request a new one


def functions(rows: Sequence[dict[str, str]]) -> list[Make]:
    """Returns what makes requests of rows of HumanEval-X."""

    def made(row: dict[str, str]) -> Make:
        return lambda mark: tasks.humaneval_x(row, f"{row['canonical_solution']}\n{mark}\n")

    return [made(row) for row in rows]


def programs(language: str) -> list[Make]:
    """Returns what makes requests of the problems whose solutions read standard input."""
    [path] = SOLUTIONS.glob(f"{language}.*")
    solutions = read_solutions(path, "//")

    def made(problem: Problem) -> Make:
        [case, *_] = problem.cases
        run = pb.StdioCase(stdin=case.stdin.encode(), expected_stdout=case.stdout.encode())
        return lambda mark: pb.ScoreRequest(
            language=language,
            completion=f"{solutions[problem.name].right}\n{mark}\n",
            stdio=pb.StdioTests(cases=[run]),
        )

    return [made(one) for one in PROBLEMS if not solutions[one.name].tests]


def endless(makers: Sequence[Make]) -> Iterator[bytes]:
    """Yields encoded requests, all different."""
    for number, make in enumerate(itertools.cycle(makers)):
        request = make(f"// {number}")
        request.extraction = pb.EXTRACTION_NONE
        yield request.SerializeToString()


async def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="rows of HumanEval-X in C++ or Java")
    parser.add_argument("before", type=Path, help="the checkout that the other is compared with")
    parser.add_argument("after", type=Path)
    parser.add_argument("--config", type=Path, required=True, help="of the servers")
    parser.add_argument("--config-after", type=Path, help="of the second, if it differs")
    parser.add_argument("--step", type=int, default=20, help="take every so many tasks, from 12 on")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.data.read_text().splitlines()][12 :: options.step]
    language = _LANGUAGES[rows[0]["task_id"].split("/")[0]]
    makers = dict(zip(KINDS, (functions(rows), programs(language)), strict=True))
    configs = (options.config, options.config_after or options.config)
    found: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    async with AsyncExitStack() as stack:
        arms = []
        for checkout, config in zip((options.before, options.after), configs, strict=True):
            arguments = ("--config", str(config.resolve()))
            server = await stack.enter_async_context(served(arguments, checkout.resolve()))
            client = await stack.enter_async_context(load.client(server.address))
            arms.append((server, client))
        waiting = {kind: [endless(makers[kind]) for _ in arms] for kind in KINDS}
        for _, kind in itertools.product(range(options.rounds + 1), KINDS):
            count = len(makers[kind])
            turns = zip(arms, waiting[kind], strict=True)
            found[kind].append([await milliseconds(*arm, one, count) for arm, one in turns])
    for kind, rounds in found.items():
        for before, after in rounds[1:]:
            print(f"{kind}: {before:.0f} ms, {after:.0f} ms, ratio {after / before:.3f}")
        medians = [statistics.median(column) for column in zip(*rounds[1:], strict=True)]
        ratio = statistics.median(after / before for before, after in rounds[1:])
        print(f"{kind} of all: {medians[0]:.0f} ms, {medians[1]:.0f} ms, ratio {ratio:.3f}")


if __name__ == "__main__":
    asyncio.run(main())
