"""`ragforge memory work`, `embed`, `rebuild` and `jobs`: background work, and doing it now."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal, TypeAlias

from ragforge.cli.options import AllOption, JsonOption, YesOption, flag, option
from ragforge.cli.progress import show_progress
from ragforge.cli.state import confirm, open_here
from ragforge.show.console import print_json, print_note
from ragforge.show.store import job_to_json, show_jobs

if TYPE_CHECKING:
    from ragforge.domain.work import JobStatus

SHOWN = 50
FAILED = "{:,} jobs failed. `ragforge memory jobs` lists them."


async def work(
    seconds: int = option("--seconds", "Maximum time.", 600, min=1, max=86_400),
    as_json: JsonOption = False,
) -> None:
    """Do the queued jobs: vectors, titles, summaries, the code.

    Then do the maintenance of the store that is due.
    """
    async with open_here() as app:
        counts = await app.jobs.wait(seconds)
        await app.maintenance.finish_upkeep(seconds)
    if as_json:
        print_json({"counts": dict(counts)})
        return
    left = counts["pending"] + counts["running"]
    print_note(f"{left:,} jobs are left." if left else "All jobs are done.")
    if counts["dead"]:
        print_note(FAILED.format(counts["dead"]))


async def embed(as_json: JsonOption = False) -> None:
    """Compute a vector for every past turn with the current model."""
    async with open_here() as app:
        missing, done = (await app.maintenance.count_embedded()).missing, 0
        with show_progress() as on_progress:

            def on_embedded(count: int) -> None:
                nonlocal done
                done += count
                on_progress("turns", done, missing)

            found = await app.maintenance.embed_memory(on_embedded)
    embedded = found.turns - found.missing
    if as_json:
        print_json({"model": found.model, "turns": found.turns, "embedded": embedded})
        return
    left = f"; {found.missing:,} have no text to embed" if found.missing else ""
    print_note(f"{embedded:,} of {found.turns:,} turns have vectors of {found.model}{left}.")


async def rebuild(
    again: bool = flag("--again", "Delete the old summaries and write new ones."),
    everywhere: AllOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Create the summaries and vectors that are due, now."""
    if again and not yes:
        confirm("Delete the summaries and create them again?")
    async with open_here() as app:
        with show_progress() as on_progress:
            report = await app.maintenance.rebuild(
                everywhere, again, lambda done, total: on_progress("conversations", done, total)
            )
    if as_json:
        print_json(asdict(report))
        return
    print_note(f"{report.conversations:,} conversations have {report.summaries:,} summaries.")
    if report.failed_jobs:
        print_note(FAILED.format(report.failed_jobs))


Shown: TypeAlias = Literal["open", "pending", "running", "done", "dead"]
OPEN: tuple[JobStatus, ...] = ("running", "pending", "dead")


async def jobs(
    status: Shown = option("--status", "open: all that are not done.", "open"),
    retry: bool = flag("--retry", "Try failed jobs again."),
    limit: int = option("-k --limit", "How many to show.", SHOWN, min=1),
    as_json: JsonOption = False,
) -> None:
    """Show the background jobs."""
    async with open_here() as app:
        revived = await app.jobs.retry_failed() if retry else 0
        found = await app.jobs.find(limit, OPEN if status == "open" else (status,))
        counts = await app.jobs.count()
    if as_json:
        print_json(
            {
                "jobs": [job_to_json(job) for job in found],
                "counts": dict(counts.by_status),
                "revived": revived,
                "waiting_of_others": dict(counts.of_others),
            }
        )
        return
    if retry:
        print_note(f"{revived:,} failed jobs will be tried again.")
    show_jobs(found, counts)
