"""Is the graph of the code right? LongMemCode: lookups, callers, members and the like.

    python -m benchmarks.code_graph FOLDER [--only gin,fastapi] [--missing FILE]
    python -m benchmarks.code_graph FOLDER --tool [--only gin,fastapi]
    python -m benchmarks.code_graph FOLDER --check

FOLDER holds `scenarios/` (https://github.com/CataDef/LongMemCode, its scenarios and results) and
one checkout for each code base, at the revision below. Each is read into a fresh store; then
every scenario is asked. The gold answers come from exact indexers and parsers, without a judge;
scores and weights are those of the benchmark's own runner. `--check` scores the published
answers of grep and compares with the published figures. `--tool` asks the function behind
`explore_code` with bare names instead (`benchmarks.code_graph_tool`).

Answers that a graph of names and lines leaves out on purpose (local variables, type parameters)
are counted, and a second figure leaves them out. Where the gold comes from a parser, what holds a
definition counts as its caller, and in a file everything counts as a caller of the file: so it is
here, and these operations are shown apart.
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks import code_graph_tool
from benchmarks.measure import make_parser, require, save
from benchmarks.opening import open_code
from benchmarks.symbol_ids import (
    CONSTRUCTORS,
    Symbols,
    is_file,
    name_last,
    parse,
    parse_descriptors,
)
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.brain.parse.read_source import make_file_id
from ragforge.domain.code import Relation, RelationFilter, ScopeFilter, ScopeName
from ragforge.domain.schema import SCOPE_NAME

CORPORA = {
    "fastapi": ("fastapi/fastapi", "2fa00db85", "fastapi/"),
    "clap": ("clap-rs/clap", "v4.6.1", ""),
    "gin": ("gin-gonic/gin", "v1.11.0", ""),
    "commons-lang": ("apache/commons-lang", "rel/commons-lang-3.14.0", "src/main/java/"),
    "fastify": ("fastify/fastify", "v5.6.1", ""),
    "okhttp": ("square/okhttp", "e4ae9b02e", ""),
    "leveldb": ("google/leveldb", "1.23", ""),
    "trpc": ("trpc/trpc", "63407c577", "packages/server/"),
    "rack": ("rack/rack", "v3.1.8", "lib/"),
    "alamofire": ("Alamofire/Alamofire", "ac016668", ""),
    "plug": ("elixir-plug/plug", "v1.16.1", ""),
}
"""The repository of each code base, its revision, and the folder that its paths begin in."""

WEIGHTS = {
    "Completion": 0.32,
    "BugFix": 0.22,
    "Refactor": 0.12,
    "TestGen": 0.10,
    "FeatureAdd": 0.10,
    "ApiDiscovery": 0.14,
}
EXACT = 1e-6


@dataclass(frozen=True, slots=True)
class Outcome:
    """The score of one scenario."""

    corpus: str
    operation: str
    category: str
    score: float
    seconds: float = 0.0
    missing: tuple[str, ...] = ()
    is_expressible: bool = True
    expressible_score: float = 0.0  # without the answers that are left out on purpose


def score(expected: Mapping[str, Any], returned: Sequence[str]) -> float:
    """Score an answer as the benchmark's runner does."""
    kind = expected["kind"]
    if kind == "exact_symbol":
        return float(list(returned[:1]) == [expected["stable_id"]])
    if kind == "in_top_k":
        return float(expected["stable_id"] in returned[: expected.get("k", 5)])
    if kind == "exact_set":
        wanted, got = set(expected["stable_ids"]), set(returned)
        if not wanted and not got:
            return 1.0
        right = len(wanted & got)
        return 2 * right / (len(wanted) + len(got)) if right else 0.0
    required = expected.get("required", [])
    return sum(one in returned for one in required) / len(required) if required else 1.0


def weigh(outcomes: Iterable[Outcome], *, expressible: bool = False) -> float:
    """Return the weighted accuracy: the mean of each category by its weight."""
    scores: dict[str, list[float]] = defaultdict(list)
    for one in outcomes:
        if one.category in WEIGHTS and (one.is_expressible or not expressible):
            scores[one.category].append(one.expressible_score if expressible else one.score)
    total = sum(WEIGHTS[name] for name in scores)
    return sum(WEIGHTS[name] * statistics.fmean(many) for name, many in scores.items()) / total


