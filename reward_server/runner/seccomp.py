"""Compiles the system call policy to the BPF program that the kernel runs.

The filter is a deny-list by design: an allow-list tight enough to add protection breaks
language runtimes with every release, and what is denied here is what reaches beyond the
execution. Calls newer than the table are absent.
"""

from __future__ import annotations

import struct

from . import policy
from .policy import Action, ArgumentRule, Syscall, Test

_LOAD, _JUMP_EQ, _JUMP_GT, _JUMP_SET, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
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


def _on_equal(value: int, *rows: bytes) -> list[bytes]:
    return [_row(_JUMP_EQ, value, 0, len(rows)), *rows]


def _load(offset: int) -> bytes:
    return _row(_LOAD, offset)


def _return(value: int) -> bytes:
    return _row(_RETURN, value)


def _judge_argument(rule: ArgumentRule) -> list[bytes]:
    """Returns rows that load an argument, and refuse or allow the call for its value."""
    refused, allowed = _return(_RETURNS[rule.call.action]), _return(_ALLOW)
    on_match, otherwise = (allowed, refused) if rule.test is Test.IS_NOT else (refused, allowed)
    code = _JUMP_SET if rule.test is Test.ANY_BIT else _JUMP_EQ
    tests = [row for value in rule.values for row in (_row(code, value, 0, 1), on_match)]
    return [_load(_ARGUMENTS + _ARGUMENT_BYTES * rule.argument), *tests, otherwise]


def build_filter(machine: str, *, loopback: bool = False) -> bytes:
    """Returns the filter for a machine as `platform.machine` names it.

    Args:
        machine: its name.
        loopback: whether the execution has a network of its own, and may make sockets for it.

    Raises:
        KeyError: the machine is neither x86_64 nor aarch64.
    """
    rows = [_load(_ARCH), _row(_JUMP_EQ, _ARCHITECTURES[machine], 1, 0), _return(_KILL), _load(_NR)]
    if machine == "x86_64":
        rows += [_row(_JUMP_SET, _X32_BIT, 0, 1), _return(_KILL)]
    rows += [_row(_JUMP_GT, policy.HIGHEST_KNOWN_SYSCALL, 0, 1), _return(_RETURNS[Action.ABSENT])]
    for call in policy.SYSCALLS:
        number = _number(call, machine)
        if number is not None:
            rows += _on_equal(number, _return(_RETURNS[call.action]))
    for rule in policy.ARGUMENT_RULES:
        if loopback and rule is policy.SOCKETS:
            rule = policy.LOOPBACK_SOCKETS
        rows += _on_equal(_number(rule.call, machine) or 0, *_judge_argument(rule))
    rows.append(_return(_ALLOW))
    return b"".join(rows)
