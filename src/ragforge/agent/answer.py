"""Answer: the passages under an answer, and the answer without a chat model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragforge.brain.languages.table import is_document_path
from ragforge.brain.search.documents import is_aside_document, is_configuration
from ragforge.context.build import EnrichedContext
from ragforge.context.excerpts import Excerpt
from ragforge.domain.hits import NoteHit, TurnHit
from ragforge.domain.receipts import MEMORY_OFF, describe_absent
from ragforge.domain.text import quote_all
from ragforge.domain.turns import Passage, Turn
from ragforge.patterns import compile_on_use
from ragforge.search.code_relevance import list_telling_words
from ragforge.search.question.message_kinds import is_for_documents, is_for_records, needs_nothing
from ragforge.search.rank import asks_for_secondary
from ragforge.search.rank_paths import is_secondary
from ragforge.search.words.tokenise import WORDS

TURNS, NOTES = 3, 2
CODE, CODE_AFTER_DOCUMENTS = 5, 2
DOCUMENTS = 3
CODE_SHARE, DOCUMENT_SHARE, MIN_SHARE = 0.4, 0.5, 0.4
"""A place that is less likely than this part of the best of its kind, or of all, only fills the
screen."""
SHOWN_LINES = 60
"""How many lines are cited of a long class whose code is not in the context."""
_FACTS = compile_on_use(r"\A---\n.*?\n---$", re.DOTALL | re.MULTILINE)
_LABELS = compile_on_use(r"^\.\. _.*$", re.MULTILINE)
TOLD_WORDS = 4
"""A message with fewer words is a search, not a statement."""


NEXT_STEP = "`ragforge search` shows what is nearest."
MAX_WORDS = 6
UNCERTAIN = 0.5
"""Below this score a place that lacks words of the question is called only the nearest."""


def list_passages(context: EnrichedContext, question: str, for_model: bool) -> tuple[Passage, ...]:
    """Return the best passages of a context: code and documents, then notes and past turns.

    Documents come first if the question is about the project itself, or if all code that was found
    is configuration. With a model, only what fits into its context counts.
    """
    found, others = context.found_code, context.found_documents
    if for_model:
        found, others = context.code, context.documents
    code = choose_code(found, question)
    documents = choose_documents(others, found, question)
    threshold = MIN_SHARE * max((one.score for one in (*code, *documents)), default=0.0)
    code, documents = (
        [one for one in some if one.score >= threshold] for some in (code, documents)
    )
    if documents and (is_for_documents(question) or (code and is_configuration(code[0].file))):
        code = [one for one in code if not is_configuration(one.file)]
        places = [*documents, *code[:CODE_AFTER_DOCUMENTS]]
    else:
        places = [*code, *documents]
    notes = [hit for hit in context.notes if not hit.note.is_rule][:NOTES]
    turns = [hit for hit in context.found if isinstance(hit, TurnHit)]
    turns = [hit for hit in turns if _says_something(hit.turn)][:TURNS]
    return (
        *map(_cite, places),
        *(Passage(hit.note.text, _name_note(hit), hit.score) for hit in notes),
        *(Passage(_quote(hit.turn), _name_turn(hit), hit.relevance) for hit in turns),
    )


def choose_code(excerpts: Sequence[Excerpt], question: str) -> list[Excerpt]:
    """Return the likely places in code, without tests where there are others."""
    code = [one for one in excerpts if not is_document_path(one.file)]
    code = [one for one in code if one is code[0] or not is_configuration(one.file)]
    if not asks_for_secondary(question):
        code = [one for one in code if not is_secondary(one.file)] or code
    return _keep_likely(code, CODE_SHARE)[:CODE]


def choose_documents(
    documents: Sequence[Excerpt], code: Sequence[Excerpt], question: str
) -> list[Excerpt]:
    """Return the likely places in documents, each once; changelogs only if asked for."""
    found = list(documents) or [one for one in code if is_document_path(one.file)]
    found = [one for one in found if not _is_empty(one)]
    if not is_for_records(question):
        found = [one for one in found if not is_aside_document(one.file)] or found
    return _keep_likely(found, DOCUMENT_SHARE)[:DOCUMENTS]


def _keep_likely(excerpts: Sequence[Excerpt], share: float) -> list[Excerpt]:
    threshold = share * max((one.score for one in excerpts), default=0.0)
    return [one for one in excerpts if one.score >= threshold]


def _is_empty(one: Excerpt) -> bool:
    """Tell whether a section holds only facts about its page, or labels for links to it."""
    text = one.text if one.scope is None else one.scope.source
    return _LABELS.sub("", _FACTS.sub("", text)).strip() == ""


def _cite(one: Excerpt) -> Passage:
    text, numbers = one.text, one.line_numbers
    scope = one.scope
    if scope is not None and scope.line_numbers and one.name_line not in numbers:
        first = one.name_line - one.start_line  # the context has its outline
        numbers = tuple(scope.line_numbers[first : first + SHOWN_LINES])
        text = "\n".join(scope.source.split("\n")[first : first + SHOWN_LINES])
    return Passage(
        text,
        f"{one.place} {one.name}",
        one.score,
        one.file,
        one.start_line,
        one.name,
        numbers,
        one.name_line,
    )


def _says_something(turn: Turn) -> bool:
    """Tell whether a turn holds more than a question without an answer."""
    said = turn.user.content.rstrip()
    is_told = not said.endswith("?") and len(said.split()) >= TOLD_WORDS
    return bool(turn.answer) or is_told


def _quote(turn: Turn) -> str:
    return f"{turn.user.content}\n{turn.answer}".strip()


def _name_turn(hit: TurnHit) -> str:
    when = hit.turn.user.timestamp.strftime("%Y-%m-%d %H:%M")
    return f"turn {hit.turn.user.turn_index} of session {hit.conversation_id[:8]}, {when}"


def _name_note(hit: NoteHit) -> str:
    return f"note {hit.note.uuid[:8]}, {hit.note.created_at:%Y-%m-%d}"


def answer_from_passages(context: EnrichedContext, question: str, found: Sequence[Passage]) -> str:
    """Answer without a chat model: say what was found and what was not, and cite the places."""
    failures = context.receipt.failures
    if not found and failures:  # what was not looked at may hold the answer
        return f"{failures} Whether anything is relevant is not known."
    if not found:
        searches = context.receipt.searches
        absent = describe_absent(context.receipt.unknown)
        if reading := context.receipt.reading:
            return f"{absent or 'Nothing was found so far.'} {reading} This is remembered."
        if needs_nothing(question):
            return "There is nothing to look up in that."
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
