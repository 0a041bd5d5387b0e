"""Keep: store what is new in a transcript, without its secrets.

Secrets are redacted line by line, inside the JSON of the line: a line stays a line that its reader
understands, and one without secrets stays as it is, byte for byte.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ragforge.domain.kinds import redact_in_groups
from ragforge.domain.text import Json, new_id
from ragforge.errors import TranscriptUnreadable
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.originals.files import Original, OriginalFiles
from ragforge.records import dataclass
from ragforge.transcripts.files import MAX_LINE, Lines, open_lines
from ragforge.transcripts.source import Piece, TranscriptSource, stamp_files

CHUNK_BYTES = 256 * 1024
"""A chunk ends with the line that reaches this size: of a file that grows, so much is redone."""
MAX_COMPANION = 1024 * 1024
_JSON_STARTS = ("{", "[")
_ENDS = (".jsonl", ".jsonl.zst", ".json")


def is_kept(path: Path) -> bool:
    """Tell whether a transcript is of a kind that is kept: lines of JSON, or one document."""
    return path.name.endswith(_ENDS) and path.is_file()


def keep(files: OriginalFiles, agent: str, path: Path, conversations: Collection[str]) -> bool:
    """Keep what a transcript says, and return whether there was anything new.

    `conversations` are those whose words are in it. Raises OSError and TranscriptUnreadable.
    """
    if not is_kept(path) or files.is_forgotten(agent, str(path)):
        return False
    known = files.find(agent, str(path)) or Original(agent, str(path))
    names = tuple(sorted({*conversations, *known.conversations}))
    new = replace(
        known,
        conversations=names,
        stamp=stamp_files(path),
        written_at=path.stat().st_mtime,
        companions=dict(_read_companions(path)),
    )
    if new == known:
        return False
    if path.suffix != ".json":
        _keep_lines(files, known, new, path)
    elif len(data := path.read_bytes()) <= MAX_LINE:  # rewritten whenever it changes
        files.put(new, redact_line(data))
    return True


def is_there(original: Original) -> bool:
    """Tell whether an agent's file still has what was kept of it."""
    path = Path(original.path)
    try:
        if stamp_files(path) == original.stamp:
            return True
        if path.suffix != ".jsonl":
            return False
        with open_lines(path, original.mark) as lines:
            return lines.continues or not original.chunks
    except OSError:
        return False


def _keep_lines(files: OriginalFiles, known: Original, new: Original, path: Path) -> None:
    """Keep the lines of a file after the chunks that are kept already.

    If they do not follow what was kept, the file was rewritten: then it is another version.
    """
    before = files.read_rest(known) if known.stamp else b""
    following = rest = b""
    with open_lines(path, known.mark) as lines:
        chunks, mark = (known.chunks, known.mark) if lines.continues else ((), None)
        for data, end in _read_chunks(lines):
            if len(chunks) == len(known.chunks):
                following = data
            if end is None:
                rest = data
            else:
                chunks, mark = (*chunks, files.put_chunk(data)), lines.mark(end)
    is_same = chunks[: len(known.chunks)] == known.chunks and following.startswith(before)
    version = known.version if is_same else known.version + 1
    files.put(replace(new, version=version, chunks=chunks, mark=mark), rest)


def _read_chunks(lines: Lines) -> Iterator[tuple[bytes, int | None]]:
    """Yield redacted lines, and where in the file they end; with None the last, which may grow."""
    read: list[bytes] = []
    start: int | None = None
    for line in lines:
        start = line.start if start is None else start
        read.append(line.data or b"")
        if line.end - start >= CHUNK_BYTES:
            yield _redact_lines(read), line.end
            read, start = [], None
    yield _redact_lines(read), None


def _redact_lines(lines: Sequence[bytes]) -> bytes:
    """Return lines, each with its end, without secrets."""
    clean = redact_in_groups(lines, _list_texts, redact_line, REDACTOR)
    return b"".join(part for line in clean for part in (line, b"\n"))


def _list_texts(data: bytes) -> list[Json]:
    """Return a line's value, and those of its strings that are JSON themselves."""
    text = data.decode("utf-8", "replace")
    try:
        found: list[Json] = [json.loads(text)]
        waiting = list(found)
        while waiting:
            item = waiting.pop()
            if isinstance(item, dict):
                waiting += item.values()
            elif isinstance(item, list):
                waiting += item
            elif isinstance(item, str) and item.lstrip()[:1] in _JSON_STARTS:
                with suppress(json.JSONDecodeError):
                    inner = json.loads(item)
                    found.append(inner)
                    waiting.append(inner)
    except (ValueError, RecursionError):
        return [text]
    return found


