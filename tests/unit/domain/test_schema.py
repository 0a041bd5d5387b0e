"""The schema: what a new field of a message needs, and what becomes of every field."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from ragforge.adapters.stores.sqlite.migrate import prepare
from ragforge.domain.conversations import Message
from ragforge.domain.kinds import STORED
from ragforge.domain.schema import LISTS, MESSAGE, TIMES
from ragforge.errors import InvalidTime
from ragforge.memory.export_format.format import MessagePart

FIELDS = {field.name for field in fields(Message)}


def test_a_new_field_of_a_message_needs_a_migration_and_a_line_in_the_export_format(
    tmp_path: Path,
) -> None:
    """Apart from the domain these are all its places: rows, graphs and documents follow."""
    prepare(tmp_path / "store.db")
    connection = apsw.Connection(str(tmp_path / "store.db"))
    columns = {row[1] for row in connection.execute("PRAGMA table_info(message)")}

    assert set(MESSAGE) >= FIELDS - {"tool_calls"}  # they have their own tables
    assert set(MESSAGE) == columns - {"id"}
    assert MessagePart.model_fields.keys() >= FIELDS - {"process"}  # of one machine only


def test_a_row_comes_back_as_the_message_it_was() -> None:
    moment = datetime(2025, 12, 9, 14, 30, tzinfo=UTC)
    message = Message("assistant", "é", timestamp=moment, receipt={"k": [1, None]}, position=3)
    row = MESSAGE.encode(message, STORED, conversation_id="c")

    assert row["receipt"] == '{"k": [1, null]}'
    assert row["timestamp_ms"] == 1_765_290_600_000
    assert (row["conversation_id"], row["char_count"]) == ("c", 1)
    assert MESSAGE.decode(row, tool_calls=()) == message
    assert MESSAGE.decode_values([row[name] for name in MESSAGE.read], tool_calls=()) == message


def test_a_moment_without_a_time_zone_is_refused_by_its_column() -> None:
    naive = Message("user", "x", timestamp=datetime(2025, 12, 9))  # noqa: DTZ001

    with pytest.raises(InvalidTime, match=r"message\.timestamp"):
        MESSAGE.encode(naive, STORED, conversation_id="c")


def test_the_types_of_fields_say_which_columns_are_times_and_lists() -> None:
    assert sorted(TIMES) == [
        *("created_at", "mtime", "read_at", "run_after", "seen_at", "timestamp"),
        "updated_at",
    ]
    assert {"tags", "imports", "parent_summaries"} <= LISTS
