"""Replay: a store that grows with the sessions and the code, copied at every cut-off.

At each cut-off the transcripts are as long as they were at that moment, the checkout shows the
newest commit of the main branch, and the product imports and ingests what is new. The copies are
kept below the work folder until code changes that decides what is stored (see STORED).
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.desk.deeds import Paths, Turn
from benchmarks.desk.sessions import Log, run_git
from benchmarks.issues import Checkout as Tree
from ragforge import load_settings, open_app
from ragforge.app import App
from ragforge.domain.projects import Checkout
from ragforge.domain.schema import CHECKOUT
from ragforge.transcripts.claude_code import CLAUDE_CODE

BRANCHES = ("main", "master")
FIRST = 0.2
"""The share of the prompts before the first cut-off: without a past there is nothing to recall."""
FROM_ONE_SESSION = 3
SOURCE = Path(__file__).parents[2] / "src" / "ragforge"
STORED = (
    *("adapters/embedders", "adapters/stores", "domain", "folders.py", "transcripts"),
    *("brain/files", "brain/graph", "brain/ingestion", "brain/languages", "brain/parse"),
    *("memory/code", "memory/embed.py", "memory/context_tags.py", "memory/importer"),
    *("memory/record.py", "memory/secrets", "memory/summaries", "search/words/tokenise.py"),
)


@dataclass(frozen=True, slots=True)
class CutOff:
    """A moment of the history, and the prompts that are asked with what was known then."""

    number: int
    moment: str
    commit: str
    prompts: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Desk:
    """Where the transcripts, the code and the stores of a replay are."""

    repository: Path
    folder: Path
    logs: Sequence[Log]
    paths: Paths

    @property
    def tree(self) -> Path:
        return self.folder / "code"

    def show(self, commit: str) -> None:
        """Make the checkout show a commit."""
        Tree(self.repository, self.tree).switch_to(commit)

    def open(self, store: Path) -> AbstractAsyncContextManager[App]:
        environ = {
            "RAGFORGE_STORE": str(store),
            "RAGFORGE_CONFIG": "",
            "RAGFORGE_AGENT__STATE_DIR": str(self.folder / "state"),
            "RAGFORGE_BRAIN__INGEST_AUTOMATICALLY": "false",
            "RAGFORGE_ORIGINALS__KEEP": "false",
        }
        settings = load_settings(self.tree, environ=environ).settings
        return open_app(settings, self.tree, work=False)

    def find_store(self, cut: CutOff) -> Path:
        key = hash_sources() + hashlib.sha1(cut.moment.encode()).hexdigest()[:6]
        return self.folder / "stores" / f"{key}-{cut.number:02}.db"


def plan(repository: Path, asked: Sequence[Turn], cuts: int, prompts: int) -> list[CutOff]:
    """Spread the cut-offs over the prompts and take the first ones after each."""
    first = int(len(asked) * FIRST)
    found: list[CutOff] = []
    for number in range(cuts):
        start = first + (len(asked) - first) * number // cuts
        end = first + (len(asked) - first) * (number + 1) // cuts
        taken: list[Turn] = []
        count: Counter[str] = Counter()
        for turn in asked[start:end]:
            if count[turn.session] < FROM_ONE_SESSION and len(taken) < prompts:
                taken.append(turn)
                count[turn.session] += 1
        moment = asked[start].at
        newest = ("rev-list", "-1", f"--before={moment}", find_branch(repository))
        commit = run_git(repository, *newest).strip()
        found.append(CutOff(number, moment, commit, tuple(taken)))
    return found


def find_branch(repository: Path) -> str:
    """Return the branch that everything is merged into."""
    names = run_git(repository, "branch", "--format=%(refname:short)").split()
    return next((name for name in BRANCHES if name in names), "HEAD")


async def grow(desk: Desk, cuts: Iterable[CutOff]) -> None:
    """Make the stores that are missing. One store grows; its copies are kept."""
    kept = desk.folder / "stores"
    kept.mkdir(parents=True, exist_ok=True)
    growing = kept / "growing.db"
    remove_store(growing)
    last: Path | None = None
    for cut in cuts:
        store = desk.find_store(cut)
        if store.exists():
            last = store
            continue
        if last is not None:
            shutil.copyfile(last, growing)
            last = None
        start = time.process_time()
        said = await _bring_up_to_date(desk, cut, growing)
        shutil.copyfile(growing, store.with_suffix(".part"))
        store.with_suffix(".part").rename(store)
        print(f"{cut.moment}: {said}, {time.process_time() - start:.0f} CPU s", flush=True)
    remove_store(growing)
    for old in kept.glob("*.db"):
        if not old.name.startswith(hash_sources()):
            remove_store(old)


async def _bring_up_to_date(desk: Desk, cut: CutOff, store: Path) -> str:
    transcripts = desk.folder / "transcripts"
    transcripts.mkdir(exist_ok=True)
    for log in desk.logs:
        write_until(log, cut.moment, transcripts / log.path.name)
    desk.show(cut.commit)
    async with desk.open(store) as app:
        await app.brain.ingest()
        for root in desk.paths.roots:  # clones and work trees on machines that are gone
            await app.store.records.put(
                CHECKOUT, Checkout(root, app.project.id, former_ids=(root,), uuid=_name(root))
            )
        if not any(transcripts.iterdir()):
            return "nothing said yet"
        report = await app.imports.run([CLAUDE_CODE.name], transcripts)
        await app.worker.drain()
    return f"{report.of(CLAUDE_CODE.name).turns} turns more"


def write_until(log: Log, moment: str, path: Path) -> None:
    """Write a transcript as far as it went before a moment."""
    size = log.size_before(moment)
    if size == 0:
        path.unlink(missing_ok=True)
    elif not path.exists() or path.stat().st_size != size:
        with log.path.open("rb") as file:
            path.write_bytes(file.read(size))


def remove_store(store: Path) -> None:
    """Remove a store with the files that SQLite keeps next to it."""
    for path in (store, *(store.with_name(f"{store.name}-{end}") for end in ("wal", "shm"))):
        path.unlink(missing_ok=True)


def _name(root: str) -> str:
    made = hashlib.sha1(root.encode()).hexdigest()
    return f"{made[:8]}-{made[8:12]}-5{made[13:16]}-8{made[17:20]}-{made[20:32]}"


def hash_sources() -> str:
    """Return a hash of the code that decides what is stored."""
    made = hashlib.sha1()
    for name in STORED:
        place = SOURCE / name
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            made.update(path.read_bytes())
    return made.hexdigest()[:8]
