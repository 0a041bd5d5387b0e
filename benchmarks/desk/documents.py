"""Documents: are the documents and configuration files named that a prompt's turn edits?

Every prompt after the first cut-off whose turn edited such a file is asked, at the newest cut-off
before it. Prompts whose turns edited only code, and those of `silence`, show how much is listed
without need. Only the code is needed: one store grows from cut-off to cut-off.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, TypeAlias

from benchmarks.desk import scores, silence
from benchmarks.desk.controls import Bm25, read_chunks
from benchmarks.desk.deeds import Turn
from benchmarks.desk.labels import History
from benchmarks.desk.replay import CutOff, Desk, remove_store
from benchmarks.desk.scores import Row
from benchmarks.desk.sessions import run_git
from ragforge.app import App

CODE_HITS = 8
CONTROL_HITS = 10
ONLY_CODE = 5
"""How many prompts are asked at each cut-off whose turns edited only code."""
METRICS = ("edited", "files", "chars", "files for code", "silence", "files for silence")
_CODE = frozenset(
    """bash bat c cc cpp cs css ex exs go h hpp hs html java js jsx kt lua mjs php pl proto ps1 py
    rb rs scala scss sh sql svelte swift ts tsx vue zig zsh""".split()  # noqa: SIM905
)
_LOCKS = ("go.sum", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "Cargo.lock", "uv.lock")

PRODUCT = "search_code: documents and configuration"
BOTH = "search_code: these and code"
CODE = "search_code: only code"
BM25 = "BM25 over chunks of 40 lines, ten chunks"
BM25_DOCUMENTS = "the same, only of documents and configuration"


@dataclass(frozen=True, slots=True)
class Listed:
    """The files that one way names, and the characters it takes, where it is a text."""

    files: Sequence[str]
    chars: int | None = None


Way: TypeAlias = Callable[[str], Awaitable[Listed]]


@dataclass(frozen=True, slots=True)
class Asked:
    """The rows of all ways, and which turns they are of."""

    rows: dict[str, dict[str, Row]] = field(default_factory=dict)
    turns: dict[str, Turn] = field(default_factory=dict)
    listed: dict[str, dict[str, Listed]] = field(default_factory=dict)


def is_document(path: str) -> bool:
    """Tell whether a file is a document or configuration, by its name."""
    file = PurePosixPath(path)
    return file.suffix.removeprefix(".").lower() not in _CODE and file.name not in _LOCKS


async def ask_documents(desk: Desk, history: History, cuts: Sequence[CutOff]) -> Asked:
    """Ask the prompts of every cut-off in every way."""
    asked = Asked()
    store = desk.folder / "documents.db"
    remove_store(store)
    ends = [cut.moment for cut in cuts[1:]] + ["~"]
    turns = history.list_askable()
    middle = cuts[len(cuts) // 2]
    for cut, end in zip(cuts, ends, strict=True):
        desk.show(cut.commit)
        there = frozenset(
            run_git(desk.repository, "ls-tree", "-r", "--name-only", cut.commit).splitlines()
        )
        some = [turn for turn in turns if cut.moment <= turn.at < end]
        async with desk.open(store) as app:
            await app.brain.ingest()
            ways = list_ways(desk, app)
            for turn in pick_turns(some, there):
                await ask(ways, turn, there, asked)
            if cut is middle:
                await ask_nothing(ways, asked)
        print(f"{cut.moment}: {len(asked.turns)} prompts asked", flush=True)
    remove_store(store)
    return asked


def pick_turns(turns: Sequence[Turn], there: frozenset[str]) -> list[Turn]:
    """Return all turns that edited documents, and some of those that edited only code."""
    found = [turn for turn in turns if list_documents(turn, there)]
    only_code = [turn for turn in turns if turn.edited & there and turn not in found]
    return found + only_code[:: max(1, len(only_code) // ONLY_CODE)][:ONLY_CODE]


def list_documents(turn: Turn, there: frozenset[str]) -> frozenset[str]:
    """Return the documents and configuration files that a turn edited, of those that existed."""
    return frozenset(path for path in turn.edited & there if is_document(path))


def list_ways(desk: Desk, app: App) -> dict[str, Way]:
    """Return the product's ways and the controls."""
    chunks = read_chunks(desk.tree)
    every, documents = Bm25(), Bm25()
    every.add(chunks)
    documents.add(chunk for chunk in chunks if is_document(get_file(chunk[0])))

    async def list_product(prompt: str) -> Listed:
        code = await app.code.search(prompt, CODE_HITS)
        found = await app.code.search_docs_and_config(prompt, code)
        shown = json.dumps([hit.to_json() for hit in found], ensure_ascii=False)
        return Listed([hit.file for hit in found], len(shown) if found else 0)

    async def list_code(prompt: str) -> Listed:
        return Listed([hit.scope.file for hit in await app.code.search(prompt, CODE_HITS)])

    async def list_both(prompt: str) -> Listed:
        code, found = await list_code(prompt), await list_product(prompt)
        return Listed([*code.files, *found.files])

    async def list_chunks(prompt: str) -> Listed:
        return Listed([get_file(id_) for id_ in every.search(prompt, CONTROL_HITS)])

    async def list_document_chunks(prompt: str) -> Listed:
        return Listed([get_file(id_) for id_ in documents.search(prompt, CONTROL_HITS)])

    return {
        PRODUCT: list_product,
        BOTH: list_both,
        CODE: list_code,
        BM25: list_chunks,
        BM25_DOCUMENTS: list_document_chunks,
    }


