"""Ways: what the product gives for a prompt, and what simple alternatives do.

Each way gives turns, files or a text. Turns of the prompt's own session, and of copies of it, are
left out of every ranking.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.desk import controls
from benchmarks.desk.controls import Bm25
from benchmarks.desk.deeds import Turn
from benchmarks.desk.labels import History
from benchmarks.desk.replay import CutOff, Desk, write_until
from ragforge.app import App
from ragforge.app.hook.call import HookCall
from ragforge.app.hook.context import find_context
from ragforge.app.hook.hook_settings import HookConfig
from ragforge.app.hook.prompt_memory import read_session
from ragforge.context.build import ContextOptions
from ragforge.domain.conversations import MemoryFilter
from ragforge.memory.search.combined import search_conversation_history
from ragforge.memory.search.signals import NO_SESSION
from ragforge.search.turn_rank import SessionSoFar
from ragforge.transcripts.claude_code import CLAUDE_CODE
from ragforge.transcripts.fields import make_uuid

FIRST = 5
DEPTH = 20
DEEP = 200
"""Turns that are found before those of the session itself are left out."""
FILES = 10
HOOK_CHARS = 4_000
CONTEXT_CHARS = 20_000
ENTRY_CHARS = 1_200
MIN_HEAD = 40
MAX_GAP = 40
"""Characters between a session's id and a prompt's first words, in a text."""
HOOK = "hook"
CONTEXT = "context, 20,000 characters"
MEMORY = "memory search"
IN_SESSION = "memory search, with the session"
CODE = "code search"
BM25 = "BM25 of the prompt"
BM25_BOTH = "BM25 of the prompt and the turn before"
BM25_DEEDS = "BM25 of the prompt, edited lines indexed"
DEEDS = "turns that edited what code search finds"
DEEDS_BM25 = "the same, fused with BM25"
EVERYTHING = "the same and the turn before, all fused"
NEWEST = "newest turns with edits"
NEWEST_FILES = "ten newest edited files"
MAX_FILES = "ten most edited files"
VOTE = "ten files by vote"
BM25_HOOK = "BM25 turns, size of the hook"
BM25_CONTEXT = "BM25 turns and code, 20,000 characters"


@dataclass(frozen=True, slots=True)
class Answer:
    """What one way gives for a prompt. Files are looked for in the text, if there is one."""

    turns: Sequence[str] = ()
    files: Sequence[str] | None = None
    text: str | None = None


Way: TypeAlias = Callable[[Turn], Awaitable[Answer]]


@dataclass(slots=True)
class Indexes:
    """The controls' own indexes, which grow with the cut-offs."""

    said: Bm25 = field(default_factory=Bm25)
    all: Bm25 = field(default_factory=Bm25)
    known: set[str] = field(default_factory=set)

    def grow(self, turns: Sequence[Turn]) -> None:
        new = [turn for turn in turns if turn.id not in self.known]
        self.said.add((turn.id, controls.tell_said(turn)) for turn in new)
        self.all.add((turn.id, controls.tell_all(turn)) for turn in new)
        self.known |= {turn.id for turn in new}


@dataclass(frozen=True, slots=True)
class Moment:
    """All that is known at a cut-off."""

    desk: Desk
    cut: CutOff
    history: History
    past: Sequence[Turn]  # turns that had ended, in order of time
    files: frozenset[str]  # of the checkout
    app: App
    store: Path
    indexes: Indexes
    code: Bm25
    conversations: Mapping[str, str]  # turn → conversation, as the product calls it
    by_stored: Mapping[str, str]  # what the product calls a turn → turn
    previous: Mapping[str, Turn]

    def leave_out_own(self, turn: Turn, ids: Sequence[str]) -> list[str]:
        others = {one.id for one in self.past if not self.history.are_related(one, turn)}
        return [id_ for id_ in ids if id_ in others]

    def get_turns(self, ids: Sequence[str]) -> list[Turn]:
        known = {turn.id: turn for turn in self.past}
        return [known[id_] for id_ in ids if id_ in known]


def name_stored(turn_id: str) -> str:
    """Return what the store calls a turn."""
    return make_uuid(f"{CLAUDE_CODE.name}\0{turn_id}")


def list_ways(moment: Moment) -> dict[str, Way]:
    """Return the product's ways and the controls."""
    return {**list_products(moment), **list_controls(moment)}


