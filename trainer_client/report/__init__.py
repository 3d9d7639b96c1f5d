"""`reward-train report`: one page about a training, from one run or from several seeds.

    runs         reads and checks run folders
    series       logged values over steps, of one run or pooled over several
    passing      pass@k of the evaluations, with confidence intervals
    tables       TRL's tables of completions: groups, and a sample to display
    charts       draws lines, areas and marks
    figures      the list of figures
    headline     the numbers at the top
    page         the page around all of them

A completion that was not judged has no value: lines break there, and no mean counts it as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trainer_client.errors import ConfigError, missing_package


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSummary:
    """Facts about a written report.

    Args:
        page: the HTML file.
        page_bytes: its size.
        pngs: the files of the figures, in the page's order.
        runs: number of runs in the report.
        steps: the last step that any run logged.
        completions: number of completions in the runs' tables.
        shown: number of those that the page contains.
    """

    page: Path
    page_bytes: int
    pngs: tuple[Path, ...]
    runs: int
    steps: int
    completions: int
    shown: int


def write_report(runs: Sequence[Path], out: Path, *, pngs: bool = True) -> ReportSummary:
    """Writes a report of runs, which are seeds of one experiment.

    Args:
        runs: folders of the runs.
        out: the HTML file; missing folders above it are created.
        pngs: whether to write each figure as `STEM-FIGURE.png` in the page's folder.

    Raises:
        ConfigError: a folder is not that of a run, nothing was logged yet, the runs are not of one
            experiment, the file cannot be written, or a package is missing.
    """
    try:
        from trainer_client.report.charts.figures import all_figures
        from trainer_client.report.page import render_page
        from trainer_client.report.runs import read_runs
        from trainer_client.report.tables import read_tables
    except ImportError as error:
        raise missing_package(error, "trainer") from error
    if out.is_dir():
        raise ConfigError(f"out: {out} is a folder; name the HTML file")
    found = read_runs(runs)
    tables = read_tables(found)
    figures = all_figures(found, tables)
    page, shown = render_page(found, tables, figures)
    names = {out.with_name(f"{out.stem}-{figure.name}.png"): figure for figure in figures}
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(page)
        for file, figure in names.items() if pngs else ():
            file.write_bytes(figure.png())
    except OSError as error:
        raise ConfigError(f"out: {error}") from error
    return ReportSummary(
        page=out,
        page_bytes=len(page),
        pngs=tuple(names) if pngs else (),
        runs=len(found),
        steps=max(run.last_step for run in found),
        completions=sum(table.rows for table in tables.tables),
        shown=shown,
    )
