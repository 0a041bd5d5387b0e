"""How fast is the bundled embedder, compared with the plain way with the same table?

The plain way splits each text into word pieces and sums their vectors; look-up is what
remains of it when the pieces are known already.

python -m benchmarks.embed [--texts 4000]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import peak_memory_mb, save
from ragforge.adapters.embedders.bundled import BundledEmbedder, _split_runs, split_identifier

WORDS_A_TEXT = 200
LOAD = """
import asyncio, time
start = time.process_time()
from ragforge.adapters.embedders.bundled import BundledEmbedder
asyncio.run(BundledEmbedder().embed_query("how are sessions found?"))
print(time.process_time() - start)
"""


def texts_of_this_project(amount: int) -> list[str]:
    """Return texts of some 200 words each, cut from the project's own sources."""
    sources = sorted(Path(__file__).parent.parent.glob("src/**/*.py"))
    words = " ".join(path.read_text("utf-8") for path in sources).split(" ")
    chance = random.Random(1)
    starts = [chance.randrange(len(words) - WORDS_A_TEXT) for _ in range(amount)]
    return [" ".join(words[start : start + WORDS_A_TEXT]) for start in starts]


def plain_seconds(embedder: BundledEmbedder, texts: list[str]) -> tuple[float, float, float]:
    """Return the CPU seconds of splitting, those of look-up and sum, and the pieces a text."""
    rows, scales = embedder._table._arrays
    table = rows * scales.astype(np.float32)[:, None]
    start = time.process_time()
    pieces = [split(embedder, text) for text in texts]
    divided = time.process_time()
    for numbers in pieces:
        total = table[numbers].sum(axis=0)
        total /= np.linalg.norm(total)
    looked_up = time.process_time()
    return divided - start, looked_up - divided, sum(map(len, pieces)) / len(pieces)


def split(embedder: BundledEmbedder, text: str) -> NDArray[np.uint16]:
    words = (word for run in _split_runs(text) for word in split_identifier(run))
    return np.frombuffer(b"".join(map(embedder._pieces.split, words)), np.uint16)


def load_seconds() -> float:
    """Return the CPU seconds from nothing to the first vector, the best of three."""
    runs = [
        subprocess.run([sys.executable, "-c", LOAD], capture_output=True, check=True)
        for _ in range(3)
    ]
    return min(float(run.stdout) for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--texts", type=int, default=4_000)
    texts = texts_of_this_project(parser.parse_args().texts)
    embedder = BundledEmbedder()
    asyncio.run(embedder.embed(texts[:50]))
    start = time.process_time()
    vectors = asyncio.run(embedder.embed(texts))
    seconds = time.process_time() - start
    start = time.process_time()
    asyncio.run(embedder.embed(texts))
    again = time.process_time() - start
    memory = peak_memory_mb()
    splitting, look_up, pieces = plain_seconds(embedder, texts)
    result: dict[str, Any] = {
        "texts": len(vectors),
        "pieces_a_text": round(pieces),
        "texts_per_cpu_second": round(len(texts) / seconds),
        "texts_per_cpu_second_words_known": round(len(texts) / again),
        "share_of_look_up": round(look_up / seconds, 2),
        "share_of_look_up_words_known": round(look_up / again, 2),
        "plain_texts_per_cpu_second": round(len(texts) / (splitting + look_up)),
        "look_up_texts_per_cpu_second": round(len(texts) / look_up),
        "share_of_plain": round((splitting + look_up) / seconds, 2),
        "load_cpu_seconds": round(load_seconds(), 3),
        "peak_memory_mb": round(memory),
    }
    print(result)
    print(f"saved to {save('embed', result)}")


if __name__ == "__main__":
    main()
