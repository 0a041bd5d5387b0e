"""The part `--tool` of `benchmarks.code_graph`: what one call with a bare name answers.

An agent asks `explore_code` for the callers of `merge`, without a file or a class. A question is
answered if the one that is meant is among those whose answers are listed. Of the ids that are
wanted, those count that the reply shows for it.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import require, save
from benchmarks.opening import open_code
from benchmarks.symbol_ids import Symbol, Symbols, parse
from ragforge.brain.search.exploration import Answer, Question
from ragforge.brain.search.explore import explore
from ragforge.domain.code import RelationAsked, ScopeFilter
from ragforge.domain.schema import SCOPE_NAME
from ragforge.errors import InputError
from ragforge.ports.store import Store

RELATIONS: Mapping[str, RelationAsked] = {
    "callers": "callers",
    "callees": "callees",
    "implementors": "implementors",
    "contained_by": "members",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """One question, and what the tool replied."""

    corpus: str
    operation: str
    name: str
    is_answered: bool
    listed: float  # of the ids that are wanted
    chars: int
    missing: tuple[str, ...] = ()


async def measure(
    folder: Path, scenarios: Mapping[str, Sequence[Mapping[str, Any]]], roots: Mapping[str, str]
) -> None:
    """Read each code base into a fresh store, without vectors, and ask its questions."""
    replies: list[Reply] = []
    for name, asked in scenarios.items():
        with tempfile.TemporaryDirectory() as place:
            async with open_code(Path(place) / "store.db", folder / name, None) as brain:
                store = brain.store
                scopes = await store.records.find(SCOPE_NAME, ScopeFilter(brain.project_id))
                symbols = Symbols(scopes, roots[name])
                replies += await ask_all(name, store, brain.project_id, symbols, asked)
        print(f"{name}: {len(scopes):,} scopes", flush=True)
    require(any(one.is_answered for one in replies), "No question has an answer.")
    save("code-graph-tool", show_replies(replies))


async def ask_all(
    corpus: str,
    store: Store,
    project_id: str,
    symbols: Symbols,
    scenarios: Iterable[Mapping[str, Any]],
) -> list[Reply]:
    """Ask every question about a named thing through the tool's function."""
    replies = []
    for scenario in scenarios:
        query = scenario["query"]
        if query["op"] not in RELATIONS:
            continue
        subject = parse(query["sym_stable_id"])
        required = scenario["expected"].get("required", [])
        wanted = {one: parse(one) for one in required if parse(one).is_expressible}
        if subject.is_space or not subject.is_expressible or not wanted:
            continue
        replies.append(await _ask(corpus, store, project_id, symbols, query["op"], subject, wanted))
    return replies


async def _ask(
    corpus: str,
    store: Store,
    project_id: str,
    symbols: Symbols,
    operation: str,
    subject: Symbol,
    wanted: Mapping[str, Symbol],
) -> Reply:
    own = {scope.uuid for scope in symbols.find(subject)}
    relation = RELATIONS[operation]
    if operation == "callers" and subject.is_type:
        relation = "users"
    name = subject.parts[-1]
    try:
        found = await explore(store, project_id, Question(name, relation))
    except InputError as error:
        return Reply(corpus, operation, name, False, 0.0, len(str(error)), tuple(wanted))
    chars = len(json.dumps(found.to_json(), ensure_ascii=False))
    meant = [one for one in found.answers if own.intersection(one.subject.ids)]
    shown = {uuid for one in meant for uuid in one.list_ids()}
    files = {path for one in meant for path in _list_files(one)}
    missing = [
        one for one, symbol in wanted.items() if not _is_shown(symbol, symbols, shown, files)
    ]
    listed = 1 - len(missing) / len(wanted)
    return Reply(corpus, operation, name, bool(meant), listed, chars, tuple(missing))


def _is_shown(symbol: Symbol, symbols: Symbols, shown: set[str], files: set[str]) -> bool:
    if symbol.is_space:
        return any(path in files for path in symbols.find_files(symbol))
    return any(scope.uuid in shown for scope in symbols.find(symbol))


def _list_files(answer: Answer) -> Iterable[str]:
    for many in answer.found.values():
        for one in many:
            yield one if isinstance(one, str) else one.file
    for part in answer.subject.parts:
        yield part.file


def show_replies(replies: Sequence[Reply]) -> dict[str, Any]:
    """Print the share of answered questions and listed ids, and the lengths; return the same."""
    groups: dict[str, list[Reply]] = defaultdict(list)
    for one in replies:
        groups[one.operation].append(one)
        groups[one.corpus].append(one)
    groups["all"] = list(replies)
    results = {}
    print(f"\n{'from a bare name':<18} {'n':>5} {'answered':>9} {'listed':>7} {'chars p50':>10}")
    for name, many in groups.items():
        answered = statistics.fmean(one.is_answered for one in many)
        listed = statistics.fmean(one.listed for one in many)
        chars = statistics.median(one.chars for one in many)
        results[name] = {
            "n": len(many),
            "answered": round(answered, 4),
            "listed": round(listed, 4),
            "chars_p50": chars,
        }
        print(f"{name:<18} {len(many):>5} {answered:>9.3f} {listed:>7.3f} {chars:>10.0f}")
    return results
