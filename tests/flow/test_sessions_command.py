"""Sessions through the command, each time in a separate process, on every engine."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.copying import everything
from tests.fakes.engines import Engines
from tests.fakes.rich import fill_facts
from tests.fakes.zygote import run_module

Run = Callable[..., Any]
OF_THE_IMPORTER = {"author", "author_key", "host", "visibility", "private_to", "project_id"}
"""An imported session belongs to its importer; each store has its own ids for projects."""
OTHER = [
    pytest.param("sqlite", "sqlite"),
    pytest.param("sqlite", "neo4j", marks=pytest.mark.neo4j),
    pytest.param("neo4j", "sqlite", marks=pytest.mark.neo4j),
]


@pytest.fixture
def ragforge(environ: dict[str, str], project: Path) -> Run:
    """Run the command in the project and return what it printed as JSON, or as text."""

    def run(*arguments: str, stdin: str = "", code: int = 0) -> Any:
        done = run_module("ragforge", *arguments, cwd=project, env=environ, input=stdin)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if "--json" in arguments else done.stdout

    return run


def test_a_session_is_asked_branched_exported_deleted_and_imported(
    ragforge: Run, project: Path
) -> None:
    first = ragforge("ask", "--json", "Sessions are keyed by the exact path of their directory")
    session = first["conversation_id"]
    ragforge("ask", "How are sessions keyed?")
    ragforge("sessions", "tag", session[:8], "keys")
    branch = ragforge("sessions", "branch", session[:8], "--from", "0", "--json")
    assert branch["turn_count"] == 1
    # The branch is the last active session of the directory: the conversation continues there.
    assert ragforge("ask", "--json", "And links?")["conversation_id"] == branch["conversation_id"]

    shown = ragforge("sessions", "show", session, "--json")
    assert [turn["question"] for turn in shown["turns"]][1] == "How are sessions keyed?"
    assert len(shown["turns"]) == 2
    assert all("embedded" in turn["states"] for turn in shown["turns"])
    assert shown["branches"] == [branch["conversation_id"]]

    document = ragforge("sessions", "export", session, "--with-embeddings")
    assert len(json.loads(document)["embeddings"]) == 2
    ragforge("sessions", "delete", session, code=2)
    ragforge("sessions", "delete", session, "--yes")
    ragforge("sessions", "show", session, code=1)
    assert ragforge("sessions", "show", branch["conversation_id"], "--json")["branch_of"] is None

    ragforge("sessions", "import", "-", stdin=document)
    ragforge("sessions", "import", "-", stdin=document, code=1)
    assert ragforge("sessions", "show", session, "--json") == shown
    assert ragforge("sessions", "export", session, "--with-embeddings") == document
    copy = ragforge("sessions", "import", "-", "--as-new", "--json", stdin=document)
    listed = ragforge("sessions", "list", "--tag", "keys", "--json")["sessions"]
    expected = {session, copy["conversation_id"], branch["conversation_id"]}
    assert {one["conversation_id"] for one in listed} == expected


def test_without_vectors_they_are_made_after_the_import(ragforge: Run) -> None:
    session = ragforge("ask", "--json", "Leases are renewed a third of the way through")
    name = session["conversation_id"]
    document = ragforge("sessions", "export", name)
    assert "embeddings" not in json.loads(document)
    ragforge("sessions", "delete", name, "--yes")

    ragforge("sessions", "import", "-", stdin=document)

    [turn] = ragforge("sessions", "show", name, "--json")["turns"]
    assert turn["states"] == ["stored", "embedded"]
    [found] = ragforge("sessions", "similar", "lease renewal", "--json")["sessions"]
    assert found["conversation_id"] == name
    assert found["found_by"] == ["words", "meaning"]


@pytest.mark.parametrize(("source", "target"), OTHER)
async def test_a_session_moves_to_another_engine_unchanged(
    engines: Engines, tmp_path: Path, source: str, target: str
) -> None:
    original = await engines.empty(source)
    await fill_facts(original)
    expected = await everything(original)
    start = engines.location(source)
    await engines.close()
    await engines.empty(target)
    end = engines.location(target)
    await engines.close()
    user_file = tmp_path / "user.yaml"
    user_file.write_text("embeddings: {model: none}\n")

    for name in ("branch", "cart", "billing"):
        one, other = (["--store", place, "sessions"] for place in (start, end))
        pipe = [*one, "export", name, "--with-embeddings"], [*other, "import", "-"]
        data = ""
        for arguments in pipe:
            environ = {**_without_settings(), "RAGFORGE_CONFIG": str(user_file)}
            done = run_module("ragforge", *arguments, cwd=tmp_path, env=environ, input=data)
            assert done.returncode == 0, done.stderr
            data = done.stdout

    found = await everything(await engines.open_at(end))
    of_the_project = {
        "checkout",
        "project",
        "file",
        "scope",
        "relation",
        "job",
        "note",
        "forgotten",
    }
    for kind in expected.keys() - of_the_project:
        moved, wanted = (
            [
                {name: fact for name, fact in one.items() if name not in OF_THE_IMPORTER}
                for one in facts[kind]
                if one.get("owner_kind") not in ("scope", "note")
            ]
            for facts in (found, expected)
        )
        assert moved == wanted, kind


def _without_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("RAGFORGE_")}
