"""Logs: the loggers of RagForge's modules; a program that uses it chooses what becomes of them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from logging import Logger

__all__ = ["get_logger"]


def get_logger(name: str) -> Logger:
    """Return the logger of a module. `logging` is loaded when it is first used: it takes 10 ms."""
    return cast("Logger", _LoadedOnFirstUse(name))


class _LoadedOnFirstUse:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(_open_logger(self._name), name)


@cache
def _open_logger(name: str) -> Logger:
    import logging

    root = logging.getLogger("ragforge")
    if not any(isinstance(one, logging.NullHandler) for one in root.handlers):
        root.addHandler(logging.NullHandler())  # else Python would print warnings
    return logging.getLogger(name)
