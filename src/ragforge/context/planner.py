"""Planner: choose the searches for a message by a model; without one, or if it fails, by rules.

The rules: quoted strings, error texts and names are searched for exactly. A path is searched for
by a command that lists files. Otherwise the longest words are searched for, tolerant of typos.
"""

from __future__ import annotations

import asyncio
import logging
import re
import shlex
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import BaseModel, Field

from ragforge.domain.text import Json, shorten
from ragforge.errors import ModelError
from ragforge.llm.prompts import load_prompt
from ragforge.records import dataclass
from ragforge.search.question.code_names import find_names, find_paths, split_name
from ragforge.search.question.message_kinds import is_small_talk
from ragforge.search.question.software import may_be_about_software
from ragforge.search.question.wording import translate
from ragforge.search.words.foreign import ENGLISH
from ragforge.search.words.tokenise import WORDS

if TYPE_CHECKING:
    from ragforge.llm.executor import StructuredLLMExecutor

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
log = logging.getLogger(__name__)

MESSAGE_CHARS = 4_000
MAX_RESULTS = 1_000
MIN_THRESHOLD = 0.3
REASONING_CHARS = 300
REMEMBERED = 200
BY_RULES = "rules"
MAX_FAILURES = 2
REST = 10
"""After MAX_FAILURES failures in a row, the rules choose for this number of messages."""
SIMILAR = 0.8
"""The share of common words at which a message reuses the plan of an earlier one."""


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


@dataclass(frozen=True, slots=True)
class Plan:
    """The searches that were chosen, by whom and why."""

    calls: tuple[PlannedSearch, ...]
    made_by: str
    problem: str = ""
    instead_of: str = ""  # the model that failed
    reasoning: str = ""  # of the model; with rules, each search has its own


@dataclass(slots=True)
class Planner:
    """Chooses searches by a model within a time limit, or by rules.

    A model that keeps failing is not asked for a while: it would cost every message its time limit.
    """

    executor: StructuredLLMExecutor | None
    model_name: str
    seconds: float
    _failures: int = 0  # since the model last answered
    _rest: int = 0  # messages left for which the model is not asked
    _known: OrderedDict[frozenset[str], Plan] = field(default_factory=OrderedDict)

    async def plan(self, message: str, surroundings: str = "") -> Plan:
        """Return the searches for a message, within the time limit; it never fails."""
        if self.executor is None:
            return Plan(tuple(plan_searches(message)), BY_RULES)
        if self._rest:
            self._rest -= 1
            problem = f"{self.model_name} failed before: it is asked again later"
            return Plan(tuple(plan_searches(message)), BY_RULES, problem)
        words = frozenset(WORDS.query(message))
        if (known := self._find_similar(words)) is not None:
            return replace(known, made_by="an earlier plan")
        try:
            async with asyncio.timeout(self.seconds):
                calls, reasoning = await ask_for_plan(self.executor, message, surroundings)
        except TimeoutError:
            return self._fall_back(message, f"took longer than {self.seconds:g} s")
        except ModelError as error:
            return self._fall_back(message, str(error))
        self._failures = 0
        if not calls:
            return Plan(tuple(plan_searches(message)), BY_RULES, f"{self.model_name} chose nothing")
        why = shorten(" ".join(reasoning.split()), REASONING_CHARS)
        self._known[words] = plan = Plan(calls, self.model_name, reasoning=why)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return plan

    def _fall_back(self, message: str, problem: str) -> Plan:
        log.warning("Choosing searches by %s failed: %s", self.model_name, problem)
        problem = f"{problem}; rules chose instead"
        self._failures += 1
        if self._failures >= MAX_FAILURES:
            self._failures, self._rest = 0, REST
        return Plan(tuple(plan_searches(message)), BY_RULES, problem, self.model_name)

    def _find_similar(self, words: frozenset[str]) -> Plan | None:
        """Return the plan of an earlier message with nearly the same words."""
        for known, plan in reversed(self._known.items()):
            if words and len(words & known) >= SIMILAR * len(words | known):
                return plan
        return None


class _Call(BaseModel):
    tool: ToolName
    pattern: str = Field(default=EVERYWHERE, max_length=500)
    regex: str = Field(default="", max_length=2_000)
    query: str = Field(default="", max_length=500)
    command: str = Field(default="", max_length=2_000)
    cwd: str | None = Field(default=None, max_length=500)
    ignore_case: bool = False
    threshold: float | None = None
    max_results: int | None = None


class _Plan(BaseModel):
    reasoning: str = ""
    # A model that chooses more is not asked again: the first ones are run.
    calls: list[_Call] = Field(json_schema_extra={"maxItems": MAX_CALLS})


async def ask_for_plan(
    executor: StructuredLLMExecutor, message: str, surroundings: str
) -> tuple[tuple[PlannedSearch, ...], str]:
    """Return the searches that a model chooses for a message, and its reasoning.

    Raises ModelError.
    """
    from ragforge.llm.task import InputField, Task  # most messages are planned by rules

    instruction = load_prompt("ragforge.context.prompts", "plan")
    shown = [InputField("project"), InputField("question", MESSAGE_CHARS)]
    item = {"project": f"\n{surroundings}\n", "question": message}
    outcome = await executor.execute(Task(instruction, _Plan, shown), item)
    assert outcome.output is not None
    return _pick_calls(outcome.output), outcome.output.reasoning


def _pick_calls(plan: _Plan) -> tuple[PlannedSearch, ...]:
    """Return the first searches that can be run, each once."""
    calls: list[PlannedSearch] = []
    for call in plan.calls:
        if len(calls) == MAX_CALLS:
            break
        if (arguments := _build_arguments(call)) is not None:
            wanted = PlannedSearch(call.tool, arguments)
            if wanted not in calls:
                calls.append(wanted)
    return tuple(calls)


def _build_arguments(call: _Call) -> dict[str, Any] | None:
    """Return the tool's arguments within their bounds; None if a required one is missing."""
    given: dict[str, Any] = {"pattern": call.pattern}
    if call.max_results is not None:
        given["max_results"] = min(max(call.max_results, 1), MAX_RESULTS)
    if call.tool == "run_command":
        where = {"cwd": call.cwd} if call.cwd else {}
        return {"command": call.command, **where} if call.command.strip() else None
    if call.tool == "grep_files":
        case = {"ignore_case": True} if call.ignore_case else {}
        return {**given, "regex": call.regex, **case} if call.regex else None
    if call.threshold is not None:
        given["threshold"] = min(max(call.threshold, MIN_THRESHOLD), 1.0)
    return {**given, "query": call.query} if call.query.strip() else None
