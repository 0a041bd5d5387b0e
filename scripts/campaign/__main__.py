"""Runs a campaign: python -m scripts.campaign --kills 2000 --damaged 200 --report FILE."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from scripts.campaign.kills import NAMES as KILLED
from scripts.campaign.run import FAMILIES, KILLS, run_campaign


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.campaign", description=__doc__)
    parser.add_argument("--kills", type=int, default=2_000)
    parser.add_argument("--damaged", type=int, default=200, help="how many damaged copies")
    parser.add_argument("--rounds", type=int, default=20, help="of disk, clock and provider")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, help="where the counts are written, as JSON")
    parser.add_argument("--only", choices=(KILLS, *KILLED, *FAMILIES), help="a part of it")
    parser.add_argument(
        "--folder", type=Path, help="an empty folder that keeps the stores of failed rounds"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="campaign-") as temporary:
        report = asyncio.run(
            run_campaign(
                options.folder or Path(temporary),
                kills=options.kills,
                damaged=options.damaged,
                rounds=options.rounds,
                seed=options.seed,
                only=options.only,
            )
        )
    if options.report:
        report.save(options.report)
    print(report.as_table())
    for name, part in report.parts.items():
        for line in (*part.problems, *part.remarks):
            print(f"{name}: {line}", file=sys.stderr)
    for line in report.shortfalls:
        print(f"MISSED: {line}", file=sys.stderr)
    return int(report.failed)


if __name__ == "__main__":
    raise SystemExit(main())
