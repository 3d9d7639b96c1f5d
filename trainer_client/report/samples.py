"""The completions that a page shows, with their texts.

A page holds at most `MOST` completions and about `MOST_CHARACTERS` of text. It takes whole groups,
because the completions of a group are compared with each other: first groups of the last step, up
to a quarter, and then others evenly over the steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainer_client.report.runs import Run
from trainer_client.report.tables import Table, Tables, finite, read_rows
from trainer_client.text import message_text, role_of

MOST = 2000
MOST_CHARACTERS = 8_000_000
LONGEST = 12_000
_LONGEST_MESSAGE = 2000

Part = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One completion in the form that a page shows.

    Args:
        group: number of its group within the step, from 0.
        prompt: role and text of each message; a role of "" is plain text.
        completion: in the form of `prompt`.
        cut: number of characters that were left out of the completion.
        turns: number of messages of the model.
        rewards: by reward function; None if it returned none.
        signals: kinds and counts of signals of reward hacking, as `signal_kinds` reads them.
    """

    run: int
    step: int
    group: int
    prompt: tuple[Part, ...]
    completion: tuple[Part, ...]
    cut: int
    turns: int
    rewards: Mapping[str, float | None]
    advantage: float | None
    verdict: str
    task: str
    failing_test: str
    message: str
    integrity: str
    signals: str


@dataclass(frozen=True, slots=True)
class _Place:
    table: Table
    group: int


def samples(runs: Sequence[Run], tables: Tables, most: int = MOST) -> list[Sample]:
    """Returns the completions to show, ordered by step, run and group."""
    size = runs[0].info.num_generations
    places = [
        _Place(table, group) for table in tables.tables for group in range(-(-table.rows // size))
    ]
    chosen = _chosen(places, max(most // size, 1))
    found = list(_read(runs, chosen, size))
    return _within_budget(found, size)


def _chosen(places: Sequence[_Place], most: int) -> list[_Place]:
    if len(places) <= most:
        return list(places)
    last = places[-1].table.step
    newest = [place for place in places if place.table.step == last][: max(most // 4, 1)]
    older = [place for place in places if place.table.step != last]
    return _evenly(older, most - len(newest)) + newest


def _evenly(items: Sequence[_Place], count: int) -> list[_Place]:
    """Returns `count` items with even spacing, including the first."""
    if count >= len(items):
        return list(items)
    return [items[index * len(items) // count] for index in range(count)]


def _read(runs: Sequence[Run], chosen: Sequence[_Place], size: int) -> Iterator[Sample]:
    wanted: dict[int, tuple[Table, list[int]]] = {}
    for place in chosen:
        wanted.setdefault(id(place.table), (place.table, []))[1].append(place.group)
    for table, groups in wanted.values():
        rows = read_rows(table.file)
        names = _reward_names(runs[table.run])
        for group in groups:
            for row in rows[group * size : (group + 1) * size]:
                yield _sample(
                    row,
                    run=table.run,
                    step=table.step,
                    group=group,
                    reward=runs[table.run].info.reward,
                    names=names,
                )


def samples_of(run: Run, index: int, step: int, file: Path) -> list[Sample]:
    """Reads all completions of a table.

    Args:
        run: the run to which the table belongs.
        index: the run's number on the page.
        step: the table's step.
        file: the table.

    Raises:
        pyarrow.ArrowException: the file is no Parquet file.
        OSError: the file cannot be read.
    """
    names = _reward_names(run)
    return [
        _sample(
            row,
            run=index,
            step=step,
            group=place // run.info.num_generations,
            reward=run.info.reward,
            names=names,
        )
        for place, row in enumerate(read_rows(file))
    ]


def signal_kinds(signals: str) -> list[str]:
    """Returns the kinds in a column of signals, such as "harness_probe 2, exit_hook 1"."""
    return [part.rpartition(" ")[0] for part in signals.split(", ") if part]


def _reward_names(run: Run) -> list[str]:
    logged = {key for line in run.metrics for key in line}
    names = {key[len("rewards/") : -len("/mean")] for key in logged if _is_reward_mean(key)}
    return [run.info.reward, *sorted(names - {run.info.reward})]


def _is_reward_mean(key: str) -> bool:
    return key.startswith("rewards/") and key.endswith("/mean")


def _sample(
    row: Mapping[str, object],
    *,
    run: int,
    step: int,
    group: int,
    reward: str,
    names: Sequence[str],
) -> Sample:
    def extra(column: str) -> str:
        value = row.get(f"{reward}_{column}")
        return "" if value is None else str(value)[:_LONGEST_MESSAGE]

    completion, cut = _shortened(_parts(row.get("completion")))
    return Sample(
        run=run,
        step=step,
        group=group,
        prompt=_shortened(_parts(row.get("prompt")))[0],
        completion=completion,
        cut=cut,
        turns=_turns(row.get("completion")),
        rewards={name: finite(row[name]) for name in names if name in row},
        advantage=finite(row.get("advantage")),
        verdict=extra("verdict"),
        task=extra("task_id"),
        failing_test=extra("failing_test"),
        message=extra("message"),
        integrity=extra("integrity"),
        signals=extra("signals"),
    )


def _parts(value: object) -> list[Part]:
    """Reads text or messages; shows any other value as Python prints it."""
    if isinstance(value, str):
        return [("", value)]
    if not isinstance(value, list):
        return [("", "" if value is None else str(value))]
    messages = [one if isinstance(one, Mapping) else {"content": one} for one in value]
    return [(role_of(one), message_text(one)) for one in messages]


def _turns(value: object) -> int:
    """Returns the number of messages of the model."""
    if not isinstance(value, list):
        return 1
    return sum(isinstance(one, Mapping) and one.get("role") == "assistant" for one in value)


def _shortened(parts: Sequence[Part]) -> tuple[tuple[Part, ...], int]:
    """Cuts the text at the greatest length shown; also returns the number of characters cut."""
    kept: list[Part] = []
    left = LONGEST
    for role, text in parts:
        kept.append((role, text[:left]))
        left -= len(kept[-1][1])
    return tuple(kept), sum(len(text) for _, text in parts) - (LONGEST - left)


def _within_budget(found: Sequence[Sample], size: int) -> list[Sample]:
    """Drops groups evenly until their texts fit into a page."""
    groups = [found[start : start + size] for start in range(0, len(found), size)]
    characters = sum(_characters(group) for group in groups)
    if characters <= MOST_CHARACTERS:
        return list(found)
    keep = max(len(groups) * MOST_CHARACTERS // characters, 1)
    kept = [groups[-1 - index * len(groups) // keep] for index in range(keep)]
    return [one for group in reversed(kept) for one in group]


def _characters(group: Sequence[Sample]) -> int:
    """Returns the length of a group's texts; its prompt counts once."""
    prompt = sum(len(text) for _, text in group[0].prompt)
    told = sum(len(one.message) + len(one.failing_test) for one in group)
    return prompt + told + sum(len(text) for one in group for _, text in one.completion)
