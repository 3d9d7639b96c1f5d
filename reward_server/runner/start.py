"""What an interpreter is given to start a runner: `python3 -I -S start.py SETTINGS`.

With `--listen PATH` in front of the settings, it listens there and starts a runner for each
connection. `__main__.main` describes the settings, a JSON object.
"""

import importlib
import os
import sys

_LISTEN = "--listen"


def main() -> None:
    """Finds the package that this file lies in, whatever its folder, and starts it."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, os.path.dirname(folder))
    package = os.path.basename(folder)
    if sys.argv[1] == _LISTEN:
        path, settings = sys.argv[2:]
        zygote = (sys.executable, "-I", "-S", os.path.abspath(__file__), settings)
        importlib.import_module(f"{package}.listen").listen(path, zygote)
    # Before any module of the standard library registers some.
    importlib.import_module(f"{package}.forking").hold_handlers()
    importlib.import_module(f"{package}.__main__").main(sys.argv[1])


if __name__ == "__main__":
    main()
