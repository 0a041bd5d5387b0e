"""Is the right session found for "which session touched FILE, and why"?

    python -m benchmarks.agents_recall --samples FOLDER --repository FOLDER

The samples are checkpoints of one repository, `**/full.jsonl` with a `metadata.json` next to each:
growing snapshots of sessions, none of them part of this project. `files_touched` is the truth, as
far as a transcript names the file at all: a commit holds what others changed as well.
The last snapshot of each session is imported into a new store, as if it had happened here, next to
an ingested clone of the repository. Then files are asked for which few sessions touched. For
comparison, ripgrep searches the same transcripts and ranks them by their number of hits.

A second part imports all snapshots of a session one after the other into one store and only the
last one into another, and compares what is in them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.measure import cpu_seconds, make_parser, require, save
from benchmarks.opening import open_file, open_project
from benchmarks.transcripts import make_importer
from ragforge.app import App
from ragforge.domain.conversations import ConversationFilter
from ragforge.domain.projects import Checkout
from ragforge.domain.schema import CHECKOUT, CONVERSATION
from ragforge.errors import InputError
from ragforge.memory.importer.files import ImportReport
from ragforge.tools.ripgrep import find_ripgrep
from ragforge.transcripts.claude_code import CLAUDE_CODE
from tests.fakes.copying import everything

DEPTHS = (1, 5, 10)
MAX_SESSIONS = 5
"""Files that more sessions touched are left out: nearly any answer would be right."""
SEED = 18
KINDS = ("conversation", "message", "tool_call", "tool_result", "branch", "forgotten")
QUESTION = "which session touched {file}, and why"
_DATED = re.compile(r"^\d{4}-\d\d-\d\d-")  # before the id of a session in older checkpoints

Search: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]  # file → sessions, the best first


@dataclass(frozen=True, slots=True)
class Session:
    """A session of another agent, with its snapshots and the files that it touched."""

    name: str
    cwd: str
    snapshots: tuple[Path, ...]  # the oldest first
    touched: frozenset[str]
    unnamed: frozenset[str]  # touched too, but the last snapshot does not say so

    @property
    def last(self) -> Path:
        return self.snapshots[-1]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--samples", type=Path, required=True, help="a folder of checkpoints")
    parser.add_argument("--repository", type=Path, required=True, help="what they worked on")
    parser.add_argument("--questions", type=int, default=150, help="how many files to ask for")
    parser.add_argument("--seconds", type=float, default=300, help="CPU for the second part")
    parser.add_argument("--only", choices=("recall", "growth"), help="one of the two parts")
    parser.add_argument("--keep", type=Path, help="work in this folder, and keep what is there")
    parser.add_argument("--show-misses", action="store_true")
    options = parser.parse_args(arguments)
    sessions = load_sessions(options.samples)
    require(sessions, f"{options.samples} has no checkpoints (**/full.jsonl).")
    with tempfile.TemporaryDirectory() as name:
        folder = options.keep or Path(name)
        prepare(sessions, options.repository, folder)
        results = asyncio.run(measure(sessions, options, folder))
    print(json.dumps(results, indent=1))
    save(f"agents-{options.only or 'recall'}", results)


def prepare(sessions: Sequence[Session], repository: Path, folder: Path) -> None:
    """Lay the last snapshots side by side, and a clone of the repository next to them."""
    transcripts, clone = folder / "transcripts", folder / "clone"
    if not clone.exists():
        transcripts.mkdir(parents=True)
        for session in sessions:
            (transcripts / f"{session.name}.jsonl").symlink_to(session.last.resolve())
        subprocess.run(["git", "clone", "-q", "--shared", repository, clone], check=True)


async def measure(
    sessions: Sequence[Session], options: argparse.Namespace, folder: Path
) -> dict[str, Any]:
    results = {}
    if options.only != "growth":
        questions = pick_questions(sessions, options.questions)
        require(questions, "No session touched a file that few others did.")
        results["recall"] = await measure_recall(sessions, questions, options, folder)
    if options.only != "recall":
        results["growing snapshots"] = await measure_growth(sessions, folder, options.seconds)
    return results


def load_sessions(samples: Path) -> list[Session]:
    """Return the sessions of Claude Code, each with its snapshots by age."""
    snapshots: dict[str, list[tuple[str, Path]]] = defaultdict(list)
    touched: dict[str, set[str]] = defaultdict(set)
    for path in sorted(samples.glob("**/full.jsonl")):
        about = json.loads(path.with_name("metadata.json").read_text("utf-8"))
        name = _DATED.sub("", about["session_id"])
        snapshots[name].append((about["created_at"], path))
        touched[name].update(about["files_touched"] or ())
    found = []
    for name, some in sorted(snapshots.items()):
        paths = tuple(path for _, path in sorted(some))
        if (cwd := read_folder(paths[-1])) is not None:
            said = paths[-1].read_bytes()
            named = frozenset(file for file in touched[name] if file.encode() in said)
            found.append(Session(name, cwd, paths, named, frozenset(touched[name]) - named))
    return found


def read_folder(transcript: Path) -> str | None:
    """Return the working directory of a transcript; None if another agent wrote it."""
    with transcript.open("rb") as lines:
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and isinstance(record.get("cwd"), str):
                return str(record["cwd"])
    return None


def pick_questions(sessions: Sequence[Session], maximum: int) -> dict[str, frozenset[str]]:
    """Return files with the sessions that touched them, a sample that is always the same."""
    owners: dict[str, set[str]] = defaultdict(set)
    for session in sessions:
        for file in session.touched:
            owners[file].add(session.name)
    few = sorted(file for file, its in owners.items() if len(its) <= MAX_SESSIONS)
    picked = random.Random(SEED).sample(few, min(maximum, len(few)))
    return {file: frozenset(owners[file]) for file in sorted(picked)}


async def measure_recall(
    sessions: Sequence[Session],
    questions: Mapping[str, frozenset[str]],
    options: argparse.Namespace,
    folder: Path,
) -> dict[str, Any]:
    transcripts = folder / "transcripts"
    async with open_project(folder / "clone", folder / "store.db", work=False) as app:
        start = time.process_time()
        await fill(app, sessions, transcripts)
        seconds = time.process_time() - start
        names = await name_sessions(app)
        ways: dict[str, Search] = {
            "ragforge sessions about FILE": find_about(app, names),
            "ragforge search --in memory, in words": find_by_words(app, names),
            "ripgrep, the path": find_by_ripgrep(transcripts, lambda file: file),
            "ripgrep, the base name": find_by_ripgrep(transcripts, lambda file: Path(file).name),
        }
        scores = {}
        for name, search in ways.items():
            scores[name] = await ask(search, questions, options.show_misses and name)
        require(any(one["MRR"] for one in scores.values()), "No way to search finds a session.")
    return {
        "sessions": len(sessions),
        "MB": round(sum(session.last.stat().st_size for session in sessions) / 1e6, 1),
        "import, vectors and links, CPU s": round(seconds, 1),
        "files asked for": len(questions),
        "sessions that touched them": sum(map(len, questions.values())),
        "touched, but not named": sum(len(session.unnamed) for session in sessions),
        "touched and named": sum(len(session.touched) for session in sessions),
        "ways": scores,
    }


async def fill(app: App, sessions: Sequence[Session], transcripts: Path) -> None:
    """Import the sessions, and do all jobs that follow."""
    for folder in {session.cwd for session in sessions}:  # other checkouts of it, gone by now
        await app.store.records.put(
            CHECKOUT, Checkout(folder, app.project.id, former_ids=(folder,))
        )
    report = await app.imports.run([CLAUDE_CODE.name], transcripts)
    print(f"{report.of(CLAUDE_CODE.name).turns} turns", flush=True)
    await app.worker.drain()


async def name_sessions(app: App) -> dict[str, str]:
    """Return conversation → what its agent calls the session that the user began."""
    found = await app.store.records.find(CONVERSATION, ConversationFilter(), 1_000_000)
    known = {one.uuid: one for one in found}
    names = {}
    for one in found:
        top = one
        while top.parent_id in known:
            top = known[top.parent_id]
        names[one.uuid] = top.agent_session or ""
    return names


def find_about(app: App, names: Mapping[str, str]) -> Search:
    async def search(file: str) -> list[str]:
        try:
            found = await app.sessions.find_about(file)
        except InputError:
            return []
        return list(dict.fromkeys(names[one.conversation.uuid] for one in found))

    return search


def find_by_words(app: App, names: Mapping[str, str]) -> Search:
    async def search(file: str) -> list[str]:
        # Several hits may be of one session: enough that ten sessions are among them.
        hits = await app.memory.search(QUESTION.format(file=file), max_results=50)
        owners = (hit.conversation_id for hit in hits if hit.conversation_id)
        return list(dict.fromkeys(names[owner] for owner in owners))

    return search


def find_by_ripgrep(transcripts: Path, name: Callable[[str], str]) -> Search:
    program = find_ripgrep()
    if program is None:
        raise SystemExit("ripgrep (rg) is not installed.")

    def search(file: str) -> list[str]:
        command = [program, "-L", "-F", "--count-matches", "-e", name(file), str(transcripts)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        counts = (line.rsplit(":", 1) for line in done.stdout.splitlines())
        ranked = sorted(counts, key=lambda pair: -int(pair[1]))
        return [Path(path).stem for path, _ in ranked]

    return partial(asyncio.to_thread, search)


async def ask(
    search: Search, questions: Mapping[str, frozenset[str]], label: str | bool
) -> dict[str, float]:
    """Ask for every file, warm.

    Recall@k is the share of the right sessions among the first k, of as many as k can hold.
    """
    await search(next(iter(questions)))
    recall: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    ranks, lengths, start = [], [], cpu_seconds()
    for file, right in questions.items():
        found = await search(file)
        for depth in DEPTHS:
            held = len(right.intersection(found[:depth]))
            recall[depth].append(held / min(depth, len(right)))
        ranks.append(next((1 / n for n, one in enumerate(found, 1) if one in right), 0.0))
        lengths.append(len(found))
        if label and recall[max(DEPTHS)][-1] < 1:
            places = [found.index(one) if one in found else None for one in sorted(right)]
            print(f"{label}: {file}: {sorted(right)} at {places} of {len(found)}")
    seconds = cpu_seconds() - start
    return {
        **{f"recall@{depth}": round(statistics.fmean(recall[depth]), 3) for depth in DEPTHS},
        "MRR": round(statistics.fmean(ranks), 3),
        "sessions in an answer": round(statistics.fmean(lengths), 1),
        "CPU ms": round(1000 * seconds / len(questions), 1),
    }


async def measure_growth(
    sessions: Sequence[Session], folder: Path, maximum: float
) -> dict[str, int | float]:
    """Return how many sessions are the same, read as they grew and read at once.

    Some snapshots do not begin with the one before: they hold another part of the session. Of
    these everything has to be there that the last one says.
    """
    several = [session for session in sessions if len(session.snapshots) > 1]
    random.Random(SEED).shuffle(several)
    counts: Counter[str] = Counter()
    start = time.process_time()
    for session in several:
        if time.process_time() - start > maximum:
            break
        slowly = await import_snapshots(session.snapshots, folder / f"{session.name}-slow")
        at_once = await import_snapshots(session.snapshots[-1:], folder / f"{session.name}-once")
        kind = "growing" if is_growing(session.snapshots) else "of other parts"
        known, wanted = list_messages(slowly), list_messages(at_once)
        counts[kind] += 1
        counts["snapshots"] += len(session.snapshots)
        counts[f"{kind}, equal"] += slowly == at_once
        counts[f"{kind}, nothing lost"] += wanted <= known
        if kind == "growing" and slowly != at_once:
            kinds = [kind for kind in slowly if slowly[kind] != at_once[kind]]
            print(f"different: {session.name}: {', '.join(kinds)}", flush=True)
    return {
        "sessions with several snapshots": len(several),
        **counts,
        "CPU s": round(time.process_time() - start, 1),
    }


def is_growing(snapshots: Sequence[Path]) -> bool:
    """Tell whether each snapshot begins with the one before."""
    texts = [path.read_bytes() for path in snapshots]
    return all(after.startswith(before) for before, after in pairwise(texts))


def list_messages(stored: Mapping[str, Any]) -> set[str]:
    return {message["uuid"] for message in stored["message"]}


async def import_snapshots(snapshots: Iterable[Path], folder: Path) -> dict[str, Any]:
    """Return what a store has after snapshots of a session, each in the place of the one before."""
    folder.mkdir()
    place = folder / "session.jsonl"
    async with open_file(folder / "store.db", "ann") as store:
        for snapshot in snapshots:
            shutil.copyfile(snapshot, place)
            await make_importer(store).import_files(CLAUDE_CODE, [place], {}, ImportReport())
        found = await everything(store)
    shutil.rmtree(folder)
    return {kind: found[kind] for kind in KINDS}


if __name__ == "__main__":
    main()
