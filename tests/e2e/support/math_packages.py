"""A folder with math-verify, as an operator would name it in `sandbox_packages`."""

from __future__ import annotations

import shutil
from importlib import metadata
from pathlib import Path

DISTRIBUTIONS = (
    *("math-verify", "latex2sympy2-extended", "antlr4-python3-runtime", "sympy", "mpmath"),
)


def install(folder: Path) -> Path:
    """Copies what is installed here, without tests and commands; gives the folder."""
    for name in DISTRIBUTIONS:
        for file in metadata.distribution(name).files or ():
            if "tests" in file.parts or ".." in file.parts:
                continue
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            # With its time, or what was compiled of it would be compiled again each time.
            shutil.copy2(file.locate(), target)
    # What runs in a sandbox is nobody's, and pytest's folders are its owner's alone.
    folder.chmod(0o755)
    return folder
