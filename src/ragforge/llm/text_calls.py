"""Text calls: calls of tools that a small model writes into its answer instead of making them.

Models are trained on several ways to write a call, and their servers do not always recognise their
own. Only what names an offered tool and has an object of arguments counts: an answer that shows
such a call as an example, in the middle of a text, stays an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from ragforge.domain.chat import ToolRequest

_TAGGED = re.compile(r"<(tool_call|function_call|tools?)>\s*(.*?)\s*(?:</\1>|\Z)", re.DOTALL)
_NAMED = re.compile(r"<function=([\w-]+)>\s*(.*?)\s*(?:</function>|\Z)", re.DOTALL)
_MARKED = re.compile(r"\[TOOL_CALLS\]\s*(\[.*\])\s*\Z", re.DOTALL)
_FENCED = re.compile(  # after a word or two: a longer text explains an example
    r"\A.{0,200}?```(?:json|tool_call|tool_code)?\s*\n(\{.*?\}|\[.*?\])\s*```\s*\Z", re.DOTALL
)
_BARE = re.compile(r"\A\s*(\{.*\}|\[\s*\{.*\}\s*\])\s*\Z", re.DOTALL)
_TRIPLE = re.compile(r'"""\n?(.*?)"""', re.DOTALL)
_ARGUMENTS = ("arguments", "parameters", "args", "input")


def find_text_calls(text: str, tools: Collection[str], round: int) -> tuple[list[ToolRequest], str]:
    """Return the calls that a text makes, and what else it says."""
    for found, (start, end) in _find_candidates(text):
        calls = [call for value in found for call in _read_calls(value, tools)]
        if calls and len(calls) == len(found):
            rest = text[:start] + text[end:]
            made = [
                ToolRequest(f"text-{round}-{number}", name, arguments)
                for number, (name, arguments) in enumerate(calls)
            ]
            return made, rest.strip()
    return [], text


def _find_candidates(text: str) -> Iterator[tuple[list[Any], tuple[int, int]]]:
    """Yield what may be calls, with the part of the text that holds them."""
    if tagged := list(_TAGGED.finditer(text)):
        yield [_parse(one.group(2)) for one in tagged], (tagged[0].start(), tagged[-1].end())
    if named := list(_NAMED.finditer(text)):
        values = [{"name": one.group(1), "arguments": _parse(one.group(2))} for one in named]
        yield values, (named[0].start(), named[-1].end())
    for form in (_MARKED, _FENCED, _BARE):
        if one := form.search(text):
            value = _parse(one.group(1))
            yield value if isinstance(value, list) else [value], (_find_start(one), one.end())


def _find_start(found: re.Match[str]) -> int:
    """Return where the calls begin, with the fence around them."""
    fence = found.group(0).find("```")
    return found.start() + max(fence, 0)


def _read_calls(value: Any, tools: Collection[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(value, dict):
        return
    inner = value.get("function")
    call = inner if isinstance(inner, dict) else value
    name = call.get("name") or call.get("tool")
    given = next((call[key] for key in _ARGUMENTS if key in call), None)
    if isinstance(given, str):
        given = _parse(given)
    if isinstance(name, str) and name in tools and isinstance(given, dict):
        yield name, given


def _parse(text: str) -> Any:
    """Return the value of a JSON text, in which a small model may write strings as in Python."""
    for candidate in (text, _TRIPLE.sub(lambda one: json.dumps(one.group(1)), text)):
        try:
            return json.loads(candidate, strict=False)
        except ValueError:
            continue
    return None
