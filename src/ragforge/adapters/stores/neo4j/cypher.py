"""Cypher: the few pieces that every query needs. Values are parameters, labels constants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from ragforge.domain.instants import to_epoch_ms, to_millisecond
from ragforge.domain.kinds import Kind
from ragforge.domain.schema import TIMES

FILE_LABELS = "File|WebPage"
SCOPE_LABELS = "Scope|MarkdownSection"

LOCK = "SET n._lock = true REMOVE n._lock"
"""Take a node's write lock: what is read after this statement stays true until the end."""

_KEY_CHARS = 200


_LABELS = {"turn": "Message", "file": FILE_LABELS, "scope": SCOPE_LABELS, "job": "RagForgeJob"}


def get_label(kind: Kind[Any, Any]) -> str:
    """Return the label of the nodes of a kind, or several: that of a `tool_call` is `ToolCall`."""
    return _LABELS.get(kind.name) or kind.name.title().replace("_", "")


def is_seen(variable: str, column: str = "private_to") -> str:
    """Return the condition that a node is not private to a user other than $viewer."""
    return f"({variable}.{column} IS NULL OR {variable}.{column} = $viewer OR $viewer IS NULL)"


def filter_seen(kind: Kind[Any, Any]) -> str:
    """Return the condition that $viewer sees a node `n` of a kind."""
    return "true" if kind.seen_by is None else is_seen("n", kind.seen_by)


def is_own(conversation_id: str) -> str:
    """Return the condition that a conversation, given by an expression, is not another author's."""
    # Neither no author nor no viewer is unequal to anything.
    return f"""NOT EXISTS {{ MATCH (owned:Conversation {{uuid: {conversation_id}}})
                             WHERE owned.author_key <> $viewer }}"""


def is_own_node(variable: str) -> str:
    """Return the condition that a conversation or note does not belong to another author."""
    return f"coalesce({variable}.author_key = $viewer, true)"


def select_fields(variable: str, names: Iterable[str]) -> str:
    """Return a map of a node's properties as a row: absent ones are null, helpers left out.

    A time is a date-time in the graph and text in a row. Most also have their milliseconds,
    by which we filter and order: for Neo4j, one moment with two offsets is two date-times.
    """
    found = [
        f"{name}: toString({variable}.{name})" if name in TIMES else f".{name}" for name in names
    ]
    return variable + " {" + ", ".join(found) + "}"


def select_values(variable: str, names: Iterable[str]) -> str:
    """Return a list of a node's properties, in the order of their names, as they are in a row.

    For what is read by the hundred: the driver takes longer to read the names than the values.
    """
    found = [
        f"toString({variable}.{name})" if name in TIMES else f"{variable}.{name}" for name in names
    ]
    return f"[{', '.join(found)}]"


def assign(variable: str, names: Iterable[str], row: str = "row") -> str:
    """Return the SET clause that gives a node the properties of a row with these names."""
    changes = [f"{variable}.{name} = datetime({row}.{name})" for name in names if name in TIMES]
    return ", ".join([f"{variable} += {row}", *changes])


def index_key(text: str) -> str:
    """Return the key of a text in an index, which has no room for very long texts."""
    if len(text) <= _KEY_CHARS:
        return text
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def filter_ms(field: str, moment: datetime) -> int:
    """Return a bound in milliseconds. Raises InvalidTime if it has no time zone."""
    return to_epoch_ms(to_millisecond(field, moment))


class CypherFilter:
    """Conditions on a node `n` that must all hold, with their parameters.

    Some are known to an index of words as well: there they cost nothing for each node.
    """

    def __init__(self) -> None:
        self._conditions: list[str] = []
        self._in_index: list[str] = []
        self.is_indexed = True  # an index of words can check all of them
        self.match: str | None = None  # finds the nodes faster than by their label
        self.parameters: dict[str, Any] = {}

    def add(self, condition: str, in_index: str | None = None, **parameters: Any) -> CypherFilter:
        """Add a condition, unless one of its parameters is None.

        An index of words may check it too: then it comes with the Lucene query for that.
        """
        if all(value is not None for value in parameters.values()):
            self._conditions.append(condition)
            self.parameters |= parameters
            self.is_indexed = self.is_indexed and in_index is not None
            self._in_index += filter(None, [in_index])
        return self

    def narrow(self, query: str) -> str:
        """Return a Lucene query that finds no more than what passes."""
        return " ".join([f"+({query})", *self._in_index])

    def any_of(self, name: str, values: Sequence[str] | None) -> CypherFilter:
        """Add: the property has one of these values, unless they are None."""
        given = None if values is None else list(values)
        return self.add(f"n.{name} IN ${name}s", None, **{f"{name}s": given})

    def between(self, name: str, since: datetime | None, until: datetime | None) -> CypherFilter:
        """Add bounds, both inclusive, on a property that holds milliseconds."""
        if since is not None:
            self.add(f"n.{name} >= $since", since=filter_ms("since", since))
        if until is not None:
            self.add(f"n.{name} <= $until", until=filter_ms("until", until))
        return self

    def under(self, name: str, path: str | None) -> CypherFilter:
        """Add: the path is this file, or is below this directory (`src/a` is not `src/ab`)."""
        if path is None or not (path := path.strip("/")):
            return self
        condition = f"(n.{name} = $under OR n.{name} STARTS WITH $below)"
        return self.add(condition, under=path, below=f"{path}/")

    def __str__(self) -> str:
        return " AND ".join(self._conditions) or "true"


def format_match(kind: Kind[Any, Any], where: CypherFilter) -> str:
    """Return the clauses that find the nodes of a kind that pass a filter."""
    return f"{where.match or f'MATCH (n:{get_label(kind)})'} WHERE {where}"
