"""Snippets: the part of a long text that shows why it was found."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence


def compile_words(query: str) -> re.Pattern[str] | None:
    """Return a pattern for the telling words of a query and their longer forms; None without."""
    from ragforge.app.wording import list_telling_words  # help needs no words

    words = sorted({re.escape(word) for word in list_telling_words(query)}, key=len, reverse=True)
    if not words:
        return None
    longer = [rf"{word}\w*" if len(word) > 2 else rf"{word}\b" for word in words]
    return re.compile(rf"\b(?:{'|'.join(longer)})", re.IGNORECASE)


def choose_text(texts: Sequence[str], pattern: re.Pattern[str] | None) -> str:
    """Return the first text that holds one of the words, else the first that is not empty."""
    texts = [text for text in texts if text.strip()]
    found = (text for text in texts if pattern is not None and pattern.search(text))
    return next(found, texts[0] if texts else "")


def find_best_lines(lines: Sequence[str], pattern: re.Pattern[str] | None, most: int) -> int:
    """Return where the lines begin that hold the most of the words; the first of equals."""
    scores = [len(pattern.findall(line)) if pattern else 0 for line in lines]
    starts = range(max(len(lines) - most, 0) + 1)
    return max(starts, key=lambda start: (sum(scores[start : start + most]), -start))


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
