"""Due: which turns are due for a short-term summary, and which summaries for a long-term one.

Both checks take whole turns or summaries, the oldest first, until the threshold is reached. They
choose one stretch of the conversation, always the same one. So the ids of a summary and its job are
known before the summary is made.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from itertools import pairwise, takewhile
from typing import TypeAlias, TypeVar
from uuid import NAMESPACE_URL, uuid5

from ragforge.domain.instants import now
from ragforge.domain.schema import CONVERSATION, JOB, SUMMARY
from ragforge.domain.summaries import Level, Summary, SummaryFilter
from ragforge.domain.turns import Turn, TurnCoverage, group_into_turns
from ragforge.memory.record import make_settle_key
from ragforge.ports.store import Store
from ragforge.records import dataclass

Item = TypeVar("Item", TurnCoverage, Summary)

OPEN_FOR = timedelta(hours=1)
"""A turn without activity for this time is over, whatever became of its process."""
MIN_FOR_LEVEL_2 = 2


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How many characters make a summary of each level due."""

    level_1: int
    level_2: int
    messages: int | None = None  # that make a short-term one due, however short they are


@dataclass(frozen=True, slots=True)
class Level1Check:
    """Whether a short-term summary is due, and of what."""

    should_create: bool
    current_char_count: int  # of all turns that no summary covers
    threshold: int
    char_range_start: int = 0  # positions in the raw conversation
    char_range_end: int = 0
    turns_to_summarize: tuple[Turn, ...] = ()

    def make_summary_id(self, conversation_id: str) -> str:
        """Return the id of the summary of these turns."""
        return _make_summary_id(conversation_id, 1, (turn.uuid for turn in self.turns_to_summarize))


@dataclass(frozen=True, slots=True)
class Level2Check:
    """Whether a long-term summary is due, and of which short-term ones."""

    should_create: bool
    current_char_count: int  # of all short-term summaries that no long-term one covers
    threshold: int
    char_range_start: int = 0
    char_range_end: int = 0
    summaries_to_summarize: tuple[Summary, ...] = ()

    def make_summary_id(self, conversation_id: str) -> str:
        """Return the id of the summary of these summaries."""
        return _make_summary_id(
            conversation_id, 2, (one.uuid for one in self.summaries_to_summarize)
        )


IsGone: TypeAlias = Callable[[str], bool]
"""Tells whether a process, given as in `Message.process`, is certainly gone."""


def _is_never_gone(process: str) -> bool:
    return False


async def should_create_l1_summary(
    store: Store,
    conversation_id: str,
    threshold: int,
    every_n_messages: int | None = None,
    is_gone: IsGone = _is_never_gone,
) -> Level1Check:
    """Check whether a short-term summary is due: by the length of the turns without a summary,
    or by the number of their messages, if given. Raises ConversationNotFound.
    """
    waiting = await store.timeline.coverage(conversation_id)
    chars = sum(turn.chars for turn in waiting)
    not_yet = Level1Check(False, chars, threshold)
    is_long = chars >= threshold
    if not waiting or not (is_long or every_n_messages):
        return not_yet
    oldest = waiting[0].turn_index  # what is before it does not matter, and it may be long
    since = await store.timeline.coverage(conversation_id, oldest)
    covered = [turn.turn_index for turn in since if not turn.is_open]
    stretch, is_closed = _find_stretch(waiting, covered)
    sizes = {turn.turn_index: turn.chars for turn in _take_enough(stretch, threshold)}
    first, last = min(sizes), max(sizes)
    messages = await store.timeline.messages(conversation_id, first, last, with_receipts=False)
    turns = [t for t in group_into_turns(messages) if t.user.turn_index in sizes]
    over = _take_messages(await _take_over(store, turns, is_gone), every_n_messages)
    taken = sum(sizes[turn.user.turn_index or 0] for turn in over)
    is_enough = taken >= threshold or bool(
        every_n_messages and _count_messages(over) >= every_n_messages
    )
    if not over or not (is_enough or (is_long and is_closed and len(over) == len(stretch))):
        return not_yet
    total = (await store.records.get(CONVERSATION, conversation_id)).total_chars
    start = total - sum(turn.chars for turn in since if turn.turn_index >= first)
    return Level1Check(True, chars, threshold, start, start + taken, tuple(over))


