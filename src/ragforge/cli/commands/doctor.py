"""`ragforge doctor`: check the installation, and say how to repair what is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from ragforge.app.features.doctor import diagnose, diagnose_without_settings
from ragforge.cli.guard import FAILED
from ragforge.cli.loading import get_current_directory, load
from ragforge.cli.options import JsonOption, flag
from ragforge.errors import SettingsError
from ragforge.show.console import Fields, print_result, print_table

if TYPE_CHECKING:
    from ragforge.app.features.doctor import Check


def doctor(
    deep: bool = flag("--deep", "Read the whole store; this may take minutes."),
    as_json: JsonOption = False,
) -> None:
    """Check the installation, the configuration and the store."""
    checks = _diagnose(deep)
    is_healthy = all(check.status != "fail" for check in checks)
    found = {"ok": is_healthy, "checks": [check_to_json(check) for check in checks]}
    print_result(as_json, found, lambda: show_checks(checks))
    if not is_healthy:
        raise typer.Exit(FAILED)


def _diagnose(deep: bool) -> list[Check]:
    try:
        loaded = load(quiet=True)
    except SettingsError as error:
        return diagnose_without_settings(error)
    return asyncio.run(diagnose(loaded, get_current_directory(), deep=deep))


check_to_json = Fields("name status detail remedy")


def show_checks(checks: Sequence[Check]) -> None:
    """Show each check with its result, and what to do if it failed."""
    rows = []
    for check in checks:
        remedy = f"\n→ {check.remedy}" if check.remedy else ""
        rows.append([check.status, check.name, check.detail + remedy])
    print_table(["", "Check", "Result"], rows)
