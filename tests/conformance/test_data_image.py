"""The Python image with what published data sets import; only where all tests are asked for."""

from __future__ import annotations

import re

import docker
import pytest
from typer.testing import CliRunner

from reward_server.cli.images import images_app
from reward_server.sandbox.docker import images
from tests.support.engine import own_tag
from tests.support.sampling import TAKES_ALL

FOLDER = images.IMAGES / "python-data"


def test_every_requirement_is_pinned_with_a_hash() -> None:
    text = (FOLDER / "requirements.txt").read_text("utf-8")
    wanted = (FOLDER / "requirements.in").read_text("utf-8").split()
    pinned = {
        line.split("==")[0].lower() for line in re.findall(r"^[\w.-]+==\S+", text, re.MULTILINE)
    }
    assert {name.split("==")[0].lower() for name in wanted} <= pinned
    hashed = re.findall(r"^[\w.-]+==\S+ .\n +--hash=sha256:", text, re.MULTILINE)
    assert len(hashed) == len(pinned)


if TAKES_ALL:  # its build takes minutes

    @pytest.mark.timeout(3600)
    def test_every_package_of_the_image_can_be_imported(
        engine: docker.APIClient, base_image: str
    ) -> None:
        tag = own_tag("python-data")
        images.build(engine, "python-data", base_image=base_image, tag=tag)
        result = CliRunner().invoke(images_app, ["verify", tag, "--runtime", "runc"])
        assert result.exit_code == 0, result.output
