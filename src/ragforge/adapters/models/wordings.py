"""Wordings: how providers and servers say what no status code says."""

from __future__ import annotations

import re

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
_LEAST_WINDOW = 256
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
        if digits.isdecimal() and int(digits) >= _LEAST_WINDOW:
            return int(digits)
    return None


def says_no_tools(said: str) -> bool:
    """Tell whether a model cannot call tools at all.

    Complaints about one tool or its schema mention tools too, and are none of these.
    """
    return bool(_NO_TOOLS.search(said))
