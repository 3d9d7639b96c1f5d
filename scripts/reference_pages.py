"""Makes the reference pages from the code: `python -m scripts.reference_pages [--check]`.

The settings of the server come from `reward_server/settings.py`, those of `reward-train` from
`trainer_client/trl/settings/sections.py`, commands from typer, metrics from the server's registry,
the contract from the comments of its `.proto` files, the Python API from docstrings, and the
specification from marks on tests. The pages are committed, so that a checkout has no dead link.
With `--check` nothing is written, and the exit status is 1 if a page differs from the code.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
import tomllib
import types
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from scripts.promises_page import promises_page
from scripts.python_page import python_page

REPOSITORY = Path(__file__).resolve().parent.parent
DOCS = REPOSITORY / "docs"
CONTRACTS = (
    "proto/codereward/v1/reward_service.proto",
    "proto/codereward/v1/session_service.proto",
)

_DECLARATION = re.compile(r"(message|enum|service|oneof) (\w+) \{(\})?$")
_METHOD = re.compile(r"rpc (\w+)\((stream )?(\w+)\) returns \((stream )?(\w+)\);$")
_FIELD = re.compile(r"(?:(repeated|optional) )?(map<[\w, ]+>|[\w.]+) (\w+) = (\d+);$")
_ENUM_VALUE = re.compile(r"([A-Z][A-Z0-9_]+) = (\d+);$")
_WORDS: Mapping[type, str] = {
    bool: "true or false",
    int: "integer",
    float: "number",
    str: "text",
    Path: "path",
    dict: "table",
}
_MANY_FIELDS = 5
_COMMON = 3  # options of that many commands are described once
_COMMANDS_HEAD = """# Commands

Made from the options that the commands declare. `--help` prints the same, and the form of each
value. Exit status 0 means done, 1 refused or failed, 2 wrong usage or settings. A flag that stands
for a setting has that setting's default: see [server settings](server-settings.md) and
[reward-train settings](train-settings.md).

## Options of several commands"""
_BOUNDS = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}


def pages() -> dict[str, str]:
    """Returns the pages by their paths below `docs`."""
    return {
        "concepts/specification.md": promises_page(),
        "reference/commands.md": _commands_page(),
        "reference/contract.md": _contract_page(),
        "reference/metrics.md": _metrics_page(),
        "reference/python.md": python_page(),
        "reference/server-settings.md": _server_settings_page(),
        "reference/train-settings.md": _train_settings_page(),
    }


def main() -> int:
    """Writes the pages, or compares them; returns the exit status."""
    stale = {
        path: text
        for path, text in pages().items()
        if not (DOCS / path).is_file() or (DOCS / path).read_text("utf-8") != text
    }
    for path, text in stale.items():
        if "--check" in sys.argv:
            print(f"docs/{path} differs from the code; `make reference` writes it", file=sys.stderr)
        else:
            (DOCS / path).write_text(text, "utf-8")
    return 1 if stale and "--check" in sys.argv else 0


# Settings


def _server_settings_page() -> str:
    from reward_server.domain import LEAST_LIMITS, Limits
    from reward_server.settings import DEFAULT_MAXIMUM_LIMITS, LimitSettings, Settings

    limits = {
        name: (meaning, asdict(Limits())[name])
        for name, meaning in attribute_docstrings(LimitSettings).items()
    }
    least, most = asdict(LEAST_LIMITS), asdict(DEFAULT_MAXIMUM_LIMITS)
    rows = "\n".join(
        f"| `{name}` | {_cell(meaning)} | {default:,} | {least[name]:,} | {most[name]:,} |"
        for name, (meaning, default) in limits.items()
    )
    return f"""# Server settings

Made from the schema in `reward_server/settings.py`.

A flag beats an environment variable, which beats the TOML file that `--config` or
`REWARD_SERVER_CONFIG` names. The setting `max_cases` is the environment variable
`REWARD_SERVER_MAX_CASES` and, on the command line, `--set max_cases=VALUE`. Settings that are used
often have a flag of their own, which [the commands](commands.md) list. A key of a table is
`default_limits.calls` with `--set`, and `REWARD_SERVER_DEFAULT_LIMITS__CALLS` in the environment.
In the environment and with `--set`, commas separate names in a list, and colons separate paths.

{_table(Settings)}

## Limits

These are the keys of the tables `default_limits` and `maximum_limits`. The columns hold the
built-in values, which the two tables replace. The least values cannot be changed.

| key | meaning | default | least | maximum |
| --- | --- | ---: | ---: | ---: |
{rows}
"""


