"""Task folders in the shape that Harbor publishes, each with its solution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOML = """version = "1.0"

[metadata]
author_name = "Someone"
difficulty = "easy"
category = "programming"
tags = ["python"]

[verifier]
timeout_sec = 60.0

[agent]
timeout_sec = 120.0

[environment]
build_timeout_sec = 600.0
cpus = 1
memory = "1G"
"""
DOCKERFILE = "FROM python:3.12-slim\nWORKDIR /app\nCOPY . /app/\n"
REWARD = """
if [ $? -eq 0 ]; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
"""
PLAIN_SCRIPT = f"#!/bin/bash\n\npytest /tests/test_outputs.py -rA\n{REWARD}"
UV_SCRIPT = f"""#!/bin/bash

# Installs what the tests need.
apt-get update
apt-get install -y curl

curl -LsSf https://astral.sh/uv/0.9.7/install.sh | sh

source $HOME/.local/bin/env

# Check if we're in a valid working directory
if [ "$PWD" = "/" ]; then
    echo "Error: No working directory set. Please set a WORKDIR in your Dockerfile."
    exit 1
fi

uvx \\
  -p 3.12 \\
  --with pytest==8.4.1 \\
  --with pytest-json-ctrf==0.3.5 \\
  pytest --ctrf /logs/verifier/ctrf.json /tests/test_outputs.py -rA
{REWARD}"""
JSON_SCRIPT = """#!/usr/bin/env bash
set -uo pipefail
cd /app
mkdir -p /logs/verifier
python3 -m pip install -q pytest
python3 -m pytest -q --tb=short /tests
status=$?
if [ "$status" -eq 0 ]; then
  echo '{"reward": 1.0}' > /logs/verifier/reward.json
else
  echo '{"reward": 0.0}' > /logs/verifier/reward.json
fi
exit $status
"""
IF_SCRIPT = """#!/bin/sh
set -e
if uv run --with pytest python -m pytest -v /tests/test_outputs.py::TestStack; then
  echo "1" > "/logs/verifier/reward.txt"
else
  echo "0" > "/logs/verifier/reward.txt"
fi
"""
SUM = "def total(numbers):\n    return 0\n"
SUM_TEST = """from numbers_of import total


def test_some():
    assert total([3, 4]) == 7
    assert total([10, -4, 1]) == 7


def test_none():
    assert total([]) == 0
"""
SOLVE_SUM = "#!/bin/bash\nset -e\nsed -i 's/return 0/return sum(numbers)/' numbers_of.py\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A task folder.

    Args:
        files: its files by path, besides those that all tasks have.
        options: how the reader is called for it.
    """

    files: Mapping[str, str]
    options: Mapping[str, Any] = field(default_factory=dict)

    def write(self, place: Path) -> Path:
        """Writes the folder below a place."""
        usual = {"task.toml": TOML, "instruction.md": "Solve it.\n", "tests/test.sh": PLAIN_SCRIPT}
        for path, text in {**usual, **self.files}.items():
            file = place / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod(0o755 if text.startswith("#!") else 0o644)
        return place


