"""The file that an interpreter runs to start a runner: `python3 -I -S start.py SETTINGS`.

With `--listen PATH` in front of the settings, it listens on that socket and starts a runner for
each connection. With `--session` it runs one session, see `sessions`. `__main__` describes the
settings, a JSON object. With `--interpreter` alone it is an interpreter in a session.

A runner has two interpreters, one for the zygote and one for the judges (`fork_server`). In an
ordinary run, tests and solution share one process: a set of strings has the same order for both,
and equal values have equal hashes. So both interpreters start with the same hash seed. It is the
first message of the server, which sends the same to all of its runners: a program that depends on
the order of a set then does the same in each of them. Interpreters that a program or a session
starts have this seed, too.

An interpreter with `-I` would ignore the seed. So this file executes itself again without `-I`, but
with the other effects of `-I`, and without the environment variables that an interpreter reads.
"""

import importlib
import os
import sys

_FILE = os.path.abspath(__file__)
_LISTEN, _JUDGES, _SESSION = "--listen", "--judges", "--session"
_INTERPRETER = "--interpreter"
_SEED = "PYTHONHASHSEED"
_SEED_BYTES = 4
# The linker resolves library functions once, at the start, instead of in each child that calls one.
_BOUND = {"LD_BIND_NOW": "1"}


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-P", "-s", "-S", _FILE, *arguments]


def _read_seed() -> str:
    """Reads the server's first message, see `wire`."""
    message = b""
    while len(message) < _SEED_BYTES:
        piece = os.read(0, _SEED_BYTES - len(message))
        if not piece:
            sys.exit("the server has gone")
        message += piece
    return str(int.from_bytes(message, "big"))


def _start_again(settings: str) -> None:
    others = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    others |= {**_BOUND, _SEED: _read_seed()}
    os.execve(sys.executable, _command(settings), others)


def main() -> None:
    """Starts the package that contains this file, in whichever folder it is installed."""
    folder = os.path.dirname(_FILE)
    sys.path.insert(0, os.path.dirname(folder))
    package = os.path.basename(folder)
    settings = sys.argv[-1]
    if sys.argv[1] == _LISTEN:
        zygote = (sys.executable, "-I", "-S", _FILE, settings)
        importlib.import_module(f"{package}.listen").listen(sys.argv[2], zygote)
    if sys.argv[1] == _SESSION:
        os.environ[_SEED] = _read_seed()
        importlib.import_module(f"{package}.sessions.container").main(settings)
    if sys.argv[1] == _INTERPRETER:
        importlib.import_module(f"{package}.interpreter.relay").main()
    if sys.flags.isolated:
        _start_again(settings)
    # This runs before any module of the standard library registers a fork handler.
    importlib.import_module(f"{package}.supervisor.fork_hooks").hold_handlers()
    importlib.import_module(f"{package}.supervisor.preloading").preload_standard()
    module = importlib.import_module(f"{package}.__main__")
    if sys.argv[1] == _JUDGES:
        module.serve_judges(settings)
    module.main(settings, _command(_JUDGES, settings))


if __name__ == "__main__":
    main()
