"""What does it cost to index a large project and to search it, next to semble?

    python -m benchmarks.ingest [--django FOLDER] [--semble PYTHON] [--rounds 2]

Commands run in fresh processes, from bytecode as an installed program does, and take turns with
semble's: everything at once, again without a change, after one file grew that half the project
imports ("one file") or one that hardly anything does ("one leaf"), after every tenth file grew ("a
switch of branches"), and a search. The least of several runs counts.
Seconds are of CPU, user and system, of a process with all its children; memory is the most
that they held together at one time, shared pages counted once. Queries are asked warm, in
one process, and so are semble's (its hybrid search), SQLite's FTS5 over the same texts, and numpy's
product of as many vectors, which no search can be expected to beat.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.measure import (
    Cost,
    Program,
    Row,
    clean_environ,
    make_parser,
    megabytes,
    percentile,
    require,
    run_command,
    save,
)
from benchmarks.opening import open_code
from benchmarks.peers import Semble, add_places, find_semble
from ragforge.adapters.arrays import np
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.brain.project import Brain
from ragforge.domain.code import ScopeFilter
from ragforge.domain.schema import SCOPE

MUCH_IMPORTED = "django/http/response.py"
SELDOM_IMPORTED = "django/contrib/humanize/templatetags/humanize.py"
GROWTH = "\n\ndef measured_by_the_benchmark_{}(response):\n    return response.status_code\n"
QUESTION = "how are migrations ordered"
TRIES = 3
TOP = 10
MIN_ANSWERED = 0.9
"""The share of the questions that have hits in a project of this size."""
FULL_BAR, NO_CHANGE_BAR, ONE_FILE_BAR = 1.0, 0.27, 0.23
"""Times the CPU of semble."""
MEMORY_BAR_MB, STORE_BAR_MB = 300, 130
SEARCH_BAR = 0.55
QUERY_BARS = {"p50": 1.0, "p95": 0.43}
"""Times what semble takes for a warm query."""

QUESTIONS = """
how are migrations ordered
where is the session cookie set
hash a password
check a user's permissions
parse a multipart upload
how templates are compiled into nodes
escape html in template output
resolve a url to a view
reverse a url by its name
protect forms against cross site requests
validate an email address
send mail over smtp
cache a view for some time
invalidate the cache when a key changes
translate a string lazily
choose the language of a request
build the sql of a query
join tables in a query
how are foreign keys deleted in cascade
prefetch related objects
run code after the transaction commits
savepoints and nested transactions
detect changes in models for a new migration
serialise objects to json
load fixtures into the database
the test client and its requests
create the test database
run tests in parallel
collect static files
serve a file in development
reload the server when code changes
format dates for a locale
aggregate and group by
window functions in queries
geometry fields and spatial lookups
paginate a list of objects
class based view for editing an object
render a form field with its errors
clean the data of a form
inline formsets in the admin
log changes made in the admin
middleware for security headers
stream a response in chunks
handle an asynchronous request
connect a receiver to a signal
QuerySet.select_related
HttpResponseRedirect
ModelAdmin.get_queryset
URLResolver
MigrationAutodetector
SessionMiddleware
BaseCommand.execute
Paginator
TemplateResponse
ManyToManyField.contribute_to_class
make_password
get_object_or_404
CsrfViewMiddleware.process_view
DatabaseWrapper
force_str
"""


@dataclass(slots=True)
class Runs:
    """The runs of the same command by one program."""

    costs: list[Cost] = field(default_factory=list)

    @property
    def cpu(self) -> float:
        return min(cost.cpu for cost in self.costs)

    @property
    def memory(self) -> float:
        return max(cost.memory for cost in self.costs)

    def as_json(self) -> dict[str, float]:
        return {"cpu_s": round(self.cpu, 3), "peak_mb": round(self.memory), "runs": len(self.costs)}


def copy_project(source: Path, target: Path) -> None:
    """Copy a project into a repository with one commit, as a user has it."""
    require(source.is_dir(), f"{source} is missing: a checkout of github.com/django/django.")
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".git"), symlinks=True)
    author = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    commit = (*author, "-c", "gc.auto=0", "commit", "-qm", "All", "--no-verify")
    for command in (("init", "-q"), ("add", "-A"), commit):
        subprocess.run(["git", *command], cwd=target, check=True)


def grow(tree: Path, file: str, number: int = 0) -> None:
    """Add a function to one file."""
    require((tree / file).is_file(), f"{tree} is not Django: it has no {file}.")
    with (tree / file).open("a", encoding="utf-8") as source:
        source.write(GROWTH.format(number))


def grow_every_tenth(tree: Path) -> None:
    for number, path in enumerate(sorted(tree.rglob("*.py"))):
        if number % 10 == 0:
            grow(tree, str(path.relative_to(tree)), 99)


@dataclass(slots=True)
class Contest:
    """RagForge and semble on copies of the same project, in turns."""

    program: Program
    trees: Sequence[Path]  # ours, theirs
    semble: Semble | None
    found: dict[str, tuple[Runs, Runs]] = field(default_factory=dict)

    def measure(
        self, name: str, times: int, before: Callable[[Path, int], object] | None = None
    ) -> None:
        ours, theirs = self.found[name] = (Runs(), Runs())
        for number in range(times):
            if before is not None:
                for tree in self.trees:
                    before(tree, number)
            ours.costs.append(self._ingest(name))
            if self.semble is not None:
                theirs.costs.append(self._search_semble())
        shown = f"semble {theirs.cpu:.2f}, {theirs.memory:.0f} MB" if theirs.costs else ""
        print(f"{name:<12} {ours.cpu:.2f} CPU s, {ours.memory:.0f} MB  {shown}", flush=True)

    def empty(self) -> None:
        for path in self.program.work.glob("store.db*"):
            path.unlink()
        if self.semble is not None:
            shutil.rmtree(self.semble.cache, ignore_errors=True)

    def _ingest(self, name: str) -> Cost:
        cost = self.program("ingest", "--json")
        report = json.loads(cost.output)
        require(report["files"], f"The ingestion ({name}) reports no files.")
        read = report["read"]
        # A search that returns nothing, or an index that is not made, would be very fast.
        if name == "no change":
            require(read == 0, f"{read} files were read though none had changed.")
        elif name in ("one file", "one leaf"):
            require(read == 1, f"{read} files were read though one had changed.")
        else:
            require(read > 0 and report["embedded"], f"Nothing was read or embedded ({name}).")
        return cost

    def _search_semble(self) -> Cost:
        """Measure semble's command, whose search indexes first."""
        assert self.semble is not None
        environ = self.semble.environment(SEMBLE_INDEX_WORKERS="0")
        command = [self.semble.command, "search", QUESTION, str(self.trees[-1])]
        cost = run_command(command, self.trees[-1], environ)
        require(".py" in cost.output, "semble's search finds nothing.")
        return cost

    def ratio(self, name: str) -> float | None:
        ours, theirs = self.found[name]
        return round(ours.cpu / theirs.cpu, 2) if theirs.costs else None


