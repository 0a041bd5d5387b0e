"""Does the cost of an import grow with the size of a transcript, and no faster?

    python -m benchmarks.transcripts [--lines 40000] [--megabytes 60] [--shape NAME]

Transcripts of several shapes are made: many lines, one answer on many lines, a session rewound at
every question, one very long line, lines that are not JSON. Each is imported into an empty SQLite
store at a quarter, half and all of the size. Seconds are of CPU, of the whole process. The ratio of
two sizes that differ by two is 2 where the cost is linear; above BAR it is reported as too much.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.measure import peak_memory_mb, save
from ragforge.app.wiring.stores import open_store
from ragforge.config.settings import Settings
from ragforge.domain.conversations import Identity
from ragforge.domain.projects import ProjectPlace
from ragforge.memory.importer.files import Importer, ImportReport
from ragforge.transcripts.sources import SOURCES

BAR = 2.6
WORDS = "The basket total skips the first item because the slice begins at one. "
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


async def find_place(cwd: str, remote: str | None) -> ProjectPlace:
    return ProjectPlace.at(cwd, "shop")


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
        importer = Importer(store, Identity("Ann", "host"), "", find_place, 200_000)
        before = time.process_time()
        await importer.import_files(AGENTS[agent], [path], {}, report)
        seconds = time.process_time() - before
    finally:
        await store.close()
    if report.problems:
        raise SystemExit(f"{shape}: {report.problems[0].reason}")
    return {"seconds": round(seconds, 2), "megabytes": round(path.stat().st_size / 1e6, 1)}


async def measure(shape: str, lines: int, megabytes: int) -> dict[str, Any]:
    """Import a shape at three sizes."""
    full = lines if SHAPES[shape][1] == "lines" else megabytes * 1_000_000
    found: list[dict[str, float]] = []
    for size in (full // 4, full // 2, full):
        with tempfile.TemporaryDirectory() as folder:
            found.append(await import_one(Path(folder), shape, size))
    seconds = [one["seconds"] for one in found]
    ratios = [round(b / max(a, 0.01), 2) for a, b in pairwise(seconds)]
    return {"at a quarter, half, all": found, "ratios": ratios, "linear": ratios[-1] <= BAR}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=40_000)
    parser.add_argument("--megabytes", type=int, default=60)
    parser.add_argument("--shape", choices=list(SHAPES))
    given = parser.parse_args()
    results: dict[str, Any] = {}
    for shape in [given.shape] if given.shape else SHAPES:
        results[shape] = asyncio.run(measure(shape, given.lines, given.megabytes))
        print(shape, results[shape], f"peak {peak_memory_mb():.0f} MB", flush=True)
    if not given.shape:
        print(save("transcripts", results))


if __name__ == "__main__":
    main()
