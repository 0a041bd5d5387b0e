"""One session with its turns, tools, states and summaries, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.domain.conversations import AGENT
from ragforge.domain.text import to_text
from ragforge.show.console import fit_line, open_console, print_note, sanitise
from ragforge.show.fields import Fields
from ragforge.show.sessions import NO_TITLE, session_to_json, shorten_id

if TYPE_CHECKING:
    from rich.console import Console

    from ragforge.app.features.sessions import SessionDetail, TurnState
    from ragforge.domain.conversations import ToolCall
    from ragforge.domain.summaries import Summary
    from ragforge.domain.turns import Turn

TEXT_CHARS = 1_000
CALL_CHARS = 100


def detail_to_json(found: SessionDetail) -> dict[str, object]:
    return {
        **session_to_json(found.conversation),
        "branch_of": found.branch_of,
        "branches": list(found.branches),
        "turns": [turn_to_json(turn, found.states.turns.get(turn.uuid)) for turn in found.turns],
        "summaries": [
            _SUMMARY_PLACE(one) | {"covers": list(covers)} | _SUMMARY(one)
            for one, covers in found.summaries
        ],
        "failed_jobs": [_FAILED_JOB(job) for job in found.states.failed_jobs],
    }


def turn_to_json(turn: Turn, state: TurnState | None = None) -> dict[str, object]:
    return {
        **_TURN(turn),
        "messages": [_MESSAGE(said) for said in (turn.user, *turn.replies)],
        "tool_calls": [_CALL(call) for call in turn.tool_calls],
        "states": list(state.names) if state else ["stored"],
        "error": state.error if state else None,
    }


_TURN = Fields(
    "turn_index=user.turn_index turn_id=uuid timestamp=user.timestamp author=user.author"
    " question=user.content answer"
)
_MESSAGE = Fields("message_id=uuid role content reasoning model token_count usd")
_CALL = Fields("tool_name arguments success duration_ms result=result.result error=result.error")
_SUMMARY_PLACE = Fields("summary_id=uuid level start_turn_index end_turn_index")
_SUMMARY = Fields(
    "parent_summaries conversation_summary actions_summary key_findings files_mentioned made_by"
)
_FAILED_JOB = Fields("key kind error")


def show_detail(found: SessionDetail, wanted: int, full: bool) -> None:
    """Show a session with its latest turns and its summaries; long texts are cut unless `full`."""
    out = open_console()
    _show_head(out, found)
    turns = found.turns
    shown = turns[len(turns) - wanted :] if wanted < len(turns) else turns
    if len(shown) < len(turns):
        verb = "is" if len(shown) == 1 else "are"
        print_note(
            f"{len(shown)} of {len(turns)} turns {verb} shown. --turns {len(turns)} shows all."
        )
    for turn in shown:
        _show_turn(out, turn, found.states.turns.get(turn.uuid), full)
    for summary, covers in found.summaries:
        _show_summary(out, summary, covers, full)
    for job in found.states.failed_jobs:
        print_note(f"A job failed permanently: {job.kind}: {job.error}")


def _show_head(out: Console, found: SessionDetail) -> None:
    about = found.conversation
    out.print(fit_line(about.title or NO_TITLE, 200), style="bold")
    facts = [
        ("session", about.uuid),
        ("directory", about.cwd),
        ("author", about.author or ""),
        ("agent", "" if about.agent == AGENT else about.agent),
        ("visible to", "only you" if about.visibility == "private" else "all users of the store"),
        ("status", about.status),
        ("tags", ", ".join(about.tags)),
        ("started", f"{about.created_at:%Y-%m-%d %H:%M}"),
        ("last active", f"{about.updated_at:%Y-%m-%d %H:%M}"),
        ("turns", str(about.turn_count)),
        ("branch of", shorten_id(found.branch_of) if found.branch_of else ""),
        ("branches", ", ".join(map(shorten_id, found.branches))),
        ("about", fit_line(about.summary or "", 500)),
    ]
    for name, value in facts:
        if value:
            out.print(f"  {name:<12}", style="dim", end="")
            out.print(sanitise(value))


def _show_turn(out: Console, turn: Turn, state: TurnState | None, full: bool) -> None:
    from rich.text import Text

    names = state.names if state else ("stored",)
    out.print()
    head = Text(f"Turn {turn.user.turn_index}", style="cyan")
    head.append(f"  {turn.user.timestamp:%Y-%m-%d %H:%M}", style="cyan")
    head.append(f"  {shorten_id(turn.uuid)}", style="dim")
    head.append(f"  {', '.join(names)}", style="bold red" if "failed" in names else "dim")
    out.print(head)
    if state is not None and state.error is not None:
        out.print(f"  {fit_line(state.error, 200)}", style="red")
    _show_text(out, turn.user.content, full, style="bold")
    for said in turn.replies:
        for call in said.tool_calls:
            out.print(f"  {_format_call(call)}", style="dim")
        if said.content.strip():
            _show_text(out, said.content, full)


def _format_call(call: ToolCall) -> str:
    given = fit_line(to_text(call.arguments), CALL_CHARS)
    line = f"→ {sanitise(call.tool_name)} {given}"
    if call.result is None:
        return f"{line}: interrupted"
    gave = call.result.error if call.result.error else to_text(call.result.result)
    how = "" if call.success else "failed, "
    return f"{line}: {how}{call.duration_ms} ms, {fit_line(gave, CALL_CHARS)}"


def _show_summary(out: Console, summary: Summary, covers: Sequence[int], full: bool) -> None:
    from rich.text import Text

    out.print()
    head = Text(f"Summary L{summary.level}", style="magenta")
    head.append(f"  {_describe_coverage(summary, covers)}", style="magenta")
    head.append(f"  {shorten_id(summary.uuid)}  by {sanitise(summary.made_by)}", style="dim")
    out.print(head)
    _show_text(out, summary.conversation_summary, full)
    for text in (summary.actions_summary, *summary.key_findings):
        if text.strip():
            _show_text(out, text, full, style="dim")


def _describe_coverage(summary: Summary, covers: Sequence[int]) -> str:
    first, last = summary.start_turn_index, summary.end_turn_index
    if summary.level == 2:
        made_of = ", ".join(shorten_id(parent) for parent in summary.parent_summaries)
        return f"turns {first} to {last}, made of {made_of}"
    if list(covers) == list(range(first, last + 1)):
        return f"turns {first} to {last}"
    return f"turns {', '.join(map(str, covers)) or 'none any more'}"


def _show_text(out: Console, text: str, full: bool, style: str = "") -> None:
    shown_text = text if full or len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS].rstrip()} …"
    for line in sanitise(shown_text).rstrip().split("\n"):
        out.print(f"  {line}".rstrip(), style=style)
