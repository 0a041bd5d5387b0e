"""Choose the pieces of the table from counts of words, and give each its first vector.

    python -m training.vocabulary --pairs FOLDER --model FOLDER --out FOLDER

Whole words: those of the teacher's English vocabulary (`vocab.txt`), then the most frequent ones of
code, prose, conversations and every other language, up to a quota each. Pieces inside
words: those of the same vocabulary, and what joining frequent neighbours finds in the other
languages. Every letter that was seen is a piece in both forms. For the vectors see
`training.first_vectors`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ragforge.adapters.embedders.bundled import INSIDE, format_pieces
from training.first_vectors import make_first_vectors
from training.pieces import split_words

MOST = 64_000
QUOTAS = {
    "chat": 16_000, "en": 20_000, "code": 16_000, "fr": 5_000, "de": 2_400, "es": 2_200,
    "it": 2_000, "pt": 2_000, "nl": 900, "pl": 2_400, "ru": 2_400, "ja": 700, "ko": 1_500,
    "zh": 700, "cs": 900, "tr": 900, "uk": 900, "sv": 900, "sk": 200,
}  # fmt: skip
LEAST = {"chat": 3, "en": 3, "code": 5}
JOINED = 7_000
"""So many pieces are found by joining neighbours in the words of other languages."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True, help="all-MiniLM-L6-v2")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--most", type=int, default=MOST, help="pieces; fewer for a sample")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    counts = count_words(chosen.pairs)
    english = (chosen.model / "vocab.txt").read_text("utf-8").split("\n")
    pieces = choose_pieces(counts, english)[: chosen.most]
    (chosen.out / "pieces.txt").write_bytes(format_pieces(pieces))
    english_words = [counts[kind] for kind in LEAST]
    np.save(chosen.out / "start.npy", make_first_vectors(pieces, english_words, chosen.model))
    np.save(chosen.out / "kept.npy", weigh_words(pieces, counts))
    print(len(pieces), "pieces,", sum(map(len, map(str, pieces))), "letters")


def count_words(pairs: Path) -> dict[str, Counter[str]]:
    """Return the words of code, English prose, conversations and each other language."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(pairs.glob("*.jsonl")):
        if path.name.endswith(".others.jsonl"):
            continue
        for line in path.open(encoding="utf-8"):
            pair = json.loads(line)
            kind, _, language = pair["kind"].partition(" ")
            asked, answer = {
                "translation": (language, "en"),
                "section": ("en", "en"),
                "reply": ("chat", "chat"),
                "query": ("chat", "chat"),
                "request": ("chat", "chat"),
            }.get(kind, ("en", "code"))
            counts[asked].update(split_words(pair["question"]))
            counts[answer].update(split_words(pair["answer"]))
    return counts


def choose_pieces(counts: Mapping[str, Counter[str]], english: list[str]) -> list[str]:
    """Return the pieces, most needed first: letters, English, then each language's words."""
    letters = Counter[str]()
    for some in counts.values():
        for word, times in some.items():
            letters.update(dict.fromkeys(word, times))
    plain = [chr(code) for code in (*range(48, 58), *range(97, 123))]
    seen = [letter for letter, times in letters.most_common() if times >= 2]
    singles = list(dict.fromkeys([*plain, *seen, *_list_common_characters()]))
    pieces = dict.fromkeys([*singles, *(INSIDE + letter for letter in singles)])
    pieces.update(dict.fromkeys(w for w in english if re.fullmatch(r"(##)?[a-z]{2,}", w)))
    others = Counter[str]()
    for language, some in counts.items():
        if language not in LEAST:
            others.update(some)
    joined = find_pieces(others, JOINED)
    ranked = [
        (place / quota, word)
        for language, quota in sorted(QUOTAS.items())
        for place, (word, times) in enumerate(counts[language].most_common(quota))
        if times >= LEAST.get(language, 2) and len(word) > 1
    ]
    for word in [*joined, *(word for _, word in sorted(ranked))]:
        pieces.setdefault(word)
    return list(pieces)[:MOST]


def _list_common_characters() -> Iterator[str]:
    """Yield kana and the characters that a national standard lists as common."""
    yield from map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB), *range(0x430, 0x460)))
    codes = (bytes((first, n)) for first in range(0xB0, 0xC8) for n in range(0xA1, 0xFF))
    yield from b"".join(codes).decode("gb2312", "ignore")


def find_pieces(counts: Mapping[str, int], most: int) -> list[str]:
    """Return the pieces that joining the most frequent neighbours finds."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokeniser = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokeniser.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(vocab_size=most, show_progress=False, special_tokens=[])
    lines = (" ".join([word] * min(times, 50)) for word, times in sorted(counts.items()))
    tokeniser.train_from_iterator(lines, trainer)
    return sorted(tokeniser.get_vocab(), key=tokeniser.get_vocab().__getitem__)


def weigh_words(pieces: list[str], counts: Mapping[str, Counter[str]]) -> np.ndarray:
    """Return how much each piece is an everyday English word, 0..1: those are kept as they are."""
    said = counts["chat"]
    return np.array([min(said[piece] / 20, 1.0) for piece in pieces], "f4")


if __name__ == "__main__":
    main()
