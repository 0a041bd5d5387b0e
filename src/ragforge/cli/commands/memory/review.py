"""`ragforge memory review`: say whether a newer note replaces an older one."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.state import JsonOption, use_app
from ragforge.errors import InputError, NotAuthor

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.app.features.notes import Correction


def review(
    context: typer.Context,
    yes: Annotated[
        list[str] | None,
        typer.Option("--yes", metavar="ID", help="The newer replaces the older."),
    ] = None,
    no: Annotated[
        list[str] | None, typer.Option("--no", metavar="ID", help="Both hold, from now on.")
    ] = None,
    linked: Annotated[
        bool, typer.Option("--linked", help="Show pairs that are linked, to undo one with --no.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Ask about notes that may contradict an older one; on a terminal one after the other."""
    from ragforge.show.console import print_json, print_note
    from ragforge.show.notes import correction_to_json, show_corrections

    answers = [*((id_, True) for id_ in yes or ()), *((id_, False) for id_ in no or ())]

    async def answer(app: App) -> list[Correction]:
        return [await app.notes.decide(id_, replaces=replaces) for id_, replaces in answers]

    try:
        if answers:
            decided = use_app(context, answer)
            if as_json:
                print_json({"decided": [correction_to_json(one) for one in decided]})
            for one, (_, replaces) in zip(decided, answers, strict=True):
                what = "The newer replaces the older." if replaces else "Both hold."
                print_note(f"{one.id}: {what}")
            return
        found = use_app(context, lambda app: app.notes.find_corrections(linked=linked))
        if as_json:
            print_json({"corrections": [correction_to_json(one) for one in found]})
        elif not found:
            print_note("No notes are linked." if linked else "No notes seem to contradict others.")
        elif linked or not sys.stdin.isatty():
            show_corrections(found)
            print_note(f"ragforge memory review --{'no' if linked else 'yes'} ID")
        else:
            answers += _ask(found)

            async def answer_those_left(app: App) -> None:
                for id_, replaces in answers:
                    with suppress(InputError):  # an earlier answer settled it too
                        await app.notes.decide(id_, replaces=replaces)

            use_app(context, answer_those_left)
    except NotAuthor as error:
        raise typer.BadParameter(str(error)) from error


def _ask(found: list[Correction]) -> list[tuple[str, bool]]:
    """Ask about each pair; whatever is neither yes nor no leaves it for later."""
    from ragforge.show.notes import show_corrections

    answers = []
    for one in found:
        show_corrections([one])
        said = typer.prompt("Does the newer replace the older? [y/n/later]", default="later")
        if said.strip().lower()[:1] in ("y", "n"):
            answers.append((one.id, said.strip().lower()[:1] == "y"))
    return answers
