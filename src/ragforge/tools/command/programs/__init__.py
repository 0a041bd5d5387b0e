"""Programs: those on the list, a family a file, each with its options."""

from __future__ import annotations

from collections.abc import Mapping

from ragforge.tools.command.options import ListedProgram
from ragforge.tools.command.programs import awk, files, find, jq, search, sed, text, versions

PROGRAMS: Mapping[str, ListedProgram] = {
    **text.PROGRAMS,
    **files.PROGRAMS,
    **search.PROGRAMS,
    **find.PROGRAMS,
    **sed.PROGRAMS,
    **awk.PROGRAMS,
    **jq.PROGRAMS,
    **versions.PROGRAMS,
}
"""Every program that may run, but git."""
