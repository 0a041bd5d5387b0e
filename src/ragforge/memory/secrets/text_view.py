"""Text view: a text, and what is looked up in it by many searches, each made once."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple, TypeAlias

Span: TypeAlias = tuple[int, int, str]  # start, end, what

RUN = 20
REACH = 64

_RUN = b"a" * RUN
_RUN_TABLE = bytes(  # a secret may be wrapped: a line end does not end a run
    97 if chr(b).isascii() and (chr(b).isalnum() or b in b"_-\r\n") else 32 for b in range(256)
)
_NOT_IN_WORDS = re.compile(r"[^A-Za-z_\r\n-]")
_AWS = re.compile("AKIA|ASIA|ABIA|ACCA")


class NearRuns(NamedTuple):
    """The pieces of a text that lie in or before long runs, joined, and where each begins."""

    text: str
    offsets: list[int]  # in the pieces
    starts: list[int]  # in the text
    runs: list[tuple[int, int]]  # the runs themselves, in the text

    def locate(self, at: int) -> int:
        """Return where a place in the pieces is in the text."""
        piece = bisect_right(self.offsets, at) - 1
        return self.starts[piece] + at - self.offsets[piece]


class TextView:
    """A text that is searched for secrets."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def low(self) -> str:
        """The text in lower case, with every character at the same position."""
        text = self.text
        return text.lower() if text.isascii() else text.replace("İ", "I").lower()

    @cached_property
    def near(self) -> NearRuns:
        """Only the text in or before long runs of letters and digits that may be random.

        That is usually little, so that searching it for hundreds of hints is cheap. The runs
        themselves are found by a fast search in bytes. A run without digits in one case is a name.
        """
        text = self.text
        same = text.encode("latin-1", "replace").translate(_RUN_TABLE)  # a byte for a character
        pieces: list[str] = []
        offsets: list[int] = []
        starts: list[int] = []
        runs: list[tuple[int, int]] = []
        size = 0
        at, end = same.find(_RUN), 0
        while at >= 0:
            start = max(end, at - REACH)
            end = same.find(b" ", at)
            end = end if end >= 0 else len(text)
            if not _is_name(text[at:end]):
                pieces.append(text[start:end])
                offsets.append(size)
                starts.append(start)
                runs.append((at, end))
                size += end - start + 1
            at = same.find(_RUN, end)
        return NearRuns("\n".join(pieces), offsets, starts, runs)


def _is_name(run: str) -> bool:
    """Tell whether a run is made of words: `a_function_with_a_long_name`, `A_CONSTANT`.

    The id of an AWS key may have no digit.
    """
    if not (run.islower() or run.isupper()) or _NOT_IN_WORDS.search(run):
        return False
    return run.islower() or _AWS.search(run) is None
