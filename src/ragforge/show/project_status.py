"""Known: how it stands with what is known of a project's code, shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragforge.show.console import print_note, print_table

if TYPE_CHECKING:
    from ragforge.brain.project import ProjectStatus


def show_status(found: ProjectStatus, jobs: Mapping[str, int]) -> None:
    """Show what is known of the project, how fresh it is and what is pending."""
    if not found.known:
        print_note(f"Nothing is known of {found.path} yet. Run: ragforge ingest")
        return
    rows = [
        ["project", found.path],
        ["state", "up to date" if found.is_fresh else "not up to date"],
        ["files", f"{found.files:,}"],
        ["scopes", f"{found.scopes:,}"],
        ["model", found.model or "none: words alone"],
        ["changed files", f"{found.changed_files:,}"],
        ["files to relate", f"{found.unrelated_files:,}"],
        ["scopes to embed", f"{found.unembedded_scopes:,}"],
    ]
    rows += [["ingesting", found.ingesting]] if found.ingesting else []
    rows += [["embedding", found.embedding]] if found.embedding else []
    waiting = jobs.get("pending", 0) + jobs.get("running", 0)
    rows.append(["jobs", f"{waiting:,} waiting, {jobs.get('dead', 0):,} failed"])
    print_table(["Code", ""], rows)