def redact_line(data: bytes) -> bytes:
    """Return a line of JSON without secrets; the same line if it has none."""
    from ragforge.memory.secrets.redact import redact

    text = data.decode("utf-8", "replace")
    try:
        value = json.loads(text)
        clean = _redact_value(value)
        return data if clean is value else json.dumps(clean, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        plain = redact(text)
        return data if plain is text else plain.encode()


def _redact_value(value: Json) -> Json:
    from ragforge.memory.secrets.redact import is_plainly_clean, redact_json

    unfolded = _redact_inner_json(value)
    return unfolded if is_plainly_clean((unfolded,)) else redact_json(unfolded)


def _redact_inner_json(value: Json) -> Json:
    """Return the value with the secrets in strings redacted that are JSON themselves.

    Agents write arguments of calls so. Escapes hide there what a secret is known by.
    """
    if isinstance(value, str):
        return _redact_text_of_json(value) if value.lstrip()[:1] in _JSON_STARTS else value
    if isinstance(value, dict):
        fields = {name: _redact_inner_json(one) for name, one in value.items()}
        return fields if any(fields[name] is not value[name] for name in value) else value
    if isinstance(value, list):
        items = [_redact_inner_json(one) for one in value]
        return (
            items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        )
    return value


def _redact_text_of_json(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    clean = _redact_value(value)
    return text if clean is value else json.dumps(clean, separators=(",", ":"))


def _read_companions(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the small files that the readers of Claude Code, Cline and Gemini read as well."""
    folder = path.parent
    places = [path.with_suffix(".meta.json"), folder / "history_item.json"]
    places += [above / ".project_root" for above in (folder.parent, folder.parent.parent)]
    for place in places:
        with suppress(OSError):
            if place.stat().st_size <= MAX_COMPANION:
                text = redact_line(place.read_bytes()).decode("utf-8", "replace")
                yield os.path.relpath(place, folder), text


@dataclass(frozen=True, slots=True)
class KeptSource:
    """An agent whose transcripts are read as they were kept, under the paths they had."""

    source: TranscriptSource
    files: OriginalFiles
    originals: Mapping[Path, Original]

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def title(self) -> str:
        return self.source.title

    def find(
        self, home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()
    ) -> Iterable[Path]:
        return list(self.originals)

    def fits(self, path: Path) -> bool:
        return path in self.originals

    def stamp(self, path: Path) -> str:
        """Return another stamp each time: the reader may be better than the last one."""
        return f"again-{new_id()}"

    def read(self, path: Path, cursor: Json = None) -> Iterator[Piece]:
        """Yield all that a kept transcript says, whatever was read of it before."""
        with TemporaryDirectory(prefix="ragforge-", ignore_cleanup_errors=True) as folder:
            for piece in self.source.read(self._restore(path, Path(folder))):
                yield replace(piece, cursor=None)  # it does not fit the agent's file

    def _restore(self, path: Path, folder: Path) -> Path:
        """Write a transcript below a folder: readers learn from its path whose it is."""
        original = self.originals[path]
        # It is kept unpacked.
        place = folder.joinpath(*path.parts[1:]).with_name(path.name.removesuffix(".zst"))
        place.parent.mkdir(parents=True)
        for name, text in (original.companions or {}).items():
            companion = Path(os.path.normpath(place.parent / name))
            if companion.is_relative_to(folder) and companion != place:
                companion.write_text(text, "utf-8")
        try:
            with place.open("wb") as file:
                file.writelines(self.files.read(original))
        except (OSError, ValueError) as error:
            raise TranscriptUnreadable(path, f"what was kept of it is damaged: {error}") from error
        os.utime(place, (original.written_at, original.written_at))
        return place


def group_originals(
    sources: Iterable[TranscriptSource], files: OriginalFiles, originals: Iterable[Original]
) -> Iterator[KeptSource]:
    """Yield sources that have all originals: of those with the same path, one each."""
    wanted = {source.name: source for source in sources}
    groups: dict[tuple[str, int], dict[Path, Original]] = {}
    for one in originals:
        groups.setdefault((one.agent, one.version), {})[Path(one.path)] = one
    for agent, version in sorted(groups, key=lambda key: key[1]):
        yield KeptSource(wanted[agent], files, groups[agent, version])
