"""`ragforge memory remember`, `notes`, `forget-note` and `review`: notes of a project."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from ragforge.cli.options import (
    AllOption,
    ForceOption,
    JsonOption,
    TagOption,
    argument,
    flag,
    option,
)
from ragforge.cli.state import open_here
from ragforge.cli.trust_questions import interrupt_at_once
from ragforge.errors import InputError, NotAuthor, NoteNotFound
from ragforge.show.console import fit_line, print_json, print_note, print_result
from ragforge.show.notes import (
    correction_to_json,
    format_kept,
    note_to_json,
    rule_to_json,
    show_corrections,
    show_notes,
    show_rules,
)
from ragforge.show.sessions import shorten_id

if TYPE_CHECKING:
    from ragforge.app.features.notes import Correction

WIDEST = 120
QUESTION = "Does the newer note replace the older one? [y/n/later]"
LISTED = "`ragforge memory notes` lists them."


async def remember(
    text: str = argument("TEXT", "What to remember."),
    tags: TagOption = None,
    supersedes: str | None = option("--supersedes ID", "The note that it replaces from now on."),
    rule: bool = flag("--rule", "Always give it to agents, whatever the question."),
    as_json: JsonOption = False,
) -> None:
    """Keep a note: an insight, a decision, a rule."""
    try:
        async with open_here() as app:
            note = await app.notes.remember(text, tags=tags or (), supersedes=supersedes, rule=rule)
            if as_json:
                print_json(note_to_json(note))
                return
            linked = await app.notes.find_corrections(newer=note, linked=True)
            doubtful = await app.notes.find_corrections(newer=note)
    except NoteNotFound as error:
        raise InputError(f"{error} in this project. {LISTED}") from error
    for line in format_kept(note, linked, doubtful):
        print_note(line)


async def notes(
    query: str | None = argument("QUERY", "Only relevant ones, best first.", None),
    tags: TagOption = None,
    superseded: bool = flag("--superseded", "Also those that others replace."),
    rules: bool = flag("--rules", "Rules, and your instructions in sessions."),
    limit: int = option("-k --limit", "How many to show.", 50, min=1, max=10_000),
    everywhere: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the notes of this project, newest first."""
    if rules and (query or tags or everywhere):
        raise typer.BadParameter("--rules lists all rules of this project; leave out the rest")
    async with open_here() as app:
        if rules:
            every = await app.notes.find_rules()
            kept = [one for one in every if superseded or one.replaced_by is None][:limit]
            listed = {"rules": [rule_to_json(one) for one in kept]}
            print_result(as_json, listed, lambda: show_rules(kept))
            return
        found = await app.notes.find(
            query,
            tags=tags or (),
            limit=limit,
            everywhere=everywhere,
            with_superseded=superseded,
        )
        replaced = await app.notes.find_replaced(found) if superseded else {}
        viewer = app.identity.key
    if as_json:
        by = {old: newer.uuid for old, newer in replaced.items()}
        print_json(
            {"notes": [note_to_json(one) | {"replaced_by": by.get(one.uuid)} for one in found]}
        )
    else:
        show_notes(found, with_project=everywhere, viewer=viewer, replaced=replaced)


async def forget_note(
    note_id: str = argument("ID", "The id of a note, or its first characters."),
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete a note."""
    try:
        async with open_here() as app:
            note = await app.notes.forget(note_id, force=force)
    except NoteNotFound as error:
        raise InputError(f"{error}. {LISTED}") from error
    except NotAuthor as error:
        raise InputError(f"{error} --force does it anyway.") from error
    said = f"Forgot {shorten_id(note.uuid)}: {fit_line(note.text, WIDEST)}"
    print_result(as_json, note_to_json(note), lambda: print_note(said))


async def review(
    yes: list[str] | None = option("--yes ID", "The newer note replaces the older one."),
    no: list[str] | None = option("--no ID", "Both notes are valid."),
    linked: bool = flag("--linked", "Show pairs that are linked; --no undoes a link."),
    as_json: JsonOption = False,
) -> None:
    """Decide about notes that may contradict older ones."""
    answers = [*((id_, True) for id_ in yes or ()), *((id_, False) for id_ in no or ())]
    try:
        if answers:
            await _decide(answers, as_json)
            return
        async with open_here() as app:
            found = await app.notes.find_corrections(linked=linked)
        if as_json:
            print_json({"corrections": [correction_to_json(one) for one in found]})
        elif not found:
            print_note("No notes are linked." if linked else "No notes seem to contradict others.")
        elif linked or not sys.stdin.isatty():
            show_corrections(found)
            print_note(f"ragforge memory review --{'no' if linked else 'yes'} ID")
        else:
            answers = _ask(found)
            async with open_here() as app:
                for id_, replaces in answers:
                    with suppress(InputError):  # an earlier answer settled it too
                        await app.notes.decide(id_, replaces=replaces)
    except NotAuthor as error:
        raise typer.BadParameter(str(error)) from error


async def _decide(answers: Sequence[tuple[str, bool]], as_json: bool) -> None:
    async with open_here() as app:
        decided = [await app.notes.decide(id_, replaces=replaces) for id_, replaces in answers]
    if as_json:
        print_json({"decided": [correction_to_json(one) for one in decided]})
    for one, (_, replaces) in zip(decided, answers, strict=True):
        what = "The newer note replaces the older one." if replaces else "Both notes are valid."
        print_note(f"{one.id}: {what}")


def _ask(found: Sequence[Correction]) -> list[tuple[str, bool]]:
    """Ask about each pair; an answer that is neither yes nor no leaves it for later."""
    answers = []
    for one in found:
        show_corrections([one])
        with interrupt_at_once():
            said = typer.prompt(QUESTION, default="later").strip()
        if said.lower()[:1] in ("y", "n"):
            answers.append((one.id, said.lower()[:1] == "y"))
    return answers
