"""Ids: made from what identifies a thing, so that they stay the same in every ingestion."""

from __future__ import annotations

from hashlib import blake2b


def hash_content(content: str | bytes) -> str:
    """Return the hash that shows whether a content has changed."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return blake2b(data, digest_size=16).hexdigest()


def make_id(*parts: str) -> str:
    """Return the id of the thing that these parts identify."""
    return hash_content("\0".join(parts))
