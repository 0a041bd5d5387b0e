"""`ragforge doctor`: see whether everything is in order, and how to mend what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ragforge.cli.state import JsonOption, current_directory, load
from ragforge.errors import SettingsError

if TYPE_CHECKING:
    from ragforge.app.doctor import Check

EXAMPLES = """\b
Examples:
  ragforge doctor
  ragforge doctor --store bolt://localhost:7687
  ragforge doctor --json
"""


def register(app: typer.Typer) -> None:
    app.command("doctor", epilog=EXAMPLES)(doctor)


def doctor(context: typer.Context, as_json: JsonOption = False) -> None:
    """Check the installation, the configuration and the store."""
    from ragforge.show.console import print_json

    checks = _diagnose(context)
    if as_json:
        print_json({"ok": _healthy(checks), "checks": [_as_json(check) for check in checks]})
    else:
        _show(checks)
    if not _healthy(checks):
        raise typer.Exit(1)


def _diagnose(context: typer.Context) -> list[Check]:
    import asyncio

    from ragforge.app.doctor import diagnose, diagnose_without_settings

    try:
        loaded = load(context)
    except SettingsError as error:
        return diagnose_without_settings(error)
    return asyncio.run(diagnose(loaded.settings, loaded.origins, current_directory()))


def _healthy(checks: list[Check]) -> bool:
    return all(check.status != "fail" for check in checks)


def _as_json(check: Check) -> dict[str, object]:
    return {
        "name": check.name,
        "status": check.status,
        "detail": check.detail,
        "remedy": check.remedy,
    }


def _show(checks: list[Check]) -> None:
    from ragforge.show.console import print_table

    rows = []
    for check in checks:
        remedy = f"\n→ {check.remedy}" if check.remedy else ""
        rows.append([check.status, check.name, check.detail + remedy])
    print_table(["", "Check", "Result"], rows)
