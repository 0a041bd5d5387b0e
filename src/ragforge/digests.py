"""Digests: the hash functions of `hashlib`, which loads OpenSSL to have them.

That takes 4 ms, and an agent waits for a hook. These are the same functions.
"""

from __future__ import annotations

__all__ = ["blake2b", "sha256"]

try:
    from _blake2 import blake2b
    from _sha256 import sha256  # type: ignore[import-not-found]
except ImportError:  # another Python has other names for them
    from hashlib import blake2b, sha256
