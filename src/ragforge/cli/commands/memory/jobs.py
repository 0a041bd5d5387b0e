"""`ragforge memory jobs`: what is still to be done, and what failed."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.state import JsonOption, use_app

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.domain.work import Job, JobCounts, JobStatus

SHOWN = 50


class Shown(StrEnum):
    """Which jobs to show."""

    open = "open"
    pending = "pending"
    running = "running"
    done = "done"
    dead = "dead"


_STATUSES: dict[Shown, tuple[JobStatus, ...]] = {
    Shown.open: ("running", "pending", "dead"),
    Shown.pending: ("pending",),
    Shown.running: ("running",),
    Shown.done: ("done",),
    Shown.dead: ("dead",),
}


def jobs(
    context: typer.Context,
    status: Annotated[Shown, typer.Option(help="open: all that are not done.")] = Shown.open,
    retry: Annotated[
        bool, typer.Option("--retry", help="Give those that failed another chance.")
    ] = False,
    limit: Annotated[int, typer.Option("-k", "--limit", min=1, help="How many to show.")] = SHOWN,
    as_json: JsonOption = False,
) -> None:
    """Show the work that is done in the background."""
    from ragforge.show.console import print_json, print_note
    from ragforge.show.jobs import job_to_json, show_jobs

    async def run(app: App) -> tuple[list[Job], JobCounts, int]:
        revived = await app.jobs.retry_failed() if retry else 0
        found = await app.jobs.find(limit, _STATUSES[status])
        return found, await app.jobs.count(), revived

    found, counts, revived = use_app(context, run)
    if as_json:
        jobs = [job_to_json(job) for job in found]
        print_json(
            {
                "jobs": jobs,
                "counts": dict(counts.by_status),
                "revived": revived,
                "waiting_of_others": dict(counts.of_others),
            }
        )
        return
    if retry:
        print_note(f"{revived:,} failed jobs will be tried again.")
    show_jobs(found, counts)
