"""Is the right turn found in long conversations with an assistant? BEAM's chats of 100,000 tokens.

The data is not part of this repository: github.com/mohammadtavakoli78/BEAM, folder `chats/100K`,
for measuring only; chats 1 to 10 are for development. Each batch of a chat is a conversation at its
date. Two ways: every message is a turn, or a question and its answer are.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.measure import make_parser, require, save
from benchmarks.memory_recall import (
    DEPTHS,
    Question,
    Score,
    Search,
    Talk,
    ask,
    by_vectors,
    summary,
    through,
)
from benchmarks.opening import open_file
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.domain.conversations import Conversation, Message
from ragforge.domain.schema import CONVERSATION
from ragforge.memory.embed import embed_missing
from ragforge.memory.search.turns import MemorySearch
from ragforge.ports.store import Store

CHATS = range(1, 11)
_MARK = re.compile(r"\s*->->.*$")  # left by the program that wrote the chats


def list_ids(source: Any) -> Iterator[str]:
    """Yield the messages that answer a question, however they are grouped."""
    if isinstance(source, Mapping):
        source = list(source.values())
    if isinstance(source, list):
        for one in source:
            yield from list_ids(one)
    elif source is not None:
        yield str(source)


async def load_chat(store: Store, folder: Path, together: bool) -> Talk:
    """Store a chat and return its questions, with the turns that answer them."""
    name = f"beam-{folder.name}"
    place, turn_of = f"/locomo/{name}", dict[str, str]()
    for batch in json.loads((folder / "chat.json").read_text("utf-8")):
        said = [message for turn in batch["turns"] for message in turn]
        anchor = next(one["time_anchor"] for one in said if one.get("time_anchor"))
        moment = datetime.strptime(anchor, "%B-%d-%Y").replace(tzinfo=UTC)
        uuid = f"{name}:{batch['batch_number']}"
        await store.records.put(CONVERSATION, Conversation(place, place, uuid=uuid))
        messages, last = [], ""
        for minute, one in enumerate(said):
            text, when = _MARK.sub("", one["content"]), moment + timedelta(minutes=minute)
            if together and one["role"] == "assistant":
                messages.append(Message("assistant", text, timestamp=when))
            else:
                last = str(one["id"])
                messages.append(Message("user", text, uuid=f"{name}:{last}", timestamp=when))
            turn_of[str(one["id"])] = last
        await store.timeline.append(uuid, messages)
    asked = json.loads((folder / "probing_questions" / "probing_questions.json").read_text("utf-8"))
    questions = [
        Question(
            one["question"],
            category.replace("_", " "),
            frozenset(
                turn_of[id_] for id_ in list_ids(one.get("source_chat_ids")) if id_ in turn_of
            ),
        )
        for category, some in asked.items()
        for one in some
    ]
    return Talk(name, (), {}, tuple(one for one in questions if one.evidence))


async def measure(data: Path, together: bool) -> dict[str, Any]:
    """Return how each way to search does."""
    embedder = BundledEmbedder()
    with tempfile.TemporaryDirectory() as folder:
        async with open_file(Path(folder) / "store.db") as store:
            talks = [
                await load_chat(store, data / str(n), together)
                for n in CHATS
                if (data / str(n)).is_dir()
            ]
            await embed_missing(store, embedder)
            finder = MemorySearch(store, embedder)
            ways: dict[str, Search] = {
                "ragforge": through(finder),
                "words alone": through(finder, semantic=False),
                "vectors alone": by_vectors(finder),
            }
            scores: dict[str, list[Score]] = {
                name: await ask(talks, search) for name, search in ways.items()
            }
    return {name: summary(some) for name, some in scores.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("data", type=Path, help="the folder chats/100K of BEAM")
    chosen = parser.parse_args(arguments)
    if not (chosen.data / "1" / "chat.json").exists():
        sys.exit(f"{chosen.data} holds no chats: BEAM, github.com/mohammadtavakoli78/BEAM.")
    saved: dict[str, Any] = {}
    for name, together in (("messages", False), ("whole turns", True)):
        saved[name] = asyncio.run(measure(chosen.data, together))
        for way, result in saved[name].items():
            print(f"{name}, {way:<16} {result['recall@10']:.3f} {result['recall@25']:.3f}")
        for category, row in saved[name]["ragforge"]["categories"].items():
            shares = " ".join(f"{row[f'recall@{depth}']:.3f}" for depth in DEPTHS)
            print(f"  {category:<26} {row['questions']:>3} {shares}")
    best = max(some["ragforge"]["recall@10"] for some in saved.values())
    require(best > 0.05, "Hardly any question finds its turn.")
    save("beam", saved)


if __name__ == "__main__":
    main()
