"""Answer without a chat model: cite the passages that were found."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.brain.languages.table import is_document_path
from ragforge.context.build import EnrichedContext
from ragforge.domain.answers import Passage
from ragforge.domain.receipts import MEMORY_OFF, describe_absent
from ragforge.domain.text import quote_all
from ragforge.search.question.message_kinds import needs_nothing
from ragforge.search.relevance import list_telling_words
from ragforge.search.words.tokenise import WORDS

NEXT_STEP = "`ragforge search` shows what is nearest."
MAX_WORDS = 6
UNCERTAIN = 0.5
"""Below this score a place that lacks words of the question is called only the nearest."""


def answer_from_passages(context: EnrichedContext, question: str, found: Sequence[Passage]) -> str:
    """Answer without a chat model: say what was found and what was not, and cite the places.

    The first line is a sentence by itself.
    """
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
        absent = absent or "Nothing in this project fits that well enough."
        if any(one.note == MEMORY_OFF for one in searches):
            return f"{absent} {NEXT_STEP} And {MEMORY_OFF}."
        return f"{absent} {NEXT_STEP} This is remembered from now on."
    lines = [_describe(found, question, context.receipt.unknown)]
    lines += [f"[{number}] {passage.source}" for number, passage in enumerate(found, 1)]
    lines += [notices] if (notices := context.receipt.notices) else []
    return "\n".join(lines)


def _describe(found: Sequence[Passage], question: str, unknown: Sequence[str]) -> str:
    """Return which words of the question the places have, which they have not, as a sentence."""
    held = frozenset(WORDS.document("\n".join(f"{p.source}\n{p.text}" for p in found)).split())
    telling = list_telling_words(question, WORDS)
    there = [word for word, some in telling.items() if not held.isdisjoint(some)]
    others = [word for word in telling if word not in there and word not in unknown]
    verb = "has" if len(found) == 1 else "have"
    told = _count_places(found)
    if there:
        told += f" {verb} {quote_all(there[:MAX_WORDS])}"
        told += f", but not {quote_all(others[:MAX_WORDS], 'or')}." if others else "."
    else:
        told += f" {'fits' if len(found) == 1 else 'fit'} by meaning."
    if (others or unknown) and max(passage.score for passage in found) < UNCERTAIN:
        told = f"Nothing fits well; this is the nearest: {told[0].lower()}{told[1:]}"
    return " ".join(filter(None, (told, describe_absent(unknown))))


def _count_places(found: Sequence[Passage]) -> str:
    """Return how much was found and where, as the beginning of a sentence."""
    files = [passage.file for passage in found if passage.file is not None]
    documents = sum(map(is_document_path, files))
    code = len(files) - documents
    notes = sum(passage.source.startswith("note ") for passage in found)
    counted = (
        (code, "one place in the code", "places in the code"),
        (
            documents,
            "one in a document" if code else "one place in a document",
            "in documents" if code else "places in documents",
        ),
        (notes, "one note", "notes"),
        (len(found) - len(files) - notes, "one past exchange", "past exchanges"),
    )
    parts = [one if count == 1 else f"{count} {many}" for count, one, many in counted if count]
    told = f"{', '.join(parts[:-1])} and {parts[-1]}" if parts[1:] else parts[0]
    return told[0].upper() + told[1:]
