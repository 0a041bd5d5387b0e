"""Memory entries: search results in short, with ids by which an agent can open them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragforge.domain.conversations import AGENT, SHORT_ID, name_other
from ragforge.domain.passages import list_commands, list_edited
from ragforge.domain.text import to_one_line
from ragforge.search.extracts import keep_start, pick_passage
from ragforge.search.question.wording import respell
from ragforge.search.words.language import detect_language, get_stop_words
from ragforge.search.words.lexicon import drop_function_words
from ragforge.search.words.tokenise import WORDS

if TYPE_CHECKING:
    from ragforge.domain.conversations import Conversation
    from ragforge.domain.hits import HistoryHit, SummaryHit, TurnHit
    from ragforge.memory.code.changes import StaleCode

ENTRY_CHARS = 480
"""What one of five entries may have in 2,500 characters, with what is around the list."""
MIN_ENTRY_CHARS = 400
"""With less room for each, the last entries are left out."""
MIN_PASSAGE_CHARS = 60
MAX_PASSAGE_CHARS = 1_500
MAX_ASKED_CHARS = 80
MAX_DONE_CHARS = 80
MAX_EDITED = 3
AGED_CHARS = 80
SEARCHED_CHARS = 200_000
"""How much of a turn is searched for its passage."""


# For the doors, from the rooms below.
__all__ = ["keep_start"]

_WORD = re.compile(r"\w+")


def format_hits(
    hits: Sequence[HistoryHit],
    aged: Sequence[Sequence[StaleCode]],
    sessions: Mapping[str, Conversation],
    query: str,
    room: int,
    viewer: str | None = None,
) -> list[dict[str, Any]]:
    """Return entries for hits, the best first, in about `room` characters of JSON together.

    Authors are named unless they are the viewer.
    """
    words = WORDS.query(query)
    shown = list(zip(hits, aged, strict=True))[: max(room // MIN_ENTRY_CHARS, 1)]
    entries = []
    for place, (hit, changed) in enumerate(shown):
        share = room // (len(shown) - place)
        entry = _describe(hit, changed, sessions.get(hit.conversation_id or ""), viewer)
        _add_passage(entry, _get_text(hit, entry), words, share)
        room -= _count_chars(entry) + 2
        entries.append(entry)
    return entries


def _describe(
    hit: HistoryHit, changed: Sequence[StaleCode], session: Conversation | None, viewer: str | None
) -> dict[str, Any]:
    """Return an entry without its passage."""
    entry: dict[str, Any] = {"id": _get_id(hit), "type": hit.type}
    entry["date"] = f"{hit.timestamp:%Y-%m-%d}"
    if hit.conversation_id:
        entry["agent"] = AGENT if session is None else session.agent
        entry["session"] = hit.conversation_id[:SHORT_ID]
    if author := name_other(_get_author(hit), viewer):
        entry["author"] = keep_start(to_one_line(author), 40)
    if hit.type == "turn":
        entry["asked"] = keep_start(to_one_line(hit.turn.user.content), MAX_ASKED_CHARS)
        entry["done"] = _tell_done(hit, session)
    elif hit.type == "summary":
        entry["turns"] = list(hit.turn_range)
        entry["done"] = keep_start(to_one_line(hit.summary.actions_summary), MAX_DONE_CHARS)
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        entry["aged"] = keep_start(str(changed[0]), AGED_CHARS) + more
    return {name: value for name, value in entry.items() if value}


def _tell_done(hit: TurnHit, session: Conversation | None) -> str:
    """Return which files a turn edited; if none, what it ran."""
    root, cwd = ("", "") if session is None else (session.project_path, session.cwd)
    if files := list_edited(hit.turn, root, cwd):
        return _list_shortly("edited", files, MAX_EDITED)
    commands = list_commands(hit.turn)
    return _list_shortly("ran", commands, 1) if commands else ""


def _list_shortly(verb: str, names: Sequence[str], count: int) -> str:
    """Return the first of some names, as many as there is room for, and how many more."""
    shown: list[str] = []
    for name in names[:count]:
        if shown and sum(map(len, shown)) + len(name) > MAX_DONE_CHARS:
            break
        shown.append(keep_start(name, MAX_DONE_CHARS))
    more = len(names) - len(shown)
    return f"{verb}: {', '.join(shown)}{f' and {more} more' if more else ''}"


def _get_text(hit: HistoryHit, entry: Mapping[str, Any]) -> str:
    """Return what the passage is picked from: all that was said and is not in the entry yet."""
    if hit.type == "note":
        return hit.note.text
    if hit.type == "summary":
        return _join_summary(hit)
    turn = hit.turn
    asked = "" if to_one_line(turn.user.content) == entry.get("asked") else turn.user.content
    said = (one.content for one in turn.replies if one.role == "assistant")
    return "\n".join(filter(None, (asked, *said)))


def _join_summary(hit: SummaryHit) -> str:
    summary = hit.summary
    return "\n".join((summary.conversation_summary, *summary.key_findings))


def _add_passage(entry: dict[str, Any], text: str, words: Collection[str], room: int) -> None:
    """Add the passage that matters to an entry, so that the entry keeps to its room."""
    left = room - _count_chars({**entry, "passage": ""})
    chars = min(max(left, MIN_PASSAGE_CHARS), MAX_PASSAGE_CHARS)
    passage = to_one_line(pick_passage(text[:SEARCHED_CHARS], words, chars))
    # Quotes and the like are longer in JSON.
    while _count_chars(passage) - 2 > max(left, MIN_PASSAGE_CHARS) and chars > MIN_PASSAGE_CHARS:
        chars = max(chars * 9 // 10, MIN_PASSAGE_CHARS)
        passage = keep_start(passage, chars)
    if passage:
        entry["passage"] = passage


def _count_chars(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def _get_id(hit: HistoryHit) -> str:
    if hit.type == "turn":
        return hit.turn.uuid
    return hit.note.uuid if hit.type == "note" else hit.summary.uuid


def _get_author(hit: HistoryHit) -> str | None:
    if hit.type == "turn":
        return hit.turn.user.author
    return hit.note.author if hit.type == "note" else None


def list_telling_words(question: str) -> list[str]:
    """Return the words without "the", "is" and the like, if any, and their American spellings."""
    words = _WORD.findall(question)
    telling = drop_function_words(words, get_stop_words(detect_language(question)))
    return [*telling, *filter(None, map(respell, telling))]
