"""Kinds: the declaration of a kind of data, from which its items become rows and back.

From a declaration follow the columns and their codecs, which of them lose their secrets before
they are stored, by what an item is found, and which filters apply. The engines do the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import Any, Generic, Literal, NewType, Protocol, TypeAlias, TypeVar

from ragforge.domain.instants import format_instant, parse_instant, to_epoch_ms, to_millisecond
from ragforge.domain.text import Json, check_id, check_text, to_json
from ragforge.errors import NotFound
from ragforge.records import dataclass

Data = TypeVar("Data")
Filter = TypeVar("Filter")
Item = TypeVar("Item")
MAX_GROUP = 128
"""How many items are checked for secrets in one pass."""
Row: TypeAlias = dict[str, Any]
Stored: TypeAlias = Mapping[str, Any]
CleanRow = NewType("CleanRow", Row)
"""A row without secrets. Only these are written; `Kind` makes them."""


Test: TypeAlias = Literal["is", "any", "from", "until", "starts", "shares"]
"""What a field of a filter requires of a column: this value, one of these, at least or at most this
(a moment of a column of milliseconds), this beginning, or, of a list, one of these."""
Condition: TypeAlias = tuple[Test, str]


class Redactor(Protocol):
    """Replaces secrets in texts and JSON by marks."""

    def is_clean(self, values: Iterable[Json]) -> bool:
        """Tell by one pass over all values that none has a secret; False if that is not certain."""

    def redact(self, value: Json) -> Json:
        """Return a text or a JSON value without secrets: the same object if it has none."""


def redact_in_groups(
    items: Sequence[Item],
    list_texts: Callable[[Item], Iterable[Json]],
    redact: Callable[[Item], Item],
    redactor: Redactor,
) -> list[Item]:
    """Return items without secrets. One pass over the texts of many is cheaper than many passes.

    Groups grow while they are clean. Of one that is not, each item is redacted by itself.
    """
    done: list[Item] = []
    size = 1
    while group := items[len(done) : len(done) + size]:
        if redactor.is_clean(text for item in group for text in list_texts(item)):
            done += group
            size = min(size * 2, MAX_GROUP)
        else:
            done += map(redact, group)
            size = max(size // 4, 1)
    return done


class _Trusting:
    """Changes nothing: what comes from a store was redacted when it was stored."""

    def is_clean(self, values: Iterable[Json]) -> bool:
        return True

    def redact(self, value: Json) -> Json:
        return value


STORED: Redactor = _Trusting()


@dataclass(frozen=True, slots=True)
class Codec:
    """How values of a type are stored, under a name for errors, and read back."""

    encode: Callable[[str, Any], Any]
    decode: Callable[[Any], Any]

    def optional(self) -> Codec:
        """Return the codec for values that may be None."""
        encode, decode = self.encode, self.decode
        return Codec(
            lambda name, value: None if value is None else encode(name, value),
            lambda value: None if value is None else decode(value),
        )


def format_time(name: str, moment: datetime) -> str:
    """Return a moment as it is stored. Raises InvalidTime if it has no time zone."""
    return format_instant(to_millisecond(name, moment))


TIME = Codec(format_time, parse_instant)
LIST = Codec(lambda _, items: list(items), lambda items: tuple(items or ()))
FLAG = Codec(lambda _, flag: flag, bool)
JSON = Codec(to_json, json.loads)
MAYBE_JSON = JSON.optional()

_TIMES = (TIME, TIME.optional())
_JSONS = (JSON, MAYBE_JSON)
_BY_TYPE = {
    "datetime": _TIMES[0],
    "datetime | None": _TIMES[1],
    "tuple[str, ...]": LIST,
    "bool": FLAG,
    "Json": JSON,
}
"""By the annotation of a field. Values of other types are stored as they are."""


class Kind(Generic[Data, Filter]):
    """How one kind of data is stored: its columns, and how items become rows and back.

    A new field of the dataclass is a new column. Encoding raises an InputError for what cannot
    be stored exactly. A column `private_to`, or `seen_by`, hides an item from other authors. An
    item with an `author_key` is changed only by its author, one with a `conversation_id` only by
    the author of its conversation.
    """

    def __init__(
        self,
        name: str,
        data: type[Data],
        *,
        texts: Sequence[str] = (),  # fields whose secrets are removed; others are ids and numbers
        look: Callable[[Data], Iterable[Json]] | None = None,  # fewer texts to check for secrets
        owner: Sequence[str] = (),  # columns that are given with the item
        derived: Sequence[str] = (),  # properties of the item that are columns
        milliseconds: Mapping[str, str] | None = None,  # column → the field with its moment
        flags: Sequence[str] = (),  # columns that the store sets later
        without: Sequence[str] = (),  # fields that are not columns
        ids: Sequence[str] = (),  # columns that may not be empty or too long, as uuid
        named: Mapping[str, str] | None = None,  # field → column, where they differ
        codecs: Mapping[str, Codec] | None = None,  # field → codec, where its type has another
        key: str = "uuid",  # the column that identifies items
        seen_by: str | None = None,  # the column with the only author who sees an item
        missing: type[NotFound] = NotFound,
        where: Mapping[str, Condition] | None = None,  # field of the filter → its condition
        special: Sequence[str] = (),  # fields of the filter for which engines have a function
        order: Sequence[str] = (),  # columns, "-" before those that descend
        words: Callable[[Data], str] | None = None,  # the text by whose words an item is found
        replaces: bool = False,  # an item that is put takes the place of the one with its key
    ) -> None:
        types = _list_fields(data)
        stored = [name for name in types if name not in without]
        chosen = {name: _BY_TYPE.get(types[name]) for name in stored}
        columns = {name: (named or {}).get(name, name) for name in stored}
        self.name = name
        self.data = data
        self._ids = ids
        self._milliseconds = milliseconds or {}
        self._without = [(place, name) for place, name in enumerate(types) if name in without]
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
        self._columns = (*self._encoded, *owner, *self._milliseconds, *flags)
        self._look = look
        self.key = key
        self.seen_by = seen_by or ("private_to" if "private_to" in self._columns else None)
        self.missing = missing
        self.where = dict(where or {})
        self.special = tuple(special)
        self.order = tuple(order) or (key,)
        self.words = words
        self.replaces = replaces
        self.texts = tuple(texts)
        self.read = tuple(columns.values())  # the columns that an item is read from
        self.times = frozenset(column for _, column, codec in self._codecs if codec in _TIMES)
        self.lists = frozenset(column for _, column, codec in self._codecs if codec is LIST)
        self.json = frozenset(column for _, column, codec in self._codecs if codec in _JSONS)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __contains__(self, column: str) -> bool:
        return column in self._columns

    def list_texts(self, item: Data) -> Iterator[Json]:
        """Yield the texts of an item to check for secrets."""
        if self._look is not None:
            yield from self._look(item)
        else:
            yield from (getattr(item, name) for name in self.texts)

    def redact(self, item: Data, redactor: Redactor) -> Data:
        """Return an item without its secrets: the same object if it has none."""
        if redactor.is_clean(self.list_texts(item)):
            return item
        new = {}
        for name in self.texts:
            value = getattr(item, name)
            if (clean := _redact_value(value, redactor)) is not value and clean != value:
                new[name] = clean
        return replace(item, **new) if new else item  # type: ignore[type-var]

    def encode(self, item: Data, redactor: Redactor, **owner: Any) -> CleanRow:
        """Return the row of an item without its secrets, with the columns of its owner."""
        if redactor is not STORED:
            item = self.redact(item, redactor)
        row = dict(zip(self._encoded, self._values(item), strict=True))
        for _, column, codec in self._codecs:
            row[column] = codec.encode(f"{self.name}.{column}", row[column])
        for column, name in self._milliseconds.items():
            row[column] = to_epoch_ms(getattr(item, name))
        for column in self._ids:
            check_id(f"{self.name}.{column}", row[column])
        return CleanRow(check_row(self.name, row | owner))

    def encode_all(self, items: Sequence[Data], redactor: Redactor, **owner: Any) -> list[CleanRow]:
        """Return the rows of items of one owner; one pass over all of them is much cheaper."""
        if items and redactor.is_clean(text for item in items for text in self.list_texts(item)):
            redactor = STORED
        return [self.encode(item, redactor, **owner) for item in items]

    def list_stored_texts(self, row: Stored) -> Iterator[Json]:
        """Yield the texts of a row from another store to check for secrets."""
        for column in self.texts:
            value = row.get(column)
            yield _parse(value) if column in self.json else value

    def clean(self, row: Stored, redactor: Redactor) -> CleanRow:
        """Return a row from another store without its secrets."""
        new: Row = {}
        for column in self.texts:
            value = row.get(column)
            clean = _redact_stored(value, column in self.json, redactor)
            if clean is not value:
                new[column] = clean
        return CleanRow({**row, **new})

    def is_reworded(self, before: Stored, after: Stored) -> bool:
        """Tell whether the indexed text of an item changed."""
        if self.words is None:
            return False
        return self.words(self.decode(before)) != self.words(self.decode(after))

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
        return self.data(*values)


def _list_fields(data: type[Any]) -> dict[str, str]:
    """Return the annotations of the fields of a dataclass or a named tuple."""
    if issubclass(data, tuple):  # of texts and numbers
        return dict.fromkeys(data.__annotations__, "")
    return {name: str(given) for name, given in data.__annotations__.items()}


def _redact_value(value: Any, redactor: Redactor) -> Any:
    """Return a text, a list of texts, each by itself, or JSON without secrets."""
    return (
        tuple(map(redactor.redact, value)) if isinstance(value, tuple) else redactor.redact(value)
    )


def _redact_stored(value: Any, is_json: bool, redactor: Redactor) -> Any:
    """Return a stored column without secrets."""
    if not isinstance(value, str):
        return [redactor.redact(item) for item in value] if isinstance(value, list) else value
    whole = _parse(value) if is_json else value
    clean = redactor.redact(whole)
    return value if clean is whole else clean if whole is value else to_json("value", clean)


def _parse(value: Any) -> Any:
    """Parse a column of JSON; one of a damaged store stays unchanged."""
    try:
        return value and json.loads(value)
    except (ValueError, RecursionError):
        return value


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
