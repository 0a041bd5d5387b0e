"""Ids: made of what a thing is, so that it has the same one whenever it is ingested."""

from __future__ import annotations

from hashlib import blake2b


def hash_content(content: str | bytes) -> str:
    """Return the hash by which a content is known to have changed."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return blake2b(data, digest_size=16).hexdigest()


def make_id(*parts: str) -> str:
    """Return an id that is the same whenever the same thing is ingested again."""
    return hash_content("\0".join(parts))
