"""Graph: what a scope, a file or a session is connected with."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from ragforge.domain.code import (
    WHOLE_FILES,
    FileFilter,
    Relation,
    RelationFilter,
    ScopeFilter,
    ScopeName,
)
from ragforge.domain.schema import CONVERSATION, FILE, SCOPE_NAME
from ragforge.errors import ConversationNotFound
from ragforge.records import dataclass

if TYPE_CHECKING:
    from ragforge.app.features.code import Code
    from ragforge.app.features.sessions import Sessions
    from ragforge.domain.conversations import Conversation

NodeKind: TypeAlias = Literal["scope", "file", "library", "session"]
NEIGHBOURS = 150
"""How many neighbours of a node are shown."""
SESSIONS = 30
TOUCHES = 1_000


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A thing in the graph. Its id is its kind, a colon, and what identifies it."""

    id: str
    kind: NodeKind
    label: str
    place: str = ""  # `file:line` of a scope, the path of a file, the id of a session


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A relation between two nodes."""

    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True)
class Graph:
    """A node with its neighbours."""

    center: GraphNode
    nodes: Sequence[GraphNode]  # the center first
    edges: Sequence[GraphEdge]
    left_out: int = 0  # neighbours beyond the limit


@dataclass(slots=True)
class _Draft:
    """A graph that is being put together; each node is in it once."""

    center: GraphNode
    nodes: dict[str, GraphNode] = field(default_factory=dict)
    edges: dict[GraphEdge, None] = field(default_factory=dict)

    def add(self, node: GraphNode, kind: str, *, is_source: bool = False) -> None:
        """Add a neighbour of the center, and the edge between them."""
        if node.id == self.center.id:
            return
        self.nodes.setdefault(node.id, node)
        ends = (node.id, self.center.id) if is_source else (self.center.id, node.id)
        self.edges[GraphEdge(*ends, kind)] = None

    def finish(self) -> Graph:
        kept = dict(list(self.nodes.items())[:NEIGHBOURS])
        shown = {self.center.id, *kept}
        edges = [edge for edge in self.edges if {edge.source, edge.target} <= shown]
        left_out = len(self.nodes) - len(kept)
        return Graph(self.center, (self.center, *kept.values()), edges, left_out)


@dataclass(frozen=True, slots=True)
class GraphExplorer:
    """Finds the neighbours of a node: code of this project, and the sessions that touched it."""

    code: Code
    sessions: Sessions

    async def load(self, wanted: str) -> Graph | None:
        """Return the graph around a node, by id or `place:file:line`; None if it is unknown."""
        kind, _, name = wanted.partition(":")
        if kind == "session":
            return await self._load_session(name)
        if not self.code.is_read or not await self.code.is_ingested():
            return None
        if kind == "place":
            name = await self._find_scope(name)
        if kind == "file":
            return await self._load_file(name)
        return await self._load_scope(name) if kind in ("scope", "place") else None

    async def _find_scope(self, place: str) -> str:
        """Return the id of the smallest scope at `file:line`, rather than the file, or nothing."""
        file, _, line = place.rpartition(":")
        if not file or not line.isdecimal():
            return ""
        scopes = [
            (scope.end_line - scope.start_line, scope.type in WHOLE_FILES, scope.uuid)
            for scope in await self.code.outline(file)
            if scope.start_line <= int(line) <= scope.end_line
        ]
        return min(scopes, default=(0, False, ""))[2]

    async def _load_scope(self, uuid: str) -> Graph | None:
        records = self.sessions.store.records
        known = (await records.get_many(SCOPE_NAME, [uuid])).get(uuid)
        if known is None:
            return None
        draft = _Draft(_make_scope(known))
        draft.add(_make_file(known.file), "in")
        await self._add_relations(draft, uuid)
        await self._add_sessions(draft, scope_ids=[uuid])
        return draft.finish()

    async def _load_file(self, path: str) -> Graph | None:
        records, project = self.sessions.store.records, self.code.brain.project_id
        found = await records.find(FILE, FileFilter(project, [path], pages=None))
        if not found:
            return None
        draft = _Draft(_make_file(path))
        await self._add_sessions(draft, files=[path])
        await self._add_relations(draft, found[0].uuid)
        for scope in await records.find(SCOPE_NAME, ScopeFilter(project, [path])):
            draft.add(_make_scope(scope), "in", is_source=True)
        return draft.finish()

    async def _load_session(self, uuid: str) -> Graph | None:
        store = self.sessions.store
        try:
            session = await store.records.get(CONVERSATION, uuid)
        except ConversationNotFound:
            return None
        draft = _Draft(_make_session(session))
        family = await self.sessions.find_relatives(session)
        for parent, kind in ((family.parent, "started"), (family.origin, "branch")):
            if parent is not None:
                draft.add(_make_session(parent), kind, is_source=True)
        for children, kind in ((family.started, "started"), (family.branches, "branch")):
            for child in children:
                draft.add(_make_session(child), kind)
        touches = await store.timeline.touches(conversation_id=uuid, limit=TOUCHES)
        targets = [touch.target_id for touch in touches]
        scopes = await store.records.get_many(SCOPE_NAME, targets)
        for touch in touches:
            scope = scopes.get(touch.target_id)
            draft.add(_make_scope(scope) if scope else _make_file(touch.file), touch.how)
        return draft.finish()

    async def _add_relations(self, draft: _Draft, uuid: str) -> None:
        """Add what a scope or file uses, inherits from, imports or lies in, and the reverse."""
        near = await self.sessions.store.code.relations(RelationFilter([uuid]))
        out = [relation for relation in near if relation.source == uuid]
        back = [relation for relation in near if relation.target == uuid]
        nodes = await self._name_ends([r.target for r in out] + [r.source for r in back])
        for relation in out:
            if relation.kind == "USES_LIBRARY":
                library = GraphNode(f"library:{relation.target}", "library", relation.target)
                draft.add(library, _name_kind(relation))
            elif relation.target in nodes:
                draft.add(nodes[relation.target], _name_kind(relation))
        for relation in back:
            if relation.source in nodes:
                draft.add(nodes[relation.source], _name_kind(relation), is_source=True)

    async def _name_ends(self, ids: Sequence[str]) -> dict[str, GraphNode]:
        """Return the scopes and files with these ids; others are left out."""
        records = self.sessions.store.records
        scopes = await records.get_many(SCOPE_NAME, ids)
        found = {uuid: _make_scope(one) for uuid, one in scopes.items()}
        if others := list(set(ids) - found.keys()):
            files = await records.get_many(FILE, others)
            found |= {uuid: _make_file(file.path) for uuid, file in files.items()}
        return found

    async def _add_sessions(
        self, draft: _Draft, *, files: Sequence[str] = (), scope_ids: Sequence[str] = ()
    ) -> None:
        """Add the sessions of the project that touched the center, the newest first."""
        store, ids = self.sessions.store, self.sessions.project.ids
        touches = await store.timeline.touches(
            files=files, scope_ids=scope_ids, project_ids=ids, limit=TOUCHES
        )
        done = {touch.conversation_id: touch.how for touch in reversed(touches)}
        for uuid in list(reversed(done))[:SESSIONS]:
            with suppress(ConversationNotFound):  # deleted since
                session = await store.records.get(CONVERSATION, uuid)
                draft.add(_make_session(session), done[uuid], is_source=True)


def _make_scope(scope: ScopeName) -> GraphNode:
    place = f"{scope.file}:{scope.start_line}"
    return GraphNode(f"scope:{scope.uuid}", "scope", scope.qualified_name, place)


def _make_file(path: str) -> GraphNode:
    return GraphNode(f"file:{path}", "file", path, path)


def _make_session(session: Conversation) -> GraphNode:
    return GraphNode(
        f"session:{session.uuid}", "session", session.title or session.uuid[:8], session.uuid
    )


def _name_kind(relation: Relation) -> str:
    return relation.kind.lower().replace("_", " ")