@dataclass(frozen=True)
class CodeBase:
    """A project that was read: its scopes and how they are related."""

    scopes: Mapping[str, ScopeName]
    symbols: Symbols
    outgoing: Mapping[str, Sequence[Relation]]
    incoming: Mapping[str, Sequence[Relation]]
    by_name: Mapping[str, Sequence[ScopeName]] = field(default_factory=dict)
    file_ids: Mapping[str, str] = field(default_factory=dict)  # by path

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(one.uuid for one in self.scopes.values() if is_file(one))

    def answer(self, query: Mapping[str, Any]) -> set[str]:
        """Return the ids of scopes, and paths of files, that answer a query."""
        operation = query["op"]
        if operation == "lookup":
            return self._look_up(query)
        if operation == "file_symbols":
            paths = self.symbols.find_files(parse(f"file:{query['file_path']}"))
            return {*paths, *(one.uuid for path in paths for one in self.symbols.in_file(path))}
        if operation == "orphans":
            return {one for one in self.scopes if not self._is_used(one)}
        symbol = parse(query["sym_stable_id"])
        paths = self.symbols.find_files(symbol) if symbol.is_space else []
        own = {scope.uuid for scope in self.symbols.find_all(symbol)}
        inner = {one.uuid for path in paths for one in self.symbols.in_file(path)}
        if operation == "contained_by":
            return self._list_members(own) | inner
        if operation == "implementors":
            return self._walk(own, "INHERITS_FROM") | self._list_overrides(own)
        own = own or inner
        used = own | self._walk(own, "HAS_PARENT")
        if operation == "callees":
            imported = self._list_imports(paths, self.outgoing)
            return imported.union(*(self._targets(each, "CONSUMES") for each in used))
        used = used if symbol.is_type or paths else own
        users = {one for each in used for one in self._sources(each, "CONSUMES", "INHERITS_FROM")}
        users |= {outer for one in users for outer in self._list_functions_around(one)}
        users |= inner.union(*(self._targets(one, "HAS_PARENT") for one in own))
        holders = {self.scopes[one].file for one in own if not self._targets(one, "HAS_PARENT")}
        users |= self._list_imports(paths, self.incoming)
        return users | holders | {self.scopes[one].file for one in users & self._files}

    def _list_imports(
        self, paths: Iterable[str], relations: Mapping[str, Sequence[Relation]]
    ) -> set[str]:
        """Return the files that files import, or that import them."""
        near = [one for path in paths for one in relations.get(self.file_ids.get(path, ""), ())]
        ends = {end for one in near if one.kind == "IMPORTS" for end in (one.source, one.target)}
        return {path for path, file_id in self.file_ids.items() if file_id in ends}

    def _look_up(self, query: Mapping[str, Any]) -> set[str]:
        name = query["name"]
        if not query.get("bare_name") or "impl#[" in name:
            symbol = parse_descriptors(name) if query.get("bare_name") else parse(name)
            if symbol.is_space:
                return set(self.symbols.find_files(symbol))
            return {scope.uuid for scope in self.symbols.find(symbol)}
        outer, _, name = name.replace("`", "").replace("::", "#").rpartition("#")
        name = name.removesuffix("()")
        holders = outer.split("#")[-1:] if outer else []
        if name in CONSTRUCTORS and holders:
            name = holders[0]
        return {
            one.uuid
            for one in self.by_name.get(name) or self.by_name.get(name.removesuffix("="), ())
            if all(holder in re.split(r"\.|`", one.qualified_name) for holder in holders)
        }

    def _is_used(self, uuid: str) -> bool:
        """Tell whether something in what the indexer read uses a scope."""
        users = self._sources(uuid, "CONSUMES")
        return any(self.scopes[one].file.startswith(self.symbols.root) for one in users)

    def _list_members(self, ids: Iterable[str]) -> set[str]:
        """Return the members of types, also those in their implementations and extensions."""
        found = {one for each in ids for one in self._sources(each, "HAS_PARENT")}
        blocks = {one for one in found if self.scopes[one].type == "impl"}
        return found | {one for each in blocks for one in self._sources(each, "HAS_PARENT")}

    def _list_overrides(self, ids: Iterable[str]) -> set[str]:
        """Return the members of this name of what inherits from the type of a member."""
        found: set[str] = set()
        for one in ids:
            name = name_last(self.scopes[one])
            below = self._walk(self._targets(one, "HAS_PARENT"), "INHERITS_FROM")
            members = self._list_members(below)
            found |= {each for each in members if name_last(self.scopes[each]) == name}
        return found

    def _list_functions_around(self, uuid: str) -> set[str]:
        """Return the functions that a function is written in: its calls are in their lines."""
        found: set[str] = set()
        for outer in self._targets(uuid, "HAS_PARENT"):
            if self.scopes[outer].type in ("function", "method"):
                found |= {outer} | self._list_functions_around(outer)
        return found

    def _sources(self, uuid: str, *kinds: str) -> set[str]:
        return {one.source for one in self.incoming.get(uuid, ()) if one.kind in kinds}

    def _targets(self, uuid: str, *kinds: str) -> set[str]:
        return {one.target for one in self.outgoing.get(uuid, ()) if one.kind in kinds}

    def _walk(self, ids: Iterable[str], kind: str) -> set[str]:
        found: set[str] = set()
        waiting = list(ids)
        while waiting:
            for one in self._sources(waiting.pop(), kind) - found:
                found.add(one)
                waiting.append(one)
        return found


