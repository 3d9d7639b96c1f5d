"""What a program of a runner reaches in its pod: run in the server's container, printed as JSON.

    python -m tests.conformance.pods.reaching SOCKET FOLDER

SOCKET is the runner's. FOLDER holds those of all runners where the program might see them. The
pod's containers share a network, in which this process listens, too.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import sys
from pathlib import Path

from reward_server.sandbox.socket import SocketSandboxes
from tests.conformance.suite.checks import output_of

SERVER_PORT = 50051
ATTEMPTS = {
    "the server": "connect(('127.0.0.1', {server}))",
    "a service on the loopback interface": "connect(('127.0.0.1', {port}))",
    "the same by the sixth version of IP": "connect(('::ffff:127.0.0.1', {port}), AF_INET6)",
    "an abstract socket": "connect(chr(0) + {name!r}, AF_UNIX)",
    "a runner's socket": "[connect(path, AF_UNIX) for path in glob.glob({pattern!r})][0]",
    "a port to listen on": "create_server(('127.0.0.1', 0))",
    "a port for datagrams": "socket(AF_INET, SOCK_DGRAM).bind(('127.0.0.1', 0))",
}
_PROGRAM = """
import glob
from socket import *
def connect(address, family=AF_INET):
    made = socket(family)
    made.settimeout(5)
    made.connect(address)
def reach(name, attempt):
    try: attempt()
    except (OSError, IndexError): return
    print(name)
"""


async def _reached(runner: Path, folder: str) -> list[str]:
    name = secrets.token_hex(16)
    with socket.create_server(("127.0.0.1", 0)) as service, socket.socket(socket.AF_UNIX) as hidden:
        hidden.bind(f"\0{name}")
        hidden.listen()
        given = {"server": SERVER_PORT, "port": service.getsockname()[1], "name": name}
        pattern = f"{folder}/*/runner.sock"
        lines = [
            f"reach({key!r}, lambda: {attempt.format(**given, pattern=pattern)})\n"
            for key, attempt in ATTEMPTS.items()
        ]
        sandbox = await SocketSandboxes([runner])(0)
        try:
            told = await output_of(sandbox, "".join((_PROGRAM, *lines)))
        finally:
            await sandbox.close()
    return told.splitlines()


if __name__ == "__main__":
    json.dump(asyncio.run(_reached(Path(sys.argv[1]), sys.argv[2])), sys.stdout)
