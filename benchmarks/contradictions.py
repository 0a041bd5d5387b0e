"""Contradictions: are notes that contradict an older one found, and no others?

Pairs of sentences as programmers write them, in four languages, are labelled by hand in
questions/contradictions.tsv: contradiction, same, unrelated. The rules were made with one half; the
other half tells how good they are. Both halves were written by the same hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import Row, make_parser, require, save
from ragforge.search.contradiction import Verdict, compare

HALVES = ("build", "held-out")
PAIRS = Path(__file__).parent / "questions" / "contradictions.tsv"


class Pair(NamedTuple):
    """An older and a newer statement, with what they are to each other."""

    half: str
    label: str
    language: str
    older: str
    newer: str

    @property
    def contradicts(self) -> bool:
        return self.label == "contradiction"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--show", choices=HALVES, help="what is wrong in a half")
    options = parser.parse_args(arguments)
    results = {half: measure(half) for half in HALVES}
    for half, figures in results.items():
        print(f"{half}: {figures}")
        require(figures["linked"], f"No contradiction of the half {half} is found.")
    for pair in read_pairs(options.show) if options.show else ():
        verdict = compare(pair.older, pair.newer)
        if (verdict == "clear") != pair.contradicts or (verdict != "none") != pair.contradicts:
            print(f"{verdict:8} {pair.label:13} {pair.older} | {pair.newer}")
    held = results["held-out"]
    peer = f"recall {held['linked_recall']}, {held['pairs']} pairs"
    work = "contradictions that are linked: precision"
    save("contradictions", results, [Row(work, held["linked_precision"], "", 0.97, peer, True)])


def read_pairs(half: str) -> list[Pair]:
    """Return the pairs of a half: `build` or `held-out`."""
    rows = [Pair(*line.split("\t")) for line in PAIRS.read_text("utf-8").splitlines()[1:]]
    return [row for row in rows if row.half == half]


def measure(half: str) -> dict[str, float]:
    """Return precision and recall of what is linked, and of what is linked or asked about."""
    pairs = read_pairs(half)
    found: dict[Verdict, list[Pair]] = {"clear": [], "doubtful": [], "none": []}
    for pair in pairs:
        found[compare(pair.older, pair.newer)].append(pair)
    every = sum(pair.contradicts for pair in pairs)
    listed = [*found["clear"], *found["doubtful"]]
    return {
        "pairs": len(pairs),
        "linked": len(found["clear"]),
        "linked_precision": _share(found["clear"]),
        "linked_recall": round(sum(one.contradicts for one in found["clear"]) / every, 3),
        "listed": len(listed),
        "listed_precision": _share(listed),
        "listed_recall": round(sum(one.contradicts for one in listed) / every, 3),
    }


def _share(pairs: list[Pair]) -> float:
    return round(sum(pair.contradicts for pair in pairs) / len(pairs), 3) if pairs else 1.0


if __name__ == "__main__":
    main()
