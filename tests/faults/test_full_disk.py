"""A full disk: an import and an ingestion say what they kept, and continue there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragforge.app import open_app
from ragforge.config.settings import Settings
from ragforge.domain.conversations import ConversationFilter
from ragforge.domain.schema import CONVERSATION
from ragforge.errors import StoreFull
from tests.fakes.code import list_files
from tests.fakes.projects import write
from tests.fakes.transcripts.claude_code import Claude


def make_settings(disk: Path) -> Settings:
    return Settings.model_validate(
        {
            "store": {"url": str(disk / "store.db")},
            "agent": {"state_dir": str(disk.parent / "state")},
            "jobs": {"detach": False},
        }
    )


async def test_an_import_says_what_it_kept(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(400_000))
    for number in range(60):
        one = Claude(f"s{number}", cwd=str(tmp_path))
        one.say(f"Question {number}? {'x' * 20_000}")
        one.write(home)
    async with open_app(make_settings(small_disk), tmp_path, work=False) as app:
        with pytest.raises(StoreFull) as failed:
            await app.imports.run()
        kept = len(await app.store.records.find(CONVERSATION, ConversationFilter()))
        ballast.unlink()
        # There is room for some more now, and the next import begins where this one stopped.
        with pytest.raises(StoreFull):
            await app.imports.run()
        later = len(await app.store.records.find(CONVERSATION, ConversationFilter()))

    said = str(failed.value)
    assert "nothing was changed" not in said
    assert "this write was not stored, what was stored before it stays" in said
    assert f"Imported before: {kept} new sessions, {kept} turns." in said
    assert 0 < kept < later


async def test_an_ingestion_says_what_it_kept(small_disk: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    body = "\n".join(f"    value_{n} = {n}" for n in range(300))
    write(root, {f"part{n}.py": f"def work_{n}():\n{body}\n" for n in range(400)})
    (small_disk / "ballast").write_bytes(bytes(200_000))
    async with open_app(make_settings(small_disk), root, work=False) as app:
        with pytest.raises(StoreFull) as failed:
            await app.code.ingest()
        kept = len(await list_files(app.store, app.brain.project_id))
    found = re.search(r"Stored before: ([\d,]+) files", str(failed.value))
    assert found is not None
    assert int(found[1].replace(",", "")) == kept
