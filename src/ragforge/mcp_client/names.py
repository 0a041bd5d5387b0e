"""Names: how the tools of servers are called where a model and a rule name them."""

from __future__ import annotations

import re
from hashlib import sha256

BETWEEN = "__"
MAX_CHARS = 64
_REFUSED = re.compile(r"[^A-Za-z0-9_-]")
_MARK_CHARS = 8


def name_tool(server: str, tool: str) -> str:
    """Return the name of a server's tool that every provider takes: `server__tool`.

    A name that has to be changed gets a mark of the true one, so that no two are the same.
    """
    plain = f"{server}{BETWEEN}{_REFUSED.sub('_', tool)}"
    if plain == f"{server}{BETWEEN}{tool}" and len(plain) <= MAX_CHARS:
        return plain
    mark = sha256(tool.encode(errors="replace")).hexdigest()[:_MARK_CHARS]
    return f"{plain[: MAX_CHARS - _MARK_CHARS - 1]}_{mark}"
