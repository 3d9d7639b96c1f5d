"""Attacks on the reward, by what they attack."""

from tests.attacks.corpus import (
    endings,
    exits,
    leaks,
    output,
    patches,
    reads,
    records,
    results,
    shared,
)

ATTACKS = (
    *exits.ATTACKS,
    *results.ATTACKS,
    *reads.ATTACKS,
    *records.ATTACKS,
    *patches.ATTACKS,
    *endings.ATTACKS,
    *output.ATTACKS,
    *leaks.ATTACKS,
    *shared.ATTACKS,
)