def get_file(chunk: str) -> str:
    return chunk.rpartition(":")[0]


async def ask(ways: Mapping[str, Way], turn: Turn, there: frozenset[str], asked: Asked) -> None:
    wanted = list_documents(turn, there)
    asked.turns[turn.id] = turn
    for name, way in ways.items():
        listed = await way(turn.prompt)
        asked.listed.setdefault(name, {})[turn.id] = listed
        asked.rows.setdefault(name, {})[turn.id] = score(listed, wanted)


def score(listed: Listed, wanted: frozenset[str]) -> Row:
    """Score one list; of a turn that edited only code, only its length."""
    files = {path for path in listed.files if is_document(path)}
    count = float(len(files))
    chars = None if listed.chars is None else float(listed.chars)
    if not wanted:
        return {"files for code": count}
    return {"edited": len(wanted & files) / len(wanted), "files": count, "chars": chars}


async def ask_nothing(ways: Mapping[str, Way], asked: Asked) -> None:
    """Ask the prompts that deserve nothing."""
    for one in silence.read_prompts():
        for name, way in ways.items():
            listed = await way(one.prompt)
            count = float(len({path for path in listed.files if is_document(path)}))
            row = {"silence": float(count > 0), "files for silence": count}
            asked.rows.setdefault(name, {})[one.prompt] = row


def report(asked: Asked) -> dict[str, Any]:
    """Print the table and return it."""
    table = {name: scores.summarise(rows, METRICS) for name, rows in asked.rows.items()}
    wanted = sum("edited" in row for row in asked.rows[PRODUCT].values())
    print(f"\n{wanted} prompts whose turns edited documents or configuration")
    scores.print_table("documents and configuration", table)
    groups = {id_: turn.session for id_, turn in asked.turns.items()}
    rows = {
        name: {id_: row for id_, row in some.items() if id_ in groups}
        for name, some in asked.rows.items()
    }
    better = scores.compare(rows[PRODUCT], rows[BM25_DOCUMENTS], "edited", groups)
    print(f"{PRODUCT} − {BM25_DOCUMENTS}: {better}")
    return {"prompts": wanted, "ways": table, "better than BM25 by": better}


def print_misses(asked: Asked) -> None:
    """Print the prompts for which a file is missing."""
    for id_, row in asked.rows[PRODUCT].items():
        if (row.get("edited") or 0.0) < 1 and "edited" in row:
            turn = asked.turns[id_]
            print("-" * 20, turn.at[:16], turn.session[:8], id_[:8])
            print("prompt:", " ".join(turn.prompt.split())[:300])
            print("edited:", *sorted(path for path in turn.edited if is_document(path)))
            print("listed:", *asked.listed[PRODUCT][id_].files)
