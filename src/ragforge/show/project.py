"""The state of a project's code, and the result of an ingestion, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from ragforge.show.console import Fields, open_console, print_note, print_table, sanitise

if TYPE_CHECKING:
    from ragforge.app.features.code import IngestionReport, ProjectStatus
    from ragforge.app.wiring.remaining_work import ReindexProgress
    from ragforge.domain.projects import ProjectPlace
    from ragforge.domain.work import JobStatus


def status_to_json(found: ProjectStatus, jobs: Mapping[JobStatus, int]) -> dict[str, object]:
    return {**asdict(found), "fresh": found.is_fresh, "jobs": dict(jobs)}


def format_moved(place: ProjectPlace) -> str:
    """Return a sentence about a remote with a new address; "" if it has not changed."""
    if place.former_remote is None:
        return ""
    new = next((one.remote for one in place.checkouts if one.uuid == place.checkout_id), None)
    return (
        f"The remote of {place.path} changed from {place.former_remote} to {new}. "
        "Memory and code are kept."
    )


def show_status(found: ProjectStatus, jobs: Mapping[JobStatus, int]) -> None:
    """Show what is indexed of the project, how fresh it is and what is pending."""
    if not found.known:
        print_note(f"{found.path} is not indexed yet. Run: ragforge ingest")
        return
    state = "up to date" if found.is_fresh else "not up to date"
    state = str(found.reading) if found.reading is not None else state
    rows = [
        ["project", found.path],
        *(["repository", remote] for remote in found.remotes),
        *(["also at", place] for place in found.checkouts if not place.endswith(f":{found.path}")),
        ["state", state],
        ["files", f"{found.files:,}"],
        ["scopes", f"{found.scopes:,}"],
        ["model", found.model or "none: only words are searched"],
        ["changed files", _format_changed(found)],
        ["files to relate", f"{found.unrelated_files:,}"],
        ["scopes to embed", f"{found.unembedded_scopes:,}"],
    ]
    rows += [["ingesting", found.ingesting]] if found.ingesting else []
    rows += [["embedding", found.embedding]] if found.embedding else []
    if (words := found.reindexing) is not None:
        rows.append(["word index", describe_reindexing(words)])
    waiting = jobs["pending"] + jobs["running"]
    rows.append(["jobs", f"{waiting:,} waiting, {jobs['dead']:,} failed"])
    print_table(["Code", ""], rows)


def describe_reindexing(words: ReindexProgress) -> str:
    """Return the progress of re-indexing the words."""
    return (
        f"{words.done:,} of {words.total:,} texts re-indexed; "
        "searches use the old index for the others"
    )


def _format_changed(found: ProjectStatus) -> str:
    if found.files_compared >= found.files:
        return f"{found.changed_files:,}"
    seen = f"{found.files_compared:,} of {found.files:,}"
    return f"{found.changed_files:,} in the newest {seen}; --check compares all"


_REPORT = Fields("project_id files read copied removed scopes related")


def report_to_json(report: IngestionReport, embedded: int, verbose: bool) -> dict[str, object]:
    facts: dict[str, object] = {
        **_REPORT(report),
        "embedded": embedded,
        "skipped": dict(report.reasons),
    }
    if report.exact is not None:
        exact = report.exact
        used, changed = len(exact.fresh), list(exact.stale)
        facts["scip"] = {"file": exact.source, "used": used, "changed": changed}
    if verbose:
        facts["skipped_files"] = [[file.path, file.reason] for file in report.skipped]
    return facts


def _note_index(source: str, used: int, stale: Sequence[str], verbose: bool) -> None:
    print_note(f"{sanitise(source)}: exact relations of {used:,} files.")
    if stale:
        named = ", ".join(map(sanitise, stale if verbose else stale[:MAX_NAMED]))
        more = f" and {len(stale) - MAX_NAMED:,} more" if len(stale) > MAX_NAMED else ""
        more = "" if verbose else more
        print_note(f"Changed since, so found by names: {named}{more}.")


MAX_NAMED = 5
"""Of the files that changed since an index was made."""


def show_report(report: IngestionReport, embedded: int, verbose: bool) -> None:
    """Show what was read and left out; `verbose` lists every file that was."""
    from ragforge.app.features.extras import describe_missing_grammars  # slow to load

    if verbose:
        out = open_console()
        for file in report.skipped:
            out.print(f"{sanitise(file.path)}  ", end="")
            out.print(file.reason, style="dim")
    changed = f"{report.read:,} read, {report.removed:,} removed" if report.read else "none changed"
    if not report.read and report.removed:
        changed = f"{report.removed:,} removed"
    if report.copied:
        changed = f"{report.copied:,} copied from another checkout, {changed}"
    print_note(
        f"{report.files:,} files ({changed}), {report.scopes:,} scopes parsed, "
        f"{embedded:,} embedded."
    )
    if report.exact is not None:
        _note_index(report.exact.source, len(report.exact.fresh), report.exact.stale, verbose)
    reasons = [
        f"{count:,} {reason}" for reason, count in report.reasons.items() if reason != "no grammar"
    ]
    if reasons and not verbose:
        print_note(f"Left out: {', '.join(reasons)}. --verbose lists them.")
    if missing := describe_missing_grammars(report.skipped):
        print_note(missing)
