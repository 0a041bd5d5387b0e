"""List the scopes of the benchmark's repositories with the texts that the product embeds.

    python -m training.list_scopes --out FILE [--repos FOLDER] [--data FOLDER]

Sections of documents are left out: a search for code leaves them out too.
"""

from __future__ import annotations

import argparse
import asyncio
import pickle
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.opening import open_code
from benchmarks.peers import add_places, check_out, repositories
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.domain.code import MODULE, SECTION, ScopeFilter
from ragforge.domain.schema import SCOPE, SCOPE_NAME
from ragforge.ports.store import Records
from ragforge.search.scope_words import format_module, format_scope

Row = tuple[str, int, int, str]  # a file, its first and last line, the text


async def list_scopes(records: Records, project_id: str) -> Sequence[Row]:
    rows, again = list[Row](), BundledEmbedder.weights.names
    for scope in await records.find(SCOPE, ScopeFilter(project_id)):
        if scope.type == SECTION:
            continue
        if scope.type == MODULE:
            inside = ScopeFilter(project_id, [scope.file])
            text = format_module(scope, await records.find(SCOPE_NAME, inside))
        else:
            text = format_scope(scope, again)
        rows.append((scope.file, scope.start_line, scope.end_line, text))
    return rows


async def run(chosen: argparse.Namespace) -> None:
    found = {}
    for repo in repositories(chosen.data):
        with tempfile.TemporaryDirectory() as folder:
            file, root = Path(folder) / "store.db", chosen.repos / repo.name / repo.root
            async with open_code(file, root, None) as brain:
                found[repo.name] = await list_scopes(brain.store.records, brain.project_id)
        print(repo.name, len(found[repo.name]), flush=True)
    chosen.out.write_bytes(pickle.dumps(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, required=True)
    add_places(parser)
    chosen = parser.parse_args()
    check_out(chosen.repos, repositories(chosen.data))
    asyncio.run(run(chosen))


if __name__ == "__main__":
    main()
