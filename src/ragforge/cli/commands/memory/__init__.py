"""`ragforge memory`: manage notes, summaries and background work."""

from __future__ import annotations

from collections.abc import Callable

from ragforge.cli.commands.memory import notes, summaries, work
from ragforge.cli.help_texts import CommandGroup

GROUP = CommandGroup(
    help="Manage notes, summaries and background work.", epilog="memory", no_args_is_help=True
)
_COMMANDS: dict[str, Callable[..., object]] = {
    "remember": notes.remember,
    "notes": notes.notes,
    "forget-note": notes.forget_note,
    "review": notes.review,
    "summaries": summaries.summaries,
    "trim": summaries.trim,
    "jobs": work.jobs,
    "work": work.work,
    "rebuild": work.rebuild,
    "embed": work.embed,
}
for name, command in _COMMANDS.items():
    GROUP.command(name, epilog="remember" if name == "remember" else f"memory/{name}")(command)
