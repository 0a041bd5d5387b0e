"""Arguments that name sessions."""

from __future__ import annotations

from typing import Annotated

import typer

SessionArgument = Annotated[
    str, typer.Argument(metavar="SESSION", help="The id of a session, or the start of it.")
]
SessionsArgument = Annotated[
    list[str], typer.Argument(metavar="SESSION", help="Ids of sessions, or the start of them.")
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Also if it is somebody else's, which is shared.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Sessions of all directories and projects.")]
