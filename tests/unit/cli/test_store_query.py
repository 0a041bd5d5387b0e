"""`ragforge store query`: rows as a table, JSON and CSV, and errors that are sentences."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.cli.conftest import Ragforge

TURNS = "SELECT role, content FROM Message ORDER BY position LIMIT 1"


def test_a_file_is_asked_in_sql(ragforge: Ragforge, project: Path) -> None:
    ragforge("--store", "memory.db", "ask", 'where are "zebras" paid?')

    def query(*words: str) -> str:
        return ragforge("--store", "memory.db", "store", "query", *words).out

    assert query(TURNS) == 'ROLE  CONTENT\nuser  where are "zebras" paid?\n'
    assert json.loads(query("--json", TURNS)) == [
        {"role": "user", "content": 'where are "zebras" paid?'}
    ]
    assert query("--csv", TURNS) == 'role,content\nuser,"where are ""zebras"" paid?"\n'
    named = "SELECT count(*) AS n FROM Message WHERE role = $role AND turn_index = $turn"
    assert query("--csv", "--param", "role=user", "--param", "turn=0", named) == "n\n1\n"


def test_what_is_cut_is_named(ragforge: Ragforge, project: Path) -> None:
    ragforge("--store", "memory.db", "ask", "where are zebras paid?")
    shown = ragforge(
        *("--store", "memory.db", "store", "query", "--limit", "1"), "SELECT 1 AS n UNION SELECT 2"
    )
    assert shown.out == "N\n1\n"
    assert shown.err == "There are more than 1 rows. --limit shows more.\n"


def test_a_wrong_query_is_answered_with_a_sentence(ragforge: Ragforge, project: Path) -> None:
    ragforge("--store", "memory.db", "ask", "where are zebras paid?")
    wrong = {
        "SELEC 1": 'The query cannot be run: near "SELEC": syntax error.\n',
        "SELECT * FROM Zebra": "There is no view Zebra. The views are Conversation,",
        "SELECT zebra FROM Message": "The query cannot be run: no such column: zebra.\n",
        "DELETE FROM Message": "Only reading is allowed here: one SELECT over the views",
        "SELECT $name": "The query needs a value for $name. Give it: --param name=VALUE\n",
        "SELECT ?": "The query cannot be run: ",
        "SELECT 1; SELECT 2": "Give one statement at a time.\n",
        "/* nothing */": "The query is empty. Write a SELECT.\n",
    }
    for text, sentence in wrong.items():
        shown = ragforge("--store", "memory.db", "store", "query", text)
        assert (shown.code, shown.out) == (1, ""), text
        assert shown.err.startswith(sentence), text


def test_a_query_makes_no_store(ragforge: Ragforge, project: Path) -> None:
    shown = ragforge("--store", "none.db", "store", "query", "SELECT 1")
    assert shown.code == 1
    assert "none.db yet. The first question creates it." in shown.err
    assert not (project / "none.db").exists()


def test_the_help_shows_both_languages(ragforge: Ragforge) -> None:
    shown = ragforge("store", "query", "--help")
    assert "SELECT title" in shown.out
    assert "MATCH (c:Conversation)" in shown.out
    assert ragforge("store", "query", "--csv", "--json", "SELECT 1").code == 2
    assert ragforge("store", "query", "--param", "nothing", "SELECT 1").code == 2
