"""About: find the conversations that touched a file or scope, and what became of it since."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from ragforge.domain.code import FileFilter, ScopeFilter, Touch, pick_strongest
from ragforge.domain.conversations import Conversation
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import CONVERSATION, FILE, SCOPE_NAME
from ragforge.errors import ConversationNotFound, InputError
from ragforge.memory.code.changes import CodeState, CodeTracker, CommitLog, find_checkout
from ragforge.ports.store import Records, Store
from ragforge.records import dataclass

CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Subject:
    """The files and scopes that a text names. They may not exist any more."""

    files: tuple[str, ...] = ()
    scope_ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TouchedCode:
    """What was done with code in a turn, and what became of the code."""

    touch: Touch
    since: CodeState


@dataclass(frozen=True, slots=True)
class ConversationAbout:
    """A conversation with the code that it touched, the newest first."""

    conversation: Conversation
    touched: tuple[TouchedCode, ...]


async def find_conversations_about(
    store: Store,
    text: str,
    cwd: Path,
    project: ProjectPlace,
    *,
    log: CommitLog | None = None,
    everywhere: bool = False,
) -> list[ConversationAbout]:
    """Return the conversations of the project, or of all, that touched what the text names.

    Those that edited it come first, of these the last active. With the project's commit log, the
    commits since are included.
    Raises InputError if the text may mean several files.
    """
    subject = await resolve_subject(store, text, cwd, project)
    touches = merge_touches(
        await store.timeline.touches(
            files=subject.files,
            scope_ids=subject.scope_ids,
            names=subject.names,
            project_ids=None if everywhere else project.ids,
        )
    )
    if not touches:
        return []
    oldest = min(touch.when for touch in touches)
    tracker = CodeTracker(store, log, project.path)
    found: dict[str, list[TouchedCode]] = {}
    known: dict[str, Conversation] = {}
    for touch in touches:
        owner = touch.conversation_id
        try:
            if owner not in known:
                known[owner] = await store.records.get(CONVERSATION, owner)
        except ConversationNotFound:
            continue  # deleted since
        place = project.look_from(known[owner].project_id, known[owner].project_path)
        since = await tracker.track(touch, place, oldest)
        found.setdefault(owner, []).append(TouchedCode(touch, since))

    def rate(owner: str) -> tuple[bool, datetime]:
        edited = any(one.touch.how == "edited" for one in found[owner])
        return edited, known[owner].updated_at

    ordered = sorted(found, key=rate, reverse=True)
    return [ConversationAbout(known[owner], tuple(found[owner])) for owner in ordered]


def merge_touches(touches: Iterable[Touch]) -> list[Touch]:
    """Return the strongest touch for each target in a turn, in the given order.

    A touch by a summary is left out if one of its turns has a touch.
    """
    by_thing: dict[tuple[object, ...], Touch] = {}
    turns: dict[tuple[str, str], set[int]] = {}  # that touched a file themselves
    for touch in touches:
        owner, is_turn = touch.conversation_id, not touch.by_summary
        key = (owner, touch.first_turn, touch.last_turn, touch.target_id, is_turn)
        before = by_thing.setdefault(key, touch)
        by_thing[key] = replace(before, how=pick_strongest((before.how, touch.how)))
        if is_turn:
            turns.setdefault((owner, touch.file), set()).add(touch.first_turn)

    def is_repeated(touch: Touch) -> bool:
        own = turns.get((touch.conversation_id, touch.file), set())
        return touch.by_summary and any(touch.first_turn <= n <= touch.last_turn for n in own)

    return [touch for touch in by_thing.values() if not is_repeated(touch)]


async def resolve_subject(store: Store, text: str, cwd: Path, project: ProjectPlace) -> Subject:
    """Return what a text names: files by a path from `cwd` or the project, and scopes by name.

    Raises InputError if several files end with the path.
    """
    wanted = text.strip()
    if not wanted:
        raise InputError("Name a file, a directory or something in the code.")
    paths = _guess_paths(wanted, cwd, Path(project.path))
    names = () if "/" in wanted else (re.sub(r"::|#", ".", wanted).removesuffix("()"),)
    known = await find_checkout(store.records, project)
    if known is None:
        return Subject(paths, (), names)
    here = ScopeFilter(known.uuid, names=names)
    named = await store.records.find(SCOPE_NAME, here) if names else []
    files = await _find_files(store.records, known.uuid, wanted, paths)
    return Subject(files or paths, tuple(scope.uuid for scope in named), names)


def _guess_paths(text: str, cwd: Path, project: Path) -> tuple[str, ...]:
    """Return the paths in the project that a text may mean, the likelier first."""
    found: list[str] = []
    for folder in (cwd, project):
        try:
            place = (folder / Path(text).expanduser()).resolve().relative_to(project)
        except (ValueError, OSError, RuntimeError):
            continue  # outside the project, or not a path
        found.append("" if place == Path() else place.as_posix())
    return tuple(dict.fromkeys(found))


async def _find_files(
    records: Records, project_id: str, text: str, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the files of the project that a text means."""
    for path in paths:
        where = FileFilter(project_id, under=path or None)
        if found := await records.find(FILE, where):
            return tuple(file.path for file in found)
    ending = f"/{text.strip('/')}"
    every = await records.find(FILE, FileFilter(project_id))
    found = [file for file in every if file.path.endswith(ending)]
    if len(found) > 1:
        some = ", ".join(file.path for file in found[:CANDIDATES])
        more = ", …" if len(found) > CANDIDATES else ""
        raise InputError(f"{text!r} matches several files: {some}{more}. Give more of the path.")
    return tuple(file.path for file in found)
