"""Checks of the installation, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.show.console import print_table

if TYPE_CHECKING:
    from ragforge.app.doctor import Check


def check_to_json(check: Check) -> dict[str, object]:
    return {
        "name": check.name,
        "status": check.status,
        "detail": check.detail,
        "remedy": check.remedy,
    }


def show_checks(checks: Sequence[Check]) -> None:
    """Show each check with its result, and how to mend it if it failed."""
    rows = []
    for check in checks:
        remedy = f"\n→ {check.remedy}" if check.remedy else ""
        rows.append([check.status, check.name, check.detail + remedy])
    print_table(["", "Check", "Result"], rows)
