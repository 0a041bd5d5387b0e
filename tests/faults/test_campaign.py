"""The short form of the campaign: a few rounds of every family, and nothing may be lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.campaign.kills import NAMES
from scripts.campaign.run import FAMILIES, run_campaign

KILLS_EACH = 4


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("name", [*NAMES, *FAMILIES])
async def test_a_short_campaign_finds_nothing_lost_doubled_or_pretended(
    name: str, tmp_path: Path
) -> None:
    report = await run_campaign(
        tmp_path, kills=KILLS_EACH * len(NAMES), damaged=3, rounds=1, seed=16, only=name
    )

    counts = report.parts[name]
    if counts.skipped:
        pytest.skip(counts.skipped)
    assert counts.rounds > 0
    assert (counts.lost, counts.doubled, counts.half_written, counts.tracebacks) == (0, 0, 0, 0)
    assert counts.problems == []
