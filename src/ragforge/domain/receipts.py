"""Receipt: what is in a context and why, and what was left out and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from ragforge.domain.text import Json, list_fields, quote_all
from ragforge.records import dataclass

Section: TypeAlias = Literal[
    "last_user_queries",
    "code",
    "documents",
    "recent_turns",
    "notes",
    "past_turns",
    "summaries",
    "level2_summaries",
    "level1_summaries",
]
SECTIONS: tuple[Section, ...] = get_args(Section)
SearchState: TypeAlias = Literal[
    "ok", "late", "failed", "skipped", "ingesting", "nothing relevant", "nothing to search"
]

FAILED = "Could not search: "
"""The beginning of an answer that only lists failed searches."""

MEMORY_OFF = "memory is switched off: agent.memory.enabled is false"


@dataclass(frozen=True, slots=True)
class ReceiptItem:
    """Something that is in the context."""

    section: Section
    source: str  # file:start-end, or which turn or summary
    why: str
    chars: int
    score: float | None = None
    note: str = ""  # such as: cut, changed since


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that was found and is not in the context."""

    section: Section
    source: str
    why: str


@dataclass(frozen=True, slots=True)
class SearchReport:
    """A search that was run, or not."""

    name: str
    state: SearchState
    milliseconds: int = 0
    found: int = 0
    problem: str = ""
    note: str = ""  # such as: why these searches were chosen


@dataclass(frozen=True, slots=True)
class RequestPart:
    """A part of a request to a model."""

    name: str
    chars: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a request: parts that do not change between questions come first."""

    parts: tuple[RequestPart, ...]
    first_turn: int  # the first turn that is sent as messages
    whole_from: int  # the first turn with complete results of tools
    same_chars: int  # at its beginning, equal to the previous request
    marks: tuple[int, ...] = ()  # one for each message, to compare the next request with

    @property
    def chars(self) -> int:
        return sum(part.chars for part in self.parts)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of a whole context."""

    max_chars: int
    chars: int
    items: tuple[ReceiptItem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    searches: tuple[SearchReport, ...] = ()
    layout: Layout | None = None  # of the request; None without a model
    unknown: tuple[str, ...] = ()  # words of the question that the project does not contain

    @property
    def degraded(self) -> tuple[SearchReport, ...]:
        """The searches that returned nothing because they failed or were late."""
        return tuple(search for search in self.searches if search.state in ("late", "failed"))

    @property
    def failures(self) -> str:
        """The failed searches and their reasons, as a sentence; empty if there are none."""
        named = [f"{one.name} ({one.problem or one.state})" for one in self.degraded]
        return f"{FAILED}{'; '.join(named)}." if named else ""

    @property
    def reading(self) -> str:
        """The progress of the first reading of the project, as a sentence; empty if finished."""
        return next((one.note for one in self.searches if one.state == "ingesting"), "")

    @property
    def notices(self) -> str:
        """Warnings for the reader of the answer: files that were not read, or not searched."""
        return " ".join(filter(None, (self.reading, self.failures)))

    def count_chars(self, section: Section) -> int:
        return sum(item.chars for item in self.items if item.section == section)

    def to_json(self) -> Json:
        """Return the JSON that is stored and shown to scripts."""
        value = list_fields(self)
        for item in value["items"]:
            item["score"] = None if item["score"] is None else round(item["score"], 4)
        return value


def describe_absent(unknown: Sequence[str]) -> str:
    """Return a sentence on the words of a question that the project does not contain."""
    if not unknown:
        return ""
    return f"Nothing in this project's code or documents says {quote_all(unknown, 'or')}."


def read_layout(receipt: Json) -> Layout | None:
    """Return the layout of a stored receipt; older ones have none."""
    value = receipt.get("layout") if isinstance(receipt, dict) else None
    if value is None:
        return None
    parts = tuple(RequestPart(**part) for part in value["parts"])
    return Layout(**{**value, "parts": parts, "marks": tuple(value["marks"])})


def read_receipt(value: Json) -> Receipt:
    """Return the receipt that `to_json` wrote."""
    return Receipt(
        max_chars=value["max_chars"],
        chars=value["chars"],
        items=tuple(ReceiptItem(**item) for item in value["items"]),
        left_out=tuple(LeftOut(**one) for one in value["left_out"]),
        searches=tuple(SearchReport(**search) for search in value["searches"]),
        layout=read_layout(value),
        unknown=tuple(value.get("unknown", ())),
    )
