"""Plan: choose searches of the files for a message by rules, without a model.

Quoted strings, error texts and names are searched for exactly. A path is searched for by a command
that lists files. Otherwise the longest words are searched for, tolerant of typos.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from ragforge.domain.text import Json
from ragforge.records import dataclass
from ragforge.search.question.code_names import find_names, find_paths, split_name
from ragforge.search.question.message_kinds import is_small_talk
from ragforge.search.question.software import may_be_about_software
from ragforge.search.question.wording import translate
from ragforge.search.words.foreign import ENGLISH
from ragforge.search.words.tokenise import WORDS

ToolName: TypeAlias = Literal["grep_files", "search_files", "run_command"]

MAX_CALLS = 3
MAX_NAMES = 4
MIN_WORD_CHARS = 4
EVERYWHERE = "**/*"

_QUOTED = re.compile(r"""(?<!\w)(?:"([^"\n]{3,120})"|'([^'\n]{3,120})'|«\s*([^»\n]{3,120}?)\s*»)""")
_ERROR = re.compile(
    r"^.*\b(?:[A-Z]\w*(?:Error|Exception|Warning)|error(?:\[\w+\])?|panic|fatal)\s*:\s*(.{5,160}?)\s*$",
    re.MULTILINE,
)
_CHANGING = re.compile(r"0x[0-9a-fA-F]+|\d+|/[\w./-]+|'[^']*'|\"[^\"]*\"")
_PLAIN_STEP = re.compile(r"(?!\.\.?$)[\w.@+ -]{1,100}")
_DEFINED = r"\b(?:def|class|func|function|fn|interface|type|struct|enum|trait|module|const)\s+"


@dataclass(frozen=True, slots=True)
class PlannedSearch:
    """A search to run."""

    tool: ToolName
    arguments: Mapping[str, Json] = field(default_factory=dict)
    why: str = field(default="", compare=False)  # what in the message calls for it


def join_reasons(calls: Iterable[PlannedSearch]) -> str:
    """Return the reasons for the searches, each once."""
    return ", ".join(dict.fromkeys(call.why for call in calls if call.why))


def plan_searches(message: str) -> list[PlannedSearch]:
    """Return up to three searches, the most specific first; none if there is nothing to search.

    Of a message that is not about software, only quotes and names are searched for.
    """
    if is_small_talk(message):
        return []
    names, paths = find_names(message), find_paths(message)
    found: list[PlannedSearch | None] = [
        *(_search_text(text, how) for text, how in _find_quotes(message)),
        *_search_names(names[:MAX_NAMES]),
        *(_search_in_file(path, message, names) for path in paths[:1]),
        *(_find_file(path) for path in paths[:1]),
    ]
    found = [call for call in found if call is not None]
    words = pick_key_words(message) if may_be_about_software(message) else []
    if words and len(found) < MAX_CALLS:
        query = " ".join(words)
        why = f"has the words {query}"
        found.append(PlannedSearch("search_files", {"pattern": EVERYWHERE, "query": query}, why))
    calls: list[PlannedSearch] = []
    for call in found:
        if call is not None and call not in calls:
            calls.append(call)
    return calls[:MAX_CALLS]


def pick_key_words(message: str, limit: int = 3) -> list[str]:
    """Return the longest words of a message, in English, in their order."""
    asked, fillers = translate(message), WORDS.get_fillers(ENGLISH)
    said = re.findall(r"[^\W\d_][\w-]+", message) if asked is None else asked.render_in_english()
    words = dict.fromkeys(said)
    telling = [w for w in words if len(w) >= MIN_WORD_CHARS and w.lower() not in fillers]
    chosen = sorted(telling, key=len, reverse=True)[:limit]
    return [word for word in telling if word in chosen]


def _find_quotes(message: str) -> Iterable[tuple[str, str]]:
    """Yield quotes and the constant parts of error messages, each with the reason to search it."""
    for hit in _ERROR.finditer(message):
        parts = [part.strip() for part in _CHANGING.split(hit[1])]
        if (longest := max(parts, key=len, default="")) and len(longest) >= MIN_WORD_CHARS:
            yield longest, "has the error"
    for hit in _QUOTED.finditer(message):
        yield next(filter(None, hit.groups())), "quotes"


def _search_text(text: str, how: str) -> PlannedSearch:
    arguments = {"pattern": EVERYWHERE, "regex": re.escape(text)}
    return PlannedSearch("grep_files", arguments, f'{how} "{text}"')


def _search_names(names: list[str]) -> Iterable[PlannedSearch]:
    """Yield a search for the definitions of names, and one for all their occurrences."""
    if not names:
        return
    last = [re.escape(split_name(name)[-1]) for name in names]
    either = "|".join(dict.fromkeys(last))
    why = f"names {' and '.join(names)}"
    for regex in (rf"{_DEFINED}({either})\b", rf"\b({either})\b"):
        yield PlannedSearch("grep_files", {"pattern": EVERYWHERE, "regex": regex}, why)


def _find_file(path: str) -> PlannedSearch | None:
    """Return a command that lists the file of a path, or None if it is not a plain path."""
    steps = [step for step in path.replace("\\", "/").split("/") if step not in ("", ".")]
    if not steps or not all(map(_PLAIN_STEP.fullmatch, steps)):
        return None
    if path.startswith("/"):
        steps = steps[-2:]  # the project may be anywhere
    glob = shlex.quote("/".join(["**", *steps]))
    command = f"rg --files --sort path -g {glob} | head -n 5"
    return PlannedSearch("run_command", {"command": command}, f"names the file {path}")


def _search_in_file(path: str, message: str, names: list[str]) -> PlannedSearch | None:
    """Return a search for the message's words within a file that it names."""
    words = [w for w in (*names, *pick_key_words(message, limit=5)) if w not in path]
    if not words:
        return None
    either = "|".join(re.escape(word) for word in dict.fromkeys(words))
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    regex = f"(?i)({either})"
    arguments = {"pattern": f"**/{name}", "regex": regex}
    return PlannedSearch("grep_files", arguments, f"names the file {path}")
