"""Corrections: notes that contradict older notes or instructions, and what the user says of them.

Clear cases are linked when a note is made. Doubtful ones are candidates: the user says yes or no.
Both are kept in the newer note (`corrects`, `keeps`): nothing is lost, and all can be undone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b

from ragforge.domain.notes import Note, NoteFilter
from ragforge.domain.schema import NOTE
from ragforge.memory.rules import Rule, as_rule, find_rules, is_replaced
from ragforge.ports.store import Store
from ragforge.records import dataclass
from ragforge.search.contradiction import compare, read_statements, weigh_plainly

MAX_COMPARED = 500
"""A note is compared with this number of the newest notes."""
MIN_FOR_RARITY = 20
"""With fewer notes, the frequency of a word says nothing."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A newer statement that replaces an older one, or may."""

    newer: Rule
    older: Rule
    is_linked: bool  # else it is a candidate
    is_by_user: bool = False  # the user named the note that it supersedes

    @property
    def id(self) -> str:
        """What the user calls it by."""
        both = f"{self.newer.id}\n{self.older.id}"
        return blake2b(both.encode(), digest_size=4).hexdigest()


def find_contradicted(text: str, notes: Sequence[Note], author_key: str | None) -> list[Note]:
    """Return the notes that a new note clearly contradicts: those of its author."""
    weigh = weigh_by_rarity([note.text for note in notes])
    return [
        note
        for note in notes
        if note.author_key in (None, author_key) and compare(note.text, text, weigh) == "clear"
    ]


def weigh_by_rarity(texts: Iterable[str]) -> Callable[[str], float]:
    """Return how much words weigh among these texts: common ones less."""
    every = [{word for one in read_statements(text) for word in one.words} for text in texts]
    if len(every) < MIN_FOR_RARITY:
        return weigh_plainly
    counts = Counter(word for words in every for word in words)
    whole = math.log(1 + len(every))

    def weigh(word: str) -> float:
        # A word in half of all notes weighs a third of one that is in none.
        rarity = math.log(1 + len(every) / (1 + counts[word])) / whole
        return weigh_plainly(word) * (1.2 * rarity if counts[word] > 2 else 1.0)

    return weigh


async def find_corrections(
    store: Store,
    project_ids: Sequence[str],
    reader: str | None = None,
    newer_id: str | None = None,
) -> list[Correction]:
    """Return candidates and links of a project, or of one newer note, each newest first."""
    records = store.records
    where = NoteFilter(project_ids, with_superseded=True)
    notes = await records.find(NOTE, where, MAX_COMPARED)
    known = {note.uuid: note for note in notes}
    linked = [
        Correction(as_rule(note), as_rule(known[older]), True, older == note.supersedes)
        for note in notes
        for older in note.replaces
        if older in known
    ]
    replaced = {one.older.id for one in linked}
    present = [note for note in notes if note.uuid not in replaced]
    weigh = weigh_by_rarity([note.text for note in notes])
    said = [rule for rule in await find_rules(store, project_ids, reader) if not rule.is_note]
    every = sorted([*map(as_rule, present), *said], key=lambda one: one.when, reverse=True)
    unsure = [
        Correction(newer, older, is_replaced(older, newer))
        for at, newer in enumerate(every)
        if newer_id in (None, newer.id)
        for older in every[at + 1 :]
        if (newer.is_note or older.is_note)
        and not _is_decided(newer, older)
        and compare(older.text, newer.text, weigh) != "none"
    ]
    return [*unsure, *(one for one in linked if newer_id in (None, one.newer.id))]


def _is_decided(newer: Rule, older: Rule) -> bool:
    """Tell whether a pair is linked, or the user said that both hold."""
    return older.id in (*newer.keeps, *newer.corrects) or newer.id in older.keeps


async def decide(store: Store, one: Correction, replaces: bool) -> None:
    """Link the two of a correction, or say that both hold.

    Raises NotAuthor if the note to change is another user's.
    """
    newer, older = one.newer, one.older
    if not newer.is_note:
        newer, older = older, newer  # the note knows that both hold

    def change(note: Note) -> Note:
        corrects = tuple(id_ for id_ in note.corrects if id_ != older.id)
        keeps = tuple(id_ for id_ in note.keeps if id_ != older.id)
        if replaces:
            return replace(note, corrects=(*corrects, older.id), keeps=keeps)
        supersedes = None if note.supersedes == older.id else note.supersedes
        return replace(note, supersedes=supersedes, corrects=corrects, keeps=(*keeps, older.id))

    await store.records.update(NOTE, newer.id, change)
