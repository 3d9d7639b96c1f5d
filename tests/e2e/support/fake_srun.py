#!/usr/bin/env python3
"""Stands for `srun`: runs a command once for each node, which is a network namespace.

The environment variable FAKE_NODES maps the names of nodes to processes in their namespaces; 0
stands for the caller's own. As Slurm's, it kills the tasks if it gets SIGTERM, and fails if one of
them fails.
"""

import json
import os
import signal
import subprocess
import sys

first = next(n for n, one in enumerate(sys.argv) if n and not one.startswith("--"))
named = dict(one.lstrip("-").partition("=")[::2] for one in sys.argv[1:first])
holders = json.loads(os.environ["FAKE_NODES"])
nodes = named["nodelist"].split(",") if "nodelist" in named else list(holders)
assert len(nodes) == int(named.get("nodes", len(nodes)))
tasks = []
for node in nodes:
    enter = ["nsenter", "--net", "--target", str(holders[node])] if holders[node] else []
    environment = {**os.environ, "SLURMD_NODENAME": node}
    tasks.append(subprocess.Popen([*enter, *sys.argv[first:]], env=environment))


def kill(number: int, frame: object) -> None:
    for task in tasks:
        task.kill()


signal.signal(signal.SIGTERM, kill)
sys.exit(max(abs(task.wait()) for task in tasks))
