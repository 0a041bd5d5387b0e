"""Connections: other agents and their configuration files, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragforge.app.connections import Change, HookReport


def format_agent(title: str, name: str, state: str) -> str:
    """Return an agent and whether it is connected on one line."""
    return f"{title:<12} {name:<12} {state}"


def change_to_json(change: Change) -> dict[str, Any]:
    """Return what becomes of a file."""
    return {
        "agent": change.agent,
        "path": str(change.path),
        "changes": change.is_needed,
        "removed": change.is_needed and change.after is None,
        "problem": change.problem or None,
    }


def hooks_to_json(report: HookReport) -> dict[str, Any]:
    """Return how the last hooks went."""
    count = report.results.get
    return {
        "calls": report.calls,
        "answered": count("given", 0),
        "empty": count("empty", 0),
        "excluded": count("excluded", 0),
        "late": count("late", 0),
        "late_with_part": report.late_with_part,
        "late_while": dict(report.late_while),
        "failed": count("failed", 0),
        "failures": dict(report.failures),
        "median_ms": report.median_ms,
        "deadline_ms": report.deadline_ms,
    }
