"""Stale view: why a transaction of an intake is undone."""

from __future__ import annotations


class StaleView(Exception):
    """What is to be stored was made from a view of the store that is out of date."""
