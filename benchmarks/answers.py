"""What does an answer without a model show? Sixty questions of newcomers about ten repositories.

    python -m benchmarks.answers [--repos FOLDER] [--only gin,redux]

Each repository is read as a whole, in its revision of the code-search set, and every question of
questions/newcomers.json is asked. A question is answered if a file that answers it is the first
place, among the first five, or shown at all; three questions have no answer and count for what
they show. The repositories share one store, as in use.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import make_parser, require, save
from benchmarks.peers import add_places
from ragforge.app import App, open_app
from ragforge.config import load_settings

TOP = 5
QUESTIONS = Path(__file__).parent / "questions" / "newcomers.json"


async def ask(app: App, question: str, files: Sequence[str]) -> dict[str, Any]:
    """Return how many places an answer shows, and which of them is the first right one."""
    answer = await app.ask(question)
    shown = [place.file for place in answer.passages if place.file is not None]
    rank = next((n for n, file in enumerate(shown, 1) if file in files), 0)
    print(f"  {rank if files else '-'} of {len(shown)}: {question}")
    return {"question": question, "answerable": bool(files), "rank": rank, "places": len(shown)}


async def run(repos: Path, only: Sequence[str], folder: Path) -> list[dict[str, Any]]:
    by_repository: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in json.loads(QUESTIONS.read_text("utf-8")):
        if not only or row["repository"] in only:
            by_repository[row["repository"]].append(row)
    given = {
        "store.url": str(folder / "store.db"),
        "agent.state_dir": str(folder / "state"),
        "agent.memory.enabled": False,  # an earlier question would be found
    }
    results = []
    for name, rows in by_repository.items():
        root = repos / name
        require(root.is_dir(), f"{root} is missing.")
        print(name)
        async with open_app(load_settings(root, given).settings, root, work=False) as app:
            await app.code.ingest()
            results += [
                {"repository": name} | await ask(app, row["question"], row["files"]) for row in rows
            ]
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    add_places(parser)
    parser.add_argument("--only", default="", metavar="NAMES", help="these repositories")
    chosen = parser.parse_args(arguments)
    only = [name for name in chosen.only.split(",") if name]
    with tempfile.TemporaryDirectory(prefix="ragforge-answers-") as folder:
        rows = asyncio.run(run(chosen.repos, only, Path(folder)))
    require(rows, f"There are no questions about {chosen.only}.")
    ranks = [row["rank"] for row in rows if row["answerable"]]
    summary = {
        "questions": len(ranks),
        "first": sum(rank == 1 for rank in ranks),
        "among five": sum(0 < rank <= TOP for rank in ranks),
        "shown": sum(rank > 0 for rank in ranks),
        "places": sum(row["places"] for row in rows),
    }
    print(json.dumps(summary))
    require(summary["shown"], "No answer shows a file that answers its question.")
    save("answers", [summary, *rows])


if __name__ == "__main__":
    main()
