"""Answer without a chat model: cite the passages that were found."""

from __future__ import annotations

from ragforge.context.build import EnrichedContext
from ragforge.context.excerpts import Excerpt
from ragforge.domain.answers import Passage
from ragforge.domain.hits import TurnHit
from ragforge.domain.receipts import MEMORY_OFF, describe_absent
from ragforge.domain.turns import Turn
from ragforge.search.chores import needs_nothing

PASSAGES = 3
CODE_PASSAGES = 5
DOCUMENT_PASSAGES = 3
TOLD_WORDS = 4
"""Fewer words are what somebody looked for."""


NEXT_STEP = "`ragforge search` shows what is nearest."


def answer_from_passages(context: EnrichedContext, question: str) -> str:
    """Answer without a chat model: cite what was found, by name; say what is nowhere."""
    found = list_passages(context)
    failures = context.receipt.failures
    if not found and failures:  # what was not looked at may hold the answer
        return f"{failures} Whether anything is relevant is not known."
    if not found:
        searches = context.receipt.searches
        if reading := context.receipt.reading:
            return f"Nothing was found so far. {reading} This is remembered."
        if needs_nothing(question):
            return "There is nothing to look up in that."
        absent = describe_absent(context.receipt.unknown)
        if any(one.note == MEMORY_OFF for one in searches):
            return f"{absent or 'Nothing in this project is relevant.'} And {MEMORY_OFF}."
        absent = absent or "Nothing in this project fits that well enough."
        return f"{absent} {NEXT_STEP} This is remembered from now on."
    in_code = len(context.code[:CODE_PASSAGES])
    in_documents = len(context.documents[:DOCUMENT_PASSAGES])
    lines = list(filter(None, [describe_absent(context.receipt.unknown)]))
    lines += [_count_findings(in_code, in_documents, len(found) - in_code - in_documents)]
    lines += [f"[{number}] {passage.source}" for number, passage in enumerate(found, 1)]
    lines += [notices] if (notices := context.receipt.notices) else []
    return "\n".join(lines)


def list_passages(context: EnrichedContext) -> tuple[Passage, ...]:
    """Return the best passages of a context: code first, then documents and what was said."""
    excerpts = (*context.code[:CODE_PASSAGES], *context.documents[:DOCUMENT_PASSAGES])
    read = [_cite(one) for one in excerpts]
    turns = [
        hit for hit in context.found if isinstance(hit, TurnHit) and _says_something(hit.turn)
    ][:PASSAGES]
    return (*read, *(Passage(_quote(hit.turn), _name_source(hit), hit.relevance) for hit in turns))


def _cite(one: Excerpt) -> Passage:
    return Passage(
        one.text,
        f"{one.place} {one.name}",
        one.score,
        one.file,
        one.start_line,
        one.name,
        one.line_numbers,
        one.name_line,
    )


def _count_findings(code: int, documents: int, turns: int) -> str:
    """Return how much was found, as a sentence that introduces the list."""
    parts = []
    if code:
        parts.append("one place in the code" if code == 1 else f"{code} places in the code")
    if documents:
        many = f"{documents} places in documents"
        parts.append("one place in a document" if documents == 1 else many)
    if turns:
        parts.append("one past exchange" if turns == 1 else f"{turns} past exchanges")
    verb = "is" if code + documents + turns == 1 else "are"
    found = f"{', '.join(parts[:-1])} and {parts[-1]}" if parts[1:] else parts[0]
    return f"{found[0].upper()}{found[1:]} {verb} relevant:"


def _says_something(turn: Turn) -> bool:
    """Tell whether a turn holds more than a question that nobody answered."""
    said = turn.user.content.rstrip()
    is_told = not said.endswith("?") and len(said.split()) >= TOLD_WORDS
    return bool(turn.answer) or is_told


def _quote(turn: Turn) -> str:
    return f"{turn.user.content}\n{turn.answer}".strip()


def _name_source(hit: TurnHit) -> str:
    when = hit.turn.user.timestamp.strftime("%Y-%m-%d %H:%M")
    return f"turn {hit.turn.user.turn_index} of session {hit.conversation_id[:8]}, {when}"
