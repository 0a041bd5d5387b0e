"""Allowance: how much CPU time one file may cost.

Every grammar has texts that take it quadratic time, and the library cannot be interrupted: its
progress callbacks crash. But it reads its input through our function, which can end the input
early, and the tree is examined before queries run on it. Texts that a grammar may not come
back from are known by their repetition; they are parsed in a process that can be killed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from zlib import compress

from tree_sitter import Node

SECONDS = 1.0
SECONDS_PER_BYTE = 10e-6
"""Code takes a tenth of that. CPU time of this thread is measured: how busy the machine is does not
matter."""
PIECE = 1_024
"""How many bytes the parser gets at once; between them it is asked for the time."""
DEEPEST_USE = 20_000
"""In nodes of the tree. Names below it are left out: a query may take quadratic time to find them,
and it cannot be interrupted."""

_MAX_IN_ERROR = 20_000
"""A query takes quadratic time in the parts of an error, which are one flat list."""
_SAMPLES = 32

_WINDOW = 1_024
_MAX_REPETITION = 20
"""How much smaller a part may become. Of code it is less than 5, of lists of numbers more."""
_NO_SIGNS = bytes(c for c in range(256) if c <= 32 or c > 126 or c == 95 or chr(c).isalnum())


class TooCostly(Exception):
    """A file has used up its allowance."""


class Allowance:
    """The CPU time that is left for a file."""

    def __init__(self, size: int) -> None:
        self._end = time.thread_time() + SECONDS + size * SECONDS_PER_BYTE

    def check(self) -> None:
        """Raise TooCostly if it is used up."""
        if time.thread_time() > self._end:
            raise TooCostly

    def make_reader(self, data: bytes) -> Callable[[int, object], bytes]:
        """Return the function through which a parser reads; it ends the input early.

        The caller checks after parsing.
        """

        def read(start: int, _: object) -> bytes:
            is_late = time.thread_time() > self._end
            return b"" if is_late else data[start : start + PIECE]

        return read


def is_repetitive(data: bytes) -> bool:
    """Tell whether a part of a text repeats one pattern of signs, whatever its words are.

    A few thousand bytes of it take some grammars minutes, or gigabytes, without a read between.
    """
    signs = data.translate(None, _NO_SIGNS)
    return any(
        len(compress(signs[start : start + _WINDOW], 1)) < _WINDOW // _MAX_REPETITION
        for start in range(0, len(signs) - _WINDOW + 1, _WINDOW)
    )


def measure_depth(top: Node) -> int:
    """Return about how deep a tree is. Raises TooCostly if most of it is the parts of an error.

    A few nodes are sampled: what takes quadratic time is a large part of its tree.
    """
    cursor, count, deepest = top.walk(), top.descendant_count, 0
    for number in range(_SAMPLES):
        cursor.goto_descendant(count * number // _SAMPLES)
        deepest = max(deepest, cursor.depth)
        cursor.goto_parent()
        node = cursor.node
        if node is not None and node.is_error and node.child_count > _MAX_IN_ERROR:
            raise TooCostly
    return deepest
