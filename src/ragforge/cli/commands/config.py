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
    from ragforge.config.settings import value_at
    from ragforge.show.console import print_json, print_table

    loaded = load(context)
    values = {key: value_at(loaded.settings, key) for key in loaded.origins}
    if as_json:
        settings = {
            key: {"value": value, "origin": loaded.origins[key]} for key, value in values.items()
        }
        print_json({"settings": settings, "files": [str(path) for path in loaded.files]})
        return
    rows = [
        [key, "-" if value is None else str(value), loaded.origins[key]]
        for key, value in values.items()
    ]
    print_table(["Key", "Value", "Where it came from"], rows)
