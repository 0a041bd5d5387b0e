"""Files: the kept transcripts on disk.

`chunks` holds compressed lines under the hash of their content: transcripts that begin alike share
them. `transcripts` holds a file for each transcript: a head that names its chunks, and the lines
after the last of them. A transcript that grows replaces this small file only. Every file is
written to a draft and renamed: after a kill it is the old one or the new one.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ragforge.domain.text import Json
from ragforge.private_files import make_private_folder, replace_file
from ragforge.records import dataclass

_MODULE = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
_LEVEL = 6
CHECKED = "checked"
CHECK_SECONDS = 3_600.0
_COMPANIONS_KEY = "beside"  # as it is stored
LEFT_SECONDS = 3_600.0
"""A chunk without a transcript may be that of a process which is writing it."""


@dataclass(frozen=True, slots=True)
class Original:
    """A kept transcript, without its lines."""

    agent: str
    path: str
    version: int = 0  # a file that was rewritten, and not continued, is kept as another one
    conversations: tuple[str, ...] = ()  # whose words are in it
    chunks: tuple[str, ...] = ()
    mark: Json = None  # where in the file the lines after the last chunk begin
    stamp: str = ""  # of the file
    written_at: float = 0.0  # the time of the file
    companions: Mapping[str, str] | None = None  # name → content of files that its reader reads too

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{name_path(self.agent, self.path)}-{self.version}"


def name_path(agent: str, path: str) -> str:
    """Return the name of a transcript in the names of its files: a hash of its path."""
    return blake2b(f"{agent}\0{path}".encode(errors="surrogateescape"), digest_size=16).hexdigest()


class OriginalFiles:
    """The folder of kept transcripts. Methods raise OSError if it cannot be written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._chunks = folder / "chunks"
        self._heads = folder / "transcripts"

    def find(self, agent: str, path: str) -> Original | None:
        """Return the newest version of a transcript."""
        versions = self._heads.glob(f"{name_path(agent, path)}-*")
        found = [one for one in map(_read_head, versions) if one is not None]
        return max(found, key=lambda one: one.version, default=None)

    def find_all(self) -> list[Original]:
        """Return all transcripts, the one that was kept longest ago first."""
        places = []
        for place in self._heads.glob("[!.]*-*"):  # without drafts
            with suppress(FileNotFoundError):  # another process removed it
                places.append((place.stat().st_mtime_ns, place))
        found = (_read_head(place) for _, place in sorted(places))
        return [one for one in found if one is not None]

    def put_chunk(self, data: bytes) -> str:
        """Store some lines, and return the name under which they are found."""
        name = blake2b(data, digest_size=20).hexdigest()
        place = self._place_chunk(name)
        if not place.exists():
            make_private_folder(place.parent)
            replace_file(str(place), _load_zstd().compress(data, _LEVEL))
        return name

    def put(self, original: Original, rest: bytes) -> None:
        """Store a transcript with the lines after its last chunk; not one that is forgotten."""
        library = _load_zstd()
        head = json.dumps(_encode_head(original)).encode()
        make_private_folder(self._heads)
        place = self._heads / original.name
        replace_file(str(place), library.compress(head, _LEVEL) + library.compress(rest, _LEVEL))
        if self.is_forgotten(original.agent, original.path):  # meanwhile
            place.unlink(missing_ok=True)

    def read(self, original: Original) -> Iterator[bytes]:
        """Yield the content of a transcript in pieces. Raises OSError and ValueError."""
        for name in original.chunks:
            yield _decompress(self._place_chunk(name).read_bytes())[0]
        yield self.read_rest(original)

    def read_rest(self, original: Original) -> bytes:
        """Return the lines of a transcript after its last chunk. Raises OSError, ValueError."""
        return _decompress(_decompress((self._heads / original.name).read_bytes())[1])[0]

    def is_forgotten(self, agent: str, path: str) -> bool:
        """Tell whether a transcript must not be kept."""
        return self._place_mark(agent, path).exists()

    def forget(self, conversations: Collection[str]) -> int:
        """Remove the transcripts with words of conversations for good; return how many.

        They are not kept again, whatever their agent adds.
        """
        wanted = set(conversations)
        found = [one for one in self.find_all() if wanted.intersection(one.conversations)]
        for one in found:
            self.forget_path(one.agent, one.path)
        return len(found)

    def forget_path(self, agent: str, path: str) -> None:
        """Remove all versions of a transcript, which is not kept again."""
        make_private_folder(self._heads)
        replace_file(str(self._place_mark(agent, path)), b"")  # first: others may be keeping it
        versions = map(_read_head, self._heads.glob(f"{name_path(agent, path)}-*"))
        self.remove([one for one in versions if one is not None])

    def remove(self, originals: Iterable[Original]) -> None:
        """Remove transcripts, and the chunks that no other one has."""
        gone: set[str] = set()
        for one in originals:
            (self._heads / one.name).unlink(missing_ok=True)
            gone.update(one.chunks)
        kept = {name for one in self.find_all() for name in one.chunks} if gone else set()
        for name in gone - kept:
            self._place_chunk(name).unlink(missing_ok=True)

    def is_check_due(self) -> bool:
        """Tell whether `shrink` was not called for a while: it looks at every file."""
        return _measure_age(self.folder / CHECKED) > CHECK_SECONDS

    def shrink(self, limit: int) -> None:
        """Remove the transcripts that were kept longest ago until all take `limit` bytes.

        Chunks that a killed process left without a transcript are removed as well.
        """
        if not self.folder.exists():
            return
        replace_file(str(self.folder / CHECKED), b"")
        found = self.find_all()
        holders = Counter(name for one in found for name in set(one.chunks))
        for place in self._chunks.glob("*/*"):
            if place.name not in holders and _measure_age(place) > LEFT_SECONDS:
                place.unlink(missing_ok=True)
        size = self.measure()
        removed = []
        for one in found:
            if size <= limit:
                break
            removed.append(one)
            size -= _measure(self._heads / one.name)
            holders.subtract(set(one.chunks))
            unshared = (name for name in set(one.chunks) if not holders[name])
            size -= sum(_measure(self._place_chunk(name)) for name in unshared)
        self.remove(removed)

    def measure(self) -> int:
        """Return how many bytes the folder takes."""
        return sum(map(_measure, self.folder.glob("*/**/*")))

    def _place_chunk(self, name: str) -> Path:
        return self._chunks / name[:2] / name

    def _place_mark(self, agent: str, path: str) -> Path:
        return self._heads / f"{name_path(agent, path)}.forgotten"


