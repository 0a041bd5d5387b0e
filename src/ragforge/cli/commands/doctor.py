"""`ragforge doctor`: see whether everything is in order, and how to mend what is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.loading import get_current_directory
from ragforge.cli.state import JsonOption, load
from ragforge.errors import SettingsError
from ragforge.show.console import print_table

if TYPE_CHECKING:
    from ragforge.app.features.doctor import Check


def register(app: typer.Typer) -> None:
    app.command("doctor", epilog="doctor")(doctor)


def doctor(
    context: typer.Context,
    deep: Annotated[
        bool, typer.Option("--deep", help="Read all of the store; this may take minutes.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check the installation, the configuration and the store."""
    from ragforge.show.console import print_json

    checks = _diagnose(context, deep)
    if as_json:
        print_json(
            {"ok": _is_healthy(checks), "checks": [check_to_json(check) for check in checks]}
        )
    else:
        show_checks(checks)
    if not _is_healthy(checks):
        raise typer.Exit(1)


def _diagnose(context: typer.Context, deep: bool) -> list[Check]:
    import asyncio

    from ragforge.app.features.doctor import diagnose, diagnose_without_settings

    try:
        loaded = load(context, quiet=True)
    except SettingsError as error:
        return diagnose_without_settings(error)
    return asyncio.run(diagnose(loaded, get_current_directory(), deep=deep))


def _is_healthy(checks: list[Check]) -> bool:
    return all(check.status != "fail" for check in checks)


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
