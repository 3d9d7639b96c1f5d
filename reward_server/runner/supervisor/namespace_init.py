"""Makes a process the second of its pid namespace, while the first one only waits.

What this stops: a program that survives its own signals. If the first process of a pid namespace
gets a signal from inside the namespace, and has no handler for it, the kernel ignores the signal.
So a program that is the first process could print the right answer, kill itself, and still end
normally.

What it does not do: the first process does not supervise. Both processes have the same rights and
the same memory, because a copy would cost as much as an execution. The first process reaps ended
processes, sends the status of the second one and exits, which ends the namespace. It only holds the
descriptor open on which it sends the status. A program that manipulates it can report another
status for itself, but a program can also choose its own exit status.

The second process continues to use the stack. So the first one runs a few machine instructions that
only use registers, and a place in memory for the status.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import struct
from collections.abc import Callable

from ..walls import kernel

STATUS = struct.Struct("i")
_CLONE_VM = 0x00000100

# long aside(flags, stack, status, thread_id, descriptor), in the order of the C library's calls.
# clone() takes the stack as 0, and without further flags reads neither status nor descriptor.
_X86_64 = """
    49 89 ca        mov r10, rcx        ; thread_id, as the kernel takes it
    b8 38 00 00 00  mov eax, 56         ; clone
    0f 05           syscall
    85 c0           test eax, eax
    7f 01           jg first
    c3              ret                 ; the second process, or an error
    41 89 c4        first: mov r12d, eax
    49 89 d5        mov r13, rdx
    4d 89 c6        mov r14, r8
    31 ff           xor edi, edi        ; all descriptors are closed but one
    41 8d 76 ff     lea esi, [r14 - 1]
    31 d2           xor edx, edx
    b8 b4 01 00 00  mov eax, 436        ; close_range
    0f 05           syscall
    41 8d 7e 01     lea edi, [r14 + 1]
    83 ce ff        or esi, -1
    b8 b4 01 00 00  mov eax, 436        ; close_range
    0f 05           syscall
    85 c0           test eax, eax
    74 19           jz wait
    bd 40 00 00 00  mov ebp, 64         ; one by one, where the kernel has no such call
    ff cd           close: dec ebp
    78 10           js wait
    44 39 f5        cmp ebp, r14d
    74 f7           je close
    89 ef           mov edi, ebp
    b8 03 00 00 00  mov eax, 3          ; close
    0f 05           syscall
    eb ec           jmp close
    bf ff ff ff ff  wait: mov edi, -1   ; for whomever
    4c 89 ee        mov rsi, r13
    31 d2           xor edx, edx
    45 31 d2        xor r10d, r10d
    b8 3d 00 00 00  mov eax, 61         ; wait4
    0f 05           syscall
    44 39 e0        cmp eax, r12d
    75 e7           jne wait
    44 89 f7        mov edi, r14d
    4c 89 ee        mov rsi, r13
    ba 04 00 00 00  mov edx, 4
    b8 01 00 00 00  mov eax, 1          ; write
    0f 05           syscall
    31 ff           xor edi, edi
    b8 e7 00 00 00  mov eax, 231        ; exit_group
    0f 05           syscall
"""
_AARCH64 = """
    e9 03 04 aa     mov x9, x4
    e4 03 03 aa     mov x4, x3          ; thread_id, as the kernel takes it
    88 1b 80 d2     mov x8, 220         ; clone
    01 00 00 d4     svc 0
    1f 00 00 f1     cmp x0, 0
    4c 00 00 54     b.gt first
    c0 03 5f d6     ret                 ; the second process, or an error
    ea 03 00 aa     first: mov x10, x0
    eb 03 02 aa     mov x11, x2
    00 00 80 d2     mov x0, 0           ; all descriptors are closed but one
    21 05 00 51     sub w1, w9, 1
    e2 03 1f aa     mov x2, xzr
    88 36 80 d2     mov x8, 436         ; close_range
    01 00 00 d4     svc 0
    20 05 00 11     add w0, w9, 1
    01 00 80 12     mov w1, -1
    01 00 00 d4     svc 0
    40 01 00 b4     cbz x0, wait
    0c 08 80 d2     mov x12, 64         ; one by one, where the kernel has no such call
    8c 05 00 f1     close: subs x12, x12, 1
    e4 00 00 54     b.mi wait
    9f 01 09 eb     cmp x12, x9
    a0 ff ff 54     b.eq close
    e0 03 0c aa     mov x0, x12
    28 07 80 d2     mov x8, 57          ; close
    01 00 00 d4     svc 0
    f9 ff ff 17     b close
    00 00 80 92     wait: mov x0, -1    ; for whomever
    e1 03 0b aa     mov x1, x11
    e2 03 1f aa     mov x2, xzr
    e3 03 1f aa     mov x3, xzr
    88 20 80 d2     mov x8, 260         ; wait4
    01 00 00 d4     svc 0
    1f 00 0a eb     cmp x0, x10
    21 ff ff 54     b.ne wait
    e0 03 09 aa     mov x0, x9
    e1 03 0b aa     mov x1, x11
    82 00 80 d2     mov x2, 4
    08 08 80 d2     mov x8, 64          ; write
    01 00 00 d4     svc 0
    e0 03 1f aa     mov x0, xzr
    c8 0b 80 d2     mov x8, 94          ; exit_group
    01 00 00 d4     svc 0
"""
_COLUMN = slice(4, 20)  # the columns that hold the instructions in hexadecimal


class Aside:
    """The mapped instructions; made once for all processes forked from this one.

    Args:
        run: runs them; by default they are called at their address.
    """

    def __init__(self, run: Callable[..., int] | None = None) -> None:
        listing = _X86_64 if kernel.MACHINE == "x86_64" else _AARCH64
        code = b"".join(bytes.fromhex(row[_COLUMN]) for row in listing.splitlines())
        descriptor = os.memfd_create("aside")
        try:
            os.write(descriptor, code)
            access = mmap.PROT_READ | mmap.PROT_EXEC
            self._code = mmap.mmap(descriptor, len(code), mmap.MAP_PRIVATE, access)
        finally:
            os.close(descriptor)
        self._status = ctypes.c_int()
        kind = ctypes.PYFUNCTYPE(ctypes.c_long, *5 * [ctypes.c_ulong])
        self._run = run or kind(kernel.address_of(self._code))

    def step(self, descriptor: int) -> None:
        """Continues as a second process, whose status the first one sends when it ends.

        Args:
            descriptor: where the status is sent; it stays open in the first process only.

        Raises:
            OSError: the kernel refuses.
        """
        thread_id = kernel.own_thread_id_address()
        flags = _CLONE_VM | signal.SIGCHLD | (kernel.CLONE_CHILD_SETTID if thread_id else 0)
        mask = kernel.block_signals()
        result = self._run(flags, 0, ctypes.addressof(self._status), thread_id, descriptor)
        kernel.set_signal_mask(mask)
        if result < 0:
            raise OSError(-result, f"clone: {os.strerror(-result)}")
        os.close(descriptor)
