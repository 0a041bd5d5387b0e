"""Remembered: summaries, and the work that is done in the background, shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragforge.show.console import console, one_line, print_note, print_table, printable

if TYPE_CHECKING:
    from ragforge.domain.summaries import Summary
    from ragforge.domain.work import Job, JobStatus


def show_summaries(found: Sequence[Summary]) -> None:
    """Show summaries with their findings and files."""
    if not found:
        print_note("There are no summaries. They are made when a conversation has grown long.")
        return
    out = console()
    for summary in found:
        place = f"session {summary.conversation_id[:8]}, turns {summary.start_turn_index}"
        place += f" to {summary.end_turn_index}"
        made = f"{summary.created_at:%Y-%m-%d %H:%M} by {summary.made_by}"
        out.print(f"L{summary.level}  {place}", style="bold", end="")
        out.print(f"  {made}", style="dim")
        out.print(printable(summary.conversation_summary))
        for finding in summary.key_findings:
            out.print(f"  - {printable(finding)}")
        if summary.files_mentioned:
            out.print(f"  Files: {printable(', '.join(summary.files_mentioned))}", style="dim")
        out.print()


def show_jobs(found: Sequence[Job], counts: Mapping[JobStatus, int]) -> None:
    """Show jobs, and how many there are of each kind."""
    rows = [
        [
            job.kind,
            job.status,
            str(job.attempts),
            f"{job.run_after:%Y-%m-%d %H:%M}",
            one_line(job.error or "", 80),
        ]
        for job in found
    ]
    if rows:
        columns = ["Job", "Status", "Attempts", "Due", "Problem"]
        print_table(columns, rows, one_line_each=("Problem",))
    told = ", ".join(f"{count:,} {status}" for status, count in counts.items())
    print_note(f"Jobs: {told}.")
