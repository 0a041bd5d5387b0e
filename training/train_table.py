"""Train the table on packed pairs; write it as int8.

    python -m training.train_table --packed FILE --start FOLDER --out FOLDER [--steps 1500] …

Each step takes pairs of one kind. Half of a batch of code comes from few repositories, so that the
wrong answers are near ones. The loss is the cross-entropy of the right answer among all of the
batch, in both directions. Beside it, every step also brings the cosines of some texts to those of
a sentence encoder, which keeps unrelated texts apart; and everyday words are held near their start.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from training.quantise import quantise

SHARES = {
    "doc": 0.27, "outline": 0.06, "commit": 0.05, "test": 0.02, "section": 0.06, "name": 0.05,
    "translation": 0.20, "reply": 0.12, "query": 0.10, "request": 0.05,
}  # fmt: skip
"""How often a batch is of each kind."""
OF_CODE = frozenset(("doc", "outline", "commit", "test", "name"))
TEACHER_HEAT = 0.05


class Packed:
    """Texts as counts of pieces, and pairs of them."""

    def __init__(self, path: Path, device: str) -> None:
        data = np.load(path)
        self.device = device
        self.starts = torch.from_numpy(data["starts"].astype(np.int64)).to(device)
        self.columns = torch.from_numpy(data["columns"].astype(np.int32)).to(device)
        self.counts = torch.from_numpy(data["counts"]).to(device)
        self.taught = data["taught"]
        meant = torch.from_numpy(np.load(path.with_name("meant.npy")).astype("f4"))
        self.meant = F.normalize(meant, dim=1).to(device)
        pairs, names = data["pairs"], data["kinds"].tolist()
        self.kinds: dict[str, list[np.ndarray]] = {}
        for number, name in enumerate(names):
            kind = name.split()[0]
            self.kinds.setdefault(kind, []).append(pairs[pairs[:, 0] == number])
        self.others = np.concatenate(self.kinds.pop("other", [pairs[:0]]))

    def embed(self, table: torch.Tensor, texts: np.ndarray, drop: float = 0.0) -> torch.Tensor:
        """Return the vectors of texts at length 1, each without a share of its pieces."""
        numbers = torch.from_numpy(texts.astype(np.int64)).to(self.device)
        first, last = self.starts[numbers], self.starts[numbers + 1]
        sizes = last - first
        offsets = torch.cumsum(sizes, 0) - sizes
        places = torch.arange(int(sizes.sum()), device=self.device)
        places = places - torch.repeat_interleave(offsets - first, sizes)
        counts = self.counts[places].to(table.dtype)
        if drop:
            counts = counts * (torch.rand_like(counts) >= drop)
        pieces = self.columns[places].long()
        sums = F.embedding_bag(pieces, table, offsets, mode="sum", per_sample_weights=counts)
        return F.normalize(sums, dim=1)


def choose_batch(kind: list[np.ndarray], size: int, chance: np.random.Generator) -> np.ndarray:
    """Return pairs of one kind (of one language); half of them from few repositories."""
    sizes = np.array([len(some) for some in kind], float)
    some = kind[chance.choice(len(kind), p=sizes**0.5 / (sizes**0.5).sum())]
    every = some[chance.integers(len(some), size=size)]
    groups = np.unique(some[:, 1])
    if len(groups) > 8:
        few = chance.choice(groups, size=4, replace=False)
        near = some[np.isin(some[:, 1], few)]
        every[: size // 2] = near[chance.integers(len(near), size=size // 2)]
    return every


def choose_others(others: np.ndarray, batch: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """Return wrong answers for a batch: most from the repositories that it has most of."""
    groups, counts = np.unique(batch[:, 1], return_counts=True)
    near = others[np.isin(others[:, 1], groups[np.argsort(-counts)[:4]])]
    both = [some[chance.integers(len(some), size=len(batch) // 2)] for some in (near, others)]
    return np.concatenate(both)[:, 3]


def compare(
    one: torch.Tensor,
    other: torch.Tensor,
    same: torch.Tensor,
    heat: float,
    wrong: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the cross-entropy of each right answer among all, in both directions.

    `wrong` are more answers that are right for none.
    """
    near = one @ other.T / heat
    near = near.masked_fill(same, -1e4)  # another pair's answer that is this one's too
    right = torch.arange(len(one), device=one.device)
    every = near if wrong is None else torch.cat([near, one @ wrong.T / heat], 1)
    return (F.cross_entropy(every, right) + F.cross_entropy(near.T, right)) / 2


