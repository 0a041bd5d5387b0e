"""The clipboard: a picture in it becomes a file that the question names."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ragforge.domain.text import new_id
from ragforge.errors import InputError
from ragforge.private_files import create_private_file, make_private_folder

PNG = b"\x89PNG\r\n\x1a\n"
PROGRAMS = (
    ("wl-paste", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-target", "image/png", "-out"),
    ("pngpaste", "-"),  # macOS
)
SECONDS = 5
NO_PICTURE = "There is no picture in the clipboard."
NO_PROGRAM = (
    "The clipboard cannot be read without wl-paste, xclip or pngpaste. "
    "Install one, or name a file: @shot.png"
)


def save_picture(folder: Path) -> Path:
    """Save the picture in the clipboard for its owner alone; return the file.

    Raises InputError if there is none, or if it cannot be read or saved.
    """
    found = [program for program in PROGRAMS if shutil.which(program[0])]
    if not found:
        raise InputError(NO_PROGRAM)
    data = next((data for one in found if (data := _run(one)).startswith(PNG)), None)
    if data is None:
        raise InputError(NO_PICTURE)
    file = folder / f"{new_id()}.png"
    try:
        make_private_folder(folder)
        create_private_file(file)
        file.write_bytes(data)
    except OSError as error:
        raise InputError(f"The picture cannot be saved in {folder}: {error.strerror}.") from error
    return file


def _run(program: tuple[str, ...]) -> bytes:
    try:
        done = subprocess.run(
            program, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return b""
    return done.stdout
