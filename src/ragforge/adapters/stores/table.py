"""Table: a dataclass as flat rows, with a column for each field."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import Any, Generic, TypeAlias, TypeVar

from ragforge.domain.instants import format_instant, parse_instant, to_epoch_ms, to_millisecond
from ragforge.domain.text import check_id, check_text, to_json
from ragforge.records import dataclass

Data = TypeVar("Data")
Row: TypeAlias = dict[str, Any]
Stored: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Codec:
    """How values of a type are stored, under a name for errors, and read back."""

    encode: Callable[[str, Any], Any]
    decode: Callable[[Any], Any]

    def optional(self) -> Codec:
        """Return the codec for values that may be None."""
        return Codec(
            lambda name, value: None if value is None else self.encode(name, value),
            lambda value: None if value is None else self.decode(value),
        )


def format_time(name: str, moment: datetime) -> str:
    """Return a moment as it is stored. Raises InvalidTime if it has no time zone."""
    return format_instant(to_millisecond(name, moment))


TIME = Codec(format_time, parse_instant)
LIST = Codec(lambda _, items: list(items), lambda items: tuple(items or ()))
FLAG = Codec(lambda _, flag: flag, bool)
JSON = Codec(to_json, json.loads)

_TIMES = (TIME, TIME.optional())
_BY_TYPE = {
    "datetime": _TIMES[0],
    "datetime | None": _TIMES[1],
    "tuple[str, ...]": LIST,
    "bool": FLAG,
    "Json": JSON,
}
"""By the annotation of a field. Values of other types are stored as they are."""


class Table(Generic[Data]):
    """How one kind of data is stored: its columns, and how items become rows and back.

    A new field of the dataclass is a new column. Encoding raises an InputError for what cannot
    be stored exactly.
    """

    def __init__(
        self,
        kind: str,
        data: type[Data],
        *,
        owner: Sequence[str] = (),  # columns that are given with the item
        derived: Sequence[str] = (),  # properties of the item that are columns
        milliseconds: Mapping[str, str] | None = None,  # column → the field with its moment
        flags: Sequence[str] = (),  # columns that the store sets later
        without: Sequence[str] = (),  # fields that are not columns
        ids: Sequence[str] = (),  # columns that may not be empty or too long, as uuid
        named: Mapping[str, str] | None = None,  # field → column, where they differ
        codecs: Mapping[str, Codec] | None = None,  # field → codec, where its type has another
    ) -> None:
        stored = {field.name: field for field in fields(data) if field.name not in without}  # type: ignore[arg-type]
        chosen = {name: _BY_TYPE.get(str(field.type)) for name, field in stored.items()}
        columns = {name: (named or {}).get(name, name) for name in stored}
        self._kind = kind
        self._data = data
        self._ids = ids
        self._milliseconds = milliseconds or {}
        self._without = [
            (place, field.name)
            for place, field in enumerate(fields(data))  # type: ignore[arg-type]
            if field.name in without
        ]
        self._encoded = [*columns.values(), *derived]
        self._codecs = [
            (name, columns[name], codec)
            for name, codec in (chosen | dict(codecs or {})).items()
            if codec is not None
        ]
        places = {name: place for place, name in enumerate(stored)}
        self._decoders = [(places[name], codec.decode) for name, _, codec in self._codecs]
        self._values = attrgetter(*stored, *derived)
        self._stored = itemgetter(*columns.values())
        self.read = tuple(columns.values())  # the columns that an item is read from
        self._columns = (*self._encoded, *owner, *self._milliseconds, *flags)
        self.times = frozenset(column for _, column, codec in self._codecs if codec in _TIMES)
        self.lists = frozenset(column for _, column, codec in self._codecs if codec is LIST)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def encode(self, item: Data, **owner: Any) -> Row:
        """Return the row of an item, with the columns of its owner."""
        row = dict(zip(self._encoded, self._values(item), strict=True))
        for _, column, codec in self._codecs:
            row[column] = codec.encode(f"{self._kind}.{column}", row[column])
        for column, name in self._milliseconds.items():
            row[column] = to_epoch_ms(getattr(item, name))
        for column in self._ids:
            check_id(f"{self._kind}.{column}", row[column])
        return check_row(self._kind, row | owner)

    def decode(self, row: Stored, **without: Any) -> Data:
        """Return the item of a row, with the fields that are not columns."""
        return self.decode_values(self._stored(row), **without)

    def decode_values(self, stored: Sequence[Any], **without: Any) -> Data:
        """Return the item whose columns, those of `read`, have these values."""
        values = list(stored)  # by place: a context reads hundreds of rows
        for place, decode in self._decoders:
            values[place] = decode(values[place])
        for place, name in self._without:
            values.insert(place, without[name])
        return self._data(*values)


def check_row(kind: str, row: Row) -> Row:
    """Return the row if every text in it can be stored. Raises InputError."""
    for name, value in row.items():
        if name == "uuid":
            check_id(f"{kind}.{name}", value)
        elif isinstance(value, str):
            if not value.isascii():
                check_text(f"{kind}.{name}", value)
        elif isinstance(value, list):
            for item in value:
                check_text(f"{kind}.{name}", item)
    return row
