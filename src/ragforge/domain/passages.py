"""Passages: the pieces of a long turn by which it is found, and the actions in it.

Real turns are long: a prompt, ten texts, forty tool calls. A turn is found by its best piece as
well as by all of its words, and by the files and lines that it edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Literal, NamedTuple, TypeAlias

from ragforge.domain.conversations import MemoryFilter, ToolCall
from ragforge.domain.projects import guess_paths
from ragforge.domain.text import MAX_ID_CHARS, shorten, to_one_line, to_text
from ragforge.domain.turns import Turn
from ragforge.patterns import compile_on_use
from ragforge.records import dataclass

PassageKind: TypeAlias = Literal["said", "done"]

PIECE_CHARS = 900
"""The usual length of a piece; measured on real transcripts, 500 to 1,500 do as well."""
MAX_PIECES = 200
PROMPT_CHARS = 4_000
"""The rest of a prompt is something pasted."""
ASKED_CHARS = 150
SHOWN_CHARS = 1_500
"""How much of the actions is stored for display; more of it is indexed."""
INDEXED_CHARS = 12_000
COMMAND_CHARS = 300
COMMANDS_CHARS = 3_000
RESULT_CHARS = 200
MAX_FILES = 100
DONE = "done"
"""The end of the id of the passage with a turn's actions. That of a piece is shorter."""

_BETWEEN = compile_on_use(r"\n\s*\n")
_LOOKS = frozenset(("Read", "Grep", "Glob", "LS", "read_file", "grep_files", "glob_files"))
"""Tools whose results are files and places that were not mentioned."""
_COMMANDS = ("command", "cmd", "script")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of the texts of a turn, or all actions in it."""

    uuid: str
    turn_id: str
    conversation_id: str
    kind: PassageKind
    asked: str  # the beginning of the question, on one line
    text: str
    files: tuple[str, ...] = ()  # that were edited, relative to the project


@dataclass(frozen=True, slots=True)
class PassageFilter:
    """Which passages to search; a field that is None does not restrict."""

    conversation_id: str | None = None
    project_ids: Sequence[str] | None = None
    since: datetime | None = None
    until: datetime | None = None
    kind: PassageKind | None = None
    turn_ids: Sequence[str] | None = None

    @classmethod
    def of(cls, where: MemoryFilter, kind: PassageKind) -> PassageFilter:
        """Return the filter for the passages of turns that pass a filter."""
        return cls(where.conversation_id, where.project_ids, where.since, where.until, kind)


class IndexedPassage(NamedTuple):
    """A passage, and the text whose words are indexed for it."""

    passage: Passage
    words: str


class FileChange(NamedTuple):
    """A change of a file by a tool."""

    file: str  # as the tool names it
    diff: str


def get_turn_id(passage_id: str) -> str:
    """Return the turn of a passage, given by its id."""
    return passage_id.rpartition(":")[0]


def move_passage_id(passage_id: str, turn_ids: Mapping[str, str]) -> str:
    """Return the id of a passage after its turn got another id."""
    turn, mark, place = passage_id.rpartition(":")
    return f"{turn_ids.get(turn, turn)}{mark}{place}"


def get_place(passage_id: str) -> int:
    """Return the position of a piece in its turn; 0 is the beginning of the prompt."""
    return int(passage_id.rpartition(":")[2])


def name_done(turn_id: str) -> str:
    """Return the id of the passage with a turn's actions."""
    return f"{turn_id}:done"


def make_file_key(path: str) -> str:
    """Return the word by which turns that edited a file are found. It is all letters."""
    digits = blake2b(path.encode(errors="replace"), digest_size=8).hexdigest()
    return "zq" + digits.translate(_LETTERS)


_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjklmnpqrtv")
"""Without vowels no stem differs from its word."""


def format_passage_for_embedding(passage: Passage) -> str:
    """Return the text that is embedded for a passage: its question, then the passage."""
    return f"{passage.asked}\n{passage.text}"


def list_passages(turn: Turn, conversation_id: str, root: str, cwd: str) -> list[IndexedPassage]:
    """Return the passages of a turn. A short turn without actions has none.

    Neither has a turn whose id is so long that there is no room for the number of a passage.
    `root` and `cwd` are the folders that the paths of its tool calls begin with.
    """
    if len(turn.uuid) > MAX_ID_CHARS - len(f":{DONE}"):
        return []
    asked = shorten(to_one_line(turn.user.content), ASKED_CHARS)
    said = [m.content for m in turn.replies if m.role == "assistant" and m.content.strip()]
    pieces = [*cut_pieces([turn.user.content[:PROMPT_CHARS]]), *cut_pieces(said)][:MAX_PIECES]
    done = _tell_done(turn, conversation_id, asked, root, cwd)
    if done is None and len(pieces) <= 2:
        return []

    def make(place: int, text: str) -> IndexedPassage:
        uuid = f"{turn.uuid}:{place}"
        passage = Passage(uuid, turn.uuid, conversation_id, "said", asked, text)
        return IndexedPassage(passage, format_passage_for_embedding(passage))

    found = [make(place, text) for place, text in enumerate(pieces)]
    return found if done is None else [*found, done]