def list_products(moment: Moment) -> dict[str, Way]:
    app = moment.app
    settings = make_hook_settings(moment.desk, moment.store)
    logs = {log.name: log for log in moment.desk.logs}

    def write_live(turn: Turn) -> Path:
        """Write the transcript of a session as it was when the prompt was sent, in this folder."""
        desk = moment.desk
        path = desk.folder / "live" / f"{turn.session}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        if turn.session in logs:
            write_until(logs[turn.session], turn.at, path)
        if path.exists():
            said = path.read_text("utf-8")
            for root in desk.paths.roots:
                said = said.replace(f"{root}/", f"{desk.tree}/")
            path.write_text(said, "utf-8")
        return path

    async def ask_hook(turn: Turn) -> Answer:
        call = HookCall(
            *(CLAUDE_CODE.name, "UserPromptSubmit", turn.session),
            *(str(write_live(turn)), str(moment.desk.tree), turn.prompt),
        )
        text = await find_context(call, settings)
        return Answer(find_shown(text, moment, turn), text=text)

    async def ask_context(turn: Turn) -> Answer:
        options = ContextOptions(max_chars=CONTEXT_CHARS)
        before = moment.previous.get(turn.id)
        session = moment.conversations.get(before.id) if before is not None else None
        stored = await app.sessions.load(session) if session else app.sessions.make_new()
        found = await app.build_context(turn.prompt, options, stored)
        shown = (hit.turn.uuid for hit in found.history if hit.type == "turn")
        ids = [moment.by_stored[id_] for id_ in shown if id_ in moment.by_stored]
        return Answer(moment.leave_out_own(turn, ids), text=found.text)

    async def ask_memory(turn: Turn) -> Answer:
        return Answer(await search_turns(moment, turn))

    async def ask_memory_in_session(turn: Turn) -> Answer:
        root = str(moment.desk.tree)
        session = read_session(CLAUDE_CODE.name, str(write_live(turn)), turn.prompt, root, root)
        return Answer(await search_turns(moment, turn, session=session))

    async def ask_code(turn: Turn) -> Answer:
        return Answer(files=await search_files(app, turn.prompt))

    return {
        HOOK: ask_hook,
        CONTEXT: ask_context,
        MEMORY: ask_memory,
        IN_SESSION: ask_memory_in_session,
        CODE: ask_code,
    }


def make_hook_settings(desk: Desk, store: Path) -> HookConfig:
    return HookConfig(str(store), None, str(desk.folder / "state"), "", HOOK_CHARS, 300)


async def search_turns(
    moment: Moment, turn: Turn, depth: int = DEPTH, session: SessionSoFar = NO_SESSION
) -> list[str]:
    """Return the turns of other sessions that memory search finds."""
    where = MemoryFilter(project_ids=moment.app.project.ids)
    hits: Sequence[Any] = await search_conversation_history(
        moment.app.recall,
        turn.prompt,
        where,
        max_results=DEEP,
        levels=(0,),
        session=session,
    )
    ids = [moment.by_stored[uuid] for hit in hits if (uuid := hit.turn.uuid) in moment.by_stored]
    return moment.leave_out_own(turn, ids)[:depth]


async def search_files(app: App, prompt: str) -> list[str]:
    """Return the files of what code search finds."""
    hits = await app.brain.search(prompt, 2 * FILES)
    return list(dict.fromkeys(hit.scope.file for hit in hits))