async def measure_queries(program: Program, semble: Semble | None) -> dict[str, Any]:
    """Ask sixty questions in one process, each for the first time, then all again."""
    questions = QUESTIONS.strip().splitlines()
    async with open_code(program.store, program.cwd, BundledEmbedder(), ingest=False) as brain:
        for warming in ("load the words", "load the vectors", "LoadTheNames"):
            await brain.search(warming)
        passes, answered = [], 0
        for _ in range(2):
            seconds = []
            for question in questions:
                start = time.process_time()
                hits = await brain.search(question)
                seconds.append(time.process_time() - start)
                answered += bool(hits)
            passes.append(seconds)
        share = answered / len(questions) / 2
        require(share >= MIN_ANSWERED, f"Only {share:.0%} of the warm queries have hits.")
        found = {
            "queries": len(questions),
            "answered": round(share, 3),
            **describe(passes[0]),
            "again_cpu_p50_ms": describe(passes[1])["cpu_p50_ms"],
            **await measure_floors(brain, questions),
        }
    if semble is not None:
        theirs = semble.answers(program.cwd, questions, [TOP])
        answered = sum(map(bool, theirs["hits"]))
        require(answered >= MIN_ANSWERED * len(questions), f"semble answers {answered} queries.")
        found["semble"] = describe(theirs["query_cpu"])
    return found


async def measure_floors(brain: Brain, questions: Sequence[str]) -> dict[str, Any]:
    """Measure SQLite's own index of words over the same texts, and the product of the vectors."""
    scopes = await brain.store.records.find(SCOPE, ScopeFilter(brain.project_id))
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE VIRTUAL TABLE text USING fts5(body, tokenize='porter')")
        rows = ((f"{scope.file} {scope.name} {scope.source}",) for scope in scopes)
        database.executemany("INSERT INTO text VALUES (?)", rows)
        query = "SELECT rowid FROM text WHERE text MATCH ? ORDER BY rank LIMIT 10"
        seconds, answered = [], 0
        for question in questions:
            words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
            start = time.process_time()
            answered += bool(database.execute(query, (words,)).fetchall())
            seconds.append(time.process_time() - start)
    require(answered > len(questions) / 2, f"FTS5 answers {answered} of the queries.")
    vectors = np.ones((len(scopes), BundledEmbedder.dimension), np.float32)
    products = []
    for _ in range(20):
        start = time.process_time()
        vectors @ vectors[0]
        products.append(time.process_time() - start)
    return {"scopes": len(scopes), "fts5": describe(seconds), "numpy": describe(products)}