def _train_settings_page() -> str:
    from trainer_client.trl.settings.configuration import GONE, TrainConfig

    gone = "\n".join(f"| `{name}` | {_cell(reason)} |" for name, reason in sorted(GONE.items()))
    sections = "\n".join(_sections(TrainConfig))
    return f"""# reward-train settings

Made from the schema in `trainer_client/trl/settings/sections.py`.

A configuration is a TOML or YAML file with the sections below. `--set SECTION.KEY=VALUE` changes a
setting for one run. The most common settings have flags of
[the command](commands.md#reward-train-train).

{sections}

## \\[training\\]

This section takes any field of TRL's `GRPOConfig`. Tutorials still use the names below. They are
refused, and the message says what the supported versions of TRL call them.

| name | what became of it |
| --- | --- |
{gone}
"""


def _sections(config: Any) -> Iterator[str]:
    for name, field in config.model_fields.items():
        for section in _models(field.annotation):
            yield from _section(name, section, field.annotation)


def _section(path: str, section: Any, annotation: Any) -> Iterator[str]:
    brackets = f"\\[\\[{path}\\]\\]" if get_origin(annotation) is tuple else f"\\[{path}\\]"
    level = "##" + "#" * path.count(".")
    yield f"{level} {brackets}\n\n{_first_sentence(section)}\n\n{_table(section)}\n"
    for name, field in section.model_fields.items():
        for part in _models(field.annotation):
            yield from _section(f"{path}.{name}", part, field.annotation)


def _table(model: Any) -> str:
    described = {}
    for part in reversed(model.__mro__):  # a base class declares some settings
        described |= _arguments(part) | attribute_docstrings(part)
    rows = (
        f"| `{name}` | {_cell(_sentence(described.get(name, '')))} "
        f"| {_cell(_type(field.annotation, field.metadata))} | {_default(field)} |"
        for name, field in model.model_fields.items()
    )
    return "\n".join(("| setting | meaning | type | default |", "| --- | --- | --- | --- |", *rows))


