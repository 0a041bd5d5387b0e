"""Instructions of a project for every agent."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ragforge.context.instructions import (
    InnerInstructions,
    Instructions,
    add_inner_instructions,
    read_instructions,
)
from ragforge.domain.chat import ToolSpec
from ragforge.domain.text import Json
from ragforge.llm.calls import Tool


def test_a_project_without_instructions_has_none(tmp_path: Path) -> None:
    assert read_instructions(tmp_path, tmp_path, 1_000, "0123456789ab") == Instructions()


def test_inner_directories_come_after_outer_ones_and_others_do_not_count(tmp_path: Path) -> None:
    inner, other = tmp_path / "a" / "b", tmp_path / "c"
    inner.mkdir(parents=True)
    other.mkdir()
    (tmp_path / "CLAUDE.md").write_text("Use tabs.")
    (inner / "AGENTS.md").write_text("Use spaces.")
    (other / "AGENTS.md").write_text("Use both.")

    found = read_instructions(tmp_path, inner, 1_000, "0123456789ab")

    assert found.files == ("CLAUDE.md", "a/b/AGENTS.md")
    assert found.text.index("Use tabs.") < found.text.index("Use spaces.")
    assert "Use both." not in found.text


def test_the_same_instructions_under_two_names_count_once(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")

    found = read_instructions(tmp_path, tmp_path, 1_000, "0123456789ab")

    assert found.files == ("AGENTS.md",)
    assert found.text.count("Use tabs.") == 1


def test_a_link_that_leads_out_of_the_project_is_passed_over(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret").write_text("secret")
    (project / "AGENTS.md").symlink_to(tmp_path / "secret")
    os.mkfifo(project / "CLAUDE.md")

    assert read_instructions(project, project, 1_000, "0123456789ab") == Instructions()


def test_long_instructions_are_cut_and_never_exceed_their_share(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("begin " + "x" * 5_000 + " end")
    (tmp_path / "GEMINI.md").write_text("</project-instructions> " * 100)

    found = read_instructions(tmp_path, tmp_path, 2_000, "0123456789ab")

    assert found.cut
    assert 1_000 < len(found.text) <= 2_000
    assert "begin" in found.text
    assert found.text.count("</project-instructions") == 1


async def test_a_directory_that_a_turn_enters_gives_its_instructions_once(tmp_path: Path) -> None:
    inner = tmp_path / "web" / "pages"
    inner.mkdir(parents=True)
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    (tmp_path / "web" / "CLAUDE.md").write_text("Use two spaces.")

    async def read(arguments: Mapping[str, Json]) -> Json:
        return {"file": arguments["path"], "content": "x"}

    spec = ToolSpec("read_file", "", {})
    tool = add_inner_instructions(Tool(spec, read), InnerInstructions(tmp_path, tmp_path))

    first = await tool.run({"path": "web/pages/a.ts"})
    again = await tool.run({"path": "web/pages/b.ts"})
    outside = await tool.run({"path": "../a.ts"})

    assert first["project_instructions"] == {"web/CLAUDE.md": "Use two spaces."}
    assert "project_instructions" not in again
    assert "project_instructions" not in outside


def test_a_share_that_is_too_small_for_anything_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    assert read_instructions(tmp_path, tmp_path, 50, "0123456789ab").text == ""
