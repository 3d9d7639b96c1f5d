"""Renders the page: one file that loads nothing and runs only its own script.

Text from models is hostile. Text from runs enters the page in two ways: escaped by the template, or
as JSON in a block of data, without a character that HTML interprets, which the script puts into
text nodes. A content security policy allows the page's own script and style by their hashes, and
only images within the page.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from trainer_client.report.charts.drawing import VERDICT_COLOURS, Chart
from trainer_client.report.comparisons import comparison
from trainer_client.report.headline import headline
from trainer_client.report.naming import heading
from trainer_client.report.rendering import policy, rendered, template
from trainer_client.report.runs import Run, differing_settings
from trainer_client.report.samples import LONGEST, Sample, samples
from trainer_client.report.tables import Tables
from trainer_client.text import well_formed

_MOST_EVENTS = 500
_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&"}


def render_page(runs: Sequence[Run], tables: Tables, figures: Sequence[Chart]) -> tuple[bytes, int]:
    """Renders the page as UTF-8; also returns the number of completions that it shows."""
    shown = samples(runs, tables)
    style, script = template("page.css"), template("shared.js") + template("page.js")
    values = dict[str, object](
        policy=policy(style, script, ["img-src data:"]),
        style=Markup(style),
        script=Markup(script),
        data=Markup(data_block(_data(runs, shown))),
        heading=heading(runs),
        info=runs[0].info,
        runs=runs,
        several=len(runs) > 1,
        differing=differing_settings(runs),
        settings=json.dumps(runs[0].info.settings, indent=2, ensure_ascii=False),
        numbers=headline(runs),
        figures=figures,
        events=_events(runs)[:_MOST_EVENTS],
        event_count=len(_events(runs)),
        shown=len(shown),
        total=sum(table.rows for table in tables.tables),
        broken=[file.name for file in tables.broken],
        longest=LONGEST,
    )
    return well_formed(rendered(template("page.html"), values)).encode(), len(shown)


def compared(sample: Sample) -> list[tuple[str, str]] | None:
    """Returns name and value of both sides that the failing test compared, or None if unknown."""
    found = comparison(sample.failing_test) or comparison(sample.message)
    return list(zip(found.names, found.values, strict=True)) if found else None


def data_block(value: object) -> str:
    """Returns JSON that can neither end nor begin an element in HTML or JavaScript.

    It is ASCII, so that U+2028 and U+2029 are escaped as well.
    """
    return json.dumps(value, separators=(",", ":")).translate(_ESCAPES)


def _events(runs: Sequence[Run]) -> list[dict[str, Any]]:
    found = [
        {"run": run.label, **dataclasses.asdict(event)} for run in runs for event in run.events
    ]
    return sorted(found, key=lambda event: event["step"])


def _data(runs: Sequence[Run], shown: Sequence[Sample]) -> dict[str, Any]:
    """Returns the data for the script; prompts, which repeat, are stored once."""
    prompts: dict[object, int] = {}
    rows = []
    for sample in shown:
        prompt = prompts.setdefault(sample.prompt, len(prompts))
        row = dataclasses.asdict(sample) | {"prompt": prompt}
        row["task"] = row["task"] or f"prompt {prompt + 1}"
        row["compared"] = compared(sample)
        rows.append(row)
    names = list(rows[0]) if rows else []
    return {
        "runs": [run.label for run in runs],
        "verdicts": list(VERDICT_COLOURS),
        "prompts": list(prompts),
        "names": names,
        "rows": [[row[name] for name in names] for row in rows],
    }
