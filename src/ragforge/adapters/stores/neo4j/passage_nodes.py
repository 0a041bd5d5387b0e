"""Passage nodes: the pieces of long turns, and what was done in them."""

from __future__ import annotations

from collections.abc import Mapping

from ragforge.domain.instants import to_epoch_ms
from ragforge.domain.kinds import STORED, Row, Stored
from ragforge.domain.passages import PassageKind, list_passages
from ragforge.domain.schema import PASSAGE
from ragforge.domain.turns import Turn
from ragforge.ports.words import Tokeniser

INDEXES: Mapping[PassageKind, str] = {
    "said": "ragforge_passage_words",
    "done": "ragforge_deed_words",
}
_WORDS: Mapping[PassageKind, str] = {"said": "words", "done": "deeds"}
"""The property with the words of a passage: it decides which index finds it."""

PUT = """FOREACH (passage IN row.passages |
           MERGE (p:Passage {uuid: passage.uuid}) SET p += passage
           MERGE (m)-[:HAS_PASSAGE]->(p))"""
"""Store the passages of a row as those of its turn, whose first message is `m`."""
DELETE = """CALL (m) { MATCH (m)-[:HAS_PASSAGE]->(p:Passage) DETACH DELETE p }"""
"""Delete the passages of turns `m`."""
REPLACE = f"""CALL (m, row) {{
      MATCH (m)-[:HAS_PASSAGE]->(p:Passage)
      WHERE NOT any(one IN row.passages WHERE one.uuid = p.uuid AND one.text = p.text)
      DETACH DELETE p
    }}
    {PUT}"""
"""Do as `PUT`, and delete the others. Passages whose text is as it was keep their vectors."""


def make_passages(turn: Turn, conversation: Stored, tokeniser: Tokeniser) -> list[Row]:
    """Return the passages of a turn with their words, as they are stored."""
    owner = {
        "project_id": conversation["project_id"],
        "private_to": conversation["private_to"],
        "turn_index": turn.user.turn_index,
        "started_ms": to_epoch_ms(turn.user.timestamp),
    }
    place = (conversation["uuid"], conversation["project_path"], conversation["cwd"])
    return [
        PASSAGE.encode(passage, STORED, **owner) | {_WORDS[passage.kind]: tokeniser.prose(text)}
        for passage, text in list_passages(turn, *place)
    ]
