"""Relate: the edges of the code graph, from the outlines of files and the names in them."""

from __future__ import annotations

from ragforge.brain.graph.edges import Relater
from ragforge.brain.graph.file_names import Known

__all__ = ["Known", "Relater"]
