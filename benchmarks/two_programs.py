"""Compares the CPU time of verdicts with tests in their own program and in the solution's program.

    python -m benchmarks.two_programs humaneval_x_cpp.jsonl --config server.toml --step 9

Sends reference solutions of HumanEval-X, one request at a time, alternately with separate tests and
as one program of solution and tests. The first pass, which compiles the tests' programs, does not
count; no request is identical to another. Prints CPU milliseconds of a verdict, including the
engine's containers, and the ratio, for each round and for all.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import load
from benchmarks.measure.served import Served, served
from benchmarks.passes import used_for
from benchmarks.read_programs import as_one_program
from codereward.v1 import reward_service_pb2 as pb
from trainer_client import tasks

_COMMENT = {"JavaScript": "//", "Java": "//", "CPP": "//"}


def requests(rows: Sequence[Mapping[str, Any]], *, together: bool) -> Iterator[bytes]:
    """Yields an endless sequence of encoded requests, all different."""
    make = as_one_program if together else tasks.humaneval_x
    for number, row in enumerate(itertools.cycle(rows)):
        mark = _COMMENT[row["task_id"].split("/")[0]]
        request = make(row, f"{row['canonical_solution']}\n{mark} {number} {together}\n")
        request.extraction = pb.EXTRACTION_NONE
        yield request.SerializeToString()


async def milliseconds(
    server: Served, client: load.Client, waiting: Iterator[bytes], count: int
) -> float:
    """Returns the mean CPU time of a verdict over a number of requests."""
    return 1000 * (await used_for(server, client, waiting, count)).total / count


async def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="rows of HumanEval-X in one language")
    parser.add_argument("--config", required=True, help="of the server that is started")
    parser.add_argument("--step", type=int, default=9, help="take every so many tasks")
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.data.read_text().splitlines()][:: options.step]
    async with (
        served(("--config", options.config)) as server,
        load.client(server.address) as client,
    ):
        waiting = [requests(rows, together=together) for together in (False, True)]
        found = [
            [await milliseconds(server, client, one, len(rows)) for one in waiting]
            for _ in range(options.rounds + 1)
        ]
    for apart, together in found[1:]:
        print(f"apart {apart:.0f} ms  together {together:.0f} ms  ratio {apart / together:.3f}")
    print(f"ratio of all: {statistics.median(one / other for one, other in found[1:]):.3f}")


if __name__ == "__main__":
    asyncio.run(main())
