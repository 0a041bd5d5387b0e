"""Campaign: kill, damage, fill up and mislead RagForge at random, and count what was lost.

    python -m scripts.campaign --kills 2000 --damaged 200 --seed 1 --report campaign.json

It is not part of `make test`; tests/faults/test_campaign.py runs a short form of it. See
docs/reliability.md for what is promised and what a campaign found.
"""
