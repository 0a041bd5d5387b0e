"""`ragforge memory`: manage notes, summaries and background work."""

from __future__ import annotations

import typer

from ragforge.cli.commands.memory import notes, summaries, work
from ragforge.cli.help_texts import CommandGroup


def register(app: typer.Typer) -> None:
    group = CommandGroup(
        help="Manage notes, summaries and background work.", epilog="memory", no_args_is_help=True
    )
    group.command("remember", epilog="memory/remember")(notes.remember)
    group.command("notes", epilog="memory/notes")(notes.notes)
    group.command("forget-note", epilog="memory/forget-note")(notes.forget_note)
    group.command("review", epilog="memory/review")(notes.review)
    group.command("summaries", epilog="memory/summaries")(summaries.summaries)
    group.command("trim", epilog="memory/trim")(summaries.trim)
    group.command("jobs", epilog="memory/jobs")(work.jobs)
    group.command("work", epilog="memory/work")(work.work)
    group.command("rebuild", epilog="memory/rebuild")(work.rebuild)
    group.command("embed", epilog="memory/embed")(work.embed)
    app.add_typer(group, name="memory")
    app.command("remember", epilog="memory/remember")(notes.remember)
