"""`ragforge memory jobs`: what is still to be done, and what could not be."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.state import JsonOption, current_directory, load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragforge.config import Settings
    from ragforge.domain.work import Job, JobStatus

EXAMPLES = """\b
Examples:
  ragforge memory jobs
  ragforge memory jobs --status dead --json
  ragforge memory jobs --retry

Jobs are done while any RagForge runs. One that keeps failing is tried a few times, then it is dead.
"""
SHOWN = 50


class Shown(StrEnum):
    """Which jobs to show."""

    open = "open"
    pending = "pending"
    running = "running"
    done = "done"
    dead = "dead"


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
    import asyncio

    from ragforge.show.console import print_json, print_note
    from ragforge.show.memory_view import show_jobs

    settings = load(context).settings
    found, counts, revived = asyncio.run(_jobs(settings, status, retry, limit))
    if as_json:
        told = [_as_json(job) for job in found]
        print_json({"jobs": told, "counts": dict(counts), "revived": revived})
        return
    if retry:
        print_note(f"{revived:,} failed jobs will be tried again.")
    show_jobs(found, counts)


async def _jobs(
    settings: Settings, status: Shown, retry: bool, limit: int
) -> tuple[list[Job], Mapping[JobStatus, int], int]:
    from ragforge.app import open_app
    from ragforge.app.maintenance import retry_failed

    async with open_app(settings, current_directory()) as app:
        revived = await retry_failed(app) if retry else 0
        every: list[JobStatus] = ["running", "pending", "dead", "done"]
        wanted = [one for one in every if one == status] or every[:-1]
        found = [job for one in wanted for job in await app.store.jobs.find(one, limit)]
        return found[:limit], await app.store.jobs.counts(), revived


def _as_json(job: Job) -> dict[str, object]:
    from ragforge.domain.instants import format_instant

    return {
        "key": job.key,
        "kind": job.kind,
        "status": job.status,
        "attempts": job.attempts,
        "error": job.error,
        "run_after": format_instant(job.run_after),
        "created_at": format_instant(job.created_at),
    }
