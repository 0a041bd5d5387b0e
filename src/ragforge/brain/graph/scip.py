"""SCIP: reads the index of an exact indexer: where symbols are defined, used and implemented.

The messages are those of scip.proto (https://github.com/sourcegraph/scip), as far as they are
needed here; other fields are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ragforge.errors import InputError
from ragforge.records import dataclass

MAX_BYTES = 256_000_000
MAX_DOCUMENT_BYTES = 16_000_000
MAX_OCCURRENCES = 5_000_000
"""Empty messages take two bytes in an index, and fifty times as much in memory."""
MAX_MISFITS = 0.02
"""The share of occurrences that need not fit the text: generated names are not in it."""
DEFINITION = 1
DOCUMENTS = 2
VARINT, BYTES = 0, 2
FIXED = {1: 8, 5: 4}
"""The sizes of numbers of fixed length, by their kind."""
_MESSAGES: Mapping[str, Mapping[str, tuple[int, str]]] = {
    "Document": {
        "relative_path": (1, "string"),
        "occurrences": (2, "Occurrence*"),
        "symbols": (3, "SymbolInformation*"),
        "text": (5, "string"),
    },
    "Occurrence": {
        "range": (1, "int32*"),
        "symbol": (2, "string"),
        "symbol_roles": (3, "int32"),
    },
    "SymbolInformation": {"symbol": (1, "string"), "relationships": (4, "Relationship*")},
    "Relationship": {"symbol": (1, "string"), "is_implementation": (3, "bool")},
}
_DESCRIPTOR = re.compile(r"(?P<name>`(?:[^`]|``)+`|[\w$+-]+)(?P<end>\([^)]*\)\.|[/#.!:])")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A symbol at a place of a file; lines count from 1, columns from 0."""

    symbol: str
    line: int
    start: int
    end: int  # 0 if it ends on another line
    is_definition: bool


@dataclass(frozen=True, slots=True)
class Document:
    """What the index says of one file; its path is relative to the project."""

    path: str
    occurrences: tuple[Occurrence, ...]
    bases: tuple[tuple[str, str], ...] = ()  # symbols, and those that they implement
    text: str = ""  # of the file, if the indexer stored it

    def join(self, other: Document) -> Document:
        """Return this with what another document of the same file says."""
        occurrences = (*self.occurrences, *other.occurrences)
        return Document(self.path, occurrences, (*self.bases, *other.bases), self.text)

    def fits(self, text: str) -> bool:
        """Tell whether a text is what the indexer saw.

        Without its text, whatever the index names must be a word at its place, and what it
        defines must have its name there.
        """
        if self.text:
            return self.text == text
        lines = text.split("\n")
        checked = [one for one in self.occurrences if one.end > one.start]
        misfits = sum(not _is_there(one, lines) for one in checked)
        return misfits <= len(checked) * MAX_MISFITS


def _is_there(one: Occurrence, lines: Sequence[str]) -> bool:
    if one.line > len(lines):
        return False
    line = lines[one.line - 1]
    if not line.isascii():  # columns may count bytes
        return True
    word = line[one.start : one.end]
    if not _WORD.fullmatch(word):
        return bool(word) and len(word) == one.end - one.start
    before, after = line[: one.start][-1:], line[one.end :][:1]
    if any(_WORD.match(side) for side in (before, after) if side):
        return False
    name = (split_symbol(one.symbol) or [""])[-1]
    return not one.is_definition or not _WORD.fullmatch(name) or name == word


def is_local(symbol: str) -> bool:
    """Tell whether a symbol is a local variable, a parameter or a type parameter."""
    return symbol.startswith("local ") or symbol.endswith((")", "]"))


@cache
def _split_cached(symbol: str) -> tuple[str, ...]:
    descriptors = symbol.split(" ", 4)[-1]
    return tuple(
        found["name"].strip("`")
        for found in _DESCRIPTOR.finditer(descriptors)
        if found["end"] not in ("/", ":", "!")
    )


def split_symbol(symbol: str) -> list[str]:
    """Return the names of a symbol from the outer type to itself; none of a file or package."""
    return [] if is_local(symbol) else [*_split_cached(symbol)]


