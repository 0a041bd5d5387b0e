"""Prompt memory: what an agent gets with a prompt, given the end of its session."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from ragforge.app.hook.session import ContextEntry
from ragforge.concurrency import gather_or_cancel
from ragforge.domain.conversations import Conversation, MemoryFilter, Message
from ragforge.domain.passages import Passage, PassageFilter, get_place, name_done
from ragforge.domain.schema import CONVERSATION, MESSAGE, MESSAGE_PLACE, PASSAGE
from ragforge.domain.text import shorten, to_one_line
from ragforge.domain.turns import group_into_turns
from ragforge.memory.notes import find_relevant_notes
from ragforge.memory.past_turns import find_file, name_files, recall_turn
from ragforge.memory.search.quick import LikelyFile, find_likely_files, rank_quickly
from ragforge.ports.models import Embedder
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.search.extracts import keep_start, pick_passage
from ragforge.search.question.message_kinds import needs_nothing
from ragforge.search.turn_rank import FILE_TURNS, LastTurn, SessionSoFar
from ragforge.search.words.tokenise import WORDS

CANDIDATES = 40
MEMORIES = 12
BEST = 5
"""How many of the best turns tell which files are likely."""
MIN_SHARE = 0.3
"""Turns with less than this share of the best score are not worth their characters."""
ASKED_CHARS = 160
PASSAGE_CHARS = 260
NOTES, NOTE_CHARS = 3, 400
MAX_EDITED = 4
"""How many edited files of a turn are named."""


END_BYTES = 250_000
"""How much of the end of a transcript is read; a turn of an agent may have 100 kB."""
MAX_LINE = 200_000
"""Longer lines hold whole files or pictures, and cost more than they tell."""
_READERS = {
    "claude-code": ("claude_code", "ClaudeCodeReader"),
    "codex": ("codex", "CodexReader"),
    "gemini": ("gemini", "GeminiReader"),
    "qwen": ("qwen", "QwenReader"),
    "kimi": ("kimi", "KimiReader"),
}


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A past turn, with what is shown of it."""

    head: Message
    owner: Conversation
    said: str
    edited: Sequence[str] = ()


async def find_for_prompt(
    store: Store,
    embedder: Embedder | None,
    prompt: str,
    project_ids: Sequence[str],
    session: SessionSoFar,
    own_session: str = "",
) -> AsyncIterator[ContextEntry]:
    """Yield what is relevant to a prompt: likely files, then turns of other sessions."""
    where = MemoryFilter(project_ids=project_ids)
    ranking, notes = await gather_or_cancel(
        rank_quickly(store, embedder, prompt, where, session),
        find_relevant_notes(store, embedder, prompt, project_ids, NOTES),
    )
    scores, found = ranking.scores, ranking.found
    for hit in notes:
        said = shorten(hit.note.text, NOTE_CHARS)
        yield ContextEntry(f"note, {hit.timestamp:%Y-%m-%d}: {said}", (hit.note.uuid,))
    if not scores:
        return
    owners = await _find_owners(store, list(scores)[:CANDIDATES], own_session)
    done = await store.records.get_many(PASSAGE, [name_done(turn) for turn in owners])
    in_order = [done[id_] for turn in list(owners)[:BEST] if (id_ := name_done(turn)) in done]
    files = await find_likely_files(
        store, prompt, project_ids, found.files, in_order, session.files, found.session_deeds
    )
    if files:
        yield ContextEntry(_format_files(files))
    min_score = MIN_SHARE * max(scores.values(), default=0.0)
    chosen = {turn: owner for turn, owner in owners.items() if scores[turn] >= min_score}
    some = dict(list(chosen.items())[:MEMORIES])
    words = WORDS.query(prompt)
    for turn, past in (await _read_past(store, some, found.best_pieces, done)).items():
        yield ContextEntry(_format_past(past, words), (turn,))


async def _find_owners(
    store: Store, turn_ids: Sequence[str], own_session: str
) -> dict[str, Conversation]:
    """Return the conversations of turns, in their order, without those of the agent's session."""
    places = await store.records.get_many(MESSAGE_PLACE, turn_ids)
    owners = await store.records.get_many(
        CONVERSATION, list({place.conversation_id for place in places.values()})
    )
    found = {id_: owners.get(places[id_].conversation_id) for id_ in turn_ids if id_ in places}
    return {
        id_: owner
        for id_, owner in found.items()
        if owner is not None and not (own_session and owner.agent_session == own_session)
    }


