"""Count stems: how often the words of a question occur in each of many files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache

from ragforge.errors import InputError
from ragforge.ports.search_index import COUNTED_WORDS
from ragforge.tools.confine import Root
from ragforge.tools.ripgrep import build_count_command, find_ripgrep
from ragforge.tools.scan import run_ripgrep
from ragforge.tools.workspace import Deadline

SHORT = 3
"""Up to this length a stem has to be a whole word: `set` is inside too many others."""


async def count_stems(
    root: Root, files: Sequence[str], stems: Sequence[str], seconds: float
) -> Mapping[str, Counter[str]]:
    """Return how often each stem occurs in each file, as far as the time allows.

    A file in which none occurs is left out. Nothing is returned where ripgrep is missing.
    """
    ripgrep = find_ripgrep()
    wanted = [stem for stem in stems if stem.isalnum()][:COUNTED_WORDS]
    if ripgrep is None or not wanted or not files:
        return {}
    command = build_count_command(ripgrep, "|".join(map(_build_regex, wanted)))
    spelt = {text: stem for stem in reversed(wanted) for text in _list_spellings(stem)}
    found: dict[str, Counter[str]] = {}

    @cache  # the same few words, thousands of times
    def find_stem(line: bytes) -> str | None:
        return spelt.get(line.decode("utf-8", "replace").lower().strip("_ "))

    def make_taker() -> Callable[[Sequence[bytes]], None]:
        file, counts = "", Counter[str]()

        def take(lines: Sequence[bytes]) -> None:
            nonlocal file, counts
            for line in lines:
                if line.startswith(b"./"):  # the path above its matches
                    file, counts = line[2:].decode("utf-8", "replace"), Counter()
                elif stem := find_stem(line):
                    found[file] = counts
                    counts[stem] += 1

        return take

    with suppress(InputError):  # what was counted so far still helps
        await run_ripgrep(root, command, files, Deadline(seconds), make_taker)
    return found


def _build_regex(stem: str) -> str:
    """Return a regular expression for the words of a stem: `cooki` is in cookie and cooky."""
    if len(stem) <= SHORT:
        return rf"(?:\b|_){re.escape(stem)}(?:\b|_)"
    return f"{re.escape(stem[:-1])}[iy]" if stem.endswith("i") else re.escape(stem)


def _list_spellings(stem: str) -> list[str]:
    return [stem, f"{stem[:-1]}y"] if stem.endswith("i") else [stem]
