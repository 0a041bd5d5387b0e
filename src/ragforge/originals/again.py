"""Again: kept transcripts as a source, so that they are imported as the agent's files are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ragforge.domain.text import Json, new_id
from ragforge.errors import TranscriptUnreadable
from ragforge.originals.files import Original, OriginalFiles
from ragforge.records import dataclass
from ragforge.transcripts.source import Piece, Source


@dataclass(frozen=True, slots=True)
class KeptSource:
    """An agent whose transcripts are read as they were kept, under the paths they had."""

    source: Source
    files: OriginalFiles
    originals: Mapping[Path, Original]

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def title(self) -> str:
        return self.source.title

    def find(
        self, home: Path, environ: Mapping[str, str], projects: Sequence[Path] = ()
    ) -> Iterable[Path]:
        return list(self.originals)

    def fits(self, path: Path) -> bool:
        return path in self.originals

    def stamp(self, path: Path) -> str:
        """Return another stamp each time: the reader may be better than the last one."""
        return f"again-{new_id()}"

    def read(self, path: Path, cursor: Json = None) -> Iterator[Piece]:
        """Yield all that a kept transcript says, whatever was read of it before."""
        with TemporaryDirectory(prefix="ragforge-", ignore_cleanup_errors=True) as folder:
            for piece in self.source.read(self._restore(path, Path(folder))):
                yield replace(piece, cursor=None)  # of no use for the agent's own file

    def _restore(self, path: Path, folder: Path) -> Path:
        """Write a transcript below a folder: readers learn from its path whose it is."""
        original = self.originals[path]
        # It is kept unpacked.
        place = folder.joinpath(*path.parts[1:]).with_name(path.name.removesuffix(".zst"))
        place.parent.mkdir(parents=True)
        for name, text in (original.beside or {}).items():
            beside = Path(os.path.normpath(place.parent / name))
            if beside.is_relative_to(folder) and beside != place:
                beside.write_text(text, "utf-8")
        try:
            with place.open("wb") as file:
                file.writelines(self.files.read(original))
        except (OSError, ValueError) as error:
            raise TranscriptUnreadable(path, f"what was kept of it is damaged: {error}") from error
        os.utime(place, (original.written_at, original.written_at))
        return place


def group_originals(
    sources: Iterable[Source], files: OriginalFiles, originals: Iterable[Original]
) -> Iterator[KeptSource]:
    """Yield sources that have all originals: of those with the same path, one each."""
    wanted = {source.name: source for source in sources}
    groups: dict[tuple[str, int], dict[Path, Original]] = {}
    for one in originals:
        groups.setdefault((one.agent, one.version), {})[Path(one.path)] = one
    for agent, version in sorted(groups, key=lambda key: key[1]):
        yield KeptSource(wanted[agent], files, groups[agent, version])