def _tell_done(
    turn: Turn, conversation_id: str, asked: str, root: str, cwd: str
) -> IndexedPassage | None:
    """Return the passage with a turn's actions; None if there are none."""
    changes = [change for call in turn.tool_calls for change in list_changes(call)]
    files = list_edited(turn, root, cwd)
    commands = list_commands(turn)
    results = "\n".join(filter(None, map(_find_result, turn.tool_calls)))[:COMMANDS_CHARS]
    if not files and not commands and not results:
        return None
    ran = "\n".join(commands)[:COMMANDS_CHARS]
    text = "\n".join(filter(None, (", ".join(files), ran)))
    lines = dict.fromkeys(line for change in changes for line in list_changed(change.diff))
    keys = " ".join(map(make_file_key, files))
    words = "\n".join((keys, *files, ran, results, *lines))[:INDEXED_CHARS]
    passage = Passage(
        uuid=f"{turn.uuid}:{DONE}",
        turn_id=turn.uuid,
        conversation_id=conversation_id,
        kind="done",
        asked=asked,
        text=shorten(text, SHOWN_CHARS),
        files=tuple(files),
    )
    return IndexedPassage(passage, words)


def list_edited(turn: Turn, root: str, cwd: str) -> list[str]:
    """Return the files that a turn edited, relative to the project, in the order of the edits."""
    changes = (change for call in turn.tool_calls for change in list_changes(call))
    return list(dict.fromkeys(name_file(change.file, root, cwd) for change in changes))[:MAX_FILES]


def list_commands(turn: Turn) -> list[str]:
    """Return the commands that a turn ran, each on one line and once."""
    return list(dict.fromkeys(filter(None, map(_find_command, turn.tool_calls))))


def list_changes(call: ToolCall) -> list[FileChange]:
    """Return the file changes that the result of a call reports."""
    result = None if call.result is None else call.result.result
    if not isinstance(result, dict):
        return []
    changes = result.get("changes")
    some = changes if isinstance(changes, list) else [result]
    return [
        FileChange(file, diff)
        for one in some
        if isinstance(one, dict)
        and isinstance(file := one.get("file"), str)
        and isinstance(diff := one.get("diff"), str)
    ]


def name_file(path: str, root: str, cwd: str) -> str:
    """Return a path relative to the project if it is inside, otherwise unchanged."""
    return next(iter(guess_paths(path, root, cwd)), path)


def list_changed(diff: str) -> Iterator[str]:
    """Yield the lines that a diff adds or removes."""
    for line in diff.splitlines():
        if line[:1] in ("+", "-") and line[:3] not in ("+++", "---") and line[1:].strip():
            yield line[1:].strip()


def _find_command(call: ToolCall) -> str:
    """Return the command that a call ran, on one line; empty for other calls."""
    given = call.arguments if isinstance(call.arguments, dict) else {}
    found = next((text for name in _COMMANDS if isinstance(text := given.get(name), str)), "")
    return shorten(to_one_line(found), COMMAND_CHARS)


def _find_result(call: ToolCall) -> str:
    """Return the beginning of a result by which a turn is found."""
    if call.result is None or list_changes(call):
        return ""
    if call.tool_name in _LOOKS and not call.result.error:
        return ""
    text = call.result.error or to_text(call.result.result)
    return f"{call.tool_name} {text[:RESULT_CHARS]}"


def cut_pieces(texts: Iterable[str], chars: int = PIECE_CHARS) -> list[str]:
    """Split texts into pieces of about this length, between paragraphs, lines or words."""
    found: list[str] = []
    piece = ""
    for part in (part for text in texts for part in _cut_paragraphs(text, chars)):
        if piece and len(piece) + len(part) > chars:
            found.append(piece)
            piece = ""
        piece = f"{piece}\n{part}" if piece else part
    return [*found, piece] if piece else found


def _cut_paragraphs(text: str, chars: int) -> Iterator[str]:
    """Yield the paragraphs of a text, the long ones in parts."""
    for paragraph in _BETWEEN.split(text.strip()):
        rest = paragraph
        while len(rest) > chars * 3 // 2:
            end = max(rest.rfind("\n", chars // 3, chars), 0) or rest.rfind(" ", 1, chars)
            end = end if end > 0 else chars
            yield rest[:end]
            rest = rest[end:].lstrip()
        if rest:
            yield rest
