"""A conversation with all that belongs to it, as objects: made into records, and of records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragforge.domain.code import CodeReference, FileMention
from ragforge.domain.conversation_bundle import (
    Bundle,
    NewBundle,
    add_message,
    decode_messages,
)
from ragforge.domain.conversations import Conversation, Message
from ragforge.domain.kinds import STORED, Stored
from ragforge.domain.notes import Note
from ragforge.domain.rows import encode_mentions, encode_message
from ragforge.domain.schema import (
    CONVERSATION,
    FILE_MENTION,
    NOTE,
    REFERENCE,
    SCOPE_MENTION,
    SUMMARY,
)
from ragforge.domain.summaries import Summary
from ragforge.domain.vectors import Vector
from ragforge.ports.store import Store


@dataclass(frozen=True, slots=True)
class BranchPoint:
    """The conversation at the other end of a branch, and the message where they separate."""

    conversation_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class WholeSummary:
    """A summary with the turns it covers and the code it mentions."""

    summary: Summary
    covers: tuple[int, ...] = ()
    files: tuple[FileMention, ...] = ()
    scopes: tuple[CodeReference, ...] = ()


@dataclass(frozen=True, slots=True)
class Whole:
    """A conversation with all that belongs to it."""

    conversation: Conversation
    messages: tuple[Message, ...] = ()
    references: Mapping[str, tuple[CodeReference, ...]] = field(default_factory=dict)
    summaries: tuple[WholeSummary, ...] = ()
    branch_of: BranchPoint | None = None
    branches: tuple[BranchPoint, ...] = ()
    vector: Vector | None = None  # of the conversation's summary
    turn_vectors: Mapping[str, Vector] = field(default_factory=dict)
    passage_vectors: Mapping[str, Vector] = field(default_factory=dict)
    summary_vectors: Mapping[str, Vector] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    note_vectors: Mapping[str, Vector] = field(default_factory=dict)
    trimmed: frozenset[str] = frozenset()
    link_pending: frozenset[str] = frozenset()

    def to_records(self) -> Bundle:
        bundle: NewBundle = defaultdict(list)
        talk = CONVERSATION.encode(self.conversation, STORED)
        bundle["conversation"].append(talk)
        for message in self.messages:
            encoded = encode_message(message, STORED)
            encoded.row.update(
                summary_trimmed=message.uuid in self.trimmed,
                link_pending=message.uuid in self.link_pending,
            )
            turn, position = message.turn_index or 0, message.position or 0
            add_message(bundle, encoded.place(talk, turn, position))
        for owner, references in self.references.items():
            bundle["reference"] += REFERENCE.encode_all(references, STORED, owner_id=owner)
        for one in self.summaries:
            owner = {
                "private_to": talk["private_to"],
                "covers": [str(turn) for turn in one.covers],
                "summary_trimmed": one.summary.uuid in self.trimmed,
            }
            bundle["summary"].append(SUMMARY.encode(one.summary, STORED, **owner))
            bundle["mention"] += encode_mentions(one.summary.uuid, one.files, one.scopes, STORED)
        bundle["note"] += NOTE.encode_all(self.notes, STORED)
        here = self.conversation.uuid
        ends = [(self.branch_of.conversation_id, here, self.branch_of)] if self.branch_of else []
        ends += [(here, one.conversation_id, one) for one in self.branches]
        for source, target, point in ends:
            row = {"source": source, "target": target, "message_id": point.message_id}
            bundle["branch"].append(row)
        vectors = {
            "conversation": {} if self.vector is None else {here: self.vector},
            "turn": self.turn_vectors,
            "passage": self.passage_vectors,
            "summary": self.summary_vectors,
            "note": self.note_vectors,
        }
        bundle["vector"] += [
            {"owner_kind": kind, "owner_id": owner, "model": one.model, "data": one.data}
            | {"embedding_hash": None}
            for kind, found in vectors.items()
            for owner, one in found.items()
        ]
        return bundle


def make_whole(bundle: Bundle) -> Whole:
    """Return what records say of a conversation."""
    [talk] = bundle["conversation"]
    vectors: dict[str, dict[str, Vector]] = defaultdict(dict)
    for row in bundle["vector"]:
        vectors[row["owner_kind"]][row["owner_id"]] = Vector(row["model"], row["data"])
    references: dict[str, list[CodeReference]] = defaultdict(list)
    for row in bundle["reference"]:
        references[row["owner_id"]].append(REFERENCE.decode(row))
    notes = sorted(bundle["note"], key=lambda row: (row["created_ms"], row["uuid"]))
    owned = (*bundle["message"], *bundle["summary"])
    branches = sorted(bundle["branch"], key=lambda row: str(row["target"]))
    return Whole(
        CONVERSATION.decode(talk),
        tuple(decode_messages(bundle)),
        {owner: _sort(found) for owner, found in references.items()},
        tuple(sorted((_make_summary(row, bundle) for row in bundle["summary"]), key=order)),
        next(
            (
                BranchPoint(row["source"], row["message_id"])
                for row in branches
                if row["target"] == talk["uuid"]
            ),
            None,
        ),
        tuple(
            BranchPoint(row["target"], row["message_id"])
            for row in branches
            if row["target"] != talk["uuid"]
        ),
        vectors["conversation"].get(talk["uuid"]),
        vectors["turn"],
        vectors["passage"],
        vectors["summary"],
        tuple(NOTE.decode(row) for row in notes),
        vectors["note"],
        frozenset(row["uuid"] for row in owned if row.get("summary_trimmed")),
        frozenset(row["uuid"] for row in bundle["message"] if row.get("link_pending")),
    )


def order(known: WholeSummary) -> tuple[int, int, str]:
    """Return the place of a summary in a document."""
    return known.summary.level, known.summary.start_turn_index, known.summary.uuid


def _make_summary(row: Stored, bundle: Bundle) -> WholeSummary:
    mentions = [one for one in bundle["mention"] if one["owner_id"] == row["uuid"]]
    files = [FILE_MENTION.decode(one) for one in mentions if one["kind"] == "file"]
    scopes = [SCOPE_MENTION.decode(one) for one in mentions if one["kind"] == "scope"]
    covers = tuple(int(turn) for turn in row["covers"])
    in_order = tuple(sorted(files, key=lambda one: (one.path, one.file_id)))
    return WholeSummary(SUMMARY.decode(row), covers, in_order, _sort(scopes))


def _sort(found: list[CodeReference]) -> tuple[CodeReference, ...]:
    return tuple(sorted(found, key=lambda one: (one.file, one.qualified_name, one.scope_id)))


def set_counters(conversation: Conversation, messages: Sequence[Message]) -> Conversation:
    """Return a conversation with the counters that a store gives it."""
    return replace(
        conversation,
        message_count=len(messages),
        turn_count=sum(message.role == "user" for message in messages),
        total_chars=sum(message.char_count for message in messages),
    )


async def add_whole(store: Store, whole: Whole) -> None:
    await store.archive.write(whole.to_records(), new=True)


async def read_whole(store: Store, conversation_id: str) -> Whole:
    return make_whole(await store.archive.conversation(conversation_id))
