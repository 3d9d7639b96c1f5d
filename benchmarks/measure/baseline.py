"""The lower bound of the cost of judging: a running interpreter forks, and the child runs
everything.

It runs as a script and imports nothing of this project. Its first input line is JSON with `modules`
to import and `programs` to run. Each further line starts a pass over the programs, and is answered
with the CPU time of the pass. Each child runs solution and tests in one process, without isolation
or judge, and the script waits for it.
"""

import gc
import importlib
import json
import os
import sys
import time


def run(program: str) -> None:
    """Runs a program in this process and ends the process, with 0 if the program raised nothing."""
    try:
        exec(compile(program, "program", "exec"), {"__name__": "program"})
    except BaseException:  # noqa: BLE001  # a solution may raise anything
        os._exit(1)
    os._exit(0)


def one_pass(programs: list[str]) -> dict[str, float]:
    """Runs each program in its own child, one after another."""
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
