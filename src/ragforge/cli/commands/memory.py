"""`ragforge memory`: manage notes, summaries and background work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from ragforge.cli import options
from ragforge.cli.options import (
    AllOption,
    CommandGroup,
    ForceOption,
    JsonOption,
    SinceOption,
    TagOption,
    UntilOption,
    YesOption,
    argument,
    flag,
    option,
)
from ragforge.cli.progress import show_progress
from ragforge.cli.state import confirm, open_here
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
    show_summaries,
    summary_to_json,
)
from ragforge.show.sessions import shorten_id
from ragforge.show.store import job_to_json, show_jobs

if TYPE_CHECKING:
    from ragforge.app.features.notes import Correction
    from ragforge.domain.summaries import Level
    from ragforge.domain.work import JobStatus

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
            query, tags=tags or (), limit=limit, everywhere=everywhere, with_superseded=superseded
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


LevelOption = Annotated[
    int | None, typer.Option("--level", min=1, max=2, help="1: of turns; 2: of summaries.")
]


async def summaries(
    level: LevelOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    file: str | None = option("--file PATH", "Those that mention this file."),
    unread: bool = flag("--unread", "Those with findings that were not shown yet."),
    everywhere: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the summaries of this project's conversations."""
    async with open_here() as app:
        found = await app.memory.find_summaries(
            options.parse_since(since),
            options.parse_until(until),
            level=_to_level(level),
            everywhere=everywhere,
            unread=unread,
        )
        if file is not None:
            mentioning = await app.memory.find_summaries_mentioning_file(file)
            wanted = {one.uuid for one in mentioning}
            found = [one for one in found if one.uuid in wanted]
        if unread:  # they are shown now
            await app.memory.mark_findings_read(found)
    listed = {"summaries": [summary_to_json(summary) for summary in found]}
    print_result(as_json, listed, lambda: show_summaries(found))


async def trim(
    before: str = option(
        "--before --older-than DATE",
        "Those made before a date, 2026-01-31, or older than an age, 90d.",
        ...,
    ),
    level: LevelOption = None,
    session: str | None = option("--session ID", "Of one session: its first characters."),
    everywhere: AllOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete old summaries of this project, but not the turns.

    These turns are not summarised again.
    """
    if session is not None and everywhere:
        raise typer.BadParameter("give --session or --all, not both", param_hint="--session")
    limit = options.parse_before(before)
    if not yes:
        what = "summaries" if level is None else f"summaries of level {level}"
        whose = "of all projects" if everywhere else "of this project"
        whose = whose if session is None else f"of session {session}"
        confirm(f"Delete the {what} {whose} that were made before {limit:%Y-%m-%d %H:%M}?")
    async with open_here() as app:
        deleted = await app.memory.trim_summaries(
            limit, _to_level(level), session, everywhere=everywhere
        )
    said = "One summary deleted." if deleted == 1 else f"{deleted:,} summaries deleted."
    print_result(as_json, {"deleted": deleted}, lambda: print_note(said))


def _to_level(level: int | None) -> Level | None:
    return 1 if level == 1 else 2 if level == 2 else None


SHOWN = 50
FAILED = "{:,} jobs failed. `ragforge memory jobs` lists them."


async def work(
    seconds: int = option("--seconds", "Maximum time.", 600, min=1, max=86_400),
    as_json: JsonOption = False,
) -> None:
    """Do the queued jobs: vectors, titles, summaries, the code.

    Then do the maintenance of the store that is due.
    """
    async with open_here() as app:
        counts = await app.jobs.wait(seconds)
        await app.maintenance.finish_upkeep(seconds)
    if as_json:
        print_json({"counts": dict(counts)})
        return
    left = counts["pending"] + counts["running"]
    print_note(f"{left:,} jobs are left." if left else "All jobs are done.")
    if counts["dead"]:
        print_note(FAILED.format(counts["dead"]))


async def embed(as_json: JsonOption = False) -> None:
    """Compute a vector for every past turn with the current model."""
    async with open_here() as app:
        missing, done = (await app.maintenance.count_embedded()).missing, 0
        with show_progress() as on_progress:

            def on_embedded(count: int) -> None:
                nonlocal done
                done += count
                on_progress("turns", done, missing)

            found = await app.maintenance.embed_memory(on_embedded)
    embedded = found.turns - found.missing
    if as_json:
        print_json({"model": found.model, "turns": found.turns, "embedded": embedded})
        return
    left = f"; {found.missing:,} have no text to embed" if found.missing else ""
    print_note(f"{embedded:,} of {found.turns:,} turns have vectors of {found.model}{left}.")


async def rebuild(
    again: bool = flag("--again", "Delete the old summaries and write new ones."),
    everywhere: AllOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Create the summaries and vectors that are due, now."""
    if again and not yes:
        confirm("Delete the summaries and create them again?")
    async with open_here() as app:
        with show_progress() as on_progress:
            report = await app.maintenance.rebuild(
                everywhere, again, lambda done, total: on_progress("conversations", done, total)
            )
    if as_json:
        print_json(asdict(report))
        return
    print_note(f"{report.conversations:,} conversations have {report.summaries:,} summaries.")
    if report.failed_jobs:
        print_note(FAILED.format(report.failed_jobs))


Shown: TypeAlias = Literal["open", "pending", "running", "done", "dead"]
OPEN: tuple[JobStatus, ...] = ("running", "pending", "dead")


async def jobs(
    status: Shown = option("--status", "open: all that are not done.", "open"),
    retry: bool = flag("--retry", "Try failed jobs again."),
    limit: int = option("-k --limit", "How many to show.", SHOWN, min=1),
    as_json: JsonOption = False,
) -> None:
    """Show the background jobs."""
    async with open_here() as app:
        revived = await app.jobs.retry_failed() if retry else 0
        found = await app.jobs.find(limit, OPEN if status == "open" else (status,))
        counts = await app.jobs.count()
    if as_json:
        print_json(
            {
                "jobs": [job_to_json(job) for job in found],
                "counts": dict(counts.by_status),
                "revived": revived,
                "waiting_of_others": dict(counts.of_others),
            }
        )
        return
    if retry:
        print_note(f"{revived:,} failed jobs will be tried again.")
    show_jobs(found, counts)


GROUP = CommandGroup(
    help="Manage notes, summaries and background work.", epilog="memory", no_args_is_help=True
)
_COMMANDS: dict[str, Callable[..., object]] = {
    "remember": remember,
    "notes": notes,
    "forget-note": forget_note,
    "review": review,
    "summaries": summaries,
    "trim": trim,
    "jobs": jobs,
    "work": work,
    "rebuild": rebuild,
    "embed": embed,
}
for name, command in _COMMANDS.items():
    GROUP.command(name, epilog="remember" if name == "remember" else f"memory/{name}")(command)
