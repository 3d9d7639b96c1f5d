"""The least that judging can cost: a warm interpreter forks, and the child runs everything.

Run as a script, without anything of ours: one line of JSON comes in with `modules` to import and
`programs` to run. Then each further line is a pass over the programs, answered with the CPU time
that it took. A child runs solution and tests in one process and is waited for: no isolation, no
judge, nothing between.
"""

import gc
import importlib
import json
import os
import sys
import time


def run(program: str) -> None:
    """Runs a program in this process, which ends here: with 0 if it raised nothing."""
    try:
        exec(compile(program, "program", "exec"), {"__name__": "program"})
    except BaseException:  # noqa: BLE001  # whatever a solution raises
        os._exit(1)
    os._exit(0)


def one_pass(programs: list[str]) -> dict[str, float]:
    """Runs each program in a child of its own, one after another."""
    failures, children = 0, 0.0
    begin = time.process_time()
    for program in programs:
        child = os.fork()
        if child == 0:
            run(program)
        _, status, usage = os.wait4(child, 0)
        failures += status != 0
        children += usage.ru_utime + usage.ru_stime
    own = time.process_time() - begin
    return {"failures": failures, "own_cpu_seconds": own, "child_cpu_seconds": children}


def main() -> None:
    """Serves passes until standard input ends."""
    settings = json.loads(sys.stdin.readline())
    for name in settings["modules"]:
        importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    gc.collect()
    gc.freeze()
    for _ in sys.stdin:
        answers.write(json.dumps(one_pass(settings["programs"])) + "\n")


if __name__ == "__main__":
    main()
