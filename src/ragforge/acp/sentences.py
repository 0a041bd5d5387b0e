"""Sentences: whatever fails, the user of an editor reads why in plain words."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from acp import RequestError

from ragforge.errors import InputError, NotFound, RagForgeError

logger = logging.getLogger(__name__)

P = ParamSpec("P")
Result = TypeVar("Result")
INVALID = -32602
FAILED = -32603


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
            said = f"Something unexpected went wrong: {type(error).__name__}. The log has more."
            raise RequestError(FAILED, said) from error

    return call
