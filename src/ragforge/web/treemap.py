"""Treemap: files as rectangles whose areas are their sizes, those of a folder side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 1_000.0, 620.0
"""Of the picture, in its own units."""
GAP = 2.0
"""Between folders."""
HEADING = 15.0
"""Height of the line with a folder's name."""
_LEAST_NAMED = (90.0, 60.0)
"""Width and height of the smallest folder whose name is shown."""


class Box(NamedTuple):
    """A rectangle of the picture."""

    x: float
    y: float
    width: float
    height: float

    @property
    def area(self) -> float:
        return self.width * self.height


class Tile(NamedTuple):
    """A file or a folder in the picture."""

    path: str
    box: Box


class Picture(NamedTuple):
    """Files as rectangles, and the folders around them that have room for a name."""

    files: list[Tile]
    folders: list[Tile]


def draw_tiles(sizes: Iterable[tuple[str, int]]) -> Picture:
    """Return a tile for each file, given as path and size; an empty one gets a little too."""
    tree: dict[str, object] = {}
    for path, size in sizes:
        *folders, name = path.split("/")
        at = tree
        for folder in folders:
            at = at.setdefault(f"{folder}/", {})  # type: ignore[assignment]
        at[name] = (path, max(size, 1))
    picture = Picture([], [])
    _place(tree, Box(0, 0, WIDTH, HEIGHT), picture)
    return picture


def _place(tree: dict[str, object], box: Box, picture: Picture) -> None:
    """Divide a rectangle among what is in a folder; folders divide theirs in turn."""
    # A walk without recursion: folders may lie deeper than calls may.
    waiting = [(tree, box, "")]  # with the path below the last folder that is named
    while waiting:
        tree, box, path = waiting.pop()
        while len(tree) == 1 and isinstance(only := next(iter(tree.values())), dict):
            path += next(iter(tree))
            tree = only  # a folder that holds one folder alone
        if path and box.width >= _LEAST_NAMED[0] and box.height >= _LEAST_NAMED[1]:
            picture.folders.append(Tile(path, _round(box)))
            box = Box(box.x, box.y + HEADING, box.width, box.height - HEADING)
            path = ""
        weights = _weigh(tree)
        items = sorted(tree.items(), key=lambda item: (-weights[item[0]], item[0]))
        boxes = divide([weights[name] for name, _ in items], box)
        for (name, item), part in zip(items, boxes, strict=True):
            if isinstance(item, dict):
                waiting.append((item, _shrink(part), path + name))
            elif isinstance(item, tuple):
                picture.files.append(Tile(item[0], _round(part)))


def divide(weights: Sequence[float], box: Box) -> list[Box]:
    """Return a part of a rectangle for each weight, largest first, as square as can be had.

    Rows are filled along the shorter side as long as that makes them squarer (Bruls, Huizing and
    van Wijk, "Squarified treemaps", 2000).
    """
    scale = box.area / (sum(weights) or 1)
    left = [weight * scale for weight in weights]
    parts: list[Box] = []
    at = 0
    while at < len(left):
        side, end = min(box.width, box.height), at + 1
        while end < len(left) and _rate(left[at : end + 1], side) <= _rate(left[at:end], side):
            end += 1
        row = left[at:end]
        box = _lay(row, box, parts)
        at = end
    return parts


def _rate(row: Sequence[float], side: float) -> float:
    """Return how long the longest rectangle of a row is beside its width."""
    total = sum(row)
    if not total or not side:
        return 0.0
    return max(side * side * max(row) / total**2, total**2 / (side * side * max(min(row), 1e-9)))


def _lay(row: Sequence[float], box: Box, parts: list[Box]) -> Box:
    """Lay a row along the shorter side; return what is left of the rectangle."""
    total, is_wide = sum(row), box.width >= box.height
    side = box.height if is_wide else box.width
    depth = min(total / side if side else 0.0, box.width if is_wide else box.height)
    place = 0.0
    for area in row:
        length = side * area / total if total else 0.0
        if is_wide:
            parts.append(Box(box.x, box.y + place, depth, length))
        else:
            parts.append(Box(box.x + place, box.y, length, depth))
        place += length
    if is_wide:
        return Box(box.x + depth, box.y, box.width - depth, box.height)
    return Box(box.x, box.y + depth, box.width, box.height - depth)


def _weigh(tree: dict[str, object]) -> dict[str, float]:
    """Return the size of all that is in each of a folder's items."""
    weights: dict[str, float] = {}
    for name, item in tree.items():
        waiting, total = [item], 0
        while waiting:
            one = waiting.pop()
            if isinstance(one, dict):
                waiting += one.values()
            elif isinstance(one, tuple):
                total += one[1]
        weights[name] = total
    return weights


def _shrink(box: Box) -> Box:
    """Return a rectangle with room around it, if it is large enough."""
    if min(box.width, box.height) < 4 * GAP:
        return box
    return Box(box.x + GAP / 2, box.y + GAP / 2, box.width - GAP, box.height - GAP)


def _round(box: Box) -> Box:
    return Box(*(round(max(value, 0.0), 1) for value in box))
