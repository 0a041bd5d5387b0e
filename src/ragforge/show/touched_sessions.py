"""Sessions that touched some code, with what became of the code, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from ragforge.domain.code import TOUCH_KINDS
from ragforge.domain.conversations import name_other_agent
from ragforge.show.console import fit_line, open_console, sanitise
from ragforge.show.fields import Fields
from ragforge.show.sessions import NO_TITLE, session_to_json, shorten_id

if TYPE_CHECKING:
    from ragforge.app.features.sessions import ConversationAbout, TouchedCode
    from ragforge.domain.code import Touch

TURNS = 10
THINGS = 5
COMMITS = 5
WIDEST = 100


def about_to_json(one: ConversationAbout) -> dict[str, object]:
    touched = [_TOUCH(code) | {"since": _since_to_json(code)} for code in one.touched]
    return {**session_to_json(one.conversation), "touched": touched}


_TOUCH = Fields(
    "turn_index=touch.first_turn last_turn_index=touch.last_turn by_summary=touch.by_summary"
    " timestamp=touch.when how=touch.how file=touch.file name=touch.name"
)
_STATE = Fields("same_content=is_same commits", commits=Fields("id date=when author subject"))


def _since_to_json(code: TouchedCode) -> dict[str, object]:
    since = code.since
    first, last = since.lines or (None, None)
    return {
        "state": since.state,
        "text": since.describe(code.touch),
        "file": since.file,
        "name": since.name,
        "start_line": first,
        "end_line": last,
        **_STATE(since),
    }


def show_about(found: Sequence[ConversationAbout], with_directory: bool) -> None:
    """Show each session, the turns in which it touched the code, and what became of that."""
    from rich.text import Text

    out = open_console()
    for one in found:
        about = one.conversation
        head = Text(shorten_id(about.uuid), style="cyan")
        head.append(f"  {about.updated_at:%Y-%m-%d %H:%M}", style="dim")
        if with_directory:
            head.append(f"  {sanitise(about.cwd)}", style="dim")
        if agent := name_other_agent(about.agent):
            head.append(f"  {fit_line(agent, 40)}", style="magenta")
        head.append(f"  {fit_line(about.title or NO_TITLE, WIDEST)}", style="bold")
        out.print(head)
        groups = groupby(one.touched, lambda code: _format_turns(code.touch))
        turns = [list(group) for _, group in groups]
        for touched in turns[:TURNS]:
            _show_turn(touched)
        if len(turns) > TURNS:
            out.print(Text(f"  and {len(turns) - TURNS} more turns", style="dim"))


def _show_turn(touched: Sequence[TouchedCode]) -> None:
    from rich.text import Text

    out = open_console()
    strongest_first = sorted(touched, key=lambda one: TOUCH_KINDS.index(one.touch.how))
    for one in strongest_first[:THINGS]:
        touch, since = one.touch, one.since
        line = Text(f"  {_format_turns(touch)}  {touch.when:%Y-%m-%d %H:%M}", style="dim")
        line.append(f"  {touch.how}", style="bold")
        line.append(f"  {fit_line(touch.name or touch.file, WIDEST)}")
        if touch.name is not None:
            line.append(f"  {fit_line(touch.file, WIDEST)}", style="dim")
        out.print(line, soft_wrap=True)
        out.print(Text(f"    {fit_line(since.describe(touch), WIDEST)}", style="magenta"))
        for commit in (since.commits or ())[:COMMITS]:
            said = f"{commit.id} {commit.when:%Y-%m-%d} {commit.author}: {commit.subject}"
            out.print(Text(f"    {fit_line(said, WIDEST)}"), soft_wrap=True)
        if len(since.commits or ()) > COMMITS:
            more = len(since.commits or ()) - COMMITS
            out.print(Text(f"    and {more} more commits", style="dim"))
    if len(touched) > THINGS:
        out.print(Text(f"    and {len(touched) - THINGS} more", style="dim"))


def _format_turns(touch: Touch) -> str:
    if touch.first_turn == touch.last_turn:
        return f"turn {touch.first_turn}"
    return f"turns {touch.first_turn}-{touch.last_turn}"
