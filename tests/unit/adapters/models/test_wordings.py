"""What providers say about tools and about long requests, as they word it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ragforge.adapters.models.failures import says_no_tools, says_overflow


@pytest.mark.parametrize(
    "said",
    [
        "registry.ollama.ai/library/gemma:2b does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "tools param requires --jinja flag",
        "No endpoints found that support tool use.",
        "Unsupported parameter: 'tools' is not supported with this model.",
        "`tool calling` is not supported with this model",
        "Function calling is not enabled for models/gemini-2.0-flash-lite",
        "This model does not support function calling",
    ],
)
def test_a_model_without_tools_is_recognised(said: str) -> None:
    assert says_no_tools(said)


@pytest.mark.parametrize(
    "said",
    [
        "Invalid schema for function 'write_file': tools[3].function.parameters",
        "messages.4: tool_use ids were found without tool_result blocks",
        "An assistant message with 'tool_calls' must be followed by tool messages",
        "tools.0.custom.input_schema: JSON schema is invalid",
        "Too many tools: at most 128",
        "'tools[0].strict' is not supported",
        "temperature is not supported with this model; remove it when tools are given",
    ],
)
def test_a_complaint_that_mentions_tools_is_not_a_model_without_them(said: str) -> None:
    assert not says_no_tools(said)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "context_length_exceeded"),
        (400, "This model's maximum context length is 8192 tokens"),
        (400, "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed"),
        (400, "The decoder prompt (length 9000) is longer than the maximum model length of 8192"),
        (400, "request (9000 tokens) exceeds the available context size (8192 tokens)"),
        (500, "the input length exceeds the context length"),
        (400, "prompt too long; exceeded max context length by 12 tokens"),
        (400, "Please reduce the length of the messages or completion."),
        (400, "the model is loaded with context length of only 4096 tokens"),
        (413, "Request Entity Too Large"),
    ],
)
def test_a_request_over_the_window_is_recognised(status: int, said: str) -> None:
    assert says_overflow(_fail(status), said)


@pytest.mark.parametrize(
    ("status", "said"),
    [(400, "max_tokens is too large: 99999"), (400, "invalid image"), (429, "too many tokens")],
)
def test_other_refusals_are_not_taken_for_it(status: int, said: str) -> None:
    assert not says_overflow(_fail(status), said)


def _fail(status: int) -> Any:
    return SimpleNamespace(status_code=status, provider_error_code=None)
