"""Jobs, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragforge.domain.instants import format_instant
from ragforge.show.console import fit_line, print_note, print_table

if TYPE_CHECKING:
    from ragforge.domain.work import Job, JobCounts


def show_jobs(found: Sequence[Job], counts: JobCounts) -> None:
    """Show jobs and whose they are, how many there are of each kind, and how many others have."""
    rows = [
        [
            _name_kind(job),
            job.status,
            fit_line(job.owner or "anybody", 40),
            str(job.attempts),
            f"{job.run_after:%Y-%m-%d %H:%M}",
            fit_line(job.error or "", 80),
        ]
        for job in found
    ]
    if rows:
        columns = ["Job", "Status", "Owner", "Attempts", "Due", "Problem"]
        print_table(columns, rows, one_line_each=("Problem",))
    text = ", ".join(f"{count:,} {status}" for status, count in counts.by_status.items())
    print_note(f"Jobs: {text}.")
    others = [f"{count:,} of {fit_line(key, 60)}" for key, count in counts.of_others.items()]
    if others:
        print_note(f"Others have jobs that only they do: {', '.join(others)}.")


def job_to_json(job: Job) -> dict[str, object]:
    return {
        "key": job.key,
        "kind": _name_kind(job),
        "status": job.status,
        "attempts": job.attempts,
        "error": job.error,
        "run_after": format_instant(job.run_after),
        "created_at": format_instant(job.created_at),
        "owner": job.owner,
        "machine": job.machine,
    }


def _name_kind(job: Job) -> str:
    """Return the kind without the project that an ingestion belongs to."""
    return job.kind.partition(":")[0]
