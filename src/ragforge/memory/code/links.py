"""Links: from what was said and done to the code it was about, with its hash of that day."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

from ragforge.domain.code import CodeReference, File, FileMention, Place, Project, Scope
from ragforge.domain.conversations import Conversation, Message, ToolCall
from ragforge.domain.summaries import Summary, summary_text
from ragforge.domain.text import Json
from ragforge.domain.turns import messages_to_turns
from ragforge.errors import FileNotKnown, ProjectNotFound
from ragforge.memory.code.files import FileNames, places_of
from ragforge.memory.levels.material import paths_in
from ragforge.ports.code import CodeStore
from ragforge.ports.store import Store
from ragforge.search.kinds import find_named_code

MOST_NAMES = 40
"""More names are not looked up for one message."""
MOST_PLACES = 200

_NAME = r"[^\W\d]\w*"
_CODE_NAME = re.compile(
    rf"`({_NAME}(?:(?:\.|::|\#){_NAME})*)(?:\(\))?`"  # in backticks
    rf"|\b({_NAME}(?:(?:\.|::|\#){_NAME})*)(?=\()"  # called
    rf"|\b({_NAME}(?:(?:\.|::){_NAME})+)\b"  # qualified
    rf"|\b([^\W\d_]+_\w+|[^\W\d_]*[a-z][A-Z]\w*)\b"  # spelt like code
)


async def link_turn(store: Store, turn_id: str) -> None:
    """Link each message of a turn to the scopes it touched or named."""
    found = (await store.conversations.turns([turn_id])).get(turn_id)
    if not found:
        return
    conversation_id = (await store.conversations.conversations_of([turn_id]))[turn_id]
    conversation = await store.conversations.get(conversation_id)
    project = await _project(store.code, conversation)
    if project is None:
        return
    for turn in messages_to_turns(found):
        for message in (turn.user, *turn.replies):
            if scopes := await _scopes_of(store.code, project, conversation, message):
                await store.conversations.refer(message.uuid, [_reference(s) for s in scopes])


async def link_summary(store: Store, summary: Summary) -> None:
    """Link a summary to the files it mentions, and to those scopes of theirs that it names."""
    conversation = await store.conversations.get(summary.conversation_id)
    project = await _project(store.code, conversation)
    if project is None:
        return
    files = {file.path: file for file in await store.code.files(project.uuid)}
    names = FileNames(files, project.path, conversation.cwd)
    meant = {path for name in summary.files_mentioned if (path := names.resolve(name))}
    text = summary_text(summary)
    scopes: list[Scope] = []
    for path in sorted(meant):
        inside = await store.code.scopes_in(project.uuid, path)
        scopes += [scope for scope in inside if _stands_in(scope.name, text)]
    mentioned = [_mention(files[path]) for path in sorted(meant)]
    await store.summaries.mention(summary.uuid, mentioned, [_reference(s) for s in scopes])


async def _scopes_of(
    code: CodeStore, project: Project, conversation: Conversation, message: Message
) -> list[Scope]:
    scopes: dict[str, Scope] = {}
    for call in message.tool_calls:
        for scope in await _touched(code, project, conversation, call):
            scopes[scope.uuid] = scope
    named = []
    for name in names_in(message.content):
        last = re.split(r"\.|::|#", name)[-1]
        fitting = await code.scopes_named(project.uuid, name.replace("::", ".").replace("#", "."))
        fitting = fitting or (await code.scopes_named(project.uuid, last) if last != name else [])
        if len(fitting) == 1:  # else it is not clear which is meant
            named.append(fitting[0].uuid)
    return list((scopes | await code.scopes(named)).values())


async def _touched(
    code: CodeStore, project: Project, conversation: Conversation, call: ToolCall
) -> list[Scope]:
    """Return the scopes at the places that a call was given or gave."""
    wanted = _places(call.arguments, whole_files=True)
    if call.result is not None:
        wanted += _places(call.result.result, whole_files=False)
    places: list[Place] = []
    for text in dict.fromkeys(place.file for place in wanted):
        if (path := await _path(code, project, conversation, text)) is not None:
            places += [Place(path, place.line) for place in wanted if place.file == text]
    if not places:
        return []
    found = await code.scopes_at(project.uuid, list(dict.fromkeys(places))[:MOST_PLACES])
    return [scope for scope in found if scope is not None]


def _places(value: Json, whole_files: bool) -> list[Place]:
    """Return places in files, as tools take and give them: a path with a line or with lines."""
    places: list[Place] = []
    for item in _objects(value):
        file = item.get("file") or item.get("path") or item.get("file_path")
        if isinstance(file, str) and len(places) < MOST_PLACES:
            lines = _lines(item) or ([1] if whole_files else [])
            places += [Place(file, line) for line in lines]
    return places


def _lines(item: dict[str, Json]) -> list[int]:
    first = item.get("line", item.get("start_line", item.get("startLine")))
    last = first if "line" in item else item.get("end_line", item.get("endLine", first))
    if not isinstance(first, int) or not isinstance(last, int):
        return []
    return list(range(max(1, first), min(last, first + MOST_PLACES) + 1))


async def _path(
    code: CodeStore, project: Project, conversation: Conversation, text: str
) -> str | None:
    """Return the path of a file that a tool named exactly, relative to the project."""
    for path in places_of(text, project.path, conversation.cwd):
        with suppress(FileNotKnown):
            return (await code.file(project.uuid, path)).path
    return None


def names_in(text: str) -> list[str]:
    """Return the words of a text that are meant as names of code, each once."""
    paths = {name for path in paths_in(text) for name in (path, re.split(r"[/\\]", path)[-1])}
    hits = (next(filter(None, hit.groups())) for hit in _CODE_NAME.finditer(text))
    names = dict.fromkeys((*hits, *find_named_code(text)))
    return [name for name in names if name not in paths][:MOST_NAMES]


def _objects(value: Json) -> Iterable[dict[str, Json]]:
    """Yield every object in a JSON value."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting.extend(reversed(item.values()))
        elif isinstance(item, list | tuple):
            waiting.extend(reversed(item))


def _stands_in(name: str, text: str) -> bool:
    """Tell whether a name stands in a text as a word."""
    return name in text and bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))


async def _project(code: CodeStore, conversation: Conversation) -> Project | None:
    try:
        return await code.project(conversation.project_path)
    except ProjectNotFound:
        return None


def _reference(scope: Scope) -> CodeReference:
    return CodeReference(scope.uuid, scope.file, scope.qualified_name, scope.hash)


def _mention(file: File) -> FileMention:
    return FileMention(file.uuid, file.path, file.hash)
