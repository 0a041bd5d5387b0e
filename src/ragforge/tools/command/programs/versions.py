"""Programs of which only the version may be asked."""

from __future__ import annotations

from collections.abc import Sequence

from ragforge.tools.command.options import CustomProgram, ListedProgram
from ragforge.tools.command.paths import WorkingDirectory
from ragforge.tools.command.plan import NotAllowed
from ragforge.tools.command.shell import Word


def _take_version(place: WorkingDirectory, words: Sequence[Word]) -> list[str]:
    if len(words) == 1 and words[0].text in ("-V", "-v"):
        return ["--version"]
    raise NotAllowed("only its version may be asked, with --version")


# No proxies of tool chains (cargo, go, npm): these read the project's files even for that.
PROGRAMS: dict[str, ListedProgram] = {
    name: CustomProgram(_take_version)
    for name in ("python", "python3", "node", "gcc", "make", "cmake")
}