FOLDERS: Mapping[str, Folder] = {
    "pytest": Folder(
        files={
            "environment/Dockerfile": DOCKERFILE,
            "environment/numbers_of.py": SUM,
            "tests/test_outputs.py": SUM_TEST,
            "solution/solve.sh": SOLVE_SUM,
        }
    ),
    "hello-world": Folder(
        files={
            "environment/Dockerfile": 'FROM ubuntu:24.04\n\nWORKDIR /app\n\nCMD ["bash"]\n',
            "instruction.md": "Create /app/hello.txt with the content `Hello, world!`.\n",
            "tests/test.sh": UV_SCRIPT,
            "tests/test_outputs.py": (
                "from pathlib import Path\n\n\n"
                "def test_hello():\n"
                '    path = Path("/app/hello.txt")\n'
                '    assert path.exists(), f"{path} is not there"\n'
                '    assert path.read_text().strip() == "Hello, world!"\n'
            ),
            "solution/solve.sh": '#!/bin/bash\necho "Hello, world!" > /app/hello.txt\n',
        },
        options={"relative_paths": True},
    ),
    "workdir-and-copy": Folder(
        files={
            "environment/Dockerfile": (
                "# syntax=docker/dockerfile:1\n"
                "FROM --platform=linux/amd64 python:3.12-slim AS task\n"
                "ENV PYTHONUNBUFFERED=1 \\\n    DEBIAN_FRONTEND=noninteractive\n"
                "WORKDIR /srv\nWORKDIR shop\n"
                "COPY --chown=1000:1000 code/*.py shop/\n"
                'COPY ["data", "./data"]\n'
                "COPY bin/report.sh .\n"
            ),
            "environment/code/__init__.py": "",
            "environment/code/prices.py": "def price(name):\n    return None\n",
            "environment/data/prices.csv": "apple,3\npear,5\n",
            "environment/bin/report.sh": "#!/bin/sh\nwc -l < data/prices.csv\n",
            "tests/test_outputs.py": (
                "import subprocess\nfrom pathlib import Path\n\nfrom shop.prices import price\n\n"
                "EXPECTED = Path(__file__).with_name('expected.txt')\n\n\n"
                "def test_prices():\n"
                "    for line in EXPECTED.read_text().splitlines():\n"
                "        name, wanted = line.split()\n"
                "        assert price(name) == int(wanted)\n\n\n"
                "def test_the_script_runs():\n"
                "    found = subprocess.run(['./report.sh'], capture_output=True, text=True)\n"
                "    assert int(found.stdout) == 2\n"
            ),
            "tests/expected.txt": "apple 3\npear 5\n",
            "solution/prices.py": (
                "import csv\n\n\ndef price(name):\n"
                "    with open('data/prices.csv') as file:\n"
                "        return int(dict(csv.reader(file))[name])\n"
            ),
            "solution/solve.sh": "#!/bin/bash\ncp /solution/prices.py shop/prices.py\n",
        }
    ),
    "run-pip-with-image": Folder(
        files={
            "environment/Dockerfile": (
                "FROM python:3.12-slim\n"
                "RUN apt-get update && \\\n    # for the build\n    apt-get install -y git && \\\n"
                "    rm -rf /var/lib/apt/lists/*\n"
                "RUN <<EOF\npip install iniconfig\nWORKDIR is no instruction here\nEOF\n"
                "WORKDIR /app\nCOPY settings.py ./\nCOPY tool /usr/local/bin/tool\n"
            ),
            "environment/settings.py": "def read(path):\n    return {}\n",
            "environment/tool": "#!/bin/sh\n",
            "tests/test_outputs.py": (
                "from settings import read\n\n\n"
                "def test_values(tmp_path):\n"
                "    place = tmp_path / 'a.ini'\n"
                "    place.write_text('[one]\\ncolour = red\\n')\n"
                "    assert read(place) == {'one': {'colour': 'red'}}\n"
            ),
            "solution/solve.sh": (
                "#!/bin/bash\ncat > settings.py <<'END'\nimport iniconfig\n\n\n"
                "def read(path):\n"
                "    found = iniconfig.IniConfig(str(path))\n"
                "    return {part.name: dict(part.items()) for part in found}\nEND\n"
            ),
        },
        options={"images": {"python:3.12-slim": ""}},
    ),
    "uv-with-packages": Folder(
        files={
            "environment/Dockerfile": DOCKERFILE,
            "environment/numbers_of.py": SUM,
            "tests/test.sh": UV_SCRIPT.replace(
                "--with pytest-json", "--with pluggy==1.6.0 \\\n  --with pytest-json"
            ),
            "tests/test_outputs.py": "import pluggy\n" + SUM_TEST,
            "solution/solve.sh": SOLVE_SUM,
        },
        options={"images": {"uv-with-packages": ""}},
    ),
    "reward-json": Folder(
        files={
            "environment/Dockerfile": DOCKERFILE,
            "environment/numbers_of.py": SUM,
            "tests/test.sh": JSON_SCRIPT,
            "tests/test_numbers.py": SUM_TEST,
            "tests/more/more_test.py": "from numbers_of import total\n\n\ndef test_many():\n"
            "    assert total(range(101)) == 5050\n",
            "tests/helper.py": "def test_of_nothing():\n    assert False\n",
            "solution/solve.sh": SOLVE_SUM,
        }
    ),
    "timeouts": Folder(
        files={
            "task.toml": TOML.replace("60.0", "7.5").replace("cpus = 1", "cpus = 2"),
            "environment/Dockerfile": DOCKERFILE,
            "environment/slow.py": "import time\n\n\ndef answer():\n    time.sleep(3600)\n",
            "tests/test_outputs.py": "from slow import answer\n\n\ndef test_answer():\n"
            "    assert answer() == 42\n",
            "solution/solve.sh": "#!/bin/bash\necho 'def answer(): return 42' > slow.py\n",
        },
        options={},
    ),
    "classes": Folder(
        files={
            "environment/Dockerfile": DOCKERFILE,
            "environment/stack.py": "class Stack:\n    pass\n",
            "tests/test.sh": IF_SCRIPT,
            "tests/test_outputs.py": (
                "import pytest\n\nfrom stack import Stack\n\n\n"
                "@pytest.fixture\ndef stack():\n    return Stack()\n\n\n"
                "class TestStack:\n"
                "    def test_push(self, stack):\n        stack.push(3)\n"
                "        assert stack.pop() == 3\n\n"
                "    def test_order(self, stack):\n        stack.push(1)\n        stack.push(2)\n"
                "        assert [stack.pop(), stack.pop()] == [2, 1]\n\n\n"
                "class TestOther:\n    def test_is_not_asked_for(self):\n        assert False\n"
            ),
            "solution/solve.sh": (
                "#!/bin/bash\ncat > stack.py <<'END'\n"
                "class Stack(list):\n    push = list.append\nEND\n"
            ),
        }
    ),
}
