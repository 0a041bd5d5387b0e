"""The state of a store and what it holds, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragforge.show.console import print_table

if TYPE_CHECKING:
    from ragforge.app.maintenance import Health


def store_to_json(health: Health, counts: Mapping[str, int]) -> dict[str, object]:
    return {**_describe(health), "problems": list(health.problems), "counts": dict(counts)}


def show_store(health: Health, counts: Mapping[str, int]) -> None:
    """Show which store is in use, its problems, and how much it holds of each kind."""
    rows = [[name, str(value)] for name, value in _describe(health).items()]
    rows += [["problem", problem] for problem in health.problems]
    rows += [[kind.replace("_", " "), f"{count:,}"] for kind, count in counts.items()]
    print_table(["Store", ""], rows)


def _describe(health: Health) -> dict[str, object]:
    return {
        "engine": health.engine,
        "version": health.version,
        "location": health.location,
        "schema": health.schema,
    }
