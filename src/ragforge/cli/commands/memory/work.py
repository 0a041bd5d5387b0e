"""`ragforge memory work`: do the queued jobs."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.commands.memory.summaries import AllOption
from ragforge.cli.state import JsonOption, confirm, use_app

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragforge.app import App
    from ragforge.app.features.maintenance import EmbeddedMemory, RebuildReport
    from ragforge.domain.work import Job, JobCounts, JobStatus


SHOWN = 50


def work(
    context: typer.Context,
    seconds: Annotated[int, typer.Option(min=1, max=86_400, help="For how long at most.")] = 600,
    as_json: JsonOption = False,
) -> None:
    """Do the queued jobs until none is left: vectors, titles, summaries, the project's code.

    Then the upkeep of the store that is due.
    """
    from ragforge.show.console import print_json, print_note

    async def run(app: App) -> Mapping[JobStatus, int]:
        counts = await app.jobs.wait(seconds)
        await app.maintenance.finish_upkeep(seconds)
        return counts

    counts = use_app(context, run)
    if as_json:
        print_json({"counts": dict(counts)})
        return
    left = counts["pending"] + counts["running"]
    print_note(f"{left:,} jobs are left." if left else "All jobs are done.")
    if counts["dead"]:
        print_note(f"{counts['dead']:,} jobs have failed: see `ragforge memory jobs`.")


def embed(context: typer.Context, as_json: JsonOption = False) -> None:
    """Give every past turn a vector of the current embedding model, now."""
    from ragforge.cli.progress import show_progress
    from ragforge.show.console import print_json, print_note

    async def run(app: App) -> EmbeddedMemory:
        missing, done = (await app.maintenance.count_embedded()).missing, 0
        with show_progress() as on_progress:

            def on_embedded(count: int) -> None:
                nonlocal done
                done += count
                on_progress("turns", done, missing)

            return await app.maintenance.embed_memory(on_embedded)

    found = use_app(context, run)
    embedded = found.turns - found.missing
    if as_json:
        print_json({"model": found.model, "turns": found.turns, "embedded": embedded})
        return
    left = f"; {found.missing:,} hold no words to embed" if found.missing else ""
    print_note(f"{embedded:,} of {found.turns:,} turns have vectors of {found.model}{left}.")


def rebuild(
    context: typer.Context,
    anew: Annotated[bool, typer.Option("--anew", help="Throw the old summaries away.")] = False,
    everywhere: AllOption = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make the summaries and vectors that are due, now."""
    from ragforge.cli.progress import show_progress
    from ragforge.show.console import print_json, print_note

    if anew and not yes:
        confirm("Throw the summaries away and make them again?")

    async def run(app: App) -> RebuildReport:
        with show_progress() as on_progress:
            return await app.maintenance.rebuild(
                everywhere, anew, lambda done, total: on_progress("conversations", done, total)
            )

    done = use_app(context, run)
    if as_json:
        print_json(asdict(done))
        return
    print_note(f"{done.conversations:,} conversations have {done.summaries:,} summaries.")
    if done.failed_jobs:
        print_note(f"{done.failed_jobs:,} jobs have failed: see `ragforge memory jobs`.")


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
