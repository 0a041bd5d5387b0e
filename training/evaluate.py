"""Measure a table by vectors alone, in seconds: code, conversations, other subjects, French.

    python -m training.evaluate --prepared FILE --table FOLDER

`prepared` is made once for a vocabulary (`--prepare`, with the texts of `training.list_scopes`).
Code: NDCG@10 of the hits as returned, mean over repositories. Conversations: recall@10 of
LoCoMo's evidence among turns that are embedded with those before them. Other subjects: how often a
message about something else is nearer to its nearest turn or scope than questions that belong there
are to theirs (0 is perfect, .5 is chance).
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from training.pieces import Pieces

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

TOP, WINDOW_TURNS, WINDOW_CHARS = 10, 2, 800


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--table", type=Path, required=True, help="pieces.txt, vectors.npy, …")
    parser.add_argument("--prepare", type=Path, help="texts of scopes, pickled by repository")
    parser.add_argument("--data", type=Path, default=Path("../../shared/data"))
    chosen = parser.parse_args()
    if chosen.prepare:
        pieces = Pieces.read(chosen.table / "pieces.txt")
        ready = prepare(pickle.loads(chosen.prepare.read_bytes()), chosen.data, pieces)
        chosen.prepared.write_bytes(pickle.dumps(ready))
    print(measure(pickle.loads(chosen.prepared.read_bytes()), read_table(chosen.table)))


def read_table(folder: Path) -> np.ndarray:
    rows: np.ndarray = np.load(folder / "vectors.npy").astype("f4")
    return rows * np.load(folder / "scales.npy").astype(np.float32)[:, None]


def prepare(scopes: Mapping[str, Any], data: Path, pieces: Pieces) -> dict[str, Any]:
    """Return everything that is measured on, as counts of pieces."""
    return {
        "code": [_prepare_code(name, rows, data, pieces) for name, rows in scopes.items()],
        "talks": [_prepare_talk(talk, pieces) for talk in _load_talks(data)],
        "off": pieces.to_matrix([row["text"] for row in _load_questions("off_topic")]),
        "french": _prepare_french(data, pieces),
    }


def _load_questions(name: str) -> list[dict[str, Any]]:
    path = Path(__file__).parent.parent / "benchmarks" / "questions" / f"{name}.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else []
    return rows


def _prepare_code(name: str, rows: Sequence[Any], data: Path, pieces: Pieces) -> dict[str, Any]:
    asked = json.loads((data / "code-search" / "annotations" / f"{name}.json").read_text("utf-8"))
    return {
        "name": name,
        "scopes": pieces.to_matrix([row[3] for row in rows]),
        "questions": pieces.to_matrix([one["query"] for one in asked]),
        "answers": [_find_answers(one, rows) for one in asked],
        "queries": [one["query"] for one in asked],
    }


def _find_answers(question: Mapping[str, Any], rows: Sequence[Any]) -> list[set[int]]:
    """Return for each target of a question the scopes that answer it."""
    found = []
    for entry in [*question["relevant"], *question["secondary"]]:
        target = entry if isinstance(entry, dict) else {"path": entry}
        path, first, last = target["path"], target.get("start_line"), target.get("end_line")
        found.append(
            {
                number
                for number, (file, start, end, _) in enumerate(rows)
                if (file == path or file.endswith(f"/{path}") or path.endswith(f"/{file}"))
                and (first is None or (start <= last and first <= end))
            }
        )
    return found


def _load_talks(data: Path) -> Any:
    from benchmarks.memory_recall import load

    return load(data / "memory" / "locomo-dev.json")


def _prepare_talk(talk: Any, pieces: Pieces) -> dict[str, Any]:
    said = talk.utterances
    texts = []
    for place, one in enumerate(said):
        text = f"User: {one.text}\nAssistant: "
        for earlier in reversed(said[max(place - WINDOW_TURNS, 0) : place]):
            longer = f"User: {earlier.text}\nAssistant: \n{text}"
            if earlier.session != one.session or len(longer) > WINDOW_CHARS:
                break
            text = longer
        texts.append(text)
    places = {one.id: place for place, one in enumerate(said)}
    return {
        "turns": pieces.to_matrix(texts),
        "questions": pieces.to_matrix([question.text for question in talk.questions]),
        "answers": [{places[one] for one in question.evidence} for question in talk.questions],
    }


def _prepare_french(data: Path, pieces: Pieces) -> list[dict[str, Any]]:
    repositories: dict[str, list[dict[str, Any]]] = {}
    for row in _load_questions("french"):
        repositories.setdefault(row["repository"], []).append(row)
    return [
        {
            "name": name,
            "french": pieces.to_matrix([row["query"] for row in rows]),
            "english": [row["english"] for row in rows],
        }
        for name, rows in repositories.items()
    ]


def embed(counts: csr_matrix, table: np.ndarray) -> np.ndarray:
    """Return the vectors of texts at length 1."""
    sums: np.ndarray = counts @ table
    return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)


def measure_ndcg(order: Sequence[int], targets: Sequence[set[int]]) -> float:
    """Return the gain of the first hit of each target, as a share of the best possible."""
    gain = 0.0
    for target in targets:
        rank = next((n for n, one in enumerate(order[:TOP], 1) if one in target), None)
        gain += 1 / math.log2(1 + rank) if rank else 0.0
    best = sum(1 / math.log2(1 + rank) for rank in range(1, min(len(targets), TOP) + 1))
    return min(gain / best, 1.0)


def measure(ready: Mapping[str, Any], table: np.ndarray) -> dict[str, float]:
    """Return every figure of a table."""
    figures, off = dict[str, float](), embed(ready["off"], table)
    turns = [embed(talk["turns"], table) for talk in ready["talks"]]
    every = np.concatenate(turns)
    recalls, own = list[float](), list[float]()
    for talk, said in zip(ready["talks"], turns, strict=True):
        near = embed(talk["questions"], table) @ said.T
        own += near.max(1).tolist()
        for row, gold in zip(near, talk["answers"], strict=True):
            recalls.append(len(gold & set(np.argsort(-row)[:TOP].tolist())) / len(gold))
    figures["conversations"] = float(np.mean(recalls))
    scores, on, foreign, strangers = dict[str, float](), list[float](), list[float](), list[float]()
    french, english = list[float](), list[float]()
    asked_in_french = {one["name"]: one for one in ready["french"]}
    for repo in ready["code"]:
        scopes, questions = embed(repo["scopes"], table), embed(repo["questions"], table)
        near = questions @ scopes.T
        on += near.max(1).tolist()
        strangers += (off @ scopes.T).max(1).tolist()
        foreign += (questions @ every.T).max(1).tolist()
        each = [measure_ndcg(_order(r), t) for r, t in zip(near, repo["answers"], strict=True)]
        scores[repo["name"]] = float(np.mean(each))
        if one := asked_in_french.get(repo["name"]):
            for row, text in zip(
                embed(one["french"], table) @ scopes.T, one["english"], strict=True
            ):
                place = repo["queries"].index(text)
                french.append(measure_ndcg(_order(row), repo["answers"][place]))
                english.append(each[place])
    away = (off @ every.T).max(1).tolist()
    figures["code"] = float(np.mean(list(scores.values())))
    figures["off topic beside own questions"] = _measure_overlap(own, away)
    figures["code questions beside own"] = _measure_overlap(own, foreign)
    figures["off topic beside code questions"] = _measure_overlap(on, strangers)
    for name, some in (("own", own), ("off", away), ("on code", on), ("off code", strangers)):
        for share in (10, 50, 90):
            figures[f"{name} p{share}"] = float(np.percentile(some, share))
    if french:
        figures["french"], figures["same in english"] = (
            float(np.mean(french)),
            float(np.mean(english)),
        )
    return {name: round(value, 4) for name, value in figures.items()}


def _order(row: np.ndarray) -> list[int]:
    best = np.argpartition(-row, min(TOP, len(row) - 1))[:TOP]
    found: list[int] = best[np.argsort(-row[best])].tolist()
    return found


def _measure_overlap(inside: Sequence[float], outside: Sequence[float]) -> float:
    """Return how often something outside is nearer than something inside."""
    order = np.sort(np.array(inside))
    return float(np.mean(np.searchsorted(order, np.array(outside)) / len(order)))


if __name__ == "__main__":
    main()