def read_index(file: Path, folder: str = "") -> dict[str, Document]:
    """Return the documents of an index by path; `folder` is where its paths begin.

    Documents outside of the project are left out. Raises InputError if it is damaged, too large
    or cannot be read.
    """
    try:
        from google.protobuf.message import DecodeError
    except ImportError as error:
        raise InputError("Reading an index needs: pip install 'ragforge-agent[scip]'") from error
    found: dict[str, Document] = {}
    count = 0
    try:
        if not file.is_file():
            raise InputError(f"{file} is not a file.")
        if (size := file.stat().st_size) > MAX_BYTES:
            raise InputError(f"{file} has {size:,} bytes; an index may have {MAX_BYTES:,}.")
        for data in _split_index(file.read_bytes()):
            message = _make_messages()["Document"]()
            message.ParseFromString(data)
            count += len(message.occurrences)
            if count > MAX_OCCURRENCES:
                raise InputError(f"{file} names more than {MAX_OCCURRENCES:,} symbols.")
            document = _make_document(message, folder)
            if _is_inside(document.path):
                known = found.get(document.path)
                found[document.path] = document if known is None else known.join(document)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error
    except (DecodeError, ValueError) as error:
        raise InputError(f"{file} is not an index in the SCIP format, or is damaged.") from error
    if not found:
        raise InputError(f"{file} describes no file of a project.")
    return found


def _split_index(data: bytes) -> Iterator[bytes]:
    """Yield the documents of an index one by one. Raises ValueError if it is damaged."""
    place = 0
    while place < len(data):
        key, place = _read_number(data, place)
        kind = key & 7
        if kind == VARINT:
            _, place = _read_number(data, place)
            continue
        size, place = (
            _read_number(data, place) if kind == BYTES else (FIXED.get(kind, len(data)), place)
        )
        if place + size > len(data) or (key >> 3 == DOCUMENTS and size > MAX_DOCUMENT_BYTES):
            raise ValueError(size)
        if key >> 3 == DOCUMENTS and kind == BYTES:
            yield data[place : place + size]
        place += size


def _read_number(data: bytes, place: int) -> tuple[int, int]:
    """Return a number of seven bits in each byte, and the place after it."""
    number = 0
    for shift in range(0, 64, 7):
        if place == len(data):
            break
        number |= (data[place] & 127) << shift
        place += 1
        if data[place - 1] < 128:
            return number, place
    raise ValueError(place)


def _is_inside(path: str) -> bool:
    steps = path.split("/")
    return "\\" not in path and "\0" not in path and not {"", ".", ".."}.intersection(steps)


def _make_document(message: Any, folder: str) -> Document:
    path = f"{folder}/{message.relative_path}" if folder else message.relative_path
    bases = [
        (symbol.symbol, relation.symbol)
        for symbol in message.symbols
        for relation in symbol.relationships
        if relation.is_implementation
    ]
    return Document(path, tuple(_read_occurrences(message)), tuple(bases), message.text)


def _read_occurrences(message: Any) -> Iterator[Occurrence]:
    symbols: dict[str, str] = {}  # each once
    for one in message.occurrences:
        place = [*one.range]
        if len(place) not in (3, 4) or min(place) < 0 or not one.symbol:
            continue
        end = place[2] if len(place) == 3 else place[3] if place[2] == place[0] else 0
        symbol = symbols.setdefault(one.symbol, one.symbol)
        is_definition = bool(one.symbol_roles & DEFINITION)
        yield Occurrence(symbol, place[0] + 1, place[1], end, is_definition)


@cache
def _make_messages() -> Mapping[str, Any]:
    """Return the classes of the messages. Raises ImportError without the library."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    plain = {"string": kinds.TYPE_STRING, "int32": kinds.TYPE_INT32, "bool": kinds.TYPE_BOOL}
    file = descriptor_pb2.FileDescriptorProto(
        name="ragforge/scip.proto", package="ragforge.scip", syntax="proto3"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            made = message.field.add(name=field, number=number, label=kinds.LABEL_OPTIONAL)
            if kind.endswith("*"):
                made.label = kinds.LABEL_REPEATED
            named = kind.removesuffix("*")
            made.type = plain.get(named, kinds.TYPE_MESSAGE)
            if named not in plain:
                made.type_name = f".ragforge.scip.{named}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"ragforge.scip.{name}"))
        for name in _MESSAGES
    }