def _models(annotation: Any) -> Iterator[Any]:
    """Yields the pydantic models in an annotation such as `tuple[Section, ...]`."""
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def attribute_docstrings(documented: type) -> dict[str, str]:
    """Returns the docstrings below the attributes of a class, by the attribute's name."""
    if documented.__module__ in sys.stdlib_module_names:
        return {}
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(documented))).body
    assert isinstance(definition, ast.ClassDef)
    return {
        above.target.id: inspect.cleandoc(below.value.value)
        for above, below in pairwise(definition.body)
        if isinstance(above, ast.AnnAssign) and isinstance(above.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    }


def _arguments(documented: Any) -> dict[str, str]:
    """Returns the descriptions in a docstring's section `Args:`, by name."""
    from griffe import Docstring

    sections = Docstring(inspect.getdoc(documented) or "").parse("google", warnings=False)
    return {
        argument.name: argument.description
        for section in sections
        if section.kind.value == "parameters"
        for argument in section.value
    }


def _first_sentence(model: Any) -> str:
    return (inspect.getdoc(model) or "").split("\n\n")[0]


def _default(field: Any) -> str:
    from pydantic import BaseModel
    from pydantic_core import PydanticUndefined

    if field.default_factory is not None:
        return "see meaning"
    value = field.default
    if value is PydanticUndefined:
        return "required"
    if value is None or value in ("", ()) or isinstance(value, BaseModel):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _type(annotation: Any, metadata: Iterable[Any] = ()) -> str:
    return ", ".join((_plain_type(annotation), *_bounds(metadata)))


def _plain_type(annotation: Any) -> str:
    origin, parts = get_origin(annotation), get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        return _type(parts[0], annotation.__metadata__)
    if origin is Literal:
        return "one of " + ", ".join(f"`{value}`" for value in parts)
    if origin in (Union, types.UnionType):
        return " or ".join(_type(part) for part in parts if part is not types.NoneType)
    if origin is tuple:
        inner = _type(parts[0])
        return f"list of {inner}s" if inner in ("table", "path") else f"list of {inner}"
    if next(_models(annotation), None) is not None:
        return "table"
    return _WORDS[origin or annotation]


def _bounds(metadata: Iterable[Any]) -> Iterator[str]:
    for constraint in metadata:
        yield from _bounds(getattr(constraint, "metadata", ()))
        for name, word in _BOUNDS.items():
            bound = getattr(constraint, name, None)
            if bound is not None:
                yield f"{word} {bound:,}"


# Commands


def _commands_page() -> str:
    from typer.main import get_command

    from reward_server.cli import COMMANDS, application

    scripts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["scripts"]
    server = {name: get_command(application([name])).commands[name] for name in COMMANDS}  # type: ignore[attr-defined]  # a group
    train: Any = get_command(_typer_application(scripts["reward-train"]))
    leaves = [one for top in (*server.values(), *train.commands.values()) for one in _leaves(top)]
    common = _common(pair for leaf in leaves for pair in _rows(leaf).items())
    parts = [_COMMANDS_HEAD, "\n".join(sorted(common))]
    parts.append(f"## reward-server\n\n{application([]).info.help}")
    for name, command in server.items():
        parts.extend(_command(f"reward-server {name}", command, common))
    parts.append(f"## reward-train\n\n{_prose(train.help)}")
    for name, command in train.commands.items():
        parts.extend(_command(f"reward-train {name}", command, common))
    return "\n\n".join(parts) + "\n"


def _typer_application(entry_point: str) -> Any:
    import typer

    module = importlib.import_module(entry_point.partition(":")[0])
    return next(value for value in vars(module).values() if isinstance(value, typer.Typer))


def _leaves(command: Any) -> Iterator[Any]:
    inner: Mapping[str, Any] = getattr(command, "commands", {})
    for nested in inner.values():
        yield from _leaves(nested)
    if not inner:
        yield command


def _rows(command: Any) -> dict[str, str]:
    """Returns the lines of a command's arguments and options, by their names."""
    params = sorted(command.params, key=lambda one: one.param_type_name != "argument")
    return {_names(one): _parameter(one) for one in params if one.name != "help"}


def _common(rows: Iterable[tuple[str, str]]) -> set[str]:
    """Returns the lines of options that several commands have, one for each name."""
    counts = Counter(rows).most_common()
    often = {name: row for (name, row), count in reversed(counts) if count >= _COMMON}
    return {row for name, row in often.items() if name.startswith("`-")}


def _command(path: str, command: Any, common: AbstractSet[str]) -> Iterator[str]:
    inner: Mapping[str, Any] = getattr(command, "commands", {})
    yield f"### {path}\n\n{_prose(command.help)}"
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    rows = _rows(command)
    if not inner:
        names = "".join(f" {_usage(one)}" for one in arguments)
        yield f"```sh\n{path}{names}{' [OPTIONS]' if len(rows) > len(arguments) else ''}\n```"
    if own := [row for row in rows.values() if row not in common]:
        yield "\n".join(own)
    if shared := [name for name, row in rows.items() if row in common]:
        yield f"{'Also' if own else 'It has'} {', '.join(shared)}."
    for name, nested in inner.items():
        yield from _command(f"{path} {name}", nested, common)


def _usage(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    name = name if argument.nargs == 1 else f"{name}..."
    return name if argument.required else f"[{name}]"


def _names(parameter: Any, value: str = "") -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    return ", ".join(f"`{one}{value}`" for one in (*parameter.opts, *parameter.secondary_opts))


def _parameter(parameter: Any) -> str:
    """Returns a line; a flag that is off by default does not say so."""
    default, meaning = parameter.default, _sentence(parameter.help or "")
    if parameter.required and parameter.param_type_name == "option":
        meaning += " Required."
    if (
        default is not False
        and isinstance(default, bool | int | float | str | Path)
        and default != ""
    ):
        shown = str(default).lower() if isinstance(default, bool) else default
        meaning += f" Default: `{shown}`."
    value = f" {parameter.metavar}" if parameter.metavar else ""
    return f"- {_names(parameter, value)}: {' '.join(meaning.split())}"


# Metrics


def _metrics_page() -> str:
    from prometheus_client.metrics import MetricWrapperBase

    from reward_server.telemetry import Telemetry

    metrics = [
        (metric, metric._labelnames)  # only this has the labels of a metric without samples
        for metric in vars(Telemetry()).values()
        if isinstance(metric, MetricWrapperBase)
    ]
    rows = [
        f"| `{family.name}{'_total' if family.type == 'counter' else ''}` "
        f"| {_cell(family.documentation)} "
        f"| {family.type} | {', '.join(f'`{label}`' for label in labels) or 'none'} |"
        for metric, labels in metrics
        for family in metric.describe()
    ]
    rows += [
        f"| `reward_server_{name}` | {_cell(meaning)} | {kind} "
        f"| {f'`{labels}`' if labels else 'none'} |"
        for name, meaning, kind, labels in _watched_values()
    ]
    table = "\n".join(
        ("| metric | meaning | type | labels |", "| --- | --- | --- | --- |", *sorted(rows))
    )
    return f"""# Metrics

Made from the server's registry of metrics.

If the setting `metrics_port` is set, the server offers its metrics to Prometheus at
`http://HOST:PORT/metrics`, on the address `metrics_host`, which is loopback by default.
[Watch a server](../how-to/watch.md) describes dashboard, alerts, probes and the status page. A
histogram is a set of series that end in `_bucket`, `_sum` and `_count`. The figures of the server's
process (`process_*`) are there as well. No metric and no label ever holds a completion, a test, a
program's output or a token.

{table}

What a trainer logs is listed in [From a notebook to a cluster](../start/cluster.md#what-to-watch).
"""


def _watched_values() -> Iterator[tuple[str, str, str, str]]:
    """Yields the row of each value that the server exports by a `watch` method of `Telemetry`."""
    tree = ast.parse((REPOSITORY / "reward_server/operation.py").read_text("utf-8"))
    app = ast.parse((REPOSITORY / "reward_server/app.py").read_text("utf-8"))
    for node in (*ast.walk(tree), *ast.walk(app)):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="watch" | "watch_each" | "watch_count" | "watch_counts"),
                args=[ast.Constant(value=str(name)), ast.Constant(value=str(meaning)), *more],
            ):
                kind = node.func.attr
                labels = more[0].value if isinstance(more[0], ast.Constant) else ""
                is_count = kind.startswith("watch_count")
                full = f"{name}_total" if is_count else name
                yield full, meaning, "counter" if is_count else "gauge", str(labels)
            case ast.Call(
                func=ast.Attribute(attr="state"),
                args=[ast.Constant(value=str(name)), ast.Constant(value=str(meaning)), ast.Dict()],
            ):
                keys = [key.value for key in node.args[2].keys]
                yield name, meaning, "gauge", "`, `".join(keys)


