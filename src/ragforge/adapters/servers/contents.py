"""Contents: what servers send, as text. Images, sounds and data are named, not copied."""

from __future__ import annotations

import json
from collections.abc import Iterable

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    ReadResourceResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from ragforge.domain.text import keep_beginning

MOST_CHARS = 1_000_000
"""Of one result: what is more would only fill the memory."""
_BASE64_SHARE = 3 / 4


def format_result(result: CallToolResult) -> str:
    """Return what a tool says; structured data where it says nothing else."""
    text = _join(_format_block(block) for block in result.content)
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    return keep_beginning(text, MOST_CHARS)


def format_resource(result: ReadResourceResult) -> str:
    """Return the text of a resource."""
    return keep_beginning(_join(map(_format_contents, result.contents)), MOST_CHARS)


def format_prompt(result: GetPromptResult) -> str:
    """Return the text of a prompt; words that are the model's own are marked."""
    texts = [
        (f"(assistant) {text}" if message.role == "assistant" else text)
        for message in result.messages
        if (text := _format_block(message.content))
    ]
    return keep_beginning(_join(texts), MOST_CHARS)


def _format_block(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent():
            return _name("image", block.mime_type, block.data)
        case AudioContent():
            return _name("sound", block.mime_type, block.data)
        case EmbeddedResource():
            return _format_contents(block.resource)
        case ResourceLink():
            return f"(resource {block.uri}: {block.description or block.title or block.name})"


def _format_contents(contents: TextResourceContents | BlobResourceContents) -> str:
    if isinstance(contents, TextResourceContents):
        return contents.text
    kind = contents.mime_type or "unknown type"
    return _name(f"data of {contents.uri}", kind, contents.blob)


def _name(what: str, kind: str, data: str) -> str:
    return f"({what}, {kind}, about {round(len(data) * _BASE64_SHARE):,} bytes, left out)"


def _join(texts: Iterable[str]) -> str:
    return "\n".join(text for text in texts if text)
