"""`ragforge ingest` in a terminal: how far it is, and an interruption."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fakes.terminal import CTRL_C
from tests.screens.conftest import Open

pytestmark = pytest.mark.long

FILES = 1_000
HOW_FAR = re.compile(r"reading files .* \d+/1003 +\d+/s, [\d,]+ scopes +\d:\d\d:\d\d")


async def test_a_long_reading_shows_files_rate_and_time_left_and_resumes_after_ctrl_c(
    ragforge: Open, project: Path
) -> None:
    for n in range(FILES):
        text = "".join(f"def f{n}_{k}(x):\n    return f{n}_{k + 1}(x)\n\n\n" for k in range(20))
        (project / "src" / f"part{n}.py").write_text(text)

    async with ragforge("ingest", forked=False) as terminal:
        await terminal.until(
            lambda: any(map(HOW_FAR.search, terminal.lines)), "files, rate and time left"
        )
        terminal.type(CTRL_C)
        await terminal.see("Interrupted. What was read is kept; the next run continues there.")
        assert await terminal.ended() == 130

    async with ragforge("ingest") as terminal:
        assert await terminal.ended() == 0
        shown = "\n".join(terminal.scrollback)
        assert "reading files" not in shown

    read = re.search(r"([\d,]+) read", shown)
    assert read is not None
    assert 0 < int(read[1].replace(",", "")) < FILES