async def _read_past(
    store: Store,
    owners: Mapping[str, Conversation],
    best_pieces: Mapping[str, str],
    done: Mapping[str, Passage],
) -> dict[str, PastTurn]:
    """Return turns with what is shown of them: of a long one its best piece, or its last."""
    ids = list(owners)
    # The agent has the prompt: of a turn that only its question matches, the outcome is shown.
    best_pieces = {turn: one for turn, one in best_pieces.items() if get_place(one)}
    wanted = [best_pieces[turn] for turn in ids if turn in best_pieces]
    pieces = await store.records.get_many(PASSAGE, wanted)
    missing = [turn for turn in ids if turn not in best_pieces]
    said = await store.records.find(PASSAGE, PassageFilter(kind="said", turn_ids=missing))
    said.sort(key=lambda piece: get_place(piece.uuid))
    ends = {piece.turn_id: piece for piece in said}  # the last one stays
    heads = await store.records.get_many(MESSAGE, ids)
    short = [turn for turn in missing if turn not in ends]
    texts = {
        turn: recalled.answer
        for turn, stored in (await store.timeline.turns(short)).items()
        if (recalled := recall_turn(group_into_turns(stored.messages)[0])) is not None
    }
    found = {}
    for turn in ids:
        piece: Passage | None = pieces.get(best_pieces.get(turn, "")) or ends.get(turn)
        deeds = done.get(name_done(turn))
        if deeds is None and turn in heads and needs_nothing(heads[turn].content):
            continue  # nothing was asked, and nothing done
        if turn in heads and (piece is not None or turn in texts):
            text = texts[turn] if piece is None else piece.text
            edited = deeds.files if deeds is not None else ()
            found[turn] = PastTurn(heads[turn], owners[turn], text, edited)
    return found


def _format_files(files: Sequence[LikelyFile]) -> str:
    """Return the likely files, those with one reason on one line."""
    by_reason: dict[str, list[str]] = {}
    for file in files:
        by_reason.setdefault(file.reason, []).append(file.path)
    lines = [f"- {', '.join(paths)} ({reason})" for reason, paths in by_reason.items()]
    return "\n".join(("Likely files:", *lines))


def _format_past(past: PastTurn, words: Sequence[str]) -> str:
    """Return one past turn: when and where, what was asked, what was edited, what was said."""
    asked = keep_start(to_one_line(past.head.content), ASKED_CHARS)
    head = f"{past.head.timestamp:%Y-%m-%d}, {past.owner.agent}, session {past.owner.uuid[:8]}"
    lines = [f"[{head}] {asked}"]
    if past.edited:
        more = len(past.edited) - MAX_EDITED
        rest = f" and {more} more" if more > 0 else ""
        lines.append(f"edited: {', '.join(past.edited[:MAX_EDITED])}{rest}")
    said = " ".join(pick_passage(past.said, words, PASSAGE_CHARS).split())
    if said and said != asked:
        lines.append(said)
    return "\n".join(lines)


def read_session(agent: str, transcript: str, prompt: str, root: str, cwd: str) -> SessionSoFar:
    """Return the end of a session without the prompt; nothing if its transcript cannot be read."""
    if agent not in _READERS or not transcript:
        return SessionSoFar()
    turns: list[LastTurn] = []
    with suppress(Exception):  # transcripts are other programs' files, and change
        turns = _list_turns(_read_records(agent, Path(transcript)), root, cwd)
    if turns and turns[-1].said.strip() == prompt.strip():
        turns.pop()
    return SessionSoFar.of(turns[-FILE_TURNS:])


def _read_records(agent: str, path: Path) -> Iterator[Any]:
    """Yield what the last lines of a transcript say."""
    from ragforge.transcripts.fields import parse_line
    from ragforge.transcripts.record import Record

    module, name = _READERS[agent]
    reader = getattr(import_module(f"ragforge.transcripts.{module}"), name)()
    for line in _read_end(path):
        for content in parse_line(line) or ():
            for entry in reader.read(content):
                if isinstance(entry, Record):
                    yield entry


def _read_end(path: Path) -> list[bytes]:
    """Return the last complete lines of a file."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - END_BYTES, 0))
        lines = file.read().split(b"\n")
    if size > END_BYTES:
        lines = lines[1:]
    return [line for line in lines if line and len(line) <= MAX_LINE]


def _list_turns(records: Iterator[Any], root: str, cwd: str) -> list[LastTurn]:
    """Return the turns that records tell, oldest first."""
    turns: list[LastTurn] = []
    said: list[str] = []
    edited: list[str] = []
    read: list[str] = []

    def end_turn() -> None:
        if said or edited or read:
            files = (name_files(paths, root, cwd) for paths in (edited, read))
            turns.append(LastTurn("\n".join(said), *files))

    for record in records:
        if record.speaker == "user" and record.text.strip():
            end_turn()
            said, edited, read = [], [], []
        if record.text.strip():
            said.append(record.text)
        edited += (change.path for result in record.results for change in result.changes)
        for call in record.calls:
            edited += filter(None, [find_file(call.name, call.arguments, "edited")])
            read += filter(None, [find_file(call.name, call.arguments, "read")])
    end_turn()
    return turns
