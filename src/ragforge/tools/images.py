"""Images: pictures that a question names as `@shot.png` or brings along, for models that see.

The user names them, so they may lie anywhere; a model cannot ask for one.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from ragforge.domain.chat import IMAGE_ENDINGS, Image
from ragforge.records import dataclass

MAX_IMAGES = 5
MAX_BYTES = 5_000_000
_MENTION = re.compile(r"""(?:^|(?<=\s))@(?:"([^"\n]+)"|((?:\\ |\S)+))""")
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_AFTER = ".,;:!?)"


@dataclass(frozen=True, slots=True)
class NamedImages:
    """The pictures of a question, and why others were left out."""

    images: tuple[Image, ...] = ()
    problems: tuple[str, ...] = ()


def read_named_images(question: str, cwd: Path, given: Sequence[Image] = ()) -> NamedImages:
    """Read the pictures that a question names, after those that came with it.

    Files that are not pictures are left out, with a reason.
    """
    images: list[Image] = []
    problems: list[str] = []
    wanted: list[Image | str] = [*given, *dict.fromkeys(find_image_names(question))]
    for one in wanted:
        name = one if isinstance(one, str) else one.name
        if len(images) == MAX_IMAGES:
            problems.append(f"{name} is left out: a question may have {MAX_IMAGES} images.")
            continue
        try:
            data = _read(name, cwd) if isinstance(one, str) else one.data
            images.append(_check(name, data))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            problems.append(f"{name} is not sent: {why}.")
    return NamedImages(tuple(images), tuple(problems))


def find_image_names(question: str) -> Iterator[str]:
    """Yield the names after an `@` that end as pictures do."""
    for quoted, plain in _MENTION.findall(question):
        name = quoted or plain.replace("\\ ", " ").rstrip(_AFTER)
        if name.lower().endswith(IMAGE_ENDINGS):
            yield name


def _read(name: str, cwd: Path) -> bytes:
    """Return the beginning of a file. Raises OSError, ValueError if it is not a regular file."""
    descriptor = os.open(cwd / Path(name).expanduser(), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a file")
        return file.read(MAX_BYTES + 1)


def _check(name: str, data: bytes) -> Image:
    """Return a picture. Raises ValueError if it is not one, or too large."""
    if len(data) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES // 1_000_000} MB")
    return Image(name, _find_type(data), data)


def _find_type(data: bytes) -> str:
    for signature, media_type in _SIGNATURES:
        if data.startswith(signature):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    raise ValueError("it is not a PNG, JPEG, GIF or WebP")
