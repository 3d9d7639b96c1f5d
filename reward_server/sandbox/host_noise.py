"""Finds what makes timings on this host vary or be worse; none of it is a security risk.

CPU time decides a verdict, not wall time. But the CPU time of a program varies, too, if a core
changes its speed, shares its units with a sibling or is taken by a hypervisor. It is also greater
with an interpreter that was compiled without a profile.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path("/")
BUSY_SHARE = 0.5
STOLEN_SHARE = 0.02
RESERVED_BYTES = 1 << 30
_CPUS = "sys/devices/system/cpu"
# Distributions install their interpreter here. Debian's is compiled with a profile, but its build
# removes all traces of that from `sysconfig`. One that a user compiles is elsewhere.
_DISTRIBUTION_PREFIX = "/usr"


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstance:
    """A property of the host that influences timings; `remedy` is empty if it is fine."""

    name: str
    fine: bool
    detail: str
    remedy: str = ""


def circumstances(
    *, cores: int, slots: int, memory_bytes: int, root: Path = ROOT
) -> tuple[Circumstance, ...]:
    """Examines every property that is known to make timings vary.

    Args:
        cores: cores that the server may use.
        slots: executions that run at once.
        memory_bytes: memory limit of one execution.
        root: folder that holds `proc` and `sys`.
    """
    return (
        check_cores(cores, slots),
        check_memory(slots * memory_bytes, root),
        check_load(cores, root),
        check_stolen(root),
        check_governor(root),
        check_boost(root),
        check_siblings(root),
        check_swap(root),
        check_huge_pages(root),
        check_interpreter(),
    )


def check_cores(cores: int, slots: int) -> Circumstance:
    """Checks that there is a core for each slot."""
    return Circumstance(
        name="cores",
        fine=slots <= cores,
        detail=f"{slots} slots on {cores} cores",
        remedy="" if slots <= cores else f"use --workers {cores}, one slot a core",
    )


def check_memory(wanted_bytes: int, root: Path = ROOT) -> Circumstance:
    """Checks that the memory suffices for all slots at their limits."""
    available = 0
    for line in _text(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            available = int(line.split()[1]) << 10
    fine = available >= wanted_bytes + RESERVED_BYTES
    return Circumstance(
        name="memory",
        fine=fine,
        detail=f"{available >> 20} MiB available, {wanted_bytes >> 20} MiB for all slots at once",
        remedy="" if fine else "use fewer --workers or a lower memory limit",
    )


def check_load(cores: int, root: Path = ROOT) -> Circumstance:
    """Checks that the host has little other load."""
    load = float((_text(root / "proc/loadavg").split() or ["0"])[0])
    fine = load <= BUSY_SHARE * cores
    return Circumstance(
        name="load",
        fine=fine,
        detail=f"{load:.2f} processes wanted to run during the last minute",
        remedy="" if fine else "move other work elsewhere",
    )


def check_stolen(root: Path = ROOT) -> Circumstance:
    """Checks that no hypervisor takes CPU time away."""
    first = (_text(root / "proc/stat").splitlines() or ["cpu"])[0]
    ticks = [int(word) for word in first.split()[1:]]
    total = sum(ticks[:8])
    share = ticks[7] / total if total else 0.0
    fine = share <= STOLEN_SHARE
    return Circumstance(
        name="stolen",
        fine=fine,
        detail=f"the hypervisor has taken {share:.1%} of this host's time since it started",
        remedy="" if fine else "use a machine with cores of its own",
    )


def check_governor(root: Path = ROOT) -> Circumstance:
    """Checks that cores keep their speed."""
    files = sorted((root / _CPUS).glob("cpu[0-9]*/cpufreq/scaling_governor"))
    found = sorted({_text(file) for file in files})
    fine = found in ([], ["performance"])
    return Circumstance(
        name="governor",
        fine=fine,
        detail=f"cpufreq governor {', '.join(found)}" if found else "no frequency scaling in sight",
        remedy="" if fine else "run `cpupower frequency-set -g performance` as root",
    )


def check_boost(root: Path = ROOT) -> Circumstance:
    """Checks that cores do not speed up while others are idle."""
    intel = root / _CPUS / "intel_pstate/no_turbo"
    amd = root / _CPUS / "cpufreq/boost"
    boosts = _text(intel) == "0" or _text(amd) == "1"
    switch = f"echo 1 > /{intel.relative_to(root)}"
    if not intel.exists():
        switch = f"echo 0 > /{amd.relative_to(root)}"
    return Circumstance(
        name="boost",
        fine=not boosts,
        detail="cores speed up while others rest" if boosts else "off, or not in sight",
        remedy=f"run `{switch}` as root" if boosts else "",
    )


def check_siblings(root: Path = ROOT) -> Circumstance:
    """Checks that no two hardware threads share a core."""
    shared = _text(root / _CPUS / "smt/active") == "1"
    return Circumstance(
        name="siblings",
        fine=not shared,
        detail="two hardware threads share a core" if shared else "off, or not in sight",
        remedy="run `echo off > /sys/devices/system/cpu/smt/control` as root, or use half as many "
        "--workers"
        if shared
        else "",
    )


def check_swap(root: Path = ROOT) -> Circumstance:
    """Checks that swap is off."""
    areas = _text(root / "proc/swaps").splitlines()[1:]
    return Circumstance(
        name="swap",
        fine=not areas,
        detail=f"on: {', '.join(area.split()[0] for area in areas)}" if areas else "off",
        remedy="run `swapoff -a` as root" if areas else "",
    )


def check_huge_pages(root: Path = ROOT) -> Circumstance:
    """Checks that the kernel does not merge and split pages by itself."""
    always = "[always]" in _text(root / "sys/kernel/mm/transparent_hugepage/enabled")
    remedy = "run `echo madvise > /sys/kernel/mm/transparent_hugepage/enabled` as root"
    return Circumstance(
        name="huge-pages",
        fine=not always,
        detail="transparent huge pages for everyone" if always else "on request only, or off",
        remedy=remedy if always else "",
    )


def check_interpreter(variables: Mapping[str, Any] | None = None) -> Circumstance:
    """Checks that the interpreter was compiled with a profile, which makes it faster.

    Args:
        variables: those of `sysconfig`, by default this interpreter's.
    """
    known = sysconfig.get_config_vars() if variables is None else variables
    fine = (
        "--enable-optimizations" in str(known.get("CONFIG_ARGS"))
        or "-fprofile-use" in f"{known.get('PY_CFLAGS')} {known.get('PY_CORE_CFLAGS')}"
        or known.get("installed_base") == _DISTRIBUTION_PREFIX
    )
    return Circumstance(
        name="interpreter",
        fine=fine,
        detail=f"Python {known.get('py_version')} was compiled "
        + ("with a profile, or by a distribution" if fine else "without a profile"),
        remedy=""
        if fine
        else "use the distribution's Python, or compile one with `--enable-optimizations` (pyenv: "
        'PYTHON_CONFIGURE_OPTS="--enable-optimizations --with-lto"): a verdict takes less CPU time',
    )


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
