"""Entries: the text of each thing in a context, and its name in the receipt."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from functools import lru_cache

from ragforge.context import replay
from ragforge.context.excerpts import Excerpt
from ragforge.domain import conversations
from ragforge.domain.hits import MemoryHit, NoteHit, SummaryHit, TurnHit
from ragforge.domain.passages import list_edited
from ragforge.domain.projects import use_slashes
from ragforge.domain.summaries import Summary, format_whole_summary
from ragforge.domain.text import indent_lines, shorten, to_one_line
from ragforge.domain.turns import Turn, find_instructions
from ragforge.memory.code.changes import StaleCode
from ragforge.search.extracts import keep_start, pick_passage

CALLS_CHARS = 400
"""How much of a past turn's calls is shown: the answer says what they led to."""
NEIGHBOUR_CHARS = 300
"""How much is shown of the turn before a memory, which helps to understand it."""
STANDING_CHARS = 600
"""How much is shown of what a user said in one turn to hold from then on."""
ASKED_SHARE, ASKED_CHARS = 5, 120
"""A long turn's question gets this fraction of the entry, or at least this number of characters."""
MIN_PASSAGE, OUTCOME_SHARE = 60, 0.35
LINE_CHARS = 40
PATH_PARTS = 3
CHANGES_SHOWN = 3
NAME_CHARS = 60
_HEAD = re.compile(r"^(?=\s*\[.*\(relevance )", re.MULTILINE)


def format_query(turn: Turn) -> str:
    """Return a question of the user on one line."""
    return f"- {' '.join(turn.user.content.split())}"


def format_excerpt(excerpt: Excerpt) -> str:
    """Return some code under a line that says where it is.

    The code stays as it is, so that it can be edited by its text; only a line that looks like
    the head of an excerpt gets a backslash before it.
    """
    place, name = to_one_line(excerpt.place), to_one_line(excerpt.name)
    if excerpt.fetched_at is not None:
        place = f"{place}, fetched {excerpt.fetched_at:%Y-%m-%d}"
    text = _HEAD.sub(r"\\", excerpt.text) if "(relevance" in excerpt.text else excerpt.text
    return f"[{place}] {name} (relevance {excerpt.score:.2f})\n{text}"


