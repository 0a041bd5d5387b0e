"""Question: a prompt from an editor, with its files and images."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from acp import schema

from ragforge.app.features.user_commands import PromptFile, expand_arguments
from ragforge.domain.chat import Image
from ragforge.domain.text import fence
from ragforge.errors import InputError
from ragforge.records import dataclass

Block: TypeAlias = (
    schema.TextContentBlock
    | schema.ImageContentBlock
    | schema.AudioContentBlock
    | schema.ResourceContentBlock
    | schema.EmbeddedResourceContentBlock
)


@dataclass(frozen=True, slots=True)
class Question:
    """The words of a prompt, and the images that came with it."""

    text: str
    images: tuple[Image, ...] = ()


def read_question(blocks: Sequence[Block], root: Path) -> Question:
    """Return a prompt; files are named by their path, or follow with their text.

    Raises InputError for sound, and for images that cannot be decoded.
    """
    words: list[str] = []
    below: list[str] = []
    images: list[Image] = []
    for block in blocks:
        match block:
            case schema.TextContentBlock(text=text):
                words.append(text)
            case schema.ResourceContentBlock(uri=uri):
                words.append(name_place(uri, root))
            case schema.EmbeddedResourceContentBlock(
                resource=schema.TextResourceContents() as resource
            ):
                place = name_place(resource.uri, root)
                words.append(place)
                below.append(f"{place} in the editor:\n\n{fence(resource.text)}")
            case schema.EmbeddedResourceContentBlock(resource=resource):
                words.append(name_place(resource.uri, root))
            case schema.ImageContentBlock():
                image = _read_image(block, root, len(images) + 1)
                words.append(f"[{image.name}]")
                images.append(image)
            case _:
                raise InputError("A question cannot contain sound. Send text, files or images.")
    return Question("\n\n".join(["".join(words), *below]), tuple(images))


def _read_image(block: schema.ImageContentBlock, root: Path, number: int) -> Image:
    """Return an image under its place, or a number if the user pasted it."""
    name = name_place(block.uri, root) if block.uri else f"image {number}"
    try:
        data = b64decode(block.data, validate=True)
    except ValueError as error:
        raise InputError(
            f"The editor sent {name} in a form that cannot be read: it is not base64."
        ) from error
    return Image(name, block.mime_type, data)


def name_place(uri: str, root: Path) -> str:
    """Return a file of the project by its path in it; whatever else by its address."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return uri
    path = Path(unquote(parts.path))
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def expand_command(question: str, commands: Sequence[PromptFile]) -> str:
    """Return the text of the user's own command that a question names; else the question."""
    name, _, argument = question.strip().partition(" ")
    for one in commands:
        if name == f"/{one.name}":
            return expand_arguments(one.body, argument.strip())
    return question
