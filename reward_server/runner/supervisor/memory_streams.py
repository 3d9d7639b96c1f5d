"""The standard streams of a program that converses with nobody: files in memory.

A program finds what it would find under `< in > out`. It can map its input, ask for its size and
read it twice. A runtime that ends does not lose output that a pipe had no room for.

What this stops: a program that shares a descriptor with its judge. The program opens each file by
itself, so no offset and no flag is common to both. The judge seals the input before the program
starts. It reads the output after the last process of the program is gone, so nothing changes what
it reads. The kernel counts the files as memory of the program that writes them, and keeps each
below the limit of a file's size.

What it does not do: it does not end a program that writes too much; the zygote looks at the sizes.
"""

from __future__ import annotations

import os
from typing import NamedTuple, Self


class MemoryStreams(NamedTuple):
    """The judge's descriptors of the three files."""

    stdin: int
    stdout: int
    stderr: int

    @classmethod
    def make(cls) -> Self:
        """Makes three empty files, of which only the input can be sealed."""
        sealable = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
        return cls(
            os.memfd_create("stdin", sealable),
            os.memfd_create("stdout"),
            os.memfd_create("stderr"),
        )

    def opened(self) -> list[int]:
        """Opens the files as a shell does for a program; returns the descriptors."""
        modes = (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)
        return [
            os.open(f"/proc/self/fd/{number}", mode | os.O_CLOEXEC)
            for number, mode in zip(self, modes, strict=True)
        ]

    def output_bytes(self) -> int:
        """Returns the size of both outputs."""
        return os.fstat(self.stdout).st_size + os.fstat(self.stderr).st_size

    def close(self) -> None:
        """Closes the descriptors."""
        for number in self:
            os.close(number)
