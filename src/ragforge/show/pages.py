"""Web pages that are stored with a project, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.domain.code import File
from ragforge.domain.instants import format_instant
from ragforge.show.console import print_note, print_table


def page_to_json(page: File) -> dict[str, object]:
    return {
        "url": page.path,
        "fetched_at": None if page.mtime is None else format_instant(page.mtime),
        "size": page.size,
    }


def show_pages(pages: Sequence[File]) -> None:
    """Show pages as a table."""
    if not pages:
        print_note("No web page was read for this project.")
        return
    rows = [
        [f"{page.mtime:%Y-%m-%d}" if page.mtime else "", f"{page.size:,}", page.path]
        for page in pages
    ]
    print_table(["Fetched", "Bytes", "Address"], rows)
