"""Explore: what calls some code, what it calls, its members, implementors and so on, by a name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence

from ragforge.brain.parse.outline import HOLDERS, SPACES
from ragforge.brain.search.exploration import Answer, Exploration, Found, Question, share_room
from ragforge.brain.search.subjects import (
    Subject,
    find_subjects,
    is_clear,
    is_test,
    is_whole_file,
)
from ragforge.brain.search.walker import ANY_DEPTH, USED, Walker, find_unused
from ragforge.domain.code import (
    MODULE,
    SECTION,
    File,
    FileFilter,
    RelationFilter,
    RelationKind,
    Scope,
    ScopeFilter,
    ScopeName,
)
from ragforge.domain.schema import FILE, SCOPE, SCOPE_NAME
from ragforge.errors import InputError
from ragforge.ports.store import Store

MAX_DEPTH = 5
MAX_ANSWERS = 8
"""Of more subjects of one name only the places are listed."""


async def explore(store: Store, project_id: str, question: Question) -> Exploration:
    """Answer a question about the code that has a name. Raises InputError if none has it."""
    explorer = Explorer(store, project_id)
    if question.relation == "unused":
        answer = await explorer.find_unused(question.name)
        return Exploration(question, share_room([answer], question.max_places))
    if not question.name:
        raise InputError("Give the name of a function, class or file, or path:line.")
    subjects = await find_subjects(store, project_id, question.name, question.file)
    if question.relation is None:
        shown = subjects[: 1 if is_clear(subjects, question.name) else 0]
    else:
        shown = subjects[:MAX_ANSWERS]
    answers = [await explorer.answer(subject, question) for subject in shown]
    fitting = share_room(answers, question.max_places)
    return Exploration(question, fitting, tuple(subjects[len(shown) :]))


class Explorer:
    """Answers questions about the code of one project."""

    def __init__(self, store: Store, project_id: str) -> None:
        self._store = store
        self._project_id = project_id
        self._walker = Walker(store)

    async def answer(self, subject: Subject, question: Question) -> Answer:
        """Return what is asked about a subject."""
        ask: Mapping[str, Callable[[Subject, int | None], Awaitable[Found]]] = {
            "callers": self._find_callers,
            "callees": self._find_callees,
            "members": self._find_members,
            "implementors": self._find_implementors,
            "overrides": self._find_overrides,
            "users": self._find_users,
            "imports": self._find_imports,
        }
        find = self._find_neighbours if question.relation is None else ask[question.relation]
        found = await find(subject, question.depth)
        scope = await self._load_source(subject) if question.source else None
        inner: Sequence[ScopeName] = ()
        if scope is not None and scope.search_text is not None:
            inner = await self._store.records.find(
                SCOPE_NAME, ScopeFilter(self._project_id, [scope.file])
            )
        return Answer(subject, found, await self._find_holder(subject), 0, scope, inner)

    async def find_unused(self, name: str) -> Answer:
        """Return what nothing uses in a type, in a file, below a folder, or in the project."""
        subject, scopes = await self._list_below(name)
        unused = await find_unused(self._walker, scopes)
        return Answer(subject, {"unused": [*_order(unused, "")]})

    async def _list_below(self, name: str) -> tuple[Subject, Sequence[ScopeName]]:
        folder = name.removeprefix("./").strip("/")
        paths = [
            path
            for path in await self._store.code.file_paths(self._project_id)
            if folder in ("", ".") or path == folder or path.startswith(f"{folder}/")
        ]
        if paths:
            where = ScopeFilter(self._project_id, paths if folder else None)
            return Subject(path=folder or "."), await self._store.records.find(SCOPE_NAME, where)
        [subject, *_] = await find_subjects(self._store, self._project_id, name)
        if subject.path or not subject.is_type:
            return subject, subject.parts
        return subject, await self._walker.name(await self._list_members(subject, ANY_DEPTH))

    async def _find_callers(self, subject: Subject, depth: int | None) -> Found:
        return await self._find_sources(subject, ("CONSUMES",), "callers", depth)

    async def _find_users(self, subject: Subject, depth: int | None) -> Found:
        found = await self._find_sources(subject, USED, "users", depth)
        if subject.path:
            found |= {"imported_by": (await self._find_imports(subject, 1))["imported_by"]}
        return found

    async def _find_sources(
        self, subject: Subject, kinds: Sequence[RelationKind], heading: str, depth: int | None
    ) -> Found:
        own = await self._list_own(subject)
        levels = await self._walker.walk(own, kinds, depth or 1)
        return await self._head(heading, levels, subject)

    async def _find_callees(self, subject: Subject, depth: int | None) -> Found:
        own = await self._list_own(subject, with_functions=True)
        hidden = own if subject.is_type or subject.path else subject.ids
        levels = await self._walker.walk(own, ("CONSUMES",), depth or 1, out=True, hidden=hidden)
        return await self._head("callees", levels, subject)

    async def _find_members(self, subject: Subject, depth: int | None) -> Found:
        return await self._head("members", [await self._list_members(subject, depth or 1)], subject)

    async def _find_implementors(self, subject: Subject, depth: int | None) -> Found:
        if not subject.is_type and not subject.path:
            overriding, _ = await self._list_overriding(subject)
            return {"implementors": list(_order(overriding, subject.parts[0].file))}
        ids = [part.uuid for part in subject.parts if part.type in HOLDERS]
        levels = await self._walker.walk(ids, ("INHERITS_FROM",), depth or ANY_DEPTH)
        merged = await self._merge_blocks({uuid for level in levels for uuid in level})
        return {"implementors": list(_order(merged, _get_file(subject)))}

    async def _find_overrides(self, subject: Subject, depth: int | None) -> Found:
        below, above = await self._list_overriding(subject)
        file = _get_file(subject)
        return {"overridden_by": list(_order(below, file)), "overrides": list(_order(above, file))}

    async def _list_overriding(self, subject: Subject) -> tuple[list[ScopeName], list[ScopeName]]:
        """Return the members of the same name of the types below and above a method's type.

        For a type they are those of all its members.
        """
        members = list(subject.parts)
        if subject.is_type:
            members = await self._walker.name(await self._list_members(subject, 1))
        names = {one.name for one in members}
        holders = await self._walker.step([one.uuid for one in members], ("HAS_PARENT",), out=True)
        holders |= {one.uuid for one in await self._find_types_around(members)}
        found = []
        for out in (False, True):
            levels = await self._walker.walk(holders, ("INHERITS_FROM",), ANY_DEPTH, out=out)
            types = {uuid for level in levels for uuid in level}
            inner = await self._walker.name(await self._walker.step(types, ("HAS_PARENT",)))
            found.append([one for one in inner if one.name in names and one not in members])
        return found[0], found[1]

    async def _find_types_around(self, members: Sequence[ScopeName]) -> list[ScopeName]:
        """Return the types that methods written outside of them belong to, as in Go and C++."""
        names = {one.qualified_name.rpartition(".")[0] for one in members} - {""}
        where = ScopeFilter(self._project_id, names=names)
        found = await self._store.records.find(SCOPE_NAME, where) if names else []
        folders = {one.file.rpartition("/")[0] for one in members}
        return [
            one
            for one in found
            if one.type in HOLDERS
            and one.qualified_name in names
            and not is_whole_file(one)
            and one.file.rpartition("/")[0] in folders
        ]

    async def _find_imports(self, subject: Subject, depth: int | None) -> Found:
        files = [subject.path or subject.parts[0].file]
        known = await self._store.records.find(FILE, FileFilter(self._project_id, files))
        ids = [file.uuid for file in known]
        where = RelationFilter(ids, kinds=("IMPORTS", "USES_LIBRARY"))
        relations = await self._store.code.relations(where)
        ends = {one.target if one.source in ids else one.source for one in relations}
        paths = {uuid: file.path for uuid, file in (await self._load_files(ends)).items()}
        out = {paths[one.target] for one in relations if one.source in ids and one.target in paths}
        back = {paths[one.source] for one in relations if one.target in ids and one.source in paths}
        libraries = {one.target for one in relations if one.kind == "USES_LIBRARY"}
        return {
            "imports": sorted(out),
            "imported_by": sorted(back),
            "libraries": sorted(libraries),
        }

    async def _load_files(self, ids: Collection[str]) -> Mapping[str, File]:
        return await self._store.records.get_many(FILE, list(ids))

    async def _find_neighbours(self, subject: Subject, depth: int | None) -> Found:
        """Return what is next to a subject, by the roles of an overview."""
        if subject.path:
            imports = await self._find_imports(subject, 1)
            return {"holds": (await self._find_members(subject, 1))["members"], **imports}
        types = [part.uuid for part in subject.parts]
        above = await self._walker.step(types, ("INHERITS_FROM",), out=True)
        below = await self._walker.step(types, ("INHERITS_FROM",))
        used_by = (await self._find_callers(subject, depth))["callers"]
        found: Found = {
            "uses": (await self._find_callees(subject, depth))["callees"],
            "used_by": used_by,
            "inherits_from": list(_order(await self._walker.name(above), "")),
            "inherited_by": list(_order(await self._merge_blocks(below), "")),
            "holds": (await self._find_members(subject, 1))["members"],
        }
        return {role: places for role, places in found.items() if places}

    async def _find_holder(self, subject: Subject) -> ScopeName | None:
        if subject.path or not subject.parts:
            return None
        outer = await self._walker.name(
            await self._walker.step(subject.ids[:1], ("HAS_PARENT",), out=True)
        )
        outer = outer or await self._find_types_around(subject.parts[:1])
        return outer[0] if outer else None

    async def _load_source(self, subject: Subject) -> Scope | None:
        if subject.path or not subject.parts:
            return None
        return (await self._store.records.get_many(SCOPE, subject.ids[:1])).get(subject.ids[0])

    async def _list_own(self, subject: Subject, *, with_functions: bool = False) -> set[str]:
        """Return the ids of a subject and, of a type or file, of all that is in it."""
        if subject.path or not (subject.is_type or with_functions):
            return set(subject.ids)
        if all(part.type in SPACES for part in subject.parts):
            return {*subject.ids, *await self._list_members(subject, 1)}
        return {*subject.ids, *await self._list_members(subject, MAX_DEPTH)}

    async def _list_members(self, subject: Subject, depth: int) -> list[str]:
        """Return the ids of what is in a subject, without its own places."""
        if subject.path:
            inner = {part.uuid for part in subject.parts if not is_whole_file(part)}
            nested = await self._walker.step(inner, ("HAS_PARENT",)) if depth == 1 else set[str]()
            return [part.uuid for part in subject.parts if part.uuid in inner - nested]
        levels = await self._walker.walk(subject.ids, ("HAS_PARENT",), depth)
        found = {uuid: None for level in levels for uuid in level}
        if subject.is_type and not all(part.type in SPACES for part in subject.parts):
            for part in await self._find_outside(subject, depth):
                found.setdefault(part.uuid)
        return list(found)

    async def _find_outside(self, subject: Subject, depth: int) -> list[ScopeName]:
        """Return members that are written outside of their type, as in Go and C++."""
        main = subject.parts[0]
        where = ScopeFilter(self._project_id, inside=main.qualified_name)
        named = await self._store.records.find(SCOPE_NAME, where)
        folders = {part.file.rpartition("/")[0] for part in subject.parts}
        ending = main.file.rpartition(".")[2]
        level = main.qualified_name.count(".") + depth
        return [
            one
            for one in named
            if one.type not in (SECTION, MODULE)
            and one.uuid not in subject.ids
            and one.qualified_name.count(".") <= level
            and (one.file.rpartition("/")[0] in folders or ending in ("h", "hpp", "hh"))
        ]

    async def _merge_blocks(self, ids: Collection[str]) -> list[ScopeName]:
        """Return scopes with the types of `impl` blocks in their place."""
        scopes = await self._walker.name(ids)
        blocks = [one for one in scopes if one.type == "impl"]
        if not blocks:
            return scopes
        relations = await self._walker.relate([one.uuid for one in blocks], ("CONSUMES",))
        targets = {one.uuid: one for one in await self._walker.name({r.target for r in relations})}
        merged = {one.uuid: one for one in scopes if one.type != "impl"}
        for block in blocks:
            types = [
                targets[r.target]
                for r in relations
                if r.source == block.uuid
                and r.target in targets
                and targets[r.target].name == block.name
            ]
            for one in types or [block]:
                merged.setdefault(one.uuid, one)
        return list(merged.values())

    async def _head(
        self, heading: str, levels: Sequence[Collection[str]], subject: Subject
    ) -> Found:
        """Return the places of each level under a heading: `callers`, `callers_2`, …"""
        found: Found = {heading: []}
        for number, level in enumerate(levels, 1):
            places: list[ScopeName | str] = [
                *_order(await self._walker.name(level), _get_file(subject))
            ]
            if places:
                found[heading if number == 1 else f"{heading}_{number}"] = places
        return found


def _get_file(subject: Subject) -> str:
    return subject.path or subject.parts[0].file


def _order(scopes: Iterable[ScopeName], file: str) -> list[ScopeName]:
    """Return scopes in the order of a reply: the same file first, tests last."""
    return sorted(
        scopes,
        key=lambda one: (one.file != file, is_test(one.file), one.file, one.start_line, one.uuid),
    )
