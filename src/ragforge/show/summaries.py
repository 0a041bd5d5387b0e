"""Summaries, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.domain.instants import format_instant
from ragforge.show.console import open_console, print_note, sanitise

if TYPE_CHECKING:
    from ragforge.domain.summaries import Summary


def show_summaries(found: Sequence[Summary]) -> None:
    """Show summaries with their findings and files."""
    if not found:
        print_note("There are no summaries. They are made when a conversation has grown long.")
        return
    out = open_console()
    for summary in found:
        place = f"session {summary.conversation_id[:8]}, turns {summary.start_turn_index}"
        place += f" to {summary.end_turn_index}"
        made = f"{summary.created_at:%Y-%m-%d %H:%M} by {summary.made_by}"
        out.print(f"L{summary.level}  {place}", style="bold", end="")
        out.print(f"  {made}", style="dim")
        out.print(sanitise(summary.conversation_summary))
        for finding in summary.key_findings:
            out.print(f"  - {sanitise(finding)}")
        if summary.files_mentioned:
            out.print(f"  Files: {sanitise(', '.join(summary.files_mentioned))}", style="dim")
        out.print()


def summary_to_json(summary: Summary) -> dict[str, object]:
    return {
        "summary_id": summary.uuid,
        "conversation_id": summary.conversation_id,
        "level": summary.level,
        "turns": [summary.start_turn_index, summary.end_turn_index],
        "chars": [summary.char_range_start, summary.char_range_end],
        "conversation_summary": summary.conversation_summary,
        "actions_summary": summary.actions_summary,
        "key_findings": list(summary.key_findings),
        "files_mentioned": list(summary.files_mentioned),
        "tools_used": list(summary.tools_used),
        "topics": list(summary.topics),
        "made_by": summary.made_by,
        "created_at": format_instant(summary.created_at),
    }
