"""What an interpreter is given to start a runner: `python3 -I -S start.py SETTINGS`.

With `--listen PATH` in front of the settings, it listens there and starts a runner for each
connection. `__main__` describes the settings, a JSON object.

A runner is two interpreters, the zygote's and the judges' (`fork_server`). Tests and solution of an
ordinary run are in one process: a set of texts has the same order in both, and what equals hashes
alike. So both interpreters are started with one seed of hashes, drawn here; for that alone this
file starts again, with the isolation of `-I` but for the environment, from which it removes what an
interpreter would read.
"""

import importlib
import os
import sys

_FILE = os.path.abspath(__file__)
_LISTEN, _JUDGES = "--listen", "--judges"
_SEED = "PYTHONHASHSEED"
_GREATEST_SEED = (1 << 32) - 1
# Functions of libraries are looked up once, at the start, instead of in each child that calls one.
_BOUND = {"LD_BIND_NOW": "1"}


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-P", "-s", "-S", _FILE, *arguments]


def _start_again(settings: str) -> None:
    others = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    others |= _BOUND
    seed = 1 + int.from_bytes(os.urandom(8), "big") % _GREATEST_SEED  # 0 would be no seed
    os.execve(sys.executable, _command(settings), {**others, _SEED: str(seed)})


def main() -> None:
    """Finds the package that this file lies in, whatever its folder, and starts it."""
    folder = os.path.dirname(_FILE)
    sys.path.insert(0, os.path.dirname(folder))
    package = os.path.basename(folder)
    settings = sys.argv[-1]
    if sys.argv[1] == _LISTEN:
        zygote = (sys.executable, "-I", "-S", _FILE, settings)
        importlib.import_module(f"{package}.listen").listen(sys.argv[2], zygote)
    if sys.flags.isolated:
        _start_again(settings)
    # Before any module of the standard library registers some.
    importlib.import_module(f"{package}.supervisor.fork_hooks").hold_handlers()
    importlib.import_module(f"{package}.supervisor.preloading").preload_standard()
    module = importlib.import_module(f"{package}.__main__")
    if sys.argv[1] == _JUDGES:
        module.serve_judges(settings)
    module.main(settings, _command(_JUDGES, settings))


if __name__ == "__main__":
    main()
