"""Hook report: how the last calls of the hook went, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ragforge.app.hook.outcomes import HookOutcome, Result, read_outcomes
from ragforge.records import dataclass

LAST = 100
MANY = 0.1
"""The share of late or failed hooks from which doctor warns."""
MIN_MANY = 3
"""Fewer are not many, however few calls there were."""
LISTED_REASONS = 3


@dataclass(frozen=True, slots=True)
class HookReport:
    """The last calls of the hook, counted."""

    calls: int
    results: Mapping[Result, int]
    late_with_part: int  # late ones that gave what they had by then
    late_while: Mapping[str, int]  # what the late ones were doing
    failures: Mapping[str, int]  # why the failed ones failed
    median_ms: int | None
    deadline_ms: int

    @property
    def has_many_late(self) -> bool:
        return self._has_many("late")

    @property
    def has_many_failed(self) -> bool:
        return self._has_many("failed")

    def _has_many(self, result: Result) -> bool:
        count = self.results.get(result, 0)
        return count >= max(MIN_MANY, MANY * self.calls)


def read_hook_report(state_dir: Path, deadline_ms: int, limit: int = LAST) -> HookReport:
    """Return how the last calls went. Without a file there were none."""
    return count_outcomes(read_outcomes(state_dir, limit), deadline_ms)


def count_outcomes(outcomes: Sequence[HookOutcome], deadline_ms: int) -> HookReport:
    """Count outcomes, and their reasons with the most frequent first."""
    late = [one for one in outcomes if one.result == "late"]
    return HookReport(
        calls=len(outcomes),
        results=dict(Counter(one.result for one in outcomes)),
        late_with_part=sum(one.chars > 0 for one in late),
        late_while=_count(one.why for one in late),
        failures=_count(one.why for one in outcomes if one.result == "failed"),
        median_ms=_find_median([one.milliseconds for one in outcomes]),
        deadline_ms=deadline_ms,
    )


def describe_hooks(report: HookReport) -> str:
    """Return a report in one sentence; empty if the hook was never called."""
    if not report.calls:
        return ""
    count = report.results.get
    said = [f"{count('given', 0)} answered", f"{count('empty', 0)} had nothing to say"]
    if excluded := count("excluded", 0):
        said.append(f"{excluded} in folders that get nothing")
    if late := count("late", 0):
        said.append(f"{late} {'was' if late == 1 else 'were'} late ({_describe_late(report)})")
    if failed := count("failed", 0):
        said.append(f"{failed} failed: {_list_reasons(report.failures)}")
    return f"Hooks, last {report.calls}: {', '.join(said)}"


def _describe_late(report: HookReport) -> str:
    parts = [f"deadline {report.deadline_ms:,} ms"]
    if report.late_with_part:
        parts.append(f"{report.late_with_part} gave what had been found")
    if report.late_while:
        parts.append(_list_reasons(report.late_while))
    return "; ".join(parts)


def _list_reasons(counted: Mapping[str, int]) -> str:
    listed = [
        f"{why} ({number})" if number > 1 else why
        for why, number in list(counted.items())[:LISTED_REASONS]
    ]
    return ", ".join([*listed, "…"] if len(counted) > LISTED_REASONS else listed)


def _find_median(values: Sequence[int]) -> int | None:
    """Return the lower median; the module `statistics` takes longer to load than all of this."""
    return sorted(values)[(len(values) - 1) // 2] if values else None


def _count(reasons: Iterable[str]) -> dict[str, int]:
    return dict(Counter(why for why in reasons if why).most_common())
