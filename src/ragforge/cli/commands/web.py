"""`ragforge web`: a page to look at memory and code."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("web", epilog="web")(web)


def web(
    context: typer.Context,
    *,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; if not given, a free one.")
    ] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Only show the address, open no browser.")
    ] = False,
    host: Annotated[
        str, typer.Option("--host", metavar="NAME", help="Where to listen.")
    ] = "127.0.0.1",
    allow_remote: Annotated[
        bool,
        typer.Option(
            "--allow-remote",
            help="Let other machines reach it, with a password and without encryption.",
        ),
    ] = False,
) -> None:
    """Open a page with what all your agents did in all your projects."""
    from ragforge.cli.serve_web import Where, serve_web

    raise typer.Exit(serve_web(context, Where(host, port, allow_remote, not no_open)))
