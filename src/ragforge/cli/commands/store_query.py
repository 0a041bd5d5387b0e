"""`ragforge store query`: a query of the user's own, which can only read."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.state import JsonOption, load

if TYPE_CHECKING:
    from ragforge.domain.queries import Value


def query(
    context: typer.Context,
    text: Annotated[
        str, typer.Argument(metavar="QUERY", help="SQL or Cypher; - reads it from stdin.")
    ],
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--param", metavar="NAME=VALUE", help="The value of $NAME. May be given several times."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many rows.")] = 1_000,
    timeout: Annotated[
        float, typer.Option(min=0.1, max=3_600, metavar="SECONDS", help="At most so long.")
    ] = 30,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, for spreadsheets.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run a query of your own in the store: SQL on a file, Cypher on a server. It only reads."""
    import asyncio

    from ragforge.app import query_store
    from ragforge.domain.queries import Query
    from ragforge.show.console import print_json, print_note
    from ragforge.show.queries import print_csv, result_to_json, show_result

    if as_csv and as_json:
        raise typer.BadParameter("choose one of --csv and --json")
    wanted = Query(
        sys.stdin.read() if text == "-" else text,
        dict(_parse_parameter(one) for one in parameters or ()),
        limit,
        timeout,
    )
    result = asyncio.run(query_store(load(context).settings, wanted))
    if as_json:
        print_json(result_to_json(result))
    elif as_csv:
        print_csv(result)
    else:
        show_result(result)
    if result.is_cut:
        print_note(f"There are more than {limit:,} rows. --limit gives more of them.")


def _parse_parameter(text: str) -> tuple[str, Value]:
    """Return a name and its value: a number, true, false or null as JSON has them, else text."""
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--param")
    try:
        parsed: Value = json.loads(value)
    except ValueError:
        return name, value
    return name, value if isinstance(parsed, list | dict) else parsed
