"""Controls: what a few lines of code find, for comparison."""

from __future__ import annotations

import random
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.desk.deeds import Turn

SEED = 31
MAX_FUSED = 100
RANK_CONSTANT = 20
"""Of reciprocal rank fusion: how little the first ranks differ."""
CHUNK_LINES = 40
MAX_FILE = 400_000
MAX_DONE = 20_000
_WORD = re.compile(r"\w+")


class Bm25:
    """BM25 of SQLite's full-text search, over texts by their ids."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE texts USING fts5(id UNINDEXED, body, tokenize='porter unicode61')"
        )

    def add(self, texts: Iterable[tuple[str, str]]) -> None:
        self._db.executemany("INSERT INTO texts VALUES (?, ?)", texts)

    def search(self, query: str, limit: int = MAX_FUSED) -> list[str]:
        words = dict.fromkeys(split_words(query))
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        rows = self._db.execute(
            "SELECT id FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (match, limit)
        )
        return [id_ for (id_,) in rows]

    def read(self, ids: Sequence[str]) -> list[str]:
        """Return the texts of these ids, in their order."""
        marks = ", ".join("?" * len(ids))
        rows = dict(self._db.execute(f"SELECT id, body FROM texts WHERE id IN ({marks})", ids))
        return [rows[id_] for id_ in ids]


def split_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def tell_said(turn: Turn) -> str:
    """Return what was said in a turn."""
    return "\n".join((turn.prompt, *turn.said))


def tell_all(turn: Turn) -> str:
    """Return what was said, and the files and lines that were edited."""
    lines = (line for edit in turn.edits for line in sorted(edit.lines))
    done = "\n".join((*sorted(turn.edited), *dict.fromkeys(lines)))[:MAX_DONE]
    return f"{tell_said(turn)}\n{done}"


def read_chunks(tree: Path) -> list[tuple[str, str]]:
    """Return the text files of a checkout in chunks, each with the name of its file before it."""
    chunks = []
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        if name.startswith(".git/") or not path.is_file() or path.is_symlink():
            continue
        data = path.read_bytes()
        if b"\0" in data or len(data) > MAX_FILE:
            continue
        lines = data.decode("utf-8", errors="replace").splitlines()
        for start in range(0, len(lines), CHUNK_LINES):
            body = "\n".join(lines[start : start + CHUNK_LINES])
            chunks.append((f"{name}:{start + 1}", f"{name}\n{body}"))
    return chunks


def fuse(*rankings: Sequence[str]) -> list[str]:
    """Return one ranking of several, by reciprocal ranks."""
    scores: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, id_ in enumerate(ranking[:MAX_FUSED]):
            scores[id_] += 1 / (RANK_CONSTANT + rank)
    return sorted(scores, key=lambda id_: -scores[id_])


def rank_by_deeds(turns: Sequence[Turn], files: Sequence[str]) -> list[str]:
    """Return the turns that edited these files, the best first; of equals the newest."""
    worth = {file: 1 / (1 + rank) for rank, file in enumerate(files)}
    scores: dict[str, float] = {}
    for turn in reversed(turns):
        found = sum(worth.get(file, 0.0) for file in turn.edited)
        if found:
            scores[turn.id] = found / max(1, len(turn.edited)) ** 0.5
    return sorted(scores, key=lambda id_: -scores[id_])


def shuffle(turns: Sequence[Turn], seed: str) -> list[str]:
    """Return the turns that edited anything, in a random order that is always the same."""
    ids = [turn.id for turn in turns if turn.edits]
    random.Random(f"{SEED}{seed}").shuffle(ids)
    return ids


def list_newest_files(turns: Sequence[Turn]) -> list[str]:
    edits = sorted((edit for turn in turns for edit in turn.edits), key=lambda edit: edit.at)
    return list(dict.fromkeys(edit.file for edit in reversed(edits)))


def list_most_edited_files(turns: Sequence[Turn]) -> list[str]:
    counts = Counter(file for turn in turns for file in turn.edited)
    return [file for file, _ in counts.most_common()]


def vote(*rankings: Sequence[str]) -> list[str]:
    """Return the files that several rankings have first."""
    scores: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, file in enumerate(ranking[:10]):
            scores[file] += 1 / (2 + rank)
    return sorted(scores, key=lambda file: -scores[file])


def fill(texts: Iterable[str], chars: int) -> list[str]:
    """Return the first texts that fit; the one that does not fit is cut."""
    kept: list[str] = []
    room = chars
    for text in texts:
        if room <= 0:
            break
        kept.append(text[:room])
        room -= len(text) + 2
    return kept


def show_turn(turn: Turn, chars: int) -> str:
    """Return a turn as a context might show it: a third for the prompt, the rest for the answer."""
    said = turn.prompt[: chars // 3]
    answer = "\n".join(turn.said)[: chars - len(said)]
    return f"user: {said}\nanswer: {answer}"


def find_previous(turns: Sequence[Turn]) -> Mapping[str, Turn]:
    """Return for each turn the one before it in its session."""
    last: dict[str, Turn] = {}
    found = {}
    for turn in turns:
        if turn.session in last:
            found[turn.id] = last[turn.session]
        last[turn.session] = turn
    return found
