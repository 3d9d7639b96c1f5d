"""The README's example, as it stands, against a real server."""

from __future__ import annotations

import re
from pathlib import Path

from trainer_client.examples.local_server import LocalServer

ADDRESS = "localhost:50051"


def test_the_readmes_score_comes_out_as_it_says(
    repository: Path, lasting_server: LocalServer, capsys
):
    readme = (repository / "README.md").read_text()
    (example,) = [
        block
        for block in re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
        if "import RewardClient" in block
    ]
    assert ADDRESS in example
    exec(example.replace(ADDRESS, lasting_server.target), {})
    assert capsys.readouterr().out == "Verdict.PASSED 1.0\n"
