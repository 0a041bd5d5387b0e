"""The state of a store, what it holds, and its jobs, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragforge.show.console import Fields, fit_line, print_note, print_table

if TYPE_CHECKING:
    from ragforge.app.wiring.stores import Health, RescueReport, VacuumReport
    from ragforge.domain.work import Job, JobCounts


def store_to_json(health: Health, counts: Mapping[str, int]) -> dict[str, object]:
    return {**_describe(health), "problems": list(health.problems), "counts": dict(counts)}


def show_store(health: Health, counts: Mapping[str, int]) -> None:
    """Show which store is in use, its problems, and how much it holds of each kind."""
    facts = _describe(health)
    if health.bytes is not None:
        facts["bytes"] = f"{health.bytes:,}"
    rows = [[name, str(value)] for name, value in facts.items()]
    rows += [["problem", problem] for problem in health.problems]
    rows += [[kind.replace("_", " "), f"{count:,}"] for kind, count in counts.items()]
    print_table(["Store", ""], rows)


rescue_to_json = Fields("saved partly lost notes notes_lost")


def show_rescue(report: RescueReport, damaged: str, place: str) -> None:
    """Show what was saved of a damaged store, what was lost, and how to use the new file."""
    print_note(f"Saved {len(report.saved):,} sessions and {report.notes:,} notes to {place}.")
    for conversation_id, messages in report.partly.items():
        print_note(f"Session {conversation_id}: only {messages:,} messages can be read.")
    for conversation_id in report.lost:
        print_note(f"Session {conversation_id} cannot be read.")
    if report.notes_lost:
        print_note("Some notes cannot be read.")
    print_note(f"To use it, replace {damaged} with it, then run: ragforge ingest")


vacuum_to_json = Fields("before after given_back delayed=is_delayed")


def show_vacuum(report: VacuumReport, place: str) -> None:
    """Show how much space a file released, and its size."""
    if report.is_delayed:
        print_note(f"{place} shrinks when the processes that are reading it have finished.")
    elif report.given_back:
        given = f"{report.given_back / 1e6:,.1f} MB"
        print_note(f"Released {given}: {place} now has {report.after / 1e6:,.1f} MB.")
    else:
        print_note(f"Nothing to release: {place} has {report.after / 1e6:,.1f} MB.")


def _describe(health: Health) -> dict[str, object]:
    return {
        "engine": health.engine,
        "version": health.version,
        "location": health.location,
        "schema": health.schema,
        **({} if health.bytes is None else {"bytes": health.bytes}),
        **({"access": "read-only"} if health.read_only else {}),
    }


def show_jobs(found: Sequence[Job], counts: JobCounts) -> None:
    """Show jobs with their owners, the number of each status, and those of other users."""
    rows = [
        [
            _name_kind(job.kind),
            job.status,
            fit_line(job.owner or "any user", 40),
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
        print_note(f"Jobs that only their owners can do: {', '.join(others)}.")


def _name_kind(kind: str) -> str:
    """Return a kind without the project that an ingestion belongs to."""
    return kind.partition(":")[0]


job_to_json = Fields(
    "key kind status attempts error run_after created_at owner machine", kind=_name_kind
)