def list_controls(moment: Moment) -> dict[str, Way]:
    said, done = moment.indexes.said, moment.indexes.all

    def rank(index: Bm25, turn: Turn, query: str) -> list[str]:
        return moment.leave_out_own(turn, index.search(query, 200))

    async def ask_bm25(turn: Turn) -> Answer:
        return Answer(rank(said, turn, turn.prompt)[:DEPTH])

    async def ask_both(turn: Turn) -> Answer:
        before = moment.previous.get(turn.id)
        query = turn.prompt if before is None else f"{turn.prompt}\n{controls.tell_said(before)}"
        return Answer(rank(said, turn, query)[:DEPTH])

    async def ask_done(turn: Turn) -> Answer:
        return Answer(rank(done, turn, turn.prompt)[:DEPTH])

    async def rank_deeds(turn: Turn) -> list[str]:
        files = (await search_files(moment.app, turn.prompt))[:FILES]
        return moment.leave_out_own(turn, controls.rank_by_deeds(moment.past, files))

    async def ask_deeds(turn: Turn) -> Answer:
        return Answer((await rank_deeds(turn))[:DEPTH])

    async def ask_fused(turn: Turn) -> Answer:
        by_words = rank(said, turn, turn.prompt)
        return Answer(controls.fuse(await rank_deeds(turn), by_words)[:DEPTH])

    async def ask_everything(turn: Turn) -> Answer:
        before = moment.previous.get(turn.id)
        rankings = [await rank_deeds(turn), rank(done, turn, turn.prompt)]
        if before is not None:
            edited = sorted(before.edited)
            rankings.append(rank(done, turn, controls.tell_said(before)))
            deeds = controls.rank_by_deeds(moment.past, edited)
            rankings.append(moment.leave_out_own(turn, deeds))
        return Answer(controls.fuse(*rankings)[:DEPTH])

    async def ask_newest(turn: Turn) -> Answer:
        ids = [one.id for one in reversed(moment.past) if one.edits]
        return Answer(moment.leave_out_own(turn, ids)[:DEPTH])

    async def ask_newest_files(turn: Turn) -> Answer:
        return Answer(files=controls.list_newest_files(moment.past)[:FILES])

    async def ask_most_files(turn: Turn) -> Answer:
        return Answer(files=controls.list_most_edited_files(moment.past)[:FILES])

    async def ask_vote(turn: Turn) -> Answer:
        remembered = moment.get_turns((await ask_fused(turn)).turns[:FIRST])
        files = controls.vote(
            await search_files(moment.app, turn.prompt),
            list(dict.fromkeys(file for one in remembered for file in sorted(one.edited))),
            controls.list_newest_files(moment.past),
            controls.list_most_edited_files(moment.past),
        )
        return Answer(files=files[:FILES])

    def show(ids: Sequence[str], chars: int) -> Answer:
        turns = moment.get_turns(ids)
        texts = controls.fill((controls.show_turn(one, ENTRY_CHARS) for one in turns), chars)
        return Answer([one.id for one in turns[: len(texts)]], text="\n\n".join(texts))

    async def ask_hook_size(turn: Turn) -> Answer:
        return show(rank(said, turn, turn.prompt), HOOK_CHARS)

    async def ask_context_size(turn: Turn) -> Answer:
        # The product's context shows the session's own earlier turns as well.
        half = show(said.search(turn.prompt), CONTEXT_CHARS // 2)
        chunks = moment.code.read(moment.code.search(turn.prompt, 40))
        code = controls.fill(chunks, CONTEXT_CHARS - len(half.text or ""))
        others = moment.leave_out_own(turn, half.turns)
        return Answer(others, text="\n\n".join((half.text or "", *code)))

    return {
        BM25: ask_bm25,
        BM25_BOTH: ask_both,
        BM25_DEEDS: ask_done,
        DEEDS: ask_deeds,
        DEEDS_BM25: ask_fused,
        EVERYTHING: ask_everything,
        NEWEST: ask_newest,
        NEWEST_FILES: ask_newest_files,
        MAX_FILES: ask_most_files,
        VOTE: ask_vote,
        BM25_HOOK: ask_hook_size,
        BM25_CONTEXT: ask_context_size,
    }


def find_shown(text: str, moment: Moment, turn: Turn) -> list[str]:
    """Return the turns that a text shows, in its order.

    A turn is shown where the start of its session's id is followed by the beginning of its prompt.
    """
    shown: dict[str, int] = {}
    for one in moment.past:
        owner = moment.conversations.get(one.id, "")[:8]
        if not owner or owner not in text or moment.history.are_related(one, turn):
            continue
        if found := re.search(make_pattern(owner, one.prompt), text, re.DOTALL):
            shown[one.id] = found.start()
    return sorted(shown, key=lambda id_: shown[id_])


def make_pattern(owner: str, prompt: str) -> str:
    """Return what finds a prompt behind its session's id; a short one must be shown whole."""
    flat = " ".join(prompt.split())
    words = r"\s+".join(map(re.escape, flat[:MIN_HEAD].split()))
    end = r"(?=\s*(?:\n|\Z))" if len(flat) <= MIN_HEAD else ""
    return rf"{owner}.{{0,{MAX_GAP}}}?{words}{end}"
