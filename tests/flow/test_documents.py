"""Documents: runbooks, decisions and notebooks are found, and code search leaves them alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.brain.project import Brain
from ragforge.domain.hits import NOTHING_RELEVANT, SMALL_TALK, RelevantHits
from ragforge.ports.store import Store
from tests.fakes.code import list_scopes
from tests.fakes.projects import SHOP, brain_of, write

CHURN = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Which customers leave\n"]},
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [{"output_type": "stream", "text": ["kangaroo"]}],
            "source": ["cohorts = orders.groupby('month')\n", "cohorts.plot()"],
        },
    ],
    "metadata": {},
    "nbformat": 4,
}
OPERATIONS = {
    "README.md": "# Operations\n\nRunbooks, decisions and analyses of the shop.\n",
    "runbooks/restore-database.md": (
        "# Restoring the database\n\nStop all writers first.\n\n"
        "## From a snapshot\n\nRun `pg_restore` with the newest snapshot of the bucket.\n\n"
        "## Checking\n\nCount the orders of the last day.\n"
    ),
    "runbooks/failover.rst": (
        "Failover\n========\n\nPromote the replica when the primary is silent for a minute.\n\n"
        "Who is called\n-------------\n\nThe engineer on duty, then the head of platform.\n"
    ),
    "runbooks/certificates.adoc": (
        "= Certificates\n\n== Renewal\n\nThe certificate of the load balancer is renewed by hand.\n"
    ),
    "decisions/0007-queues-instead-of-cron.md": (
        "# 7. Queues instead of cron\n\n## Context\n\nJobs ran twice.\n\n"
        "## Decision\n\nWork goes through a message queue with acknowledgements.\n"
    ),
    "decisions/0008-one-currency.md": (
        "# 8. One currency\n\n## Decision\n\nPrices are stored in euro cents as whole numbers.\n"
    ),
    "notebooks/churn.ipynb": json.dumps(CHURN, indent=1),
    "oncall.txt": "Monday to Friday: see the calendar of the platform team.\n",
}
"""A repository without a line of code."""
ASKED = {
    "How do I get the database back from a snapshot?": "runbooks/restore-database.md",
    "the primary is silent, what do I do?": "runbooks/failover.rst",
    "when does the certificate of the load balancer expire": "runbooks/certificates.adoc",
    "why don't we use cron": "decisions/0007-queues-instead-of-cron.md",
    "in which unit are prices stored": "decisions/0008-one-currency.md",
    "which customers leave, by month": "notebooks/churn.ipynb",
}


@pytest.fixture
async def operations(store: Store, tmp_path: Path) -> Brain:
    root = tmp_path / "operations"
    write(root, OPERATIONS)
    brain = brain_of(store, root, BundledEmbedder())
    await brain.ingest()
    return brain


async def test_a_repository_of_only_documents_answers_from_them(operations: Brain) -> None:
    for question, file in ASKED.items():
        found = await operations.find_relevant_documents(question)
        assert found.hits, question
        assert found.hits[0].scope.file == file, question
        assert found.hits[0].scope.type == "section"

    [best, *_] = await operations.search_documents(
        "snapshot in the bucket", operations.root / "runbooks", 3
    )
    assert (best.scope.name, best.scope.start_line, best.scope.end_line) == (
        "From a snapshot",
        5,
        7,
    )
    assert await operations.search("pg_restore") == []


async def test_messages_about_other_things_get_no_documents(operations: Brain) -> None:
    thanks = await operations.find_relevant_documents("Merci, bonne journée !")
    recipe = await operations.find_relevant_documents("How do I bake an apple pie with cinnamon?")

    assert thanks == RelevantHits((), SMALL_TALK)
    assert recipe == RelevantHits((), NOTHING_RELEVANT)
    assert await operations.search_documents("apple pie", relevant_only=True) == []


@pytest.mark.parametrize(
    "message",
    [
        "Combien de jours faut-il pour visiter la Provence en bus ?",  # `days` is a known word
        "Wie viele Schritte am Tag sind gesund?",
        "Schreib ein Gedicht über den letzten Herbst am See",
    ],
)
async def test_a_message_in_another_language_is_judged_by_all_of_its_words(
    operations: Brain, message: str
) -> None:
    assert not (await operations.find_relevant_documents(message)).hits


async def test_a_question_in_another_language_gets_documents(operations: Brain) -> None:
    found = await operations.find_relevant_documents("Comment restaurer la base de données ?")

    assert found.hits[0].scope.file == "runbooks/restore-database.md"


async def test_what_came_out_of_a_notebook_is_not_kept(operations: Brain) -> None:
    [section] = await list_scopes(operations.store, operations.project_id, "notebooks/churn.ipynb")

    assert "groupby" in section.source
    assert "kangaroo" not in section.source


async def test_documents_next_to_code_change_nothing_in_code_search(
    store: Store, tmp_path: Path
) -> None:
    root, question = tmp_path / "project", "how are prices stored in the cart?"
    write(root, {path: text for path, text in SHOP.items() if not path.endswith(".md")})
    brain = brain_of(store, root, BundledEmbedder())
    await brain.ingest()
    before = await brain.search(question, limit=50)

    write(root, OPERATIONS)
    await brain.ingest()

    assert before
    after = await brain.search(question, limit=50)
    assert [hit.scope for hit in after] == [hit.scope for hit in before]
    # Vectors are in single precision: numpy and plain Python round their products differently.
    assert [hit.score for hit in after] == pytest.approx([hit.score for hit in before], abs=1e-6)
    assert await brain.search_documents(question) != []