def format_turn(turn: Turn, chars: int) -> str:
    """Return a turn with its tool calls, in at most `chars` characters."""
    limits = replay.ReplayLimits(chars, min(chars // 4, CALLS_CHARS))
    return shorten(replay.format_turn(turn, limits), chars)


def format_recalled(turn: Turn, chars: int, words: Collection[str]) -> str:
    """Return a past turn in at most `chars` characters.

    Of a long one these are what was asked, which files were edited, and the passage that holds
    most of the words.
    """
    if turn.char_count <= chars and len(text := format_turn(turn, chars)) <= chars:
        return text
    asked = keep_start(to_one_line(turn.user.content), max(chars // ASKED_SHARE, ASKED_CHARS))
    lines = [f"User: {asked}"]
    if edited := _list_edited(turn):
        lines.append(f"Edited: {keep_start(', '.join(edited), chars // ASKED_SHARE)}")
    room = chars - len("\n".join(lines)) - len("\nAssistant: ")
    said = _tell_said(turn, words, room) if room >= MIN_PASSAGE else ""
    if said:
        lines.append(f"Assistant: {said}")
    return "\n".join(lines)


def _tell_said(turn: Turn, words: Collection[str], room: int) -> str:
    """Return how the last answer of a long turn begins, and what else fits the words best.

    An agent's last answer says what came of it.
    """
    said = [one.content.strip() for one in turn.replies if one.role == "assistant"]
    *before, last = [text for text in said if text] or [""]
    indent = len(indent_lines("\n")) - 1
    room -= indent * min(last.count("\n"), room // LINE_CHARS)
    outcome = keep_start(last, max(int(room * OUTCOME_SHARE), MIN_PASSAGE))
    rest = "\n".join((*before, last[len(outcome) :]))
    left = room - len(outcome)
    passage = pick_passage(rest, words, left) if rest.strip() and left >= MIN_PASSAGE else ""
    return keep_start(indent_lines("\n".join(filter(None, (outcome, passage)))), room)


def _list_edited(turn: Turn) -> list[str]:
    """Return the files that a turn edited, the last parts of long paths."""
    return list(dict.fromkeys(map(_shorten_path, list_edited(turn, "", ""))))


def _shorten_path(path: str) -> str:
    return "/".join(use_slashes(path).split("/")[-PATH_PARTS:])


def format_hit(
    hit: MemoryHit,
    stale: Sequence[StaleCode],
    chars: int,
    before: Turn | None = None,
    reader: str | None = None,
    words: Collection[str] = (),
) -> str:
    """Return a memory that was found, and which of the code it mentions has changed.

    The author is named unless it is the reader, given by the key. Of a long turn the passage is
    shown that holds most of the words.
    """
    relevance = f"relevance {hit.relevance:.2f}{format_changes(stale)}"
    when = f"{hit.timestamp:%Y-%m-%d}"
    if isinstance(hit, SummaryHit):
        head = f"{name_summary(hit.summary)}, {when}, {relevance}"
        return f"[{head}]\n{_format_body(hit.summary, chars)}"
    place = f"session {hit.conversation_id[:8]}, turn {hit.turn.user.turn_index}"
    lead = "" if before is None else f"(before: {_format_in_short(before, chars)})\n"
    if by := name_other(hit.turn.user.author, reader):
        when = f"{by}, {when}"
    return f"[{place}, {when}, {relevance}]\n{lead}{format_recalled(hit.turn, chars, words)}"


def format_note(hit: NoteHit | TurnHit, reader: str | None = None) -> str:
    """Return a note of the project, with its author unless it is the reader.

    Of a turn these are the sentences that hold from then on. A rule is marked as they are.
    """
    if hit.type == "note":
        by = name_other(hit.note.author, reader)
        mark = _mark_own(reader, by) if hit.note.is_rule else "-"
        return f"{mark} {_sign(hit.note.text, by, hit.timestamp)}"
    said = shorten("\n".join(find_instructions(hit.turn.user.content)), STANDING_CHARS)
    by = name_other(hit.turn.user.author, reader)
    return f"{_mark_own(reader, by)} {_sign(said, by, hit.timestamp)}"


def _mark_own(reader: str | None, by: str) -> str:
    """Return the mark of what the model keeps to: the reader's own.

    Everything else is information, whoever wrote it.
    """
    return "*" if reader is None or not by else "-"


def _sign(text: str, by: str, when: datetime) -> str:
    """Return a text with the day of it, and its author unless that is the reader."""
    day = f"{when:%Y-%m-%d}"
    return f"{indent_lines(text)} ({f'{by}, {day}' if by else day})"


@lru_cache(256)  # a context names the authors of hundreds of turns, who are few
def name_other(author: str | None, reader: str | None) -> str:
    """Return the name of an author on one line, empty if it is the reader or not known."""
    return shorten(to_one_line(conversations.name_other(author, reader)), NAME_CHARS)


def format_summary(summary: Summary, chars: int) -> str:
    """Return a summary of the conversation itself."""
    return f"[{name_summary(summary)}]\n{_format_body(summary, chars)}"


def name_turn(conversation_id: str, turn: Turn) -> str:
    return f"turn {turn.user.turn_index} of session {conversation_id[:8]}"


def name_hit(hit: MemoryHit, reader: str | None = None) -> str:
    if isinstance(hit, TurnHit):
        by = name_other(hit.turn.user.author, reader)
        place = name_turn(hit.conversation_id, hit.turn)
        return f"{place}, {by}, {hit.timestamp:%Y-%m-%d}" if by else place
    return name_summary(hit.summary)


def name_summary(summary: Summary) -> str:
    turns = f"turns {summary.start_turn_index}-{summary.end_turn_index}"
    return f"L{summary.level} of {turns}, session {summary.conversation_id[:8]}"


def format_changes(stale: Sequence[StaleCode]) -> str:
    """Return in short which code has changed or is gone since; empty if none."""
    if not stale:
        return ""
    limit = CHANGES_SHOWN if len(stale) <= CHANGES_SHOWN else 1
    more = f" and {len(stale) - limit} more" if len(stale) > limit else ""
    fates = dict[str, list[str]]()
    for one in stale[:limit]:
        fates.setdefault(one.fate, []).append(to_one_line(one.name or _shorten_path(one.file)))
    told = (f"{fate}: {', '.join(names)}" for fate, names in fates.items())
    return f"; {'; '.join(told)}{more}"


def _format_body(summary: Summary, chars: int) -> str:
    return shorten(format_whole_summary(summary).partition("\n")[2], chars)


def _format_in_short(turn: Turn, chars: int) -> str:
    said = " ".join(f"{turn.user.content} → {turn.answer}".split())
    return keep_start(said, min(NEIGHBOUR_CHARS, chars // ASKED_SHARE))
