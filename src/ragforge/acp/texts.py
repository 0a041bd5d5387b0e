"""Texts: what the protocol can carry of a text."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from acp import RequestError

from ragforge.domain.text import keep_beginning
from ragforge.errors import InputError, NotFound, RagForgeError

MAX_CHARS = 20_000
"""Maximum for the result of a call in an editor."""

logger = logging.getLogger(__name__)

P = ParamSpec("P")
Result = TypeVar("Result")
INVALID = -32602
FAILED = -32603


def clean(text: str) -> str:
    """Return a text that can be encoded: lone surrogates are replaced."""
    return text.encode("utf-8", "replace").decode()


def shorten(text: str) -> str:
    """Return the beginning of a text that may be very long."""
    return keep_beginning(clean(text), MAX_CHARS)


def fail_with_sentences(
    method: Callable[P, Awaitable[Result]],
) -> Callable[P, Coroutine[Any, Any, Result]]:
    """Return a method whose errors reach the editor as sentences."""

    @wraps(method)
    async def call(*args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            return await method(*args, **kwargs)
        except RequestError:
            raise
        except (InputError, NotFound) as error:
            raise RequestError(INVALID, str(error)) from error
        except RagForgeError as error:
            logger.error("A request of the editor failed: %s", error)
            raise RequestError(FAILED, str(error)) from error
        except Exception as error:
            logger.exception("A request of the editor failed")
            said = (
                f"Something unexpected went wrong: {type(error).__name__}. See the log for details."
            )
            raise RequestError(FAILED, said) from error

    return call
