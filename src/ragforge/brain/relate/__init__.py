"""Relate: the edges of the code graph, from the outlines of files and the names in them."""

from __future__ import annotations

from ragforge.brain.relate.edges import Relater
from ragforge.brain.relate.rules import family_of
from ragforge.brain.relate.view import Known

__all__ = ["Known", "Relater", "family_of"]
