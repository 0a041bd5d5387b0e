"""Scores: shares, ranks and how far chance goes, by bootstrap over sessions."""

from __future__ import annotations

import random
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

SEED = 31
RESAMPLES = 1_000

Row: TypeAlias = Mapping[str, float | None]  # metric → value; None where there is nothing to find


def average(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(statistics.fmean(known), 3) if known else None


def bootstrap(
    values: Mapping[str, float | None], groups: Mapping[str, str]
) -> tuple[float, float] | None:
    """Return the 95 % interval of a mean. Prompts of one session are drawn together."""
    by_group: dict[str, list[float]] = defaultdict(list)
    for key, value in values.items():
        if value is not None:
            by_group[groups[key]].append(value)
    if not by_group:
        return None
    sums = [(sum(some), len(some)) for some in by_group.values()]
    dice = random.Random(SEED)
    means = []
    for _ in range(RESAMPLES):
        drawn = dice.choices(sums, k=len(sums))
        means.append(sum(one for one, _ in drawn) / sum(count for _, count in drawn))
    means.sort()
    return round(means[int(0.025 * RESAMPLES)], 3), round(means[int(0.975 * RESAMPLES)], 3)


def compare(
    one: Mapping[str, Row], other: Mapping[str, Row], metric: str, groups: Mapping[str, str]
) -> tuple[float, float] | None:
    """Return the 95 % interval of how much better one way is than another at the same prompts."""
    pairs = {key: (one[key].get(metric), other[key].get(metric)) for key in one if key in other}
    differences = {key: None if a is None or b is None else a - b for key, (a, b) in pairs.items()}
    return bootstrap(differences, groups)


def summarise(
    rows: Mapping[str, Row],
    metrics: Sequence[str],
    keep: Callable[[str], bool] = lambda _: True,
) -> dict[str, float | None]:
    some = [row for key, row in rows.items() if keep(key)]
    return {metric: average([row.get(metric) for row in some]) for metric in metrics}


def print_table(title: str, table: Mapping[str, Mapping[str, float | None]]) -> None:
    if not table:
        return
    columns = list(next(iter(table.values())))
    width = max(len(name) for name in table)
    print(f"\n{title}")
    print(" " * width, *(f"{column:>12}" for column in columns))
    for name, row in table.items():
        cells = ("-" if row[one] is None else f"{row[one]:.3f}" for one in columns)
        print(f"{name:<{width}}", *(f"{cell:>12}" for cell in cells))
