"""What requests to models took, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragforge.show.console import Fields, print_note, print_table

if TYPE_CHECKING:
    from ragforge.app.features.usage import UsageGroup, UsageReport

_COUNTS = ("Requests", "Input", "From cache", "Output", "Cost")


def usage_to_json(report: UsageReport) -> dict[str, object]:
    return {
        "by": list(report.by),
        "groups": [
            {**dict(zip(report.by, group.keys, strict=True)), **_count(group)}
            for group in report.groups
        ],
        "total": _count(report.total),
    }


_count = Fields(
    "requests=usage.requests input_tokens=usage.input_tokens cached_tokens=usage.cached_tokens"
    " cache_write_tokens=usage.written_tokens output_tokens=usage.output_tokens usd=usage.usd"
    " unpriced_requests=unpriced",
    usd=lambda usd: round(usd, 6),
)


def show_usage(report: UsageReport, empty: str) -> None:
    """Show the groups and their total as a table."""
    if not report.total.usage.requests:
        print_note(empty)
        return
    columns = [*(key.title() for key in report.by), *_COUNTS]
    total = ["Total", *[""] * (len(report.by) - 1), *format_counts(report.total)]
    rows = [[*group.keys, *format_counts(group)] for group in report.groups]
    print_table(columns, [*rows, total] if len(rows) > 1 else rows)
    if note := explain_price(report.total):
        print_note(note)


def show_costs(reports: Mapping[str, UsageReport]) -> None:
    """Show named reports by model, one below the other."""
    rows = [
        [name if place == 0 else "", *group.keys, *format_counts(group)]
        for name, report in reports.items()
        for place, group in enumerate(report.groups)
    ]
    if not rows:
        print_note("No model was asked yet.")
        return
    print_table(["", "Model", *_COUNTS], rows)
    last = list(reports.values())[-1]
    if note := explain_price(last.total):
        print_note(note)


def format_counts(group: UsageGroup) -> Sequence[str]:
    """Return the cells of a group: requests, tokens, and money."""
    usage = group.usage
    return (
        f"{usage.requests:,}",
        f"{usage.input_tokens:,}",
        f"{group.cached_share:.0%}",
        f"{usage.output_tokens:,}",
        format_price(group),
    )


def format_price(group: UsageGroup) -> str:
    """Return what is known of a price; a plus sign means that some requests have none."""
    if group.usage.usd is None:
        return "–"
    usd = group.usage.usd
    return f"${usd:,.{2 if usd >= 1 else 4}f}{'+' if group.unpriced else ''}"


def explain_price(total: UsageGroup) -> str:
    """Return a sentence about requests without a price; empty if there are none."""
    if not total.unpriced:
        return ""
    what = "1 request is" if total.unpriced == 1 else f"{total.unpriced:,} requests are"
    return f"The price of {what} not known."
