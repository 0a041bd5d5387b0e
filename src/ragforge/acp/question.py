"""Question: what a user wrote in an editor, with the files they put beside it, as one text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from acp.schema import (
    AudioContentBlock,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from ragforge.app.prompts import PromptFile, expand_arguments
from ragforge.errors import InputError

Block: TypeAlias = (
    TextContentBlock
    | ImageContentBlock
    | AudioContentBlock
    | ResourceContentBlock
    | EmbeddedResourceContentBlock
)


def read_question(blocks: Sequence[Block], root: Path) -> str:
    """Return the words of a prompt; files are named by their path, or stand below with their text.

    Raises InputError for pictures and sound.
    """
    words: list[str] = []
    below: list[str] = []
    for block in blocks:
        match block:
            case TextContentBlock(text=text):
                words.append(text)
            case ResourceContentBlock(uri=uri):
                words.append(name_place(uri, root))
            case EmbeddedResourceContentBlock(resource=TextResourceContents() as resource):
                place = name_place(resource.uri, root)
                words.append(place)
                below.append(f"{place} in the editor:\n\n{_fence(resource.text)}")
            case EmbeddedResourceContentBlock(resource=resource):
                words.append(name_place(resource.uri, root))
            case _:
                raise InputError("Pictures and sound cannot be part of a question yet.")
    return "\n\n".join(["".join(words), *below])


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


def _fence(text: str) -> str:
    """Return a text between fences that do not stand in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
