from __future__ import annotations

import inspect
import re

from typer.testing import CliRunner

from trainer_client.trl import command


def test_help_shows_all_words_of_each_command_also_those_in_brackets():
    shown = CliRunner().invoke(command._app, ["--help"], env={"COLUMNS": "200"}).stdout
    for registered in command._app.registered_commands:
        sentence = inspect.getdoc(registered.callback).split("\n\n")[0].replace("`", "")
        words = " ".join(re.sub(r"[│╭╰─╮╯]", " ", shown).split())
        assert " ".join(sentence.split()) in words, registered.name
