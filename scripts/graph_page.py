"""Write the tables of docs/graph.md: every kind of data as it is declared, and every label.

python -m scripts.graph_page
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ragforge.adapters.stores.neo4j.links import MENTION
from ragforge.adapters.stores.neo4j.migrate import list_newest_schema, read_migrations
from ragforge.adapters.stores.neo4j.vectors import get_vector_index
from ragforge.domain.kinds import Kind
from ragforge.domain.schema import (
    CHECKOUT,
    CONVERSATION,
    FILE,
    KINDS,
    MESSAGE,
    NOTE,
    PASSAGE,
    PROJECT,
    REFERENCE,
    SCOPE,
    SUMMARY,
    TOOL_CALL,
    TOOL_RESULT,
    TURN,
    USAGE,
    list_embedded,
)

PAGE = Path(__file__).parents[1] / "docs" / "graph.md"

_SCOPE = (*SCOPE, "project_id")
_SCOPE_WORDS = tuple(
    f"words_{part}" for part in ("name", "path", "signature", "docstring", "source")
)
_SCOPE_KEYS = ("file_path", "name_key", "qualified_name_key", *_SCOPE_WORDS)
_WORDS = ("project_id", "words")
_LABELS: Sequence[tuple[str, str, Iterable[str], Kind[Any, Any] | None, Sequence[str]]] = (
    # label, remark, properties, the kind whose vector it carries, what it has only on Neo4j
    ("Conversation", ", also `ConversationSession`", CONVERSATION, CONVERSATION, ()),
    ("Message", "", MESSAGE, TURN, _WORDS),
    ("Passage", "", PASSAGE, PASSAGE, ("words", "deeds")),
    ("ToolCall", "", TOOL_CALL, None, ()),
    ("ToolResult", "", TOOL_RESULT, None, ()),
    ("Summary", "", SUMMARY, SUMMARY, _WORDS),
    ("Note", "", NOTE, NOTE, ("words",)),
    ("Usage", "", USAGE, None, ()),
    ("Checkout", "", CHECKOUT, None, ()),
    ("Project", " (the code of a checkout)", PROJECT, None, ()),
    ("Directory", "", ("uuid", "project_id", "path", "name"), None, ()),
    ("File", "", FILE, None, ()),
    ("DocumentFile", " (a `File` too)", FILE, None, ()),
    ("WebPage", "", FILE, None, ()),
    ("Scope", "", _SCOPE, SCOPE, _SCOPE_KEYS),
    (
        "WholeFile",
        " (a `Scope` too: the one of a file, or a part of a file without scopes)",
        _SCOPE,
        SCOPE,
        _SCOPE_KEYS,
    ),
    ("MarkdownSection", "", _SCOPE, SCOPE, _SCOPE_KEYS),
    ("ExternalLibrary", "", ("name",), None, ()),
    ("CodeReference", "", REFERENCE, None, ("file_key",)),
    ("CodeMention", "", MENTION, None, ()),
    ("EmbeddingModel", "", ("name", "dimension"), None, ("key",)),
)
_INDEX = re.compile(r"CREATE .*? FOR \(n:(\w+)\) (?:REQUIRE|ON)(?: EACH)? (.*?)(?: IS | OPTIONS|$)")


def render_page(page: str) -> str:
    """Return the page with new tables between its markers."""
    for name, table in (("kinds", _render_kinds()), ("labels", _render_labels())):
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = page.partition(start)
        page = before + start + "\n".join(table) + "\n" + end + rest.partition(end)[2]
    return page


def _render_kinds() -> Iterator[str]:
    embedded = list_embedded()
    yield "| kind | redacted | found by | filters | order |"
    yield "| --- | --- | --- | --- | --- |"
    for kind in (*KINDS.values(), TURN, PASSAGE):
        has_words = kind.words is not None or kind in (TURN, PASSAGE, SCOPE)
        signals = [*(["words"] * has_words), *(["meaning"] * (kind in embedded))]
        cells = (
            f"`{kind.name}`",
            _list(kind.texts),
            ", ".join(signals),
            _list((*kind.where, *kind.special)),
            _list(kind.order),
        )
        yield _format_row(cells)


def _render_labels() -> Iterator[str]:
    indexed = _read_indexes()
    yield "| label | properties | on Neo4j only | indexed |"
    yield "| --- | --- | --- | --- |"
    for label, remark, properties, embedded, further in _LABELS:
        vector = () if embedded is None else _list_vector(embedded)
        cells = (
            f"`{label}`{remark}",
            _list(sorted(properties, key=lambda name: name != "uuid")),
            _list((*further, *vector)),
            _list(indexed.get(label, ())),
        )
        yield _format_row(cells)


def _list_vector(kind: Kind[Any, Any]) -> tuple[str, str, str]:
    index = get_vector_index(kind)
    return index.name, index.model, index.key


def _read_indexes() -> dict[str, list[str]]:
    """Return the properties in some index of each label, in the order of the newest schema."""
    found: dict[str, list[str]] = {}
    for statement in list_newest_schema(read_migrations()):
        if match := _INDEX.match(" ".join(statement.split())):
            found.setdefault(match[1], []).extend(re.findall(r"n\.(\w+)", match[2]))
    return {label: list(dict.fromkeys(names)) for label, names in found.items()}


def _format_row(cells: Iterable[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    PAGE.write_text(render_page(PAGE.read_text("utf-8")), "utf-8")
