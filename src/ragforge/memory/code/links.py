"""Links: link turns and summaries to the code that they touch, with its current hash."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import PurePosixPath

from ragforge.domain.authors import AGENT
from ragforge.domain.code import (
    FOUND,
    CodeReference,
    FileFilter,
    FileMention,
    Project,
    Scope,
    ScopeFilter,
    ScopeName,
    TouchKind,
    group_by_name,
    make_file_target,
    pick_strongest,
)
from ragforge.domain.conversations import Conversation, Message
from ragforge.domain.projects import ProjectPlace, guess_paths, is_absolute, use_slashes
from ragforge.domain.schema import CONVERSATION, FILE, MESSAGE, SCOPE, SCOPE_NAME, SUMMARY
from ragforge.domain.summaries import Summary, format_summary_for_search
from ragforge.domain.turns import group_into_turns
from ragforge.memory.code.changes import find_checkout
from ragforge.memory.code.traces import read_edits
from ragforge.memory.code.turn_code import TurnCode
from ragforge.ports.store import Records, Store
from ragforge.search.question.code_names import find_names, find_paths, split_name

MAX_SCOPES = 400
"""The most scopes that one message is linked to."""


async def link_to_project(
    store: Store, turn_id: str, conversation: Conversation, project: Project
) -> bool:
    """Link each message of a turn to the scopes that it edited, read, named or found.

    Returns whether the links are final: all edited files are ingested as the turn left them.
    """
    found = (await store.timeline.turns([turn_id])).get(turn_id)
    if found is None:
        return True
    [turn] = group_into_turns(found.messages)
    view = await TurnCode.load(store.records, project, conversation, turn)
    messages = (turn.user, *turn.replies)
    texts = [message.content for message in messages]
    named = await _find_scopes_named_in(store.records, project, texts)
    touches = [_find_touches(view, message, named) for message in messages]
    known = await store.records.get_many(SCOPE, list(dict.fromkeys(chain.from_iterable(touches))))
    for message, hows in zip(messages, touches, strict=True):
        scopes = [known[scope_id] for scope_id in hows if scope_id in known]
        unknown = _refer_to_files(conversation, view, message, scopes)
        if scopes or unknown:
            references = [_make_reference(scope, hows[scope.uuid]) for scope in scopes]
            # What an edit left is not what is there now: it has changed since.
            references = [
                replace(one, hash=view.stale[one.file])
                if one.how == "edited" and one.file in view.stale
                else one
                for one in references
            ]
            await store.timeline.link(MESSAGE, message.uuid, [*references, *unknown])
    return view.is_current


def _find_touches(
    view: TurnCode, message: Message, named: Mapping[str, Sequence[ScopeName]]
) -> dict[str, TouchKind]:
    """Return how a message touches scopes, by their id."""
    hows = view.find_touched(message)
    # A text that no model wrote lists what a search found.
    said: TouchKind = FOUND if message.role == "system" else "named"
    for scope_id in _list_named_scopes(view, message.content, named):
        hows[scope_id] = pick_strongest((hows.get(scope_id, said), said))
    return dict(islice(hows.items(), MAX_SCOPES))


def _refer_to_files(
    conversation: Conversation, view: TurnCode, message: Message, scopes: Iterable[Scope]
) -> list[CodeReference]:
    """Return references to whole files that another agent edited, where no scope covers them.

    Such files may be gone, or have changed so much that line numbers mean nothing.
    """
    if conversation.agent == AGENT:
        return []
    edits = [edit for call in message.tool_calls for edit in read_edits(call)]
    known = {scope.file for scope in scopes}
    found: dict[str, CodeReference] = {}
    for edit in edits:
        places = guess_paths(edit.file, conversation.project_path, conversation.cwd)
        path = view.paths.get(edit.file) or next(iter(places), None)
        if path is not None and path not in known:
            found[path] = CodeReference(
                make_file_target(conversation.project_id, path),
                path,
                PurePosixPath(path).stem,
                edit.after_hash or "",
                "edited",
            )
    return list(found.values())


async def link_summary(store: Store, summary: Summary) -> None:
    """Link a summary to the files that it mentions, and to the scopes in them that it names.

    The kind of touch is that of the turns which the summary covers, else `named`.
    """
    conversation = await store.records.get(CONVERSATION, summary.conversation_id)
    project = await find_project(store.records, conversation)
    if project is None:
        return
    files = {file.path: file for file in await store.records.find(FILE, FileFilter(project.uuid))}
    names = FileNames(files, conversation.project_path, conversation.cwd)
    meant = {path for name in summary.files_mentioned if (path := names.resolve(name))}
    text = format_summary_for_search(summary)
    inside = await store.records.find(SCOPE, ScopeFilter(project.uuid, list(meant)))
    scopes = [scope for scope in inside if _contains_name(scope.name, text)]
    done = await _collect_touches(store, summary)
    mentioned = [
        FileMention(files[path].uuid, path, files[path].hash, done.get(path, "named"))
        for path in sorted(meant)
    ]
    references = [_make_reference(scope, done.get(scope.uuid, "named")) for scope in scopes]
    await store.timeline.link(SUMMARY, summary.uuid, references, mentioned)


async def _collect_touches(store: Store, summary: Summary) -> dict[str, TouchKind]:
    """Return the touches of what a summary covers: files by path, scopes by id."""
    done: dict[str, TouchKind] = {}

    def note(key: str, how: TouchKind) -> None:
        done[key] = pick_strongest((how, done.get(key, how)))

    below = await store.timeline.links(summary.parent_summaries)
    for links in below.values():
        for mention in links.files:
            note(mention.path, mention.how)
        for scope in links.references:
            note(scope.scope_id, scope.how)
    if summary.level == 1:
        messages = await store.timeline.messages(
            summary.conversation_id,
            summary.start_turn_index,
            summary.end_turn_index,
            with_receipts=False,
        )
        linked = await store.timeline.links([message.uuid for message in messages])
        for reference in chain.from_iterable(links.references for links in linked.values()):
            note(reference.file, reference.how)
            note(reference.scope_id, reference.how)
    return done


def _list_named_scopes(
    view: TurnCode, text: str, named: Mapping[str, Sequence[ScopeName]]
) -> list[str]:
    """Return the scopes that a text names unambiguously; a path names the module of its file."""
    found = [
        scope_id for path in find_paths(text) if (scope_id := view.get_module(path)) is not None
    ]
    for name in find_names(text):
        parts = split_name(name)
        fitting = named.get(".".join(parts)) or named.get(parts[-1], [])
        if len(fitting) == 1:  # else it is ambiguous
            found.append(fitting[0].uuid)
    return found


async def _find_scopes_named_in(
    records: Records, project: Project, texts: Iterable[str]
) -> Mapping[str, Sequence[ScopeName]]:
    """Return the scopes with each name that is in texts, and with its last part."""
    parts = [split_name(name) for text in texts for name in find_names(text)]
    names = {".".join(one) for one in parts} | {one[-1] for one in parts}
    if not names:
        return {}
    return group_by_name(
        await records.find(SCOPE_NAME, ScopeFilter(project.uuid, names=names)), names
    )


def _contains_name(name: str, text: str) -> bool:
    """Tell whether a text contains a name as a word."""
    return name in text and bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))


async def find_project(records: Records, conversation: Conversation) -> Project | None:
    """Return the completely ingested checkout that a conversation's code is linked to, or None."""
    place = ProjectPlace.at(conversation.project_path, conversation.project_id)
    found = await find_checkout(records, place)
    return found if found is not None and (found.is_whole or found.is_former) else None


def _make_reference(scope: Scope, how: TouchKind) -> CodeReference:
    return CodeReference(scope.uuid, scope.file, scope.qualified_name, scope.hash, how)


class FileNames:
    """Resolves written paths to the files of a project; ambiguous names are not resolved."""

    def __init__(self, paths: Iterable[str], root: str, cwd: str) -> None:
        self._root, self._cwd = root, cwd
        self._known = set(paths)
        self._by_name: dict[str, list[str]] = {}
        for path in self._known:
            self._by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)

    def resolve(self, name: str) -> str | None:
        """Return the file's path, relative to the project; None if it is unknown or ambiguous."""
        places = [
            place for place in guess_paths(name, self._root, self._cwd) if place in self._known
        ]
        if places:
            return places[0] if len(places) == 1 else None
        name = use_slashes(name)
        if is_absolute(name) or name.startswith(("./", "../")):
            return None
        ending = "/" + posixpath.normpath(name)
        nearby = self._by_name.get(ending.rsplit("/", 1)[-1], [])
        fitting = [path for path in nearby if path.endswith(ending)]
        return fitting[0] if len(fitting) == 1 else None