# The contract


def _contract_page() -> str:
    files = [(REPOSITORY / file).read_text("utf-8").splitlines() for file in CONTRACTS]
    lines = [line for file in files for line in file]
    declared = set(re.findall(r"^(?:message|enum) (\w+)", "\n".join(lines), re.MULTILINE))
    blocks = list(_blocks(lines, declared))
    names = " and ".join(f"`{file}`" for file in CONTRACTS)
    parts = ["# gRPC contract", f"Made from the comments of {names}.", *map(_head, files)]
    for kind, title in (("service", "Services"), ("message", "Messages"), ("enum", "Enumerations")):
        parts.append(f"## {title}")
        parts += [text for found, text in blocks if found == kind]
    return "\n\n".join(parts) + "\n"


def _head(lines: Sequence[str]) -> str:
    """Returns the comment at the beginning of a file."""
    head = lines[: lines.index('syntax = "proto3";')]
    return "\n".join(line.removeprefix("//").strip() for line in head)


def _blocks(lines: Iterable[str], declared: set[str]) -> Iterator[tuple[str, str]]:
    """Yields the kind and the text of each service, message and enumeration."""
    heads = {
        "service": "| method | request | answer | meaning |\n| --- | --- | --- | --- |",
        "message": "| field | type | meaning | number |\n| --- | --- | --- | ---: |",
        "enum": "| value | meaning | number |\n| --- | --- | ---: |",
    }
    kind, head, choice = "", "", ""
    comment: list[str] = []
    rows: list[str] = []
    fields: dict[str, set[str]] = {}  # of each message: name, type and number
    for line in map(str.strip, lines):
        if line.startswith("//"):
            comment.append(line.removeprefix("//").strip())
            continue
        said, comment = _cell(" ".join(comment)), []
        if begun := _DECLARATION.match(line):
            if begun[1] == "oneof":
                choice = f"One of `{begun[2]}`. "
                continue
            kind, rows = begun[1], []
            name = begun[2]
            head = f"### {name}\n\n{said}"
            if begun[3]:
                yield kind, f"{head}\n\nIt has no fields."
                kind = ""
        elif line == "}" and choice:
            choice = ""
        elif line == "}" and (whole := _whole(fields, name)):
            names = ", ".join(row.split()[1] for row in rows)
            yield kind, f"{head} They are {names} of {_linked(whole, declared)}."
        elif line == "}":
            yield kind, "\n".join((f"{head}\n\n{heads[kind]}", *rows))
        elif method := _METHOD.match(line):
            called, *sides = method.groups()
            request, answer = (
                ("stream of " if stream else "") + _linked(message, declared)
                for stream, message in (sides[:2], sides[2:])
            )
            rows.append(f"| `{called}` | {request} | {answer} | {said} |")
        elif value := _ENUM_VALUE.match(line):
            rows.append(f"| `{value[1]}` | {said} | {value[2]} |")
        elif field := _FIELD.match(line):
            fields.setdefault(name, set()).add(line)
            label = f"{field[1]} " if field[1] else ""
            kind_of_field = label + _linked(field[2], declared)
            rows.append(f"| `{field[3]}` | {kind_of_field} | {choice}{said} | {field[4]} |")


def _whole(fields: Mapping[str, set[str]], name: str) -> str:
    """Returns the message that has all of a message's many fields, or ""."""
    own = fields.get(name, set())
    found = (one for one, others in fields.items() if own < others and len(own) >= _MANY_FIELDS)
    return next(found, "")


def _linked(name: str, declared: set[str]) -> str:
    return f"[{name}](#{name.lower()})" if name in declared else f"`{name}`"


# Texts


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _sentence(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if not text or text.endswith((".", "!")) else ".")


def _prose(text: str | None) -> str:
    return inspect.cleandoc(text or "")


if __name__ == "__main__":
    sys.exit(main())
