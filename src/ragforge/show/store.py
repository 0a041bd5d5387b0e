"""The state of a store and what it holds, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragforge.show.console import print_note, print_table

if TYPE_CHECKING:
    from ragforge.app.wiring.stores import Health, RescueReport, VacuumReport


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


def rescue_to_json(report: RescueReport) -> dict[str, object]:
    return {
        "saved": report.saved,
        "partly": report.partly,
        "lost": report.lost,
        "notes": report.notes,
        "notes_lost": report.notes_lost,
    }


def show_rescue(report: RescueReport, damaged: str, place: str) -> None:
    """Show what was saved of a damaged store, what was not, and how to use the new file."""
    print_note(f"Saved {len(report.saved):,} sessions and {report.notes:,} notes to {place}.")
    for conversation_id, messages in report.partly.items():
        print_note(f"Session {conversation_id}: only {messages:,} messages can be read.")
    for conversation_id in report.lost:
        print_note(f"Session {conversation_id} cannot be read.")
    if report.notes_lost:
        print_note("Some notes cannot be read.")
    print_note(f"To use it, put it in the place of {damaged}, then run: ragforge ingest")


def vacuum_to_json(report: VacuumReport) -> dict[str, object]:
    return {
        "before": report.before,
        "after": report.after,
        "given_back": report.given_back,
        "delayed": report.is_delayed,
    }


def show_vacuum(report: VacuumReport, place: str) -> None:
    """Show how much space a file gave back, and how large it is now."""
    if report.is_delayed:
        print_note(f"{place} gets smaller once the processes that read it now are done.")
    elif report.given_back:
        given = f"{report.given_back / 1e6:,.1f} MB"
        print_note(f"Gave {given} back: {place} has {report.after / 1e6:,.1f} MB now.")
    else:
        print_note(f"Nothing to give back: {place} has {report.after / 1e6:,.1f} MB.")


def _describe(health: Health) -> dict[str, object]:
    return {
        "engine": health.engine,
        "version": health.version,
        "location": health.location,
        "schema": health.schema,
        **({} if health.bytes is None else {"bytes": health.bytes}),
        **({"access": "read-only"} if health.read_only else {}),
    }
