"""`ragforge memory`: look after what is remembered."""

from __future__ import annotations

import typer

from ragforge.cli.commands.memory import embed, jobs, notes, rebuild, review, summaries, work

EXAMPLES = """\b
Examples:
  ragforge memory remember "We deploy on Fridays"
  ragforge memory notes
  ragforge memory review
  ragforge memory summaries --level 2
  ragforge memory trim --older-than 90d
  ragforge memory jobs --retry
  ragforge memory rebuild
  ragforge memory embed
"""


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Look after what is remembered.", epilog=EXAMPLES, no_args_is_help=True
    )
    group.callback()(_group)
    group.command("remember", epilog=notes.REMEMBER_EXAMPLES)(notes.remember)
    group.command("notes", epilog=notes.EXAMPLES)(notes.notes)
    group.command("forget-note", epilog=notes.FORGET_EXAMPLES)(notes.forget_note)
    group.command("review", epilog=review.EXAMPLES)(review.review)
    group.command("summaries", epilog=summaries.EXAMPLES)(summaries.summaries)
    group.command("trim", epilog=summaries.TRIM_EXAMPLES)(summaries.trim)
    group.command("jobs", epilog=jobs.EXAMPLES)(jobs.jobs)
    group.command("work", epilog=work.EXAMPLES)(work.work)
    group.command("rebuild", epilog=rebuild.EXAMPLES)(rebuild.rebuild)
    group.command("embed", epilog=embed.EXAMPLES)(embed.embed)
    app.add_typer(group, name="memory")
    app.command("remember", epilog=notes.REMEMBER_EXAMPLES)(notes.remember)


def _group() -> None:
    """Look after what is remembered."""
