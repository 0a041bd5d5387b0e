"""`ragforge config`: what is set, and where it was set."""

from __future__ import annotations

import typer

from ragforge.cli.state import JsonOption, load

EXAMPLES = """\b
Examples:
  ragforge config show
  ragforge config show --json
  RAGFORGE_JOBS__LEASE_SECONDS=30 ragforge config show
"""


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="See the settings and where they come from.", epilog=EXAMPLES, no_args_is_help=True
    )
    group.command("show", epilog=EXAMPLES)(show)
    app.add_typer(group, name="config")


def show(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show every setting, its value and where it came from."""
    from ragforge.show.console import print_json
    from ragforge.show.settings import settings_to_json, show_settings

    loaded = load(context, quiet=True)
    if as_json:
        print_json(settings_to_json(loaded))
    else:
        show_settings(loaded)
