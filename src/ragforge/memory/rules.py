"""Rules: what always reaches an agent: rule notes, and instructions that a user once gave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from ragforge.concurrency import gather_or_cancel
from ragforge.domain.conversations import MemoryFilter, make_author_key
from ragforge.domain.hits import NOTE_CONFIDENCE, NoteHit, TurnHit
from ragforge.domain.notes import Note, NoteFilter
from ragforge.domain.schema import CONVERSATION, MESSAGE, MESSAGE_PLACE, NOTE, TURN
from ragforge.domain.turns import (
    INSTRUCTION_MARK,
    Turn,
    find_instructions,
    is_conditional,
)
from ragforge.ports.store import Store
from ragforge.records import dataclass

MAX_RULES = 100
MAX_INSTRUCTIONS = 40
FOUND_BY = ("rule",)


@dataclass(frozen=True, slots=True)
class Rule:
    """Something that holds from then on: a rule note, or an instruction in a turn."""

    id: str  # of the note or the turn
    text: str
    when: datetime
    author: str | None
    source: str = ""  # the agent and the session of an instruction
    corrects: tuple[str, ...] = ()  # as those of a note
    keeps: tuple[str, ...] = ()
    replaced_by: Rule | None = None

    @property
    def is_note(self) -> bool:
        return not self.source

    @property
    def author_key(self) -> str | None:
        return make_author_key(self.author)


async def find_rules(
    store: Store,
    project_ids: Sequence[str] | None,
    reader: str | None = None,
    own_session: str = "",
) -> list[Rule]:
    """Return the rules of a project, the newest first: notes, and the reader's instructions.

    Replaced ones name their replacement. Conditional instructions, which questions find, and those
    of the agent's own session are left out.
    """
    rules = await list_rule_notes(store, project_ids)
    where = MemoryFilter(project_ids=project_ids)
    found = await store.index.search(TURN, INSTRUCTION_MARK, None, where, MAX_INSTRUCTIONS, read=0)
    # A turn is known by its user's message: what was answered need not be read.
    ids = [one.id for one in found.by_words]
    said, places = await gather_or_cancel(
        store.records.get_many(MESSAGE, ids), store.records.get_many(MESSAGE_PLACE, ids)
    )
    sessions = {id_: place.conversation_id for id_, place in places.items()}
    owners = await store.records.get_many(CONVERSATION, list(set(sessions.values())))
    rules += [
        Rule(one.uuid, text, one.timestamp, one.author, f"{owner.agent}, session {owner.uuid[:8]}")
        for one in said.values()
        if (owner := owners.get(sessions.get(one.uuid, ""))) is not None
        and not (own_session and owner.agent_session == own_session)
        and (reader is None or make_author_key(one.author) in (None, reader))
        for text in find_instructions(one.content)
        if not is_conditional(text)
    ]
    return mark_replaced(rules)


async def list_rule_notes(store: Store, project_ids: Sequence[str] | None) -> list[Rule]:
    """Return the notes that are rules, the newest first."""
    notes = await store.records.find(NOTE, NoteFilter(project_ids, is_rule=True), MAX_RULES)
    return list(map(as_rule, notes))


def mark_replaced(rules: Iterable[Rule]) -> list[Rule]:
    """Return distinct rules, newest first, each with the newer one that replaces it, if any."""
    known: dict[str, Rule] = {}
    for rule in sorted(rules, key=lambda one: one.when, reverse=True):
        if rule.text in known:
            continue
        newer = (one for one in known.values() if is_replaced(rule, one))
        known[rule.text] = replace(rule, replaced_by=next(newer, None))
    return list(known.values())


def is_replaced(older: Rule, newer: Rule) -> bool:
    """Tell whether a newer rule replaces an older one; for two notes that is stored with them."""
    if older.is_note and newer.is_note:
        return False
    if older.id in newer.corrects:
        return True
    if older.id in newer.keeps or newer.id in older.keeps or older.author_key != newer.author_key:
        return False
    from ragforge.search.contradiction import compare  # its vocabulary takes a while to read

    return compare(older.text, newer.text) == "clear"


async def find_rule_notes(store: Store, project_ids: Sequence[str] | None) -> list[NoteHit]:
    """Return the rule notes of a project as hits, the newest first."""
    found = await store.records.find(NOTE, NoteFilter(project_ids, is_rule=True), MAX_RULES)
    return [NoteHit(note, 1.0, NOTE_CONFIDENCE, FOUND_BY) for note in found]


def drop_replaced(
    notes: Sequence[NoteHit], standing: Sequence[TurnHit]
) -> tuple[list[NoteHit], list[TurnHit]]:
    """Return notes and turns with instructions that newer ones do not replace."""
    if not standing:
        return list(notes), []
    said = [as_rule(one.note) for one in notes]
    said += (rule for hit in standing for rule in _list_instructions(hit.turn))
    settled = mark_replaced(said)
    holds = {rule.id for rule in settled if rule.replaced_by is None}
    gone = {rule.id for rule in settled if rule.replaced_by is not None} - holds
    return (
        [one for one in notes if one.note.uuid not in gone],
        [hit for hit in standing if hit.turn.uuid not in gone],
    )


def _list_instructions(turn: Turn) -> list[Rule]:
    said = find_instructions(turn.user.content)
    return [Rule(turn.uuid, one, turn.user.timestamp, turn.user.author, "turn") for one in said]


def as_rule(note: Note) -> Rule:
    """Return a note as something that may replace or be replaced."""
    return Rule(
        note.uuid,
        note.text,
        note.created_at,
        note.author,
        corrects=note.corrects,
        keeps=note.keeps,
    )
