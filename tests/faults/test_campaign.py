"""The short form of the campaign: a few rounds of every family, and nothing may be lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from scripts.campaign.kills import NAMES
from scripts.campaign.run import FAMILIES, run_campaign
from scripts.campaign.server_copies import kill_copies

KILLS_EACH = 4
COPIES_EACH = 1


@pytest.mark.long
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("name", [*NAMES, *(name for name in FAMILIES if name != "server")])
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


@pytest.mark.long
@pytest.mark.neo4j
@pytest.mark.timeout(1_800)
async def test_a_copy_to_a_server_or_back_that_was_killed_is_finished_by_the_next(
    neo4j_url: str, tmp_path: Path
) -> None:
    counts = await kill_copies(tmp_path, neo4j_url, COPIES_EACH, random.Random(17))

    assert counts.rounds == 2 * COPIES_EACH
    assert counts.problems == []
