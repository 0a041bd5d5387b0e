"""Merge: put the excerpts of several searches into one order, each place once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ragforge.context.excerpts import Excerpt

SEMANTIC_WEIGHT = 0.7
"""How much the semantic search counts beside the search of files (benchmark `context`)."""
AGAIN = 0.05
"""What each further search that found the same excerpt adds to its score."""


def merge(excerpts: Iterable[Excerpt]) -> list[Excerpt]:
    """Return each place once, best first; overlapping windows joined, scopes before windows."""
    scopes: dict[tuple[str, int, int], Excerpt] = {}
    windows: dict[str, list[Excerpt]] = {}
    for excerpt in excerpts:
        if excerpt.is_scope:
            place = (excerpt.file, excerpt.start_line, excerpt.end_line)
            scopes[place] = _combine(scopes[place], excerpt) if place in scopes else excerpt
        else:
            windows.setdefault(excerpt.file, []).append(excerpt)
    of_file: dict[str, list[Excerpt]] = {}
    for excerpt in scopes.values():
        of_file.setdefault(excerpt.file, []).append(excerpt)
    kept: list[Excerpt] = []
    for file in of_file.keys() | windows.keys():
        inside = of_file.get(file, [])
        whole = [excerpt for excerpt in inside if not _is_inside(excerpt, inside)]
        kept += whole
        kept += [one for one in _join_windows(windows.get(file, [])) if not _is_covered(one, whole)]
    return sorted(kept, key=sort_key)


def fuse(semantic: Sequence[Excerpt], initial: Sequence[Excerpt]) -> list[Excerpt]:
    """Return the excerpts of the semantic search and the search of files in one order.

    The scores of the former are probabilities, and so are those that are returned: the best of all
    is as likely relevant as the best of them.
    """
    likely = max((p.score for p in semantic), default=1.0) or 1.0
    ours = [replace(p, score=p.score / likely * SEMANTIC_WEIGHT) for p in semantic]
    theirs = [replace(p, score=p.score * p.confidence * (1 - SEMANTIC_WEIGHT)) for p in initial]
    by_place = {(p.file, p.start_line, p.end_line): p for p in ours}
    others = []
    for excerpt in theirs:
        place = (excerpt.file, excerpt.start_line, excerpt.end_line)
        known = by_place.get(place)
        if known is None:
            others.append(excerpt)
        else:
            by_place[place] = replace(
                known,
                score=known.score + excerpt.score,
                confidence=max(known.confidence, excerpt.confidence),
                found_by=tuple(dict.fromkeys((*known.found_by, *excerpt.found_by))),
            )
    merged = merge([*by_place.values(), *others])
    if not semantic:
        return merged
    best = max(p.score for p in merged) or 1.0
    return [replace(p, score=likely * p.score / best) for p in merged]


def sort_key(excerpt: Excerpt) -> tuple[float, float, str, int]:
    """Sort by score, then confidence, then place, so that the order is always the same."""
    return -excerpt.score, -excerpt.confidence, excerpt.file, excerpt.start_line


def _combine(one: Excerpt, other: Excerpt) -> Excerpt:
    best, second = sorted((one, other), key=sort_key)
    return replace(
        best,
        score=min(1.0, best.score + AGAIN),
        confidence=max(one.confidence, other.confidence),
        found_by=tuple(dict.fromkeys((*best.found_by, *second.found_by))),
    )


def _join_windows(windows: list[Excerpt]) -> list[Excerpt]:
    """Return the windows of a file, those that overlap or touch joined into one."""
    found: list[Excerpt] = []
    for excerpt in sorted(windows, key=lambda p: (p.start_line, p.end_line)):
        if found and excerpt.start_line <= found[-1].end_line + 1:
            found[-1] = _join_two(found[-1], excerpt)
        else:
            found.append(excerpt)
    return found


def _join_two(first: Excerpt, second: Excerpt) -> Excerpt:
    """Join two windows; the second begins inside the first or right after it."""
    end = max(first.end_line, second.end_line)
    known = first.end_line - second.start_line + 1
    rest = second.text.split("\n")[known:] if second.end_line > first.end_line else []
    return replace(
        _combine(first, second),
        start_line=first.start_line,
        end_line=end,
        name=f"lines {first.start_line} to {end}",
        text="\n".join([first.text, *rest]),
    )


def _is_inside(excerpt: Excerpt, scopes: Iterable[Excerpt]) -> bool:
    """Tell whether another scope of the file contains this one word for word."""
    return any(
        other is not excerpt
        and other.start_line <= excerpt.start_line
        and excerpt.end_line <= other.end_line
        and len(other.text) > len(excerpt.text)
        and excerpt.text in other.text
        for other in scopes
    )


def _is_covered(window: Excerpt, scopes: Iterable[Excerpt]) -> bool:
    """Tell whether scopes of its file contain at least half of a window."""
    lines = set(range(window.start_line, window.end_line + 1))
    covered = {
        line
        for scope in scopes
        for line in lines.intersection(range(scope.start_line, scope.end_line + 1))
    }
    return 2 * len(covered) >= len(lines)
