"""An old store: a file as the first versions of RagForge wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import apsw

from ragforge.adapters.stores.sqlite import migrate

SCHEMA = 2
_THEN = "2025-12-09T14:30:00.000+00:00"


def write_old_store(path: Path, questions: Sequence[str]) -> None:
    """Write a file of schema 2 with one conversation, whose turns are only questions."""
    old = apsw.Connection(str(path))
    with old:
        for step in migrate.read_migrations()[:SCHEMA]:
            old.execute(step)
        old.execute(
            """INSERT INTO conversation (uuid, tags, status, cwd, project_path, message_count,
                 turn_count, total_chars, created_at, updated_at, updated_ms)
               VALUES ('c', '[]', 'active', '/p', '/p', :count, :count, :chars, :then, :then, 0)""",
            {"count": len(questions), "chars": sum(map(len, questions)), "then": _THEN},
        )
        for number, question in enumerate(questions):
            old.execute(
                """INSERT INTO message (uuid, conversation_id, role, content, timestamp,
                     timestamp_ms, char_count, turn_index, position)
                   VALUES (:id, 'c', 'user', :text, :then, 0, :chars, :n, :n);
                   INSERT INTO turn (message_id, conversation_id, project_path, turn_index,
                     started_ms)
                   VALUES (:id, 'c', '/p', :n, 0)""",
                {
                    "id": f"message-{number}",
                    "text": question,
                    "chars": len(question),
                    "then": _THEN,
                    "n": number,
                },
            )
    old.pragma("user_version", SCHEMA)
    old.pragma("application_id", migrate.APPLICATION_ID)
    old.close()
