"""What does it cost to import the transcripts of other agents, and is that cost linear?

    python -m benchmarks.transcripts [--megabytes 95] [--samples FOLDER [--agent NAME]]
    python -m benchmarks.transcripts --shapes [--lines 40000] [--megabytes 60] [--shape NAME]

Sessions of Claude Code are written, of two megabytes each and as agents make them, or taken from
the folder of --samples. They are imported into an empty store, which can be searched by words then;
the jobs that follow make vectors, links and summaries. A second import finds nothing new. The
baseline is `json.loads` of every line. Seconds are of CPU.

With --shapes, transcripts of several shapes are made: many lines, one answer on many lines, a
session rewound at every question, one very long line, lines that are not JSON. Each is imported at
a quarter, half and all of the size. The ratio of two sizes that differ by two is 2 where the cost
is linear; above MAX_RATIO it is reported as too much.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.hook_stores import Worker
from benchmarks.measure import (
    Row,
    cpu_seconds,
    make_parser,
    megabytes,
    peak_memory_mb,
    require,
    save,
)
from ragforge import load_settings, open_app
from ragforge.app.wiring.stores import open_store
from ragforge.config.settings import Settings
from ragforge.domain.conversations import Identity
from ragforge.domain.projects import ProjectPlace
from ragforge.memory.importer.files import Importer, ImportReport
from ragforge.ports.store import Store
from ragforge.transcripts.sources import SOURCES

MAX_RATIO = 2.6
MEGABYTES, SESSION_MB = 95, 2
WORDS_BAR, ALL_BAR = 8.0, 12.0
"""CPU seconds for 95 MB: until it can be searched by words, and with everything."""
WORDS = "The basket total skips the first item because the slice begins at one. "
RESULT_CHARS = 200_000
AGENTS = {source.name: source for source in SOURCES}


def _claude(number: int, kind: str, content: Any, **extra: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"m{number}", "model": "opus", "usage": {"output_tokens": 9}}
    envelope = {"sessionId": "s", "cwd": "/work/shop", "version": "2", "gitBranch": "main"}
    parent = None if number == 0 else f"u{number - 1}"
    line = {"type": kind, "uuid": f"u{number}", "parentUuid": parent, "message": message}
    return {**line, **envelope, "timestamp": "2026-03-02T09:00:00Z", **extra}


def talk(lines: int) -> Iterator[dict[str, Any]]:
    """A session of questions, answers, calls and results."""
    for number in range(lines):
        match number % 4:
            case 0:
                yield _claude(number, "user", f"Question {number}: {WORDS}")
            case 1:
                call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"a": 1}}
                yield _claude(number, "assistant", [call])
            case 2:
                result = {"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": WORDS}
                yield _claude(number, "user", [result])
            case _:
                yield _claude(number, "assistant", [{"type": "text", "text": WORDS * 3}])


def one_answer(lines: int) -> Iterator[dict[str, Any]]:
    """One answer whose blocks are on separate lines, all with the same id."""
    yield _claude(0, "user", WORDS)
    for number in range(1, lines):
        block: dict[str, Any] = {"type": "text", "text": f"{number} {WORDS}"}
        if number % 2:
            block = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {}}
        line = _claude(number, "assistant", [block], requestId="r")
        yield {**line, "message": {**line["message"], "id": "m"}}


def rewound(lines: int) -> Iterator[dict[str, Any]]:
    """A session that is rewound to its first answer at every question, on changing branches."""
    for number in range(lines):
        kind = "assistant" if number % 2 else "user"
        content = [{"type": "text", "text": f"{number} {WORDS}"}]
        branch = f"branch-{number % 3}"
        again = {"parentUuid": "u1"} if kind == "user" and number > 1 else {}
        yield _claude(number, kind, content, gitBranch=branch, **again)


def many_sessions(lines: int) -> Iterator[dict[str, Any]]:
    """A file in which every line belongs to a separate session."""
    for number in range(lines):
        yield _claude(number, "user", f"{number} {WORDS}", sessionId=f"s{number}", parentUuid=None)


def codex(lines: int) -> Iterator[dict[str, Any]]:
    """A session of Codex with calls, outputs and counts of tokens."""
    yield {"type": "session_meta", "payload": {"id": "c", "cwd": "/work/shop"}}
    for number in range(1, lines):
        item: dict[str, Any]
        match number % 4:
            case 0:
                item = {"type": "message", "role": "user", "content": f"{number} {WORDS}"}
            case 1:
                given = json.dumps({"cmd": f"ls {number}"})
                item = {"type": "function_call", "name": "shell", "arguments": given}
                item["call_id"] = f"k{number}"
            case 2:
                item = {"type": "function_call_output", "call_id": f"k{number - 1}"}
                item["output"] = WORDS
            case _:
                item = {"type": "message", "role": "assistant", "content": WORDS * 3}
        at = "2026-03-02T09:00:00Z"
        yield {"type": "response_item", "timestamp": at, "payload": item}


def open_calls(lines: int) -> Iterator[dict[str, Any]]:
    """One turn with calls that never end, and results that belong to none."""
    yield _claude(0, "user", WORDS)
    for number in range(1, lines):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"a": WORDS}}
        result = {"type": "tool_result", "tool_use_id": f"x{number}", "content": WORDS}
        content = [call] if number % 2 else [result]
        yield _claude(number, "assistant" if number % 2 else "user", content)


def write_talk(make: Callable[[int], Iterator[dict[str, Any]]], path: Path, lines: int) -> None:
    with path.open("w") as file:
        file.writelines(json.dumps(line) + "\n" for line in make(lines))


def write_long(path: Path, size: int) -> None:
    """A line with one text of this size."""
    path.write_text(json.dumps(_claude(0, "user", "a word " * (size // 7))) + "\n")


def write_long_result(path: Path, size: int) -> None:
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "a word " * (size // 8)}
    lines = [_claude(0, "user", WORDS), _claude(1, "assistant", [call])]
    lines.append(_claude(2, "user", [result]))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def write_long_blocks(path: Path, size: int) -> None:
    """A line with very many small blocks."""
    blocks = [{"type": "text", "text": f"word {n} <b>"} for n in range(size // 40)]
    lines = [_claude(0, "user", blocks), _claude(1, "assistant", blocks)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def write_tags(path: Path, size: int) -> None:
    """A user's line with very many tags that are opened and never closed."""
    text = "<command-name>" * (size // 22) + "<rules x" * (size // 22)
    path.write_text(json.dumps(_claude(0, "user", text)) + "\n")


def write_glued(path: Path, size: int) -> None:
    """A line with very many objects, one behind the other."""
    one = json.dumps(_claude(0, "user", "Short."))
    count = size // len(one)
    path.write_text("".join(one.replace('"u0"', f'"u{n}"') for n in range(count)) + "\n")


def write_patch(path: Path, size: int) -> None:
    """A call whose patch adds very many files."""
    patch = "*** Begin Patch\n" + "*** Add File: a.py\n+x = 1\n" * (size // 40)
    call = {"type": "tool_use", "id": "t", "name": "apply_patch", "input": {"patch": patch}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "Done."}
    lines = [_claude(0, "user", WORDS), _claude(1, "assistant", [call])]
    lines.append(_claude(2, "user", [result]))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def write_aider(path: Path, size: int) -> None:
    """A history with an answer of empty lines, and a note that is one long number."""
    head = "# aider chat started at 2026-03-02 09:00:00\n\n#### Why?  \n\n"
    empty, note = "\n" * (size // 2), f"> Tokens: {'1' * (size // 2)}  \n"
    path.write_text(f"{head}Because.\n{empty}{note}\n#### Thanks.  \n\nWelcome.\n\n#### Bye.  \n")


def write_nonsense(path: Path, size: int) -> None:
    path.write_text("{broken\n" * (size // 8))


SHAPES: dict[str, tuple[str, str, Callable[[Path, int], None]]] = {
    # name: agent, what the size counts, writer
    "talk": ("claude-code", "lines", lambda path, n: write_talk(talk, path, n)),
    "one answer": ("claude-code", "lines", lambda path, n: write_talk(one_answer, path, n)),
    "rewound": ("claude-code", "lines", lambda path, n: write_talk(rewound, path, n // 4)),
    "many sessions": ("claude-code", "lines", lambda path, n: write_talk(many_sessions, path, n)),
    "open calls": ("claude-code", "lines", lambda path, n: write_talk(open_calls, path, n)),
    "codex": ("codex", "lines", lambda path, n: write_talk(codex, path, n)),
    "long line": ("claude-code", "bytes", write_long),
    "long result": ("claude-code", "bytes", write_long_result),
    "many blocks": ("claude-code", "bytes", lambda path, n: write_long_blocks(path, n // 4)),
    "open tags": ("claude-code", "bytes", lambda path, n: write_tags(path, n // 8)),
    "glued objects": ("claude-code", "bytes", lambda path, n: write_glued(path, n // 4)),
    "patch": ("claude-code", "bytes", lambda path, n: write_patch(path, n // 4)),
    "aider": ("aider", "bytes", lambda path, n: write_aider(path, n // 8)),
    "not JSON": ("claude-code", "bytes", write_nonsense),
}


def make_importer(store: Store) -> Importer:
    async def find_place(cwd: str, remote: str | None) -> ProjectPlace:
        return ProjectPlace.at(cwd)

    return Importer(store, Identity("Ann", "host"), "", find_place, RESULT_CHARS)


async def import_one(folder: Path, shape: str, size: int) -> dict[str, float]:
    """Return the seconds of CPU of one import."""
    agent, _, write = SHAPES[shape]
    names = {"codex": "rollout-c.jsonl", "aider": ".aider.chat.history.md"}
    path = folder / names.get(agent, "s.jsonl")
    write(path, size)
    settings = Settings.model_validate({"store": {"url": str(folder / "store.db")}})
    store = await open_store(settings)
    try:
        report = ImportReport()
        before = time.process_time()
        await make_importer(store).import_files(AGENTS[agent], [path], {}, report)
        seconds = time.process_time() - before
    finally:
        await store.close()
    require(not report.problems, f"{shape}: {[one.reason for one in report.problems]}")
    about = report.of(agent)
    require(about.messages or about.skipped, f"Nothing is read of {shape}.")
    return {"seconds": round(seconds, 2), "megabytes": round(path.stat().st_size / 1e6, 1)}


async def measure_shape(shape: str, lines: int, size: int) -> dict[str, Any]:
    """Import a shape at three sizes."""
    full = lines if SHAPES[shape][1] == "lines" else size
    found: list[dict[str, float]] = []
    for part in (full // 4, full // 2, full):
        with tempfile.TemporaryDirectory() as folder:
            found.append(await import_one(Path(folder), shape, part))
    seconds = [one["seconds"] for one in found]
    ratios = [round(b / max(a, 0.01), 2) for a, b in pairwise(seconds)]
    return {"at a quarter, half, all": found, "ratios": ratios, "linear": ratios[-1] <= MAX_RATIO}


def write_sessions(folder: Path, root: Path, megabytes: float) -> None:
    """Write sessions of an agent in a project, this much in all."""
    worker = Worker(root)
    for number in range(max(1, round(megabytes / SESSION_MB))):
        size = int(min(megabytes, SESSION_MB) * 1e6)
        worker.write_transcript(folder / f"s{number}.jsonl", number, size, f"s{number}")


def measure_floor(paths: Sequence[Path]) -> float:
    """Return how long the lines take to be parsed as JSON, and nothing else."""
    start = time.process_time()
    for path in paths:
        with path.open("rb") as file:
            for line in file:
                with suppress(ValueError):  # a file of another kind
                    json.loads(line)
    return time.process_time() - start


async def measure_import(work: Path, samples: Path, agent: str, pattern: str) -> dict[str, Any]:
    """Return what it costs to import the transcripts of a folder, and to find nothing new."""
    paths = sorted(samples.glob(pattern))
    size = sum(path.stat().st_size for path in paths) / 1e6
    require(size, f"{samples} has no transcripts ({pattern}).")
    environ = {
        "RAGFORGE_STORE": str(work / "store.db"),
        "RAGFORGE_CONFIG": "",
        "RAGFORGE_AGENT__STATE_DIR": str(work / "state"),
    }
    floor = measure_floor(paths)
    settings = load_settings(work / "project", environ=environ).settings
    async with open_app(settings, work / "project", work=False) as app:
        start = cpu_seconds()
        about = (await app.imports.run([agent], samples)).of(agent)
        words = cpu_seconds() - start
        require(about.turns, f"No turns were imported: {about}.")
        hits = await app.memory.search("which file was edited and why")
        require(hits, "A search by words finds nothing of the import.")
        start = cpu_seconds()
        await app.worker.drain()
        await app.maintenance.embed_memory(lambda _: None)
        everything = words + cpu_seconds() - start
        start = cpu_seconds()
        again = (await app.imports.run([agent], samples)).of(agent)
        nothing = cpu_seconds() - start
        require(not again.turns, f"A second import read {again.turns} turns again.")
    return {
        "MB": round(size, 1),
        "sessions": about.sessions,
        "turns": about.turns,
        "messages": about.messages,
        "unknown kinds": dict(about.unknown),
        "floor": round(floor, 2),
        "by words": round(words, 2),
        "everything": round(everything, 2),
        "nothing new": round(nothing, 3),
        "peak MB": round(peak_memory_mb()),
        "store MB": megabytes(work),
    }


def make_rows(found: dict[str, Any]) -> list[Row]:
    """Return the rows of the page; the bars are for as many megabytes as they were set for."""
    share = found["MB"] / MEGABYTES
    work, peer = f"import of {found['MB']:g} MB of transcripts", f"json.loads {found['floor']} s"
    bars = {"by words": WORDS_BAR, "everything": ALL_BAR, "nothing new": None}
    return [
        Row(f"{work}, {name}", found[name], "CPU s", bar and round(bar * share, 2), peer)
        for name, bar in bars.items()
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--megabytes", type=float, default=MEGABYTES)
    parser.add_argument("--samples", type=Path, help="a folder of transcripts")
    parser.add_argument("--agent", default="claude-code", help="who wrote them")
    parser.add_argument("--pattern", default="**/*.jsonl", help="which files are transcripts")
    parser.add_argument("--shapes", action="store_true", help="is the cost linear?")
    parser.add_argument("--lines", type=int, default=40_000)
    parser.add_argument("--shape", choices=list(SHAPES))
    given = parser.parse_args(arguments)
    if given.shapes or given.shape:
        results: dict[str, Any] = {}
        for shape in [given.shape] if given.shape else SHAPES:
            size = int(given.megabytes * 1e6)
            results[shape] = asyncio.run(measure_shape(shape, given.lines, size))
            print(shape, results[shape], f"peak {peak_memory_mb():.0f} MB", flush=True)
        worst = max(result["ratios"][-1] for result in results.values())
        save("transcripts-shapes", results, [Row("import, twice as much", worst, "×", MAX_RATIO)])
        return
    with tempfile.TemporaryDirectory(prefix="ragforge-transcripts-") as name:
        work = Path(name)
        (work / "project" / ".git").mkdir(parents=True)
        samples = given.samples or work / "sessions"
        if given.samples is None:
            samples.mkdir()
            write_sessions(samples, work / "project", given.megabytes)
        found = asyncio.run(measure_import(work, samples, given.agent, given.pattern))
    print(found)
    save("transcripts", found, make_rows(found))


if __name__ == "__main__":
    main()