async def read(name: str, folder: Path, embedder: BundledEmbedder, file: Path) -> CodeBase:
    """Read a code base into a fresh store, and its graph out of it."""
    root = folder / name
    async with open_code(file, root, embedder) as brain:
        store = brain.store
        scopes = await store.records.find(SCOPE_NAME, ScopeFilter(brain.project_id))
        paths = sorted({scope.file for scope in scopes})
        relations = await store.code.relations(
            RelationFilter(project_id=brain.project_id, files=paths)
        )
    outgoing: dict[str, list[Relation]] = defaultdict(list)
    incoming: dict[str, list[Relation]] = defaultdict(list)
    for one in relations:
        outgoing[one.source].append(one)
        incoming[one.target].append(one)
    by_name: dict[str, list[ScopeName]] = defaultdict(list)
    for scope in scopes:
        if not is_file(scope):
            by_name[name_last(scope)].append(scope)
    known = {scope.uuid: scope for scope in scopes}
    symbols = Symbols(scopes, CORPORA[name][2])
    file_ids = {path: make_file_id(brain.project_id, path) for path in paths}
    return CodeBase(known, symbols, outgoing, incoming, by_name, file_ids)


def ask(corpus: str, code: CodeBase, scenario: Mapping[str, Any]) -> Outcome:
    """Ask one scenario and score the answer."""
    query, expected = scenario["query"], scenario["expected"]
    began = time.perf_counter()
    answer = code.answer(query)
    took = time.perf_counter() - began
    category, operation = scenario["category"], name_operation(query)
    if expected["kind"] == "exact_set" and not expected["stable_ids"]:
        right = float(not answer)
        return Outcome(corpus, "absent", category, right, took, expressible_score=right)
    wanted = expected.get("required") or expected.get("stable_ids") or []
    wanted = [expected["stable_id"]] if "stable_id" in expected else wanted
    if not wanted:  # anything is right
        return Outcome(corpus, operation, category, 1.0, took, expressible_score=1.0)
    symbols = {one: parse(one) for one in wanted}
    held = [one for one in wanted if _is_in(code, symbols[one], answer)]
    possible = [one for one in wanted if code.symbols.may_hold(symbols[one])]
    subject = query.get("sym_stable_id") or ""
    is_expressible = bool(possible) and parse(subject).is_expressible if subject else bool(possible)
    share = len(set(held) & set(possible)) / len(possible) if possible else 0.0
    missing = tuple(one for one in possible if one not in held)
    full = len(held) / len(wanted)
    return Outcome(corpus, operation, category, full, took, missing, is_expressible, share)


def _is_in(code: CodeBase, symbol: Any, answer: set[str]) -> bool:
    if symbol.is_space:
        paths = code.symbols.find_files(symbol)
        return any(path in answer for path in paths) or any(
            one.uuid in answer for path in paths for one in code.symbols.in_file(path)
        )
    meant = code.symbols.find(symbol)
    if symbol.is_constructor:
        meant = [*meant, *code.symbols.find_type(symbol)]
    return any(scope.uuid in answer for scope in meant)


def name_operation(query: Mapping[str, Any]) -> str:
    about_file = parse(query.get("sym_stable_id") or "local").is_space
    return f"{query['op']} of a file" if about_file and "sym_stable_id" in query else query["op"]


def load(folder: Path, name: str) -> list[dict[str, Any]]:
    return json.loads((folder / "scenarios" / "scenarios" / f"{name}.json").read_text("utf-8"))


def check(folder: Path) -> None:
    """Score the published answers of grep; exit unless the published figures come out."""
    wrong = []
    paths = sorted((folder / "scenarios" / "results").glob("grep-*.jsonl"))
    require(paths, f"{folder}/scenarios/results has no answers of grep.")
    for path in paths:
        published = json.loads(path.with_suffix(".json").read_text("utf-8"))["summary"]
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        ours = weigh(
            Outcome(path.stem, "", one["category"], score(one["expected"], one["returned"]))
            for one in lines
        )
        same = abs(ours - published["weighted_accuracy"]) < EXACT
        print(f"{path.stem:<40} {published['weighted_accuracy']:.6f} {ours:.6f}")
        if not same:
            wrong.append(path.stem)
    sys.exit(f"Other figures than the published ones: {', '.join(wrong)}" if wrong else 0)


