"""aider: `.aider.chat.history.md` in a project, one run after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from ragforge.domain.text import Json
from ragforge.transcripts import fields, record
from ragforge.transcripts.files import TOO_LONG, is_there, open_lines, read_written_at
from ragforge.transcripts.source import FORMAT, FileSource, Piece, SkippedLines
from ragforge.transcripts.user_text import find_user_text

FILE_NAME = ".aider.chat.history.md"
PIECE_BYTES = 1024 * 1024


Kind = Literal["", "user", "assistant", "aider"]
_RUN = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")
# aider ends its own lines with two spaces: answers may contain headings and quotes.
_END = "  "
_NOTE = re.compile(r"> (Applied edit to |Creating empty file |Tokens: |Commit |Did not apply )")
_EDIT = re.compile(r"> Applied edit to (.+)")
_TOKENS = re.compile(r"> Tokens: .*?([\d.,]+)([kM]?) received")
_SENT = re.compile(r"> Tokens: (\d[\d,]*(?:\.\d+)?)([kM]?) sent")
_COST = re.compile(r"Cost: \$(\d+(?:\.\d+)?) message")
MAX_NOTE = 5_000
"""Of a longer note of aider only the beginning is read."""
_VERSION = re.compile(r"> Aider v(\S+)")
_MODEL = re.compile(r"> (?:Main model|Model|Models): (\S+)")
_TALK = ("/ask", "/code", "/architect", "/context", "/help")
_WRITTEN = "# Fix any errors below"  # aider itself asks the model to fix what a linter found


def list_files(home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()) -> list[Path]:
    named = environ.get("AIDER_CHAT_HISTORY_FILE")
    paths = [Path(named)] if named else []
    paths += [folder / FILE_NAME for folder in projects]
    return [path for path in dict.fromkeys(paths) if is_there(path)]


def fits(path: Path) -> bool:
    return path.name == FILE_NAME


def read(path: Path, cursor: Json = None) -> Iterator[Piece]:
    """Yield what was said; the last block waits until another one follows it."""
    known = cursor if isinstance(cursor, dict) and cursor.get("format") == FORMAT else {}
    reader = AiderReader(path.absolute().parent, read_written_at(path))
    with open_lines(path, known.get("position")) as lines:
        if lines.continues:
            reader.load(known.get("state"))
        entries: list[record.Entry] = []
        begin, count = None, 0
        skipped = SkippedLines()

        def make_piece() -> Piece:
            position = lines.mark(reader.block_start)
            state = {"format": FORMAT, "position": position, "state": reader.save()}
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
                entries, begin, count, skipped = [], reader.block_start, 0, SkippedLines()
        if entries or skipped.lines:
            yield make_piece()


AIDER = FileSource("aider", "aider", list_files, fits, read)


class AiderReader:
    """Reads the lines of one history. A run is a session.

    There are no ids: a block is known by its run and all that was said in the run before it.
    """

    def __init__(self, folder: Path, at: datetime | None = None) -> None:
        """`at` is the time of what comes before the first run."""
        self.block_start = 0  # where the unfinished block begins
        self._folder = folder
        self._kind: Kind = ""
        self._block: list[str] = []
        self._has_words = False  # whether a line of the block is not empty
        self._facts = record.SessionFacts(fields.hash_texts((folder.name, "")), str(folder))
        self._chain = self._facts.session
        self._last = record.ROOT
        self._at = at
        self._model: str | None = None

    def read(self, line: str, start: int, end: int) -> Iterator[record.Entry]:
        """Yield what is complete with this line: the block before it, or aider's own note."""
        if line.startswith("# aider") and (run := _RUN.match(line)):
            yield from self._close(start)
            self.block_start = end
            yield from self._begin_run(run[1])
            return
        kind = self._find_kind(line)
        if kind != self._kind:
            yield from self._close(start)
            self._kind = kind
        if kind == "aider":
            self.block_start = end  # each of these lines is complete
            yield from self._read_note(line[:MAX_NOTE])
        elif kind == "user":
            self._block.append(line.removeprefix("####").strip())
        else:
            self._block.append(line)
            self._has_words = self._has_words or bool(line)

    def save(self) -> Json:
        """Return the state to continue at the start of the unfinished block."""
        at = None if self._at is None else self._at.isoformat()
        return [asdict(self._facts), self._chain, self._last, at, self._model]

    def load(self, state: Json) -> None:
        if not isinstance(state, list):
            return
        facts, self._chain, self._last, at, self._model = state
        self._facts = record.SessionFacts(**facts)
        self._at = None if at is None else datetime.fromisoformat(at)

    def _find_kind(self, line: str) -> Kind:
        """Return the speaker of a line."""
        in_answer = self._kind == "assistant" and self._has_words
        if line.startswith("####") and (line.endswith(_END) or not in_answer):
            return "user"
        if line.startswith(">") and (line.endswith(_END) or not in_answer or _NOTE.match(line)):
            return "aider"
        return "assistant"

    def _close(self, start: int) -> Iterator[record.Entry]:
        """Yield the block that ends here."""
        text = "\n".join(self._block).strip()
        if self._kind == "user":
            text = _find_words(text)
            if text:
                yield self._say("user", text)
        elif self._kind == "assistant" and text:
            yield self._say("assistant", text)
        self._kind, self._block, self.block_start = "", [], start
        self._has_words = False

    def _begin_run(self, started: str) -> Iterator[record.Entry]:
        """Yield a new session. Times are those of the user's clock."""
        try:
            self._at = datetime.fromisoformat(started).astimezone(UTC)
        except (ValueError, OverflowError):
            self._at = None
        session = fields.hash_texts((self._folder.name, started))
        self._facts = record.SessionFacts(session, str(self._folder))
        self._chain, self._last = session, record.ROOT
        yield self._facts

    def _read_note(self, line: str) -> Iterator[record.Entry]:
        if edit := _EDIT.match(line):
            path = edit[1].strip()
            record_id = self._name("edit", path)
            call = record.Call(record_id, "edit", {"path": path})
            done = record.RecordedResult(
                record_id, output=line[2:].strip(), changes=(record.RecordedChange(path),)
            )
            yield self._put(record_id, "assistant", calls=(call,), results=(done,))
        elif (tokens := _TOKENS.match(line)) and self._last != record.ROOT:
            count = _read_count(*tokens.groups())
            yield record.Record(self._facts.session, self._last, tokens=count)
            yield self._read_usage(line, count)
        elif version := _VERSION.match(line):
            self._facts = record.SessionFacts(
                self._facts.session, str(self._folder), version=version[1]
            )
            yield self._facts
        elif model := _MODEL.match(line):
            self._model = model[1]

    def _read_usage(self, line: str, answered: int) -> record.RecordedUsage:
        """Return what an answer took, as aider rounds it."""
        sent, cost = _SENT.match(line), _COST.search(line)
        return record.RecordedUsage(
            self._facts.session,
            self._last,
            self._last,
            _read_count(*sent.groups()) if sent else 0,
            answered,
            usd=fields.price({"cost": float(cost[1])}, "cost") if cost else None,
            model=self._model,
            at=self._at,
        )

    def _say(self, speaker: Literal["user", "assistant"], text: str) -> record.Record:
        return self._put(self._name(speaker, text), speaker, text=text)

    def _name(self, kind: str, text: str) -> str:
        self._chain = fields.hash_texts((self._chain, kind, text))
        return self._chain

    def _put(
        self, record_id: str, speaker: Literal["user", "assistant"], **said: Json
    ) -> record.Record:
        before, self._last = self._last, record_id
        session, model = self._facts.session, self._model
        return record.Record(session, record_id, before, self._at, speaker, model=model, **said)


def _read_count(number: str, unit: str) -> int:
    """Return a number as aider rounds it: 812, 2.1k."""
    return round(float(number.replace(",", "") or 0) * {"": 1, "k": 1_000, "M": 1_000_000}[unit])


def _find_words(text: str) -> str:
    """Return a user's words, without commands that are not sent to the model."""
    if text.startswith(_WRITTEN) or (text.startswith("/") and not text.startswith(_TALK)):
        return ""
    return find_user_text(text)
