"""Web pages: stored next to the files of a project, and found as documents are.

Saving a page does not wait for an ingestion, which may take minutes. Before a page is stored
the project is marked as not embedded completely, so that the next ingestion embeds what a process
that dies here leaves without vectors.
"""

from __future__ import annotations

from contextlib import suppress

from ragforge.brain.files.compare import RELATED
from ragforge.brain.ingestion.embed import (
    change_state,
    embed_files,
    format_embedded_state,
    make_unsettled,
    settle,
)
from ragforge.brain.parse.documents import outline_markdown, outline_prose
from ragforge.brain.parse.outline import (
    Outline,
    build_scopes,
    is_too_dense,
    make_scope_ids,
    outline_chunks,
)
from ragforge.brain.parse.read_source import make_file_id
from ragforge.domain.code import NEW, SECTION, File, ParsedFile, Project, hash_content
from ragforge.domain.instants import to_millisecond
from ragforge.domain.schema import PROJECT
from ragforge.errors import ModelError
from ragforge.ports.models import Embedder
from ragforge.ports.store import Store
from ragforge.ports.web import WebPage


async def save_page(
    store: Store, embedder: Embedder | None, project: Project, page: WebPage
) -> None:
    """Store a page of a project, or replace it; it is found by words at once.

    Without an answer of the embedding model it is embedded by the next ingestion.
    """
    lacks_only_page = None
    if embedder is not None:
        lacks_only_page = await _unsettle(store, project.uuid, embedder.name)
    await store.code.replace_files(project.uuid, [parse_page(project.uuid, page)])
    if embedder is None:
        return
    with suppress(ModelError):
        await embed_files(store, embedder, project.uuid, [page.url])
        if lacks_only_page is not None:
            await settle(store.records, lacks_only_page, embedder.name)


async def _unsettle(store: Store, project_id: str, model: str) -> Project | None:
    """Record that vectors may be missing; return the project if it lacks none but the page's.

    An ingestion that is under way finds another state than its own at its end, and leaves it to
    the next one to complete what is missing.
    """
    while (project := await store.records.get(PROJECT, project_id)).state != NEW:
        changed = make_unsettled(project)
        if await change_state(store.records, project, changed.state) == changed:
            return changed if project.state == format_embedded_state(model) else None
    return None


def parse_page(project_id: str, page: WebPage) -> ParsedFile:
    """Return a page with its sections, ready to be stored."""
    outline = _outline(page)
    if is_too_dense(outline, page.text):
        outline = outline_chunks(page.language, page.url, page.text, SECTION)
    file = File(
        path=page.url,
        hash=hash_content(page.text),
        uuid=make_file_id(project_id, page.url),
        kind="web_page",
        language=page.language,
        size=len(page.text.encode("utf-8", "replace")),
        mtime=to_millisecond("fetched_at", page.fetched_at),
        state=RELATED,  # nothing goes out of it
    )
    ids = make_scope_ids(project_id, page.url, outline)
    return ParsedFile(file, build_scopes(page.url, outline, page.text, ids))


def _outline(page: WebPage) -> Outline:
    if page.language == "markdown":
        return outline_markdown(page.url, page.text)
    if page.language == "text":
        return outline_prose("text", page.url, page.text)
    return outline_chunks(page.language, page.url, page.text, SECTION)