def show(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Print a line a code base and an operation; return the same."""
    by_corpus: dict[str, list[Outcome]] = defaultdict(list)
    by_operation: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        by_corpus[one.corpus].append(one)
        by_operation[one.operation].append(one)
    result: dict[str, Any] = {"corpora": {}, "operations": {}}
    print(f"\n{'code base':<14} {'n':>5} {'weighted':>9} {'expressible':>12}")
    for name, many in by_corpus.items():
        both = round(weigh(many), 4), round(weigh(many, expressible=True), 4)
        result["corpora"][name] = {"n": len(many), "weighted": both[0], "expressible": both[1]}
        print(f"{name:<14} {len(many):>5} {both[0]:>9.3f} {both[1]:>12.3f}")
    print(f"\n{'operation':<24} {'n':>5} {'score':>6} {'expressible':>12}  worst")
    for name, many in sorted(by_operation.items()):
        possible = [one for one in many if one.is_expressible]
        means = {
            corpus: statistics.fmean(
                one.expressible_score for one in possible if one.corpus == corpus
            )
            for corpus in {one.corpus for one in possible}
        }
        worst = sorted(means.items(), key=lambda item: item[1])[:3]
        line = statistics.fmean(one.score for one in many)
        better = statistics.fmean(one.expressible_score for one in possible) if possible else 0.0
        result["operations"][name] = {
            "n": len(many),
            "score": round(line, 4),
            "expressible": round(better, 4),
            "corpora": {key: round(value, 4) for key, value in means.items()},
        }
        shown = ", ".join(f"{key} {value:.2f}" for key, value in worst)
        print(f"{name:<24} {len(many):>5} {line:>6.3f} {better:>12.3f}  {shown}")
    total = statistics.fmean(one["weighted"] for one in result["corpora"].values())
    rest = statistics.fmean(one["expressible"] for one in result["corpora"].values())
    median = statistics.median(one.seconds for one in outcomes) * 1000
    print(f"\nweighted {total:.3f}, of what is expressible {rest:.3f}; p50 {median:.2f} ms")
    return {"weighted": total, "expressible": rest, "p50_ms": median, **result}


async def measure(folder: Path, names: Sequence[str], missing: Path | None) -> None:
    embedder = BundledEmbedder()
    outcomes: list[Outcome] = []
    for name in names:
        with tempfile.TemporaryDirectory() as place:
            code = await read(name, folder, embedder, Path(place) / "store.db")
        require(code.incoming, f"{name} has no relations.")
        scenarios = load(folder, name)
        asked = [ask(name, code, one) for one in scenarios]
        outcomes += asked
        print(f"{name}: {len(code.scopes):,} scopes, {weigh(asked):.3f}", flush=True)
        if missing is not None:
            rows = [
                {"corpus": name, "query": one["query"], "missing": done.missing}
                for one, done in zip(scenarios, asked, strict=True)
                if done.missing or done.score < 1
            ]
            with missing.open("a", encoding="utf-8") as out:
                out.writelines(f"{json.dumps(row)}\n" for row in rows)
    results = show(outcomes)
    require(any(one.score for one in outcomes), "No scenario has a right answer.")
    save("code-graph" if len(names) == len(CORPORA) else "code-graph-some", results)
    print(Counter(one.operation for one in outcomes if not one.is_expressible))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", metavar="NAMES", help="code bases, with commas between them")
    parser.add_argument("--missing", type=Path, metavar="FILE", help="append what was not found")
    parser.add_argument("--tool", action="store_true", help="ask the tool with bare names")
    parser.add_argument(
        "--check", action="store_true", help="check the scorer against grep's figures"
    )
    options = parser.parse_args(arguments)
    if options.check:
        check(options.folder)
    names = options.only.split(",") if options.only else list(CORPORA)
    absent = [name for name in names if not (options.folder / name).is_dir()]
    if absent:
        places = [
            f"  {name}: https://github.com/{CORPORA[name][0]} at {CORPORA[name][1]}"
            for name in absent
        ]
        sys.exit("\n".join(["Check these out below the folder:", *places]))
    if options.tool:
        scenarios = {name: load(options.folder, name) for name in names}
        roots = {name: CORPORA[name][2] for name in names}
        asyncio.run(code_graph_tool.measure(options.folder, scenarios, roots))
        return
    asyncio.run(measure(options.folder, names, options.missing))


if __name__ == "__main__":
    main()