def describe(seconds: Sequence[float]) -> dict[str, float]:
    return {
        "cpu_p50_ms": round(statistics.median(seconds) * 1000, 2),
        "cpu_p95_ms": round(percentile(seconds, 0.95) * 1000, 2),
    }


def measure_ctags(tree: Path, work: Path) -> dict[str, float] | None:
    if (program := shutil.which("ctags")) is None:
        return None
    return run_command(
        [program, "-R", "-f", work / "tags", tree], work, clean_environ(work)
    ).as_json()


def write_bytecode(program: Program, folder: Path) -> None:
    """Ingest and search one file with another store: what an installation compiles is there."""
    (folder / "source").mkdir(parents=True)
    (folder / "source" / "one.py").write_text(GROWTH.format(0))
    copy_project(folder / "source", folder / "project")
    other = replace(program, cwd=folder / "project", name="one.db")
    for arguments in (("ingest",), ("search", QUESTION)):
        other(*arguments)


def make_rows(contest: Contest, results: dict[str, Any]) -> list[Row]:
    """Return the rows of the page."""
    rows, label = [], contest.semble.label if contest.semble else ""
    bars = {"full": FULL_BAR, "no change": NO_CHANGE_BAR, "one file": ONE_FILE_BAR}
    for name, (ours, theirs) in contest.found.items():
        ratio = contest.ratio(name)
        if ratio is None:
            rows.append(Row(f"ingest, {name}", round(ours.cpu, 2), "CPU s"))
            continue
        peer = f"{ours.cpu:.2f} CPU s; {label} {theirs.cpu:.2f} CPU s, {theirs.memory:.0f} MB"
        rows.append(Row(f"ingest, {name}", ratio, "× semble", bars.get(name), peer))
    memory, store = contest.found["full"][0].memory, results["store_mb"]
    peer = f"source {results['source_mb']} MB"
    if contest.semble:
        peer += f"; {label} {results['semble_mb']} MB"
    rows += [
        Row("ingest, full: memory", round(memory), "MB", MEMORY_BAR_MB),
        Row("ingest, full: store", store, "MB", STORE_BAR_MB, peer),
        Row("`search`, Django, the command", results["search"]["cpu_s"], "CPU s", SEARCH_BAR),
    ]
    query = results["query"]
    for part, bar in QUERY_BARS.items():
        name = f"cpu_{part}_ms"
        own, theirs = query[name], query.get("semble", {}).get(name)
        peer = f"FTS5 {query['fts5'][name]} ms, numpy {query['numpy'][name]} ms"
        work = f"warm code query, {part}"
        if theirs is None:
            rows.append(Row(work, own, "CPU ms", peer=peer))
        else:
            peer = f"{own} ms; {label} {theirs} ms; {peer}"
            rows.append(Row(work, round(own / theirs, 2), "× semble", bar, peer))
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=2, help="how often everything is indexed")
    add_places(parser)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="ragforge-ingest-") as folder:
        work = Path(folder)
        trees = [work / "ours" / "django", work / "theirs" / "django"]
        for tree in trees:
            copy_project(chosen.django, tree)
        peer = find_semble(chosen.semble, work / "semble", trees[0])
        semble = peer if isinstance(peer, Semble) else None
        if semble is None:
            print(peer)
        contest = Contest(Program(work / "home", trees[0]), trees, semble)
        contest.program.work.mkdir()
        write_bytecode(contest.program, work / "warm")
        contest.measure("full", chosen.rounds, lambda *_: contest.empty())
        results: dict[str, Any] = {
            "store_mb": round(contest.program.store.stat().st_size / 1e6, 1),
            "source_mb": megabytes(chosen.django),
        }
        if semble is not None:
            results["semble_mb"] = megabytes(semble.cache)
        contest.measure("no change", TRIES)
        contest.measure("one file", TRIES, lambda tree, n: grow(tree, MUCH_IMPORTED, n))
        contest.measure("one leaf", 2, lambda tree, n: grow(tree, SELDOM_IMPORTED, n))
        searches = [contest.program("search", QUESTION, "--json") for _ in range(TRIES)]
        require(json.loads(searches[0].output)["hits"], "The command `search` finds nothing.")
        results["search"] = min(searches, key=lambda cost: cost.cpu).as_json()
        results["query"] = asyncio.run(measure_queries(contest.program, semble))
        contest.measure("a switch of branches", 1, lambda tree, _: grow_every_tenth(tree))
        results["ctags"] = measure_ctags(trees[0], work)
    for name, (ours, theirs) in contest.found.items():
        results[name] = {"ragforge": ours.as_json()}
        if semble is not None:
            results[name] |= {semble.label: theirs.as_json()}
    save("ingest", results, make_rows(contest, results))


if __name__ == "__main__":
    main()