async def should_create_l2_summary(
    store: Store, conversation_id: str, threshold: int
) -> Level2Check:
    """Check whether a long-term summary is due; of an unknown conversation none is."""
    records = store.records
    waiting = await records.find(SUMMARY, SummaryFilter(conversation_id, waiting=True))
    chars = sum(summary.summary_char_count for summary in waiting)
    not_yet = Level2Check(False, chars, threshold)
    if len(waiting) < MIN_FOR_LEVEL_2 or chars < threshold:
        return not_yet
    oldest = waiting[0].start_turn_index
    later = SummaryFilter(conversation_id, level=2, first_turn=oldest)
    covered = await records.find(SUMMARY, later)
    covered += await records.find(SUMMARY, SummaryFilter(conversation_id, outside_level_2=True))
    due = {summary.uuid for summary in waiting}
    starts = [summary.start_turn_index for summary in covered if summary.uuid not in due]
    since = await store.timeline.coverage(conversation_id, oldest)
    starts += [turn.turn_index for turn in since if turn.is_trimmed]
    while waiting:
        stretch, is_closed = _find_stretch(waiting, starts)
        chosen = _take_enough(stretch, threshold, MIN_FOR_LEVEL_2)
        taken = sum(summary.summary_char_count for summary in chosen)
        if len(chosen) >= MIN_FOR_LEVEL_2 and (taken >= threshold or is_closed):
            begin, end = chosen[0].char_range_start, chosen[-1].char_range_end
            return Level2Check(True, chars, threshold, begin, end, tuple(chosen))
        waiting = waiting[len(stretch) :]  # a single one waits for ever, which is harmless
    return not_yet


async def _take_over(store: Store, turns: Sequence[Turn], is_gone: IsGone) -> list[Turn]:
    """Return the turns up to the first that is still being answered.

    Its text proves nothing: a model may announce a search that takes minutes. A turn has ended if
    the jobs that follow it are queued.
    """
    long_ago = now() - OPEN_FOR
    open_turns = [turn for turn in turns if turn.ended_at >= long_ago]
    keys = [make_settle_key(turn.uuid) for turn in open_turns]
    ended = await store.records.get_many(JOB, keys)

    def is_over(turn: Turn) -> bool:
        if turn.ended_at < long_ago or make_settle_key(turn.uuid) in ended:
            return True
        process = turn.user.process
        if process is None:  # it was stored as a whole turn, or by an older version
            return any(message.content for message in turn.replies)
        return is_gone(process)

    return list(takewhile(is_over, turns))


def _make_summary_id(conversation_id: str, level: Level, covered: Iterable[str]) -> str:
    parts = ",".join(covered)
    return str(uuid5(NAMESPACE_URL, f"ragforge:summary:{conversation_id}:{level}:{parts}"))


def _find_stretch(waiting: Sequence[Item], covered: Iterable[int]) -> tuple[list[Item], bool]:
    """Return the oldest items without a gap, and whether something covered follows them."""
    places = sorted(covered)
    found = [waiting[0]]
    for before, after in pairwise(waiting):
        if bisect(places, _get_start(before)) < bisect_left(places, _get_start(after)):
            return found, True
        found.append(after)
    return found, bisect(places, _get_start(found[-1])) < len(places)


def _take_enough(pieces: Sequence[Item], threshold: int, min_count: int = 1) -> list[Item]:
    """Return as many items as it takes to reach the threshold, or all of them."""
    taken: list[Item] = []
    chars = 0
    for piece in pieces:
        if chars >= threshold and len(taken) >= min_count:
            break
        taken.append(piece)
        chars += piece.chars if isinstance(piece, TurnCoverage) else piece.summary_char_count
    return taken


def _count_messages(turns: Iterable[Turn]) -> int:
    return sum(1 + len(turn.replies) for turn in turns)


def _take_messages(turns: Iterable[Turn], limit: int | None) -> list[Turn]:
    """Return as many turns as it takes to have `limit` messages, or all of them."""
    taken: list[Turn] = []
    for turn in turns:
        taken.append(turn)
        if limit is not None and _count_messages(taken) >= limit:
            break
    return taken


def _get_start(piece: TurnCoverage | Summary) -> int:
    return piece.turn_index if isinstance(piece, TurnCoverage) else piece.start_turn_index
