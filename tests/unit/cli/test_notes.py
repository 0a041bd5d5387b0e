"""`ragforge memory remember`, `notes` and `forget-note`: how they look."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Ragforge


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGFORGE_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("RAGFORGE_EMBEDDINGS__MODEL", "none")


def test_notes_are_kept_listed_superseded_and_forgotten(ragforge: Ragforge) -> None:
    assert ragforge("memory", "notes").err.startswith("No notes found.")
    said = ragforge("memory", "remember", "We deploy on Fridays", "--tag", "deploy")
    assert said.err.startswith("Remembered as ")
    first = said.err.removeprefix("Remembered as ").strip(".\n")
    made = json.loads(
        ragforge("memory", "remember", "We deploy on Mondays", "--supersedes", first, "--json").out
    )
    assert made["supersedes"].startswith(first)

    heads, row = ragforge("memory", "notes").out.splitlines()
    assert heads.split() == ["NOTE", "KEPT", "TEXT", "TAGS"]
    assert "We deploy on Mondays" in row
    every = json.loads(ragforge("memory", "notes", "--superseded", "--json").out)["notes"]
    assert [note["text"] for note in every] == ["We deploy on Mondays", "We deploy on Fridays"]
    tagged = ragforge("memory", "notes", "--superseded", "--tag", "deploy", "--all").out
    assert "#deploy" in tagged
    assert "Mondays" not in tagged
    assert "Mondays" in ragforge("memory", "notes", "deploying").out
    found = json.loads(ragforge("search", "deploy", "--in", "memory", "--json").out)["hits"]
    assert [(hit["type"], hit["note_id"]) for hit in found] == [("note", made["note_id"])]
    shown = ragforge("search", "deploy", "--in", "memory").out
    assert f"note {made['note_id'][:8]}" in shown
    assert "We deploy on Mondays" in shown

    gone = ragforge("memory", "forget-note", made["note_id"][:8])
    assert gone.err == f"Forgot {made['note_id'][:8]}: We deploy on Mondays\n"
    assert "Fridays" in ragforge("memory", "notes").out


def test_notes_of_another_author_show_the_name(
    ragforge: Ragforge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGFORGE_AUTHOR", "Ann <ann@example.org>")
    ragforge("memory", "remember", "We deploy on Fridays")
    assert "Ann" not in ragforge("memory", "notes").out

    monkeypatch.setenv("RAGFORGE_AUTHOR", "Bob <bob@example.org>")
    heads, row = ragforge("memory", "notes").out.splitlines()

    assert heads.split() == ["NOTE", "KEPT", "TEXT", "TAGS", "AUTHOR"]
    assert row.split()[-1] == "Ann"


def test_a_rule_is_kept_listed_and_corrected(ragforge: Ragforge) -> None:
    said = ragforge("remember", "--rule", "Always run the tests with -x.")
    assert said.err.startswith("Remembered as a rule as ")
    newer = ragforge("memory", "remember", "Never run the tests with -x.").err

    assert "replaces the older" in newer
    assert "undo: ragforge memory review --no " in newer
    heads, row = ragforge("memory", "notes", "--rules").out.splitlines()
    assert heads.split() == ["RULE", "KEPT", "TEXT", "SOURCE", "STATE"]
    assert "Never run the tests" in row, "what replaces a rule is a rule"
    [rule] = json.loads(ragforge("memory", "notes", "--rules", "--json").out)["rules"]
    assert (rule["source"], rule["replaced_by"]) == ("note", None)
    every = ragforge("memory", "notes", "--superseded").out
    assert "(replaced by " in every

    undo = newer.rsplit("--no ", 1)[1].strip()
    assert ragforge("memory", "review", "--no", undo).err == f"{undo}: Both notes are valid.\n"
    assert len(ragforge("memory", "notes").out.splitlines()) == 3
    assert "No notes seem to contradict" in ragforge("memory", "review").err


def test_doubtful_corrections_are_listed_for_a_yes_or_no(ragforge: Ragforge) -> None:
    ragforge("memory", "remember", "The port is 8080.")
    newer = ragforge("memory", "remember", "The backend port is 9090.").err
    assert "It may replace an older note. To decide, run: ragforge memory review" in newer
    shown = ragforge("memory", "review").err
    assert "the newer may replace the older" in shown
    [one] = json.loads(ragforge("memory", "review", "--json").out)["corrections"]
    assert (one["older"]["text"], one["is_linked"]) == ("The port is 8080.", False)

    assert "No correction has the id 'x'" in ragforge("memory", "review", "--yes", "x").err
    assert ragforge("memory", "review", "--yes", one["id"]).err.endswith(
        "replaces the older one.\n"
    )
    assert len(ragforge("memory", "notes").out.splitlines()) == 2
    [linked] = json.loads(ragforge("memory", "review", "--linked", "--json").out)["corrections"]
    assert (linked["id"], linked["is_linked"]) == (one["id"], True)
    ragforge("memory", "review", "--no", one["id"])
    assert json.loads(ragforge("memory", "review", "--json").out)["corrections"] == []
    assert len(ragforge("memory", "notes").out.splitlines()) == 3


def test_what_is_wrong_is_said_in_a_sentence(ragforge: Ragforge) -> None:
    for arguments in (("forget-note", "nobody"), ("remember", "x", "--supersedes", "nobody")):
        said = ragforge("memory", *arguments)
        assert said.code == 1
        assert "No note 'nobody'" in said.err
        assert "`ragforge memory notes` lists them." in said.err
    assert "The rule has 501 characters" in ragforge("remember", "--rule", "x" * 501).err
    assert "The note is empty" in ragforge("memory", "remember", " ").err
