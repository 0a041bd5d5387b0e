"""Sources: all agents in one table."""

from __future__ import annotations

from pathlib import Path

from ragforge.transcripts.sources import SOURCES

DOCS = Path(__file__).parents[3] / "docs" / "agents"


def test_every_agent_has_its_own_name_and_a_page() -> None:
    names = [source.name for source in SOURCES]
    assert len(set(names)) == len(names) == 12
    pages = {page.stem for page in DOCS.glob("*.md")}
    assert set(names) - {"roo"} <= pages
    for source in SOURCES:
        page = "cline" if source.name == "roo" else source.name
        assert source.title in (DOCS / f"{page}.md").read_text("utf-8")


def test_an_empty_home_holds_no_transcripts(tmp_path: Path) -> None:
    assert [path for source in SOURCES for path in source.find(tmp_path, {}, [tmp_path])] == []
