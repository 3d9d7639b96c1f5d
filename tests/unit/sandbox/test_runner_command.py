"""A runner's container is laid out as the images of this project, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from reward_server.errors import StartError
from reward_server.sandbox.runner_command import require_layout


def test_a_container_laid_out_as_an_image_is_fit(tmp_path: Path) -> None:
    for folder in ("home/sandbox", "home/user"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "tmp").symlink_to("home/sandbox/tmp")
    require_layout(tmp_path)


@pytest.mark.parametrize("present", ["home/sandbox", "home/user", "tmp"])
def test_another_container_is_refused_with_what_it_lacks(tmp_path: Path, present: str) -> None:
    (tmp_path / present).mkdir(parents=True)
    with pytest.raises(StartError, match=r"/home/sandbox.*/tmp.*images build"):
        require_layout(tmp_path)
