"""Options and arguments that several commands share.

In these files `\b` before a paragraph keeps its lines as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from functools import wraps
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from ragforge.domain.instants import now
from ragforge.domain.modes import Mode
from ragforge.resources import read_resource


def option(usage: str, help: str, default: Any = None, **more: Any) -> Any:
    """Return an option as its help names it, such as "-o --output FILE"; `...` has to be given."""
    names = [part for part in usage.split() if part.startswith("-")]
    metavar = usage.removeprefix(" ".join(names)).strip() or None
    return typer.Option(default, *names, metavar=metavar, help=help, **more)


def flag(usage: str, help: str) -> Any:
    """Return an option without a value."""
    return option(usage, help, False)


def argument(metavar: str, help: str, default: Any = ..., **more: Any) -> Any:
    """Return an argument, which has to be given unless there is a default."""
    return typer.Argument(default, metavar=metavar, help=help, **more)


JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Also if it belongs to another user, who shared it.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Of all projects, not only this one.")]
TagOption = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; repeat it for several.")
]
SinceOption = Annotated[
    str | None,
    typer.Option("--since", metavar="DATE", help="Since this date or time, or an age: 7d."),
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="DATE", help="Until this date or time.")
]
ModeOption = Annotated[
    Mode | None,
    typer.Option(
        "--mode",
        help="Ask before each change (the default), only plan, edit files without asking, or "
        "also run commands in a sandbox.",
    ),
]


def complete_session(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the sessions that a shell may complete."""
    from ragforge.cli.completion import list_sessions  # only while the user is typing

    return list_sessions(context, incomplete)


SessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="The id of a session, or its first characters.",
        autocompletion=complete_session,
    ),
]
SessionsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="SESSION",
        help="Ids of sessions, or their first characters.",
        autocompletion=complete_session,
    ),
]
PathArgument = Annotated[
    Path | None, typer.Argument(metavar="PATH", help="The project; by default this one.")
]

_AGO = re.compile(r"(\d{1,6})\s*(minutes?|hours?|days?|weeks?|m|h|d|w)(?:\s+ago)?")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_since(text: str | None, option: str = "--since") -> datetime | None:
    """Return the start of a day, or a given time. Raises BadParameter."""
    return None if text is None else _parse_moment(text, time.min, option)


def parse_until(text: str | None) -> datetime | None:
    """Return the end of a day, or a given time. Raises BadParameter."""
    return None if text is None else _parse_moment(text, time.max, "--until")


def parse_before(text: str) -> datetime:
    """Return the start of a day, or a given time, as an upper limit. Raises BadParameter."""
    return _parse_moment(text, time.min, "--before")


def _parse_moment(text: str, of_day: time, option: str) -> datetime:
    """Parse ISO 8601 or an age; times without an offset are in the local time zone."""
    try:
        if ago := _AGO.fullmatch(text.strip().lower()):
            return now() - timedelta(**{_UNITS[ago[2][0]]: int(ago[1])})
        if len(text) <= len("2025-12-09"):
            found = datetime.combine(date.fromisoformat(text), of_day)
        else:
            found = datetime.fromisoformat(text)
        return found if found.tzinfo is not None else found.astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise typer.BadParameter(
            f"{text!r} is neither a date, such as 2025-12-09 or 2025-12-09T14:30, "
            "nor an age, such as 7d",
            param_hint=option,
        ) from error


_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Epilog:
    """Replaces the name of an epilog by its text: most commands run without showing theirs."""

    _name: str | None = None

    @property
    def epilog(self) -> str | None:
        if self._name is None:
            return None
        return read_resource(f"cli/epilogs/{self._name}.md").replace("\\b\n", "\b\n")

    @epilog.setter
    def epilog(self, name: str | None) -> None:
        self._name = name


class _Command(_Epilog, TyperCommand):
    pass


class Group(_Epilog, TyperGroup):
    pass


class CommandGroup(typer.Typer):
    """Commands and groups whose `epilog` is the name of a file: "store/info"."""

    def __init__(self, **options: Any) -> None:
        super().__init__(cls=Group, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[_Function], _Function]:
        """Register a function, or a coroutine function, as a command."""
        register = super().command(name, cls=_Command, **options)

        def register_function(function: _Function) -> _Function:
            register(_run_to_end(function) if iscoroutinefunction(function) else function)
            return function

        return register_function


def _run_to_end(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def run(*arguments: Any, **options: Any) -> Any:
        import asyncio  # slow to load: help needs none of it

        return asyncio.run(function(*arguments, **options))

    return run
