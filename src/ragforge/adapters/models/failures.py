"""Failures: turn a provider's errors into sentences that a user can act on."""

from __future__ import annotations

import json
import re

from ragforge import errors
from ragforge.domain.text import shorten_end

_MESSAGE_CHARS = 300
_BUSY = {429}
_TRANSIENT = {408, 409, 425, 500, 502, 503, 504, 529}


_TOO_LARGE = 413
_REFUSED = frozenset({400, 413, 422, 500})
"""Statuses of requests that are too long; some local servers answer with a 500."""

_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size|request_too_large"
    r"|maximum context length|max(?:imum)? context (?:size|window)|maximum model length"
    r"|prompt is too long|prompt too long|input is too long|request is too large"
    r"|exceeds? (?:the |its |this model's )?(?:available |maximum )?"
    r"context (?:size|length|window|limit)"
    r"|exceeds? the maximum number of (?:input )?tokens"
    r"|input token count.{0,40}exceeds?|context length of only"
    r"|reduce the length of the (?:messages|prompt|input)",
    re.IGNORECASE,
)
"""OpenAI, Anthropic, Gemini, Mistral, Groq, vLLM, llama.cpp, Ollama, LM Studio."""

_WINDOW = re.compile(
    r"(?:maximum context length is|context length of only|maximum model length (?:is|of)"
    r"|(?:context|window) (?:size|length|window|limit)[ (:=]+(?:of |is )?"
    r"|maximum number of (?:input )?tokens(?: allowed)?[ (:]+|n_ctx\W{1,4})\s*([\d,]+)"
    r"|tokens > ([\d,]+) maximum",
    re.IGNORECASE,
)
_MIN_WINDOW = 256
"""A smaller number is something else."""

_TOOLS = (
    r"(?:tools?|tool[ -](?:use|calls?|calling)|function[ -]?calls?|function[ -]calling|functions)"
)
_NO_TOOLS = re.compile(
    r"(?:does not|doesn't|do not|don't|cannot|can't|no endpoints found that) "
    rf"support (?:native )?{_TOOLS}\b(?![\w.\[])"
    rf"|(?<![\w.]){_TOOLS}['\"`]? (?:is|are) not (?:supported|enabled|available)"
    r"|tool choice requires --enable-auto-tool-choice|tools param requires --jinja"
    r"|unsupported parameter:? ['\"`]?tools['\"`]?(?![\w.\[])",
    re.IGNORECASE,
)
"""Ollama, OpenAI, OpenRouter, Groq, Gemini, Mistral, vLLM, llama.cpp."""


def translate_error(
    error: Exception, model: str, secret: str = "", address: str = "", *, with_tools: bool = False
) -> errors.ModelError:
    """Return our error for the library's. Whatever it raises concerns only this request."""
    import httpx2
    from pydantic_ai import exceptions as theirs

    if isinstance(error, errors.ModelError):
        return error
    said = _shorten_message(error, secret)
    place = f"{model} at {address}" if address else model
    if isinstance(error, theirs.ModelContextWindowExceededError) or says_overflow(error, said):
        return errors.ContextOverflow(
            f"The request is too long for {model}: {said}", find_window(said)
        )
    if (reason := _find_reason_unreachable(error)) is not None:
        return errors.ModelUnreachable(f"{place} cannot be reached: {reason}")
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _translate_status(
            status, said, place, getattr(error, "retry_after", None), with_tools
        )
    match error:
        case theirs.ModelAuthenticationError():
            return _reject_key(place, said)
        case theirs.ModelRateLimitError() | theirs.ModelOverloadedError():
            return errors.ModelBusy(f"{place} is busy: {said}", error.retry_after)
        case theirs.ModelRequestRejectedError() | theirs.ModelQuotaExceededError():
            return errors.RequestRefused(f"{place} refuses the request: {said}")
        case theirs.ModelRequestTimeout():  # asking again would take as long
            return errors.AnswerInterrupted(
                f"{place} did not end its answer within {error.timeout:g} seconds. "
                "The setting llm.request_seconds allows more."
            )
        case theirs.ModelTimeoutError() | TimeoutError():
            return errors.ModelUnavailable(f"{place} did not answer in time.")
        case theirs.ModelAPIError() | httpx2.HTTPError() | ConnectionError():
            return errors.ModelUnavailable(f"{place} broke off: {said}")
    if type(error).__module__.partition(".")[0] in {"openai", "anthropic", "google", "httpcore2"}:
        return errors.ModelUnavailable(f"{place} broke off: {said}")
    # A chunk may have any shape, and the libraries stumble over it in any way.
    return errors.BadAnswer(f"The answer of {model} cannot be read: {said or type(error).__name__}")


def _find_reason_unreachable(error: BaseException) -> str | None:
    """Return why no connection was made, or None if there was one."""
    import httpx2

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, httpx2.ConnectTimeout):
            return "it does not answer."
        if isinstance(cause, httpx2.ConnectError | ConnectionRefusedError):
            return f"{str(cause).rstrip('.') or 'no connection is made'}."
        cause = cause.__cause__ or cause.__context__
    return None


def _translate_status(
    status: int, said: str, model: str, retry_after: float | None, with_tools: bool
) -> errors.ModelError:
    if status in (401, 403):
        return _reject_key(model, said)
    if status in _BUSY:
        return errors.ModelBusy(f"{model} takes no more requests for now: {said}", retry_after)
    if status in _TRANSIENT or status >= 500:
        return errors.ModelUnavailable(f"{model} failed with status {status}: {said}")
    if with_tools and status in (400, 404, 422, 501) and says_no_tools(said):
        return errors.ToolsUnsupported(f"{model} cannot call tools: {said}")
    return errors.RequestRefused(f"{model} refuses the request with status {status}: {said}")


def _reject_key(model: str, said: str) -> errors.KeyRejected:
    provider = model.partition(":")[0].upper()
    variable = {"GOOGLE": "GEMINI"}.get(provider, provider)
    return errors.KeyRejected(f"{model} does not accept the key: {said} Check {variable}_API_KEY.")


def _shorten_message(error: Exception, secret: str) -> str:
    """Return the provider's message, short, on one line, without the key."""
    body = getattr(error, "body", None)
    text = _find_message(body) or getattr(error, "message", None) or str(error)
    if secret:
        text = str(text).replace(secret, "…")
    return shorten_end(" ".join(str(text).split()), _MESSAGE_CHARS)


def _find_message(body: object) -> str | None:
    if isinstance(body, (str, bytes)):
        try:
            body = json.loads(body)
        except ValueError:
            return body if isinstance(body, str) else None
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, dict):
        inner = body.get("error", body)
        message = inner.get("message") if isinstance(inner, dict) else inner
        return message if isinstance(message, str) else None
    return None


def says_overflow(error: Exception, said: str) -> bool:
    """Tell whether a refused request was longer than the model's window."""
    status = getattr(error, "status_code", None)
    if status == _TOO_LARGE:
        return True
    code = getattr(error, "provider_error_code", None) or ""
    return status in _REFUSED and bool(_OVERFLOW.search(f"{code} {said}"))


def find_window(said: str) -> int | None:
    """Return the tokens of the window that a provider names when a request is too long."""
    for found in _WINDOW.finditer(said):
        digits = (found.group(1) or found.group(2)).replace(",", "")
        if digits.isdecimal() and int(digits) >= _MIN_WINDOW:
            return int(digits)
    return None


def says_no_tools(said: str) -> bool:
    """Tell whether a model cannot call tools at all.

    Complaints about one tool or its schema mention tools too, and are none of these.
    """
    return bool(_NO_TOOLS.search(said))
