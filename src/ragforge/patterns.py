"""Patterns: regular expressions that are compiled when they are first used.

To compile some takes a few milliseconds, and most processes use few of those that they load.
"""

from __future__ import annotations

import re
from typing import Any, cast

__all__ = ["compile_on_use"]


def compile_on_use(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` would."""
    return cast("re.Pattern[str]", _CompiledOnUse(pattern, flags))


class _CompiledOnUse:
    def __init__(self, pattern: str, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)  # from now on it costs no more than a pattern
        return found
