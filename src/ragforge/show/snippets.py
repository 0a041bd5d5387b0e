"""Snippets: the part of a long text that shows why it was found."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

_ADDRESS = re.compile(r"\]\([^)\s]*\)|https?://\S+")
"""Words in an address are not relevant."""


def compile_words(query: str) -> re.Pattern[str] | None:
    """Return a pattern for the significant words of a query and their longer forms, or None."""
    from ragforge.app.features.memory_entries import list_telling_words

    words = sorted({re.escape(word) for word in list_telling_words(query)}, key=len, reverse=True)
    if not words:
        return None
    longer = [rf"{word}\w*" if len(word) > 2 else rf"{word}\b" for word in words]
    return re.compile(rf"\b(?:{'|'.join(longer)})", re.IGNORECASE)


def choose_text(texts: Sequence[str], pattern: re.Pattern[str] | None) -> str:
    """Return the first text with one of the words, or else the first that is not empty."""
    texts = [text for text in texts if text.strip()]
    found = (text for text in texts if pattern is not None and pattern.search(text))
    return next(found, texts[0] if texts else "")


def find_best_lines(lines: Sequence[str], pattern: re.Pattern[str] | None, limit: int) -> int:
    """Return the start of the lines with most of the words, preferring different ones.

    Of equal places it is the first whose first line has one of the words.
    """
    texts = [_ADDRESS.sub(" ", line) for line in lines]
    held = [[word.lower() for word in pattern.findall(text)] if pattern else [] for text in texts]

    def weigh(start: int) -> tuple[int, int, bool, int]:
        words = [word for line in held[start : start + limit] for word in line]
        return len(set(words)), len(words), bool(held[start]), -start

    return max(range(max(len(lines) - limit, 0) + 1), key=weigh) if lines else 0


def choose_lines(
    lines: Sequence[str], pattern: re.Pattern[str] | None, limit: int, naming: int = 0
) -> list[int]:
    """Return which lines of some code to show: the one that names it, and those with most words.

    `naming` is the place of the line with the name; what is before it are comments and the like.
    Blank lines at the ends are left out.
    """
    naming = _skip_start(lines, naming)
    rest = lines[naming:]
    best = naming + find_best_lines(rest, pattern, limit)
    if best != naming:
        best = naming + 1 + find_best_lines(rest[1:], pattern, limit - 1)
    shown = [naming, *range(max(best, naming + 1), min(best + limit, len(lines)))][:limit]
    while len(shown) > 1 and not lines[shown[-1]].strip():
        shown.pop()
    while len(shown) > 2 and shown[1] != naming + 1 and not lines[shown[1]].strip():
        del shown[1]
    return shown


def _skip_start(lines: Sequence[str], first: int) -> int:
    """Return the first line from a place on that is not blank, nor the facts about a page."""
    if lines[first:] and lines[first].strip() == "---":  # they are between two rules
        end = next((n for n in range(first + 1, len(lines)) if lines[n].strip() == "---"), first)
        first = end + 1 if end > first else first
    return next((n for n in range(first, len(lines)) if lines[n].strip()), 0)


def cut_snippet(
    text: str, pattern: re.Pattern[str] | None, width: int, max_lines: int = 2
) -> list[str]:
    """Return at most `max_lines` lines around the first of the words."""
    flat = " ".join(text.split())
    found = pattern.search(flat) if pattern is not None else None
    room = width * max_lines
    start = 0
    if found is not None and found.end() > room - 2:
        start = flat.rfind(" ", 0, max(found.start() - width // 3, 0)) + 1
    # More than fits is never looked at: texts may be megabytes long.
    part = ("…" if start else "") + flat[start : start + room + width]
    return textwrap.wrap(part, width, max_lines=max_lines, placeholder=" …")
