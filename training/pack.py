"""Pack the pairs for training: texts as counts of pieces, in one small file.

    python -m training.pack --pairs FOLDER --table FOLDER --taught FOLDER --out FILE

A question about code that is a docstring becomes, every third time, a question as people ask it;
some scopes are asked for by name too.
`taught` holds the texts of which `training.teach` made a sentence encoder's vectors.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import numpy as np

from training.mine_code import SEED
from training.pieces import Pieces

NAMED = 0.4
"""The share of scopes that are also asked for by their name."""
MAX_PIECES = 160
"""So many different pieces of a text are kept, the first ones."""
ASKED = (
    "how does it {}", "where is the code that {}", "how do we {}", "which function {}",
    "what {}", "where do we {}", "find the place where it {}", "how is this done: {}",
    "how can I {}", "explain how to {}", "where is the logic to {}", "how are things set up to {}",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--taught", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--share", type=float, default=1.0, help="of the pairs, for a sample")
    chosen = parser.parse_args()
    pieces = Pieces.read(chosen.table / "pieces.txt")
    texts: dict[str, int] = {}
    kinds: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    chance = random.Random(SEED)
    groups: dict[str, int] = {}
    for path in sorted(chosen.pairs.glob("*.jsonl")):
        group = groups.setdefault(
            path.name.removesuffix(".jsonl").removesuffix(".others"), len(groups)
        )
        for line in path.open(encoding="utf-8"):
            pair = json.loads(line)
            if chance.random() > chosen.share:
                continue
            question = pair["question"]
            if pair["kind"] in ("doc", "outline"):
                question = ask(question, chance)
            numbers = [texts.setdefault(t, len(texts)) for t in (question, pair["answer"])]
            kind = kinds.setdefault(pair["kind"], len(kinds))
            rows.append((kind, group, numbers[0], numbers[1]))
            if pair["kind"] == "doc" and chance.random() < NAMED:
                named = texts.setdefault(take_name(pair["answer"]), len(texts))
                kind = kinds.setdefault("name", len(kinds))
                rows.append((kind, group, named, numbers[1]))
    taught = json.loads((chosen.taught / "teach_texts.json").read_text("utf-8"))
    learned = [texts.setdefault(text, len(texts)) for text in taught]
    meant = np.load(chosen.taught / "meant.npy")
    np.save(chosen.out.with_name("meant.npy"), meant)
    starts, columns, counts = [0], list[int](), list[int]()
    for text in texts:
        found = pieces.count(text)
        some = list(found.items())[:MAX_PIECES]
        columns += [piece for piece, _ in some]
        counts += [min(times, 255) for _, times in some]
        starts.append(len(columns))
    np.savez_compressed(
        chosen.out,
        pairs=np.array(rows, np.int32),
        kinds=np.array(list(kinds)),
        starts=np.array(starts, np.int32),
        columns=np.array(columns, np.uint16),
        counts=np.array(counts, np.uint8),
        taught=np.array(learned, np.int32),
    )
    print(len(rows), "pairs of", len(texts), "texts,", chosen.out.stat().st_size, "bytes")


def take_name(scope: str) -> str:
    """Return the name of a scope, from the first line of its text."""
    return scope.partition("\n")[0].rpartition(" ")[2].rpartition(".")[2]


def ask(sentence: str, chance: random.Random) -> str:
    """Return a docstring, or a question for what it says."""
    if chance.random() < 2 / 3:
        return sentence
    return chance.choice(ASKED).format(sentence[0].lower() + sentence[1:].rstrip("."))


if __name__ == "__main__":
    main()
