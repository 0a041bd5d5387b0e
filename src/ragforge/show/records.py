"""Whatever an id stands for, in full, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragforge.domain.notes import Note
from ragforge.domain.summaries import Summary
from ragforge.domain.turns import Turn
from ragforge.show.notes import note_to_json
from ragforge.show.session_detail import detail_to_json, turn_to_json
from ragforge.show.summaries import summary_to_json

if TYPE_CHECKING:
    from ragforge.app.sessions import SessionDetail


def record_to_json(found: Turn | Summary | Note | SessionDetail) -> dict[str, object]:
    """Return a turn, a summary, a note or a session."""
    if isinstance(found, Turn):
        return turn_to_json(found)
    if isinstance(found, Summary):
        return summary_to_json(found)
    return note_to_json(found) if isinstance(found, Note) else detail_to_json(found)
