"""Merge: pieces of several searches, each place once, in one order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ragforge.context.excerpts import Excerpt

SEMANTIC_WEIGHT = 0.7
"""Of the two arms; the benchmark `context` shows what it gives."""
AGAIN = 0.05
"""What each further search that found the same adds."""


def merge(pieces: Iterable[Excerpt]) -> list[Excerpt]:
    """Return each place once, best first: windows that overlap are one, and scopes beat windows."""
    scopes: dict[tuple[str, int, int], Excerpt] = {}
    windows: dict[str, list[Excerpt]] = {}
    for piece in pieces:
        if piece.is_scope:
            place = (piece.file, piece.start_line, piece.end_line)
            scopes[place] = _combine(scopes[place], piece) if place in scopes else piece
        else:
            windows.setdefault(piece.file, []).append(piece)
    of_file: dict[str, list[Excerpt]] = {}
    for piece in scopes.values():
        of_file.setdefault(piece.file, []).append(piece)
    kept: list[Excerpt] = []
    for file in of_file.keys() | windows.keys():
        inside = of_file.get(file, [])
        whole = [piece for piece in inside if not _is_inside(piece, inside)]
        kept += whole
        kept += [one for one in _join_windows(windows.get(file, [])) if not _is_covered(one, whole)]
    return sorted(kept, key=sort_key)


def fuse(semantic: Sequence[Excerpt], initial: Sequence[Excerpt]) -> list[Excerpt]:
    """Return the pieces of both arms in one order: a mix of what each thinks of them."""
    ours = [replace(p, score=p.score * SEMANTIC_WEIGHT) for p in semantic]
    theirs = [replace(p, score=p.score * p.confidence * (1 - SEMANTIC_WEIGHT)) for p in initial]
    by_place = {(p.file, p.start_line, p.end_line): p for p in ours}
    others = []
    for piece in theirs:
        place = (piece.file, piece.start_line, piece.end_line)
        known = by_place.get(place)
        if known is None:
            others.append(piece)
        else:
            by_place[place] = replace(
                known,
                score=known.score + piece.score,
                confidence=max(known.confidence, piece.confidence),
                found_by=tuple(dict.fromkeys((*known.found_by, *piece.found_by))),
            )
    return merge([*by_place.values(), *others])


def sort_key(piece: Excerpt) -> tuple[float, float, str, int]:
    """Sort by score, then confidence, then place: the same every time."""
    return -piece.score, -piece.confidence, piece.file, piece.start_line


def _combine(one: Excerpt, other: Excerpt) -> Excerpt:
    best, second = sorted((one, other), key=sort_key)
    return replace(
        best,
        score=min(1.0, best.score + AGAIN),
        confidence=max(one.confidence, other.confidence),
        found_by=tuple(dict.fromkeys((*best.found_by, *second.found_by))),
    )


def _join_windows(windows: list[Excerpt]) -> list[Excerpt]:
    """Return the windows of a file; those that overlap or touch have become one."""
    found: list[Excerpt] = []
    for piece in sorted(windows, key=lambda p: (p.start_line, p.end_line)):
        if found and piece.start_line <= found[-1].end_line + 1:
            found[-1] = _join_two(found[-1], piece)
        else:
            found.append(piece)
    return found


def _join_two(first: Excerpt, second: Excerpt) -> Excerpt:
    """Return one window of two, of which the second begins within the first or right after it."""
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


def _is_inside(piece: Excerpt, scopes: Iterable[Excerpt]) -> bool:
    """Tell whether another scope of its file holds a scope word for word."""
    return any(
        other is not piece
        and other.start_line <= piece.start_line
        and piece.end_line <= other.end_line
        and len(other.text) > len(piece.text)
        and piece.text in other.text
        for other in scopes
    )


def _is_covered(window: Excerpt, scopes: Iterable[Excerpt]) -> bool:
    """Tell whether scopes of its file already hold at least half of a window."""
    lines = set(range(window.start_line, window.end_line + 1))
    told = {
        line
        for scope in scopes
        for line in lines.intersection(range(scope.start_line, scope.end_line + 1))
    }
    return 2 * len(told) >= len(lines)
