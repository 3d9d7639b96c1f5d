"""Figures of metrics that are logged as one number for each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from trainer_client.report.charts.drawing import (
    BLUE,
    CYCLE,
    GREEN,
    PURPLE,
    VERMILLION,
    Chart,
    band,
    finish,
    label_of,
    mark_events,
    mark_gaps,
    pool_lines,
    sheet,
    smoothing_window,
)
from trainer_client.report.runs import Run, all_events
from trainer_client.report.series import (
    Pool,
    Series,
    logged,
    logged_of_judged,
    pool,
    pooled,
    smoothed,
    told,
)

_OF_JUDGED = frozenset({"reward_std", "frac_reward_zero_std"})
# Values that are set and not measured have no noise, so they are not smoothed.
_SET = frozenset({"kl_coefficient", "learning_rate"})


def reward_figure(runs: Sequence[Run]) -> Chart | None:
    """Draws the reward over steps with its spread, gaps and events, even if all of it is a gap."""
    reward = pool([logged(run, "reward") for run in runs])
    if not any(len(run.steps) for run in reward.runs):
        return None
    figure, (axes,) = sheet([2.9])
    pool_lines(axes, reward, BLUE, mean_label(reward, "reward"), smooth=True)
    if reward.is_single:
        _reward_band(axes, runs[0], reward.mean)
    mark_gaps(axes, reward)
    mark_events(axes, all_events(runs))
    axes.set_ylabel("reward")
    finish(figure, [axes])
    spread = spread_words(
        reward, "The band is the standard deviation over the completions of a step."
    )
    return Chart(
        name="reward",
        title="Reward",
        caption=f"{spread} {_smoothing(reward)}The line breaks at steps where nothing was judged.",
        alt=f"Mean reward over steps: {told(reward.mean)}.",
        figure=figure,
        points=_points(reward),
    )


def functions_figure(runs: Sequence[Run]) -> Chart | None:
    """Draws the mean of each reward function, if there are several."""
    keys = {key for line in runs[0].metrics for key in line}
    names = sorted(key for key in keys if key.startswith("rewards/") and key.endswith("/mean"))
    found = [(name[len("rewards/") : -len("/mean")], pooled(runs, name)) for name in names]
    pools = [(name, values) for name, values in found if values is not None]
    if len(pools) < 2:
        return None
    figure, (axes,) = sheet([2.6])
    for (name, values), colour in zip(pools, CYCLE, strict=False):
        pool_lines(axes, values, colour, label_of(name), smooth=True)
    axes.set_ylabel("mean reward")
    finish(figure, [axes], columns=3)
    return Chart(
        name="functions",
        title="Reward functions",
        caption="The mean of each function that was trained with, before its weight.",
        alt="; ".join(f"{name}: {told(values.mean)}" for name, values in pools) + ".",
        figure=figure,
        points=sum(_points(values) for _, values in pools),
    )


def spread_figure(runs: Sequence[Run]) -> Chart | None:
    """Draws the reward's spread, and the share of groups without any, which teach nothing."""
    return _panels(
        runs,
        name="spread",
        title="Spread of rewards, groups without any",
        caption="A group whose completions all have the same reward has zero variance and gives "
        "no gradient.",
        panels={
            "reward_std": ("std of the reward", BLUE),
            "frac_reward_zero_std": ("share of groups with\nzero variance", VERMILLION),
        },
    )


def policy_figure(runs: Sequence[Run]) -> Chart | None:
    """Draws the policy's KL divergence with its coefficient, and its entropy."""
    return _panels(
        runs,
        name="policy",
        title="KL and entropy",
        caption="KL is the estimate of the divergence from the reference model; it is logged where "
        "its coefficient is not 0.",
        panels={
            "kl": ("KL", BLUE),
            "kl_coefficient": ("KL coefficient", PURPLE),
            "entropy": ("entropy", GREEN),
        },
    )


def turns_figure(runs: Sequence[Run]) -> Chart | None:
    """Draws the turns and submissions of episodes, and how often first submissions passed."""
    reward = runs[0].info.reward
    return _panels(
        runs,
        name="turns",
        title="Turns and submissions",
        caption="A turn is a message of the model; the tools that it calls answer in between. "
        "Feedback helps if more episodes passed in the end than at their first submission.",
        panels={
            f"{reward}/turns": ("turns\nan episode", BLUE),
            f"{reward}/submissions": ("submissions\nan episode", GREEN),
            f"{reward}/first_submission_passed": ("share passed at\nfirst submission", PURPLE),
        },
    )


def length_figure(runs: Sequence[Run]) -> Chart | None:
    """Draws lengths, gradients and the learning rate."""
    return _panels(
        runs,
        name="lengths",
        title="Lengths, gradient, learning rate",
        caption="Clipped completions reached the limit of their length without an end.",
        panels={
            "completions/mean_length": ("mean tokens\na completion", BLUE),
            "completions/clipped_ratio": ("share clipped", VERMILLION),
            "grad_norm": ("gradient norm", GREEN),
            "learning_rate": ("learning rate", PURPLE),
        },
    )


def _panels(
    runs: Sequence[Run],
    *,
    name: str,
    title: str,
    caption: str,
    panels: Mapping[str, tuple[str, str]],
) -> Chart | None:
    """Draws metrics one above another; labels and colours are given by key."""
    found = [(key, pooled(runs, key, of_judged=key in _OF_JUDGED)) for key in panels]
    drawn = [(key, values, *panels[key]) for key, values in found if values is not None]
    if not drawn:
        return None
    figure, rows = sheet([(2.4 + 0.35 * len(drawn)) / len(drawn)] * len(drawn))
    for axes, (key, values, label, colour) in zip(rows, drawn, strict=True):
        pool_lines(axes, values, colour, "", smooth=key not in _SET)
        axes.set_ylabel(label)
    finish(figure, rows)
    figure.align_ylabels(rows)
    words = (f"{' '.join(label.split())}: {told(values.mean)}" for _, values, label, _ in drawn)
    return Chart(
        name=name,
        title=title,
        caption=f"{caption} {_smoothing(drawn[0][1])}".strip(),
        alt="; ".join(words) + ".",
        figure=figure,
        points=sum(_points(values) for _, values, _, _ in drawn),
    )


def mean_label(values: Pool, name: str) -> str:
    """Returns the label of a line, which shows whether it is a mean over several runs."""
    return name if values.is_single else f"{name}, mean of {len(values.runs)} runs"


def spread_words(values: Pool, otherwise: str) -> str:
    """Returns the meaning of a band: the spread over runs, or `otherwise` for a single run."""
    if values.is_single:
        return otherwise
    runs = len(values.runs)
    return f"The band is the standard deviation over {runs} runs, each of them thin behind."


def _smoothing(values: Pool) -> str:
    window = smoothing_window(values.mean)
    return f"Lines are means over up to {window} logged steps. " if window > 1 else ""


def _reward_band(axes: Axes, run: Run, mean: Series) -> None:
    """Fills the spread of a step's completions around the mean."""
    window = smoothing_window(mean)
    spread = logged_of_judged(run, "reward_std")
    if len(spread.steps) == len(mean.steps):
        band(axes, smoothed(mean, window), smoothed(spread, window).values, BLUE)


def _points(values: Pool) -> int:
    return sum(len(run.steps) for run in values.runs) + 3 * len(values.mean.steps)