def find_same(batch: np.ndarray, device: str) -> torch.Tensor:
    """Return where another pair of the batch has the same question or answer."""
    pairs = torch.from_numpy(batch).to(device)
    questions, answers = pairs[:, 2], pairs[:, 3]
    same = (questions[:, None] == questions) | (answers[:, None] == answers)
    return same.fill_diagonal_(False)


def follow(ours: torch.Tensor, theirs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return how far our cosines are from a teacher's, and how far our order is from theirs."""
    one, other = ours @ ours.T, theirs @ theirs.T
    gap = ((one - other) ** 2).mean()  # 0 where a text meets itself
    itself = torch.eye(len(one), device=one.device) * 1e4
    rank = F.kl_div(
        F.log_softmax(one / TEACHER_HEAT - itself, 1),
        F.softmax(other / TEACHER_HEAT - itself, 1),
        reduction="batchmean",
    )
    return gap, rank


def train(chosen: argparse.Namespace, packed: Packed) -> np.ndarray:
    """Return the trained table."""
    device = packed.device
    chance = np.random.default_rng(chosen.seed)
    torch.manual_seed(chosen.seed)
    start = torch.from_numpy(np.load(chosen.start / "start.npy")).to(device)
    kept = torch.from_numpy(np.load(chosen.start / "kept.npy")).to(device)
    table = start.clone().requires_grad_()
    adam = torch.optim.Adam([table], lr=chosen.rate, betas=(0.9, 0.98))
    shares = {kind: share for kind, share in SHARES.items() if kind in packed.kinds}
    if chosen.shares:
        shares |= json.loads(chosen.shares)
    names, odds = list(shares), np.array(list(shares.values()))
    begun = time.time()
    for step in range(chosen.steps):
        for group in adam.param_groups:  # a short rise, then down to a tenth
            done = step / chosen.steps
            group["lr"] = chosen.rate * min(1.0, (step + 1) / 50) * (1 - 0.9 * done)
        kind = names[chance.choice(len(names), p=odds / odds.sum())]
        batch = choose_batch(packed.kinds[kind], chosen.batch, chance)
        one = packed.embed(table, batch[:, 2], chosen.drop)
        other = packed.embed(table, batch[:, 3], chosen.drop)
        wrong = None
        if kind in OF_CODE and len(packed.others) and chosen.others:
            picked = choose_others(packed.others, batch, chance)
            wrong = packed.embed(table, picked, chosen.drop)
        loss = compare(one, other, find_same(batch, device), chosen.heat, wrong)
        parts = [float(loss.detach())]
        if chosen.distil:
            picked = chance.integers(len(packed.taught), size=chosen.batch // 2)
            ours = packed.embed(table, packed.taught[picked])
            theirs = packed.meant[torch.from_numpy(picked).to(device)]
            gap, rank = follow(ours, theirs)
            loss = loss + chosen.distil * (10 * gap + rank)
            parts += [float(gap.detach()), float(rank.detach())]
        if chosen.keep:
            moved = ((table - start) ** 2).sum(1)
            loss = loss + chosen.keep * (moved * (chosen.keep_all + kept)).mean()
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()
        if step % 100 == 0:
            print(
                step,
                kind,
                [round(part, 4) for part in parts],
                f"{time.time() - begun:.0f} s",
                flush=True,
            )
    result: np.ndarray = table.detach().float().cpu().numpy()
    return result


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--packed", type=Path, required=True)
    parser.add_argument("--start", type=Path, required=True, help="start.npy, kept.npy, pieces.txt")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=1_200)
    parser.add_argument("--batch", type=int, default=2_048)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--heat", type=float, default=0.1)
    parser.add_argument("--distil", type=float, default=1.0)
    parser.add_argument("--keep", type=float, default=20.0)
    parser.add_argument("--keep-all", type=float, default=0.05)
    parser.add_argument("--drop", type=float, default=0.3, help="share of pieces left out")
    parser.add_argument("--others", type=int, default=1, help="0: no wrong answers beside a batch")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--shares", default="", help="JSON, instead of some of the usual ones")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    add_options(parser)
    chosen = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    table = train(chosen, Packed(chosen.packed, device))
    rows, scales = quantise(table)
    chosen.out.mkdir(parents=True, exist_ok=True)
    np.save(chosen.out / "vectors.npy", rows)
    np.save(chosen.out / "scales.npy", scales)
    pieces = (chosen.start / "pieces.txt").read_bytes()
    (chosen.out / "pieces.txt").write_bytes(pieces)


if __name__ == "__main__":
    main()
