"""Sessions: real transcripts of Claude Code, line by line, in order of time.

A repository may keep the transcripts of the sessions that changed it on a separate branch, as
checkpoints: growing snapshots `**/full.jsonl` with a `metadata.json` next to each. The snapshots of
a session are put together into one transcript, so that it can be cut at any moment.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

CHECKPOINTS = "entire/checkpoints/v1"
OTHER_AGENTS = ("Gemini CLI", "OpenCode", "Cursor")
_DATED = re.compile(r"^\d{4}-\d\d-\d\d-")  # before the id of a session in older checkpoints


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a transcript."""

    at: str  # the moment in UTC, as the transcript writes it: these sort as text
    end: int  # its end in the file, in bytes
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Log:
    """The transcript of one session, all of it."""

    name: str
    path: Path
    lines: tuple[Line, ...]

    def size_before(self, moment: str) -> int:
        """Return how many bytes of the file were written before a moment."""
        found = bisect_left([line.at for line in self.lines], moment)
        return self.lines[found - 1].end if found else 0


def unpack(repository: Path, folder: Path) -> None:
    """Write the sessions of a repository's checkpoints into a folder, one file each."""
    if folder.exists():
        return
    snapshots: dict[str, list[tuple[str, str]]] = defaultdict(list)
    texts = dict(_read_blobs(repository, "metadata.json"))
    for path, text in texts.items():
        about = json.loads(text)
        name = _DATED.sub("", about.get("session_id") or "")
        if name and about.get("agent") not in OTHER_AGENTS:
            transcript = path.replace("metadata.json", "full.jsonl")
            snapshots[name].append((about["created_at"], transcript))
    transcripts = dict(_read_blobs(repository, "full.jsonl"))
    part = folder.with_suffix(f".{os.getpid()}")
    part.mkdir(parents=True)
    for name, some in snapshots.items():
        said = [transcripts[path] for _, path in sorted(some) if path in transcripts]
        if lines := merge(said):
            (part / f"{name}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    part.rename(folder)  # another process reads all of it or nothing


def merge(snapshots: Sequence[bytes]) -> list[bytes]:
    """Return the lines of all snapshots of a session, each once, in order of time.

    Lines that are not JSON are left out: redaction broke a few of them.
    """
    found: dict[str | bytes, tuple[str, bytes]] = {}
    for snapshot in snapshots:
        at = ""
        for line in snapshot.split(b"\n"):
            if (record := _parse(line)) is None:
                continue
            at = record.get("timestamp") or at
            found.setdefault(record.get("uuid") or line, (at, line))
    ordered = sorted(found.values(), key=lambda pair: pair[0])
    return [line for _, line in ordered]


def read_logs(folder: Path) -> list[Log]:
    """Return the transcripts of a folder, without those in which nothing is said."""
    logs = []
    for path in sorted(folder.glob("*.jsonl")):
        lines = tuple(_read_lines(path))
        if any(line.record.get("type") in ("user", "assistant") for line in lines):
            logs.append(Log(path.stem, path, lines))
    return logs


def _read_lines(path: Path) -> Iterator[Line]:
    end, at = 0, ""
    with path.open("rb") as file:
        for text in file:
            end += len(text)
            if (record := _parse(text)) is not None:
                at = max(at, record.get("timestamp") or at)
                yield Line(at, end, record)


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _read_blobs(repository: Path, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of this name with their contents. Copies may lack the largest ones."""
    listed = run_git(repository, "ls-tree", "-r", CHECKPOINTS).splitlines()
    rows = [line.split("\t") for line in listed if line.endswith(f"/{name}")]
    if not rows:
        sys.exit(f"{repository} has no transcripts on a branch {CHECKPOINTS}.")
    command = ["git", "-C", str(repository), "cat-file", "--batch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as git:
        assert git.stdin is not None
        assert git.stdout is not None
        wanted = "".join(f"{about.split()[2]}\n" for about, _ in rows).encode()
        writer = threading.Thread(target=_write, args=(git.stdin, wanted))
        writer.start()
        for _, path in rows:
            head = git.stdout.readline().split()
            if head[1] != b"missing":
                yield path, git.stdout.read(int(head[2]) + 1)[:-1]
        writer.join()


def _write(file: IO[bytes], data: bytes) -> None:
    file.write(data)
    file.close()


def run_git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), *arguments]
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stdout.decode("utf-8", errors="replace")