def _measure(place: Path) -> int:
    """Return how many bytes a file takes; a folder, or what is gone, takes none."""
    try:
        return place.stat().st_size if place.is_file() else 0
    except OSError:
        return 0


def _measure_age(place: Path) -> float:
    """Return for how many seconds a file is there; forever, if it is not."""
    try:
        return time.time() - place.stat().st_mtime
    except OSError:
        return float("inf")


def _encode_head(original: Original) -> dict[str, Any]:
    head = asdict(original)
    head[_COMPANIONS_KEY] = head.pop("companions")
    return head


def _read_head(place: Path) -> Original | None:
    """Return what a file of a transcript says; None if it cannot be read."""
    try:
        fields: dict[str, Any] = json.loads(_decompress(place.read_bytes())[0])
        made = Original(companions=fields.pop(_COMPANIONS_KEY, None), **fields)
        return replace(made, conversations=tuple(made.conversations), chunks=tuple(made.chunks))
    except (OSError, ValueError, TypeError):
        return None


def _decompress(data: bytes) -> tuple[bytes, bytes]:
    """Return the first part of compressed data, and what follows it. Raises ValueError."""
    library = _load_zstd()
    reader = library.ZstdDecompressor()
    try:
        content: bytes = reader.decompress(data)
    except library.ZstdError as error:
        raise ValueError(f"it cannot be unpacked: {error}") from error
    if not reader.eof:
        raise ValueError("it is cut off")
    return content, reader.unused_data


def _load_zstd() -> Any:
    return importlib.import_module(_MODULE)  # only who keeps originals needs it
