"""What a person sees at a terminal, which models must not steer."""

from __future__ import annotations

import io

from rich.console import Console

from trainer_client.trl.monitoring.printing import print_group
from trainer_client.trl.monitoring.samples import Sample


def test_a_completion_gives_the_terminal_no_commands() -> None:
    output = io.StringIO()
    text = "one\x1b]0;title\x07\x9b2J\ttwo\nthree\ud800\r\x08"
    sample = Sample(task_id="t", completion=text, verdict="FAILED", message=text, reward=0.0)
    print_group(Console(file=output, width=200), text, [sample])
    shown = output.getvalue()
    assert {code for code in shown if ord(code) < 32 or 127 <= ord(code) < 160} == {"\n"}
    assert "three" in shown
    shown.encode()
