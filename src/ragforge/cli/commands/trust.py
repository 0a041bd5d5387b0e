"""`ragforge trust` and `distrust`: whether a folder may configure and instruct RagForge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragforge.cli.loading import get_current_directory
from ragforge.cli.state import JsonOption, confirm, load
from ragforge.errors import InputError

FolderArgument = Annotated[
    Path | None, typer.Argument(metavar="PATH", help="The folder; this one if not given.")
]


def register(app: typer.Typer) -> None:
    app.command("trust", epilog="trust")(trust)
    app.command("distrust", epilog="distrust")(distrust)


def trust(
    context: typer.Context,
    path: FolderArgument = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Trust it without asking.")] = False,
    listing: Annotated[
        bool, typer.Option("--list", help="List the folders you decided about.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what a folder would set and instruct, and trust it."""
    from ragforge.app.wiring.trust import examine_folder, list_trust
    from ragforge.show import trust as show
    from ragforge.show.console import print_json, print_note

    settings = load(context, quiet=True).settings
    if listing:
        decisions = list_trust(settings)
        if as_json:
            folders = [show.decision_to_json(*pair) for pair in decisions.items()]
            print_json({"folders": folders})
        else:
            show.show_decisions(decisions)
        return
    folder = _find_folder(path)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a directory. Name one.")
    question = examine_folder(settings, folder)
    if not as_json:
        for line in show.format_question(question):
            print_note(line)
    if not yes and not as_json:
        confirm(show.TRUST_QUESTION)
    if yes or not as_json:
        question = question.answer(settings, True)
    if as_json:
        print_json(show.question_to_json(question))
    else:
        print_note(f"Trusted from now on: {question.root}")


def distrust(context: typer.Context, path: FolderArgument = None) -> None:
    """Take trust back: the folder sets and instructs nothing from now on."""
    from ragforge.app.wiring.trust import examine_folder
    from ragforge.show.console import print_note

    settings = load(context, quiet=True).settings
    question = examine_folder(settings, _find_folder(path)).answer(settings, False)
    print_note(f"Not trusted from now on: {question.root}")


def _find_folder(path: Path | None) -> Path:
    here = get_current_directory()
    return here if path is None else here / path.expanduser()
