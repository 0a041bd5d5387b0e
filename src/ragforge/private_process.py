"""Private process: programs that RagForge starts do not read its keys out of `/proc`.

A program does not inherit the keys (`tools.command.environment`), but `/proc/PID/environ` shows a
process's environment as it was at its start, to every process of the same user.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

_PR_SET_DUMPABLE = 4
_ENV_START = 47
"""The place in /proc/self/stat, after the name of the program, of the environment's address."""


@cache
def hide_process() -> None:
    """Keep other processes of this user from reading the environment and memory of this one.

    `os.environ`, and what programs inherit, stay as they are. Root still reads the memory.
    """
    if sys.platform != "linux":
        return
    import ctypes  # most commands start no program

    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    with suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        _move_environment(int(fields[_ENV_START]), int(fields[_ENV_START + 1]))


def _move_environment(start: int, end: int) -> None:
    """Move the environment to where the kernel does not look for it, and erase it here."""
    import ctypes

    size = end - start
    if size <= 0:
        return
    moved = ctypes.create_string_buffer(ctypes.string_at(start, size), size)
    _kept.append(moved)
    distance = ctypes.addressof(moved) - start
    variables = ctypes.POINTER(ctypes.c_size_t).in_dll(ctypes.CDLL(None), "environ")
    number = 0
    while address := variables[number]:
        if start <= address < end:  # others were set later, and are elsewhere
            variables[number] = address + distance
        number += 1
    ctypes.memset(start, 0, size)


_kept: list[object] = []
