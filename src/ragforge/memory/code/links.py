"""Links: link turns and summaries to the code that they touch, with its current hash.

Line numbers are those at the time of the tool call; later edits in the same turn move them. The
store has the file as it was last ingested, which may be before the turn's edits.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import PurePosixPath

from ragforge.domain.code import (
    FOUND,
    MODULE,
    CodeReference,
    File,
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
from ragforge.domain.conversations import AGENT, Conversation, Message
from ragforge.domain.projects import ProjectPlace, guess_paths, is_absolute, use_slashes
from ragforge.domain.schema import CONVERSATION, FILE, MESSAGE, SCOPE, SCOPE_NAME, SUMMARY
from ragforge.domain.summaries import Summary, format_summary_for_search
from ragforge.domain.turns import Turn, group_into_turns
from ragforge.errors import SummaryNotFound
from ragforge.memory.code.changes import find_checkout
from ragforge.memory.code.traces import (
    Edit,
    Trace,
    follow_line,
    list_changed_lines,
    read_edits,
    read_traces,
)
from ragforge.ports.store import Records, Store
from ragforge.records import dataclass
from ragforge.search.question.code_names import find_names, find_paths, split_name

MAX_SCOPES = 400
"""The most scopes that one message is linked to."""


class FileScopes:
    """The scopes of one file by its lines."""

    def __init__(self, names: Sequence[ScopeName]) -> None:
        self._names = names
        # Smaller scopes overwrite those that contain them.
        self._owners: dict[int, str] = {}
        for name in sorted(names, key=lambda n: (n.start_line - n.end_line, n.start_line)):
            self._owners |= dict.fromkeys(range(name.start_line, name.end_line + 1), name.uuid)

    @property
    def module(self) -> str | None:
        """The scope of the whole file, if there is one."""
        return next((name.uuid for name in self._names if name.type == MODULE), None)

    def find_within(self, first: int, last: int | None) -> list[str]:
        """Return the smallest scopes at lines, each once."""
        end = max(self._owners, default=0)
        lines = range(first, end + 1 if last is None else min(last, end) + 1)
        return list(dict.fromkeys(self._owners[line] for line in lines if line in self._owners))

    def find_at(self, first: int, last: int | None) -> list[str]:
        """Return the scope with exactly these lines, or else the smallest at the first line."""
        exact = (n.uuid for n in self._names if (n.start_line, n.end_line) == (first, last))
        found = next(exact, None) or self._owners.get(first)
        return [] if found is None else [found]


@dataclass(frozen=True, slots=True)
class TurnCode:
    """The code that a turn touched, as the store has it."""

    paths: Mapping[str, str]  # as written → as in the project
    files: Mapping[str, FileScopes]
    edits: Mapping[str, Sequence[tuple[int, Edit]]]  # by path, with the number of the call
    numbers: Mapping[str, int]  # call id → its number in the turn
    stale: Mapping[str, str]  # edited files that are not ingested as the turn left them → its hash

    @classmethod
    async def load(
        cls, records: Records, project: Project, conversation: Conversation, turn: Turn
    ) -> TurnCode:
        """Load all files that a turn's tools or texts name."""
        written = [trace.file for call in turn.tool_calls for trace in read_traces(call)]
        edits = [(n, edit) for n, call in enumerate(turn.tool_calls) for edit in read_edits(call)]
        written += [edit.file for _, edit in edits]
        for message in (turn.user, *turn.replies):
            written += find_paths(message.content)
        places = {
            name: guess_paths(name, conversation.project_path, conversation.cwd) for name in written
        }
        wanted = dict.fromkeys(path for found in places.values() for path in found)
        by_file = defaultdict(list)
        inside = ScopeFilter(project.uuid, list(wanted))
        for scope in await records.find(SCOPE_NAME, inside):
            by_file[scope.file].append(scope)
        paths = {
            name: path
            for name, found in places.items()
            if (path := next((one for one in found if one in by_file), None)) is not None
        }
        by_path = defaultdict(list)
        for number, edit in edits:
            by_path[paths.get(edit.file, edit.file)].append((number, edit))
        left = {
            path: then
            for path, made in by_path.items()
            if (then := made[-1][1].after_hash) is not None
        }
        edited = FileFilter(project.uuid, list(left), pages=None)
        now = {file.path: file.hash for file in await records.find(FILE, edited)} if left else {}
        stale = {path: then for path, then in left.items() if now.get(path) != then}
        return cls(
            paths,
            {path: FileScopes(scopes) for path, scopes in by_file.items()},
            by_path,
            {call.uuid: number for number, call in enumerate(turn.tool_calls)},
            stale,
        )

    @property
    def is_current(self) -> bool:
        """Whether the store has all edited files as the turn left them."""
        return not self.stale

    def get_module(self, path: str) -> str | None:
        """Return the scope of a whole file, given by its path as written."""
        known = self.paths.get(path)
        return None if known is None else self.files[known].module

    def find_touched(self, message: Message) -> dict[str, TouchKind]:
        """Return the touches of a message's calls by scope id, the strongest of each."""
        done: dict[str, TouchKind] = {}
        for call in message.tool_calls:
            number = self.numbers[call.uuid]
            edited = [trace for edit in read_edits(call) for trace in _list_traces(edit)]
            traces = edited or read_traces(call)
            for trace in traces:
                for scope_id in self._find_scopes(trace, number):
                    done[scope_id] = pick_strongest((trace.how, done.get(scope_id, trace.how)))
        return done

    def _find_scopes(self, trace: Trace, number: int) -> Iterable[str]:
        """Return the scopes at a trace; of edits and of files that have changed also the module."""
        path = self.paths.get(trace.file)
        if path is None:
            return ()
        scopes = self.files[path]
        is_edit = trace.how == "edited"
        module = [scopes.module] if is_edit and scopes.module is not None else []
        if path in self.stale or (is_edit and trace.last is None):
            return module
        first, last = self._follow(path, trace.first, number), trace.last
        last = None if last is None else max(first, self._follow(path, last, number))
        find = scopes.find_at if trace.how == FOUND else scopes.find_within
        return [*find(first, last), *module]

    def _follow(self, path: str, line: int, number: int) -> int:
        """Return the number of a line after the edits that followed a call."""
        for later, edit in self.edits.get(path, ()):
            if later > number:
                line = follow_line(line, edit.hunks)
        return line


def _list_traces(edit: Edit) -> list[Trace]:
    """Return the lines of an edit; the whole file where they are not known."""
    lines = list_changed_lines(edit.hunks)
    return [Trace("edited", edit.file, line, line) for line in lines] or [
        Trace("edited", edit.file)
    ]


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


async def link_summaries(store: Store, summaries: Sequence[Summary]) -> None:
    """Link summaries of one conversation to the files and scopes that they name.

    The kind of touch is that of the turns which a summary covers, else `named`. Those that were
    deleted meanwhile are left out. Raises ConversationNotFound.
    """
    if not summaries:
        return
    conversation = await store.records.get(CONVERSATION, summaries[0].conversation_id)
    project = await find_project(store.records, conversation)
    if project is None:
        return
    files = {file.path: file for file in await store.records.find(FILE, FileFilter(project.uuid))}
    names = FileNames(files, conversation.project_path, conversation.cwd)
    for summary in sorted(summaries, key=lambda one: one.level):  # a later one has their touches
        with suppress(SummaryNotFound):
            await _link_summary(store, summary, project, files, names)


async def _link_summary(
    store: Store, summary: Summary, project: Project, files: Mapping[str, File], names: FileNames
) -> None:
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
