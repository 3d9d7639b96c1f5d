"""Makes two pictures of the README from a real run of `make demo`.

    .venv/bin/python -m scripts.record_demo

docs/images/demo.svg     the demo's output, as a terminal shows it
docs/images/report.png   the figures of the report page about the model that the demo trained

Run `make demo` once before, so that nothing is left to install. The page is opened in the Chromium
that the browser tests use. `--printed FILE` draws the output of an earlier demo, and runs none.
"""

from __future__ import annotations

import base64
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from tests.support.browser import chromium

REPOSITORY = Path(__file__).resolve().parent.parent
IMAGES = REPOSITORY / "docs" / "images"
RUN = REPOSITORY / "runs" / "demo" / "model"
COLUMNS = 100
# Simulates a terminal with colours, except that a progress bar is printed once, when it is full.
TERMINAL = {"COLUMNS": str(COLUMNS), "TTY_COMPATIBLE": "1", "TTY_INTERACTIVE": "0"}
PAGE_WIDTH = 1280
PAGE_HEIGHT = 1010

# Starts below the heading, which names files of the machine that trained.
_TOP = "return document.querySelector('main > section').getBoundingClientRect().top"

_CURSOR = re.compile(r"\x1b\[\?25[lh]")
_FONT = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


def main(
    printed: Annotated[Path | None, typer.Option(help="what an earlier demo printed")] = None,
    run: Annotated[Path, typer.Option(help="folder of the run whose report is shown")] = RUN,
) -> None:
    """Records the demo and writes both pictures."""
    text = demo() if printed is None else printed.read_text("utf-8")
    (IMAGES / "demo.svg").write_text(drawn(text), "utf-8")
    (IMAGES / "report.png").write_bytes(photographed(run))


def demo() -> str:
    """Returns the output of `make demo`."""
    finished = subprocess.run(
        ["make", "--silent", "--no-print-directory", "demo"],
        cwd=REPOSITORY,
        env={**os.environ, **TERMINAL},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=True,
    )
    return finished.stdout


def drawn(printed: str) -> str:
    """Returns an SVG of a terminal that shows a command's output.

    It names no font of another site, because a picture in a page may load none.
    """
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print("[bold green]$[/] make demo", highlight=False)
    console.print(Text.from_ansi(_CURSOR.sub("", printed)))
    return _FONT.sub("", console.export_svg(title="make demo", unique_id="demo"))


def photographed(run: Path) -> bytes:
    """Returns a PNG of a run's report page, from its first figures on."""
    train = Path(sys.executable).with_name("reward-train")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = [train, "report", run, "--no-png", "--out", page]
        subprocess.run(command, cwd=REPOSITORY, check=True)
        with chromium(Path(folder) / "profile") as browser:
            browser.resize(PAGE_WIDTH, PAGE_HEIGHT)
            browser.prefer("light")
            browser.open(page)
            top = browser.run(_TOP) - 20
            clip = {"x": 0, "y": top, "width": PAGE_WIDTH, "height": PAGE_HEIGHT, "scale": 1}
            wanted = {"clip": clip, "captureBeyondViewport": True}
            found = browser.devtools("Page.captureScreenshot", wanted)
            return base64.b64decode(found["data"])


if __name__ == "__main__":
    typer.run(main)
