"""Ask a sentence encoder for the vectors of texts, to learn cosines from.

    python -m training.teach --pairs FOLDER --model FOLDER --taught FOLDER

The texts are turns, windows, questions about meetings and everyday requests, and among them
sentences about code: so what is unrelated is seen beside what is related. The encoder is
all-MiniLM-L6-v2 (Apache-2.0). Its vectors are kept in the 128 directions in which they differ most.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import numpy as np

from training.mine_code import SEED

MOST = {"reply": 9_000, "query": 4_000, "request": 4_500}
FROM_CODE, TEXT_CHARS, TOKENS, TOGETHER, DIMENSIONS = 6_000, 400, 96, 64, 128


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--taught", type=Path, required=True)
    parser.add_argument("--share", type=float, default=1.0, help="of the texts, for a sample")
    chosen = parser.parse_args()
    chosen.taught.mkdir(parents=True, exist_ok=True)
    texts = choose_texts(chosen.pairs)
    texts = texts[: int(chosen.share * len(texts))]
    (chosen.taught / "teach_texts.json").write_text(json.dumps(texts), "utf-8")
    meant = reduce(encode(texts, chosen.model))
    np.save(chosen.taught / "meant.npy", np.round(meant * 127).astype(np.int8))


def choose_texts(pairs: Path) -> list[str]:
    chance = random.Random(SEED)
    lines = (pairs / "conversations.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    chance.shuffle(rows)
    texts: dict[str, None] = {}
    for kind, most in MOST.items():
        for row in [row for row in rows if row["kind"] == kind][:most]:
            texts |= {row["question"][:TEXT_CHARS]: None, row["answer"][:TEXT_CHARS]: None}
    code = list[str]()
    for path in sorted(pairs.glob("*+*.jsonl")):
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            if row["kind"] in ("doc", "commit") and chance.random() < 0.08:
                code.append(row["question"])
    chance.shuffle(code)
    found = sorted([*texts, *code[:FROM_CODE]])
    chance.shuffle(found)
    return found


def encode(texts: list[str], model: Path, unit: bool = True) -> np.ndarray:
    """Return the encoder's vectors: the means of its last layer, at length 1 if so wished."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokeniser, encoder = AutoTokenizer.from_pretrained(model), AutoModel.from_pretrained(model)
    vectors = np.zeros((len(texts), encoder.config.hidden_size), "f4")
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    with torch.inference_mode():
        for start in range(0, len(order), TOGETHER):
            some = order[start : start + TOGETHER]
            batch = tokeniser(
                [texts[place] for place in some],
                padding=True,
                truncation=True,
                max_length=TOKENS,
                return_tensors="pt",
            )
            layer = encoder(**batch).last_hidden_state
            there = batch["attention_mask"].unsqueeze(-1)
            means = (layer * there).sum(1) / there.sum(1)
            vectors[some] = (torch.nn.functional.normalize(means, dim=1) if unit else means).numpy()
    return vectors


def reduce(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors in the directions in which they differ most, at length 1."""
    _, _, directions = np.linalg.svd(vectors[:: max(len(vectors) // 4_000, 1)], full_matrices=False)
    short: np.ndarray = vectors @ directions[:DIMENSIONS].T
    return short / np.linalg.norm(short, axis=1, keepdims=True)


if __name__ == "__main__":
    main()
