"""aider: `.aider.chat.history.md` in a project, one run after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ragforge.domain.text import Json
from ragforge.transcripts.aider_blocks import AiderReader
from ragforge.transcripts.files import is_there, read_written_at
from ragforge.transcripts.lines import TOO_LONG, open_lines
from ragforge.transcripts.record import Entry
from ragforge.transcripts.source import FileSource, Piece, Skipped

FILE_NAME = ".aider.chat.history.md"
PIECE_BYTES = 1024 * 1024


def list_files(home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()) -> list[Path]:
    named = environ.get("AIDER_CHAT_HISTORY_FILE")
    paths = [Path(named)] if named else []
    paths += [folder / FILE_NAME for folder in projects]
    return [path for path in dict.fromkeys(paths) if is_there(path)]


def fits(path: Path) -> bool:
    return path.name == FILE_NAME


def read(path: Path, cursor: Json = None) -> Iterator[Piece]:
    """Yield what was said; the last block waits until another one follows it."""
    fields = cursor if isinstance(cursor, dict) else {}
    reader = AiderReader(path.absolute().parent, read_written_at(path))
    with open_lines(path, fields.get("position")) as lines:
        if lines.continues:
            reader.load(fields.get("state"))
        entries: list[Entry] = []
        begin, count = None, 0
        skipped = Skipped()

        def make_piece() -> Piece:
            state = {"position": lines.mark(reader.block_start), "state": reader.save()}
            listed = skipped.list_after(lines.count_before) if skipped.lines else ()
            size = reader.block_start - (begin or 0)
            return Piece(tuple(entries), state, size, count, {}, skipped.counts, listed)

        for line in lines:
            begin = line.start if begin is None else begin
            count += 1
            if line.data is None:
                skipped.add(line.number, TOO_LONG)
            text = (line.data or b"").decode(errors="replace").rstrip("\r")
            entries += reader.read(text, line.start, line.end)
            if entries and reader.block_start - begin > PIECE_BYTES:
                yield make_piece()
                entries, begin, count, skipped = [], reader.block_start, 0, Skipped()
        if entries or skipped.lines:
            yield make_piece()


AIDER = FileSource("aider", "aider", list_files, fits, read)
