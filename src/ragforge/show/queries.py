"""The result of a query, as a table, as JSON and as CSV."""

from __future__ import annotations

import csv
import json
import sys
from typing import TYPE_CHECKING

from ragforge.show.console import fit_line, print_note, print_table, sanitise

if TYPE_CHECKING:
    from ragforge.domain.queries import QueryResult, Value

CELL_CHARS = 200
"""Longer values are cut in a table; JSON and CSV have all of them."""


def result_to_json(result: QueryResult) -> list[dict[str, Value]]:
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def show_result(result: QueryResult) -> None:
    """Show the rows under their columns, each value on one line."""
    if not result.rows:
        print_note("No rows.")
        return
    rows = [[fit_line(_format(value), CELL_CHARS) for value in row] for row in result.rows]
    print_table(list(result.columns), rows)


def print_csv(result: QueryResult) -> None:
    """Print the rows as CSV, with the names of the columns first."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    is_terminal = sys.stdout.isatty()  # what a program reads stays as it is stored
    writer.writerow(result.columns)
    for row in result.rows:
        cells = map(_format, row)
        writer.writerow(map(sanitise, cells) if is_terminal else cells)


def _format(value: Value) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
