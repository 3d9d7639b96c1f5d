"""Compiles the system call policy to the BPF program that the kernel runs.

The filter is a deny-list by design. The denied calls are those that reach beyond the execution. An
allow-list that is strict enough to give more protection would break language runtimes with every
release. If a call is newer than the table, it fails as if it did not exist.

When a filter is installed, the kernel runs it once for each system call number, to store which
calls are always allowed. So the filter finds a number by a binary search, and does not compare it
with each row.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import groupby

from . import policy
from .policy import Action, ArgumentRule, Syscall, Test

_LOAD, _JUMP, _JUMP_EQ, _JUMP_GE, _JUMP_SET, _RETURN = 0x20, 0x05, 0x15, 0x35, 0x45, 0x06
_LONGEST_JUMP = 255
_NR, _ARCH, _ARGUMENTS, _ARGUMENT_BYTES = 0, 4, 16, 8

_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_ERRNO = 0x00050000
_EPERM, _ENOSYS = 1, 38

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000

_RETURNS = {
    Action.KILL: _KILL,
    Action.DENY: _ERRNO | _EPERM,
    Action.ABSENT: _ERRNO | _ENOSYS,
    Action.IGNORE: _ERRNO,
}

_ROW = struct.Struct("=HBBI")


def _number(call: Syscall, machine: str) -> int | None:
    return call.x86_64 if machine == "x86_64" else call.aarch64


def _row(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return _ROW.pack(code, if_true, if_false, value)


def _load(offset: int) -> bytes:
    return _row(_LOAD, offset)


def _return(value: int) -> bytes:
    return _row(_RETURN, value)


def _judge_argument(rule: ArgumentRule) -> list[bytes]:
    """Returns rows that load an argument and refuse or allow the call by its value."""
    refused, allowed = _return(_RETURNS[rule.call.action]), _return(_ALLOW)
    on_match, otherwise = (allowed, refused) if rule.test is Test.IS_NOT else (refused, allowed)
    code = _JUMP_SET if rule.test is Test.ANY_BIT else _JUMP_EQ
    tests = [row for value in rule.values for row in (_row(code, value, 0, 1), on_match)]
    return [_load(_ARGUMENTS + _ARGUMENT_BYTES * rule.argument), *tests, otherwise]


def _leaves(machine: str, *, loopback: bool) -> dict[int, list[bytes]]:
    """Returns the rows that decide a call, by its number; a call without rows is allowed."""
    leaves: dict[int, list[bytes]] = {}
    for rule in policy.ARGUMENT_RULES:
        if loopback and rule is policy.SOCKETS:
            rule = policy.LOOPBACK_SOCKETS
        number = _number(rule.call, machine)
        if number is not None:
            leaves[number] = _judge_argument(rule)
    for call in policy.SYSCALLS:
        number = _number(call, machine)
        if number is not None:
            leaves[number] = [_return(_RETURNS[call.action])]
    return leaves


def _by_halves(leaves: Sequence[tuple[int, list[bytes]]]) -> list[bytes]:
    """Returns rows that find a number's leaf by binary search.

    Args:
        leaves: the lowest number of each leaf, in rising order, and its rows; the last row returns.
    """
    if len(leaves) == 1:
        return leaves[0][1]
    half = len(leaves) // 2
    least, _ = leaves[half]
    below, above = _by_halves(leaves[:half]), _by_halves(leaves[half:])
    if len(below) <= _LONGEST_JUMP:
        return [_row(_JUMP_GE, least, len(below), 0), *below, *above]
    return [_row(_JUMP_GE, least, 0, 1), _row(_JUMP, len(below)), *below, *above]


def build_filter(machine: str, *, loopback: bool = False) -> bytes:
    """Returns the filter for a machine, by its name in `platform.machine`.

    Args:
        machine: the machine's name.
        loopback: whether the execution has a network of its own and may make sockets for it.

    Raises:
        KeyError: the machine is neither x86_64 nor aarch64.
    """
    rows = [_load(_ARCH), _row(_JUMP_EQ, _ARCHITECTURES[machine], 1, 0), _return(_KILL), _load(_NR)]
    if machine == "x86_64":
        rows += [_row(_JUMP_SET, _X32_BIT, 0, 1), _return(_KILL)]
    allowed = [_return(_ALLOW)]
    decided = _leaves(machine, loopback=loopback)
    known = [decided.get(number, allowed) for number in range(policy.HIGHEST_KNOWN_SYSCALL + 1)]
    table = enumerate([*known, [_return(_RETURNS[Action.ABSENT])]])
    runs = (next(run) for _, run in groupby(table, key=lambda one: one[1]))
    return b"".join([*rows, *_by_halves(list(runs))])
