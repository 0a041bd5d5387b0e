"""What does it cost to index a large project? Django, with ctags and semble in the same run.

    python -m benchmarks.ingest [--repos FOLDER] [--semble PYTHON]

Commands run in fresh processes, from bytecode as an installed program does: everything at
once, again without a change, after one file grew that half the project imports ("one file"),
or one that hardly anything does ("one leaf"), after the tree was switched to the next version,
and a search. Of what takes less than a second, the best of three counts.
Seconds are of CPU, user and system, of a process with all its children; memory is the most
that they held together at one time, shared pages counted once. Queries are asked warm, in
one process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from benchmarks.code_search import open_brain
from benchmarks.measure import save
from benchmarks.peers import Semble, add_places, find_semble
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS

BEFORE, AFTER = "django-a", "django-b"
VERSIONS = {BEFORE: "5.1", AFTER: "5.2"}
MUCH_IMPORTED = "django/http/response.py"
SELDOM_IMPORTED = "django/contrib/humanize/templatetags/humanize.py"
GROWTH = "\n\ndef measured_by_the_benchmark_{}(response):\n    return response.status_code\n"
QUESTION = "how are migrations ordered"
SAMPLE_SECONDS = 0.02
TRIES = 3

NO_CHANGE_BAR = 1.5
ONE_FILE_BAR = 0.5
SEARCH_BAR = 0.8
QUERY_BAR_MS = 15.0
MEMORY_BAR_MB = 700
FULL_BAR = 1.5
"""Times what semble takes."""

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


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took, with all its children."""

    cpu: float  # seconds
    memory: float  # MB
    output: str = ""

    def as_json(self) -> dict[str, float]:
        return {"cpu_s": round(self.cpu, 2), "peak_mb": round(self.memory)}


def run(command: Sequence[str], cwd: Path, environment: dict[str, str]) -> Cost:
    """Run a command to its end. Raises CalledProcessError if it fails."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=out)
        memory = 0.0
        while True:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            memory = max(memory, held_together(process.pid))
            time.sleep(SAMPLE_SECONDS)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        output = out.read()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output)
    return Cost(used.ru_utime + used.ru_stime, memory, output)


def held_together(pid: int) -> float:
    """Return the MB that a process and its children hold, shared pages divided among them.

    Between two samples there may have been more: then it is what only the parent once held.
    (wait4 knows the most as well, but counts what this program held when it forked.)
    """
    total = 0
    try:
        parent = psutil.Process(pid)
        for process in (parent, *parent.children(recursive=True)):
            total += process.memory_full_info().pss
    except psutil.Error:
        pass  # one of them has just ended: the next sample counts
    return max(total, most_held(pid)) / 2**20


def most_held(pid: int) -> int:
    """Return the most bytes that a process has held since it started its program."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return 0
    kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return int(kilobytes[0]) * 1024 if kilobytes else 0


def clean_environment() -> dict[str, str]:
    """Return the environment without what changes our settings, or leaves us without bytecode."""
    ours = ("RAGFORGE_", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


@dataclass(frozen=True, slots=True)
class Program:
    """`ragforge`, with a separate store and no settings."""

    work: Path
    tree: Path

    @property
    def store(self) -> Path:
        return self.work / "store.db"

    def __call__(self, *arguments: str) -> Cost:
        settings = self.work / "empty.yaml"
        settings.touch()
        environment = {
            **clean_environment(),
            "RAGFORGE_CONFIG": str(settings),
            "PYTHONPYCACHEPREFIX": str(self.work / "bytecode"),  # which installing would write
        }
        command = [sys.executable, "-m", "ragforge", "--store", str(self.store), *arguments]
        return run(command, self.tree, environment)

    def ingest(self) -> tuple[Cost, dict[str, Any]]:
        cost = self("ingest", str(self.tree), "--json")
        return cost, json.loads(cost.output)


def copy_tree(source: Path, tree: Path) -> None:
    """Make the tree a copy of another one: what differs gets new times, as in a checkout."""
    theirs = {path.relative_to(source) for path in source.rglob("*") if not path.is_dir()}
    ours = {path.relative_to(tree) for path in tree.rglob("*") if not path.is_dir()}
    for path in ours - theirs:
        (tree / path).unlink()
    for path in theirs:
        if path in ours and _is_same(source / path, tree / path):
            continue
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).unlink(missing_ok=True)
        shutil.copyfile(source / path, tree / path, follow_symlinks=False)


def _is_same(one: Path, other: Path) -> bool:
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and one.readlink() == other.readlink()
    return one.read_bytes() == other.read_bytes()


def grow(tree: Path, file: str, number: int = 0) -> None:
    """Add a function to one file."""
    with (tree / file).open("a", encoding="utf-8") as source:
        source.write(GROWTH.format(number))


def measure_ourselves(repos: Path, work: Path) -> dict[str, Any]:
    tree = work / "django"
    copy_tree(repos / BEFORE, tree)
    program = Program(work, tree)
    found: dict[str, Any] = {}

    def ingest(name: str, file: str | None = None, tries: int = 1) -> None:
        runs = []
        for number in range(tries):
            if file is not None:
                grow(tree, file, number)
            runs.append(program.ingest())
        cost, report = min(runs, key=lambda run: run[0].cpu)
        found[name] = {**cost.as_json(), "report": report}
        print(f"  {name:<12} {cost.cpu:>7.2f} CPU s  {cost.memory:>6.0f} MB", flush=True)

    ingest("full")
    found["file_mb"] = round(program.store.stat().st_size / 1e6, 1)
    ingest("no change", tries=TRIES)
    ingest("one file", MUCH_IMPORTED, TRIES)
    ingest("one leaf", SELDOM_IMPORTED, TRIES)
    searches = [program("search", QUESTION, "--json") for _ in range(TRIES)]
    found["search"] = min(searches, key=lambda cost: cost.cpu).as_json()
    found["query"] = asyncio.run(measure_queries(program))
    copy_tree(repos / AFTER, tree)
    ingest("switch")
    return found


async def measure_queries(program: Program) -> dict[str, float]:
    """Ask sixty questions in one process, each for the first time, then all again."""
    questions = QUESTIONS.strip().splitlines()
    store = await open_sqlite(program.store, WORDS, REDACTOR)
    brain = open_brain(store, program.tree, BundledEmbedder())
    for warming in ("load the words", "load the vectors", "LoadTheNames"):
        await brain.search(warming)
    passes: list[list[float]] = []
    for _ in range(2):
        seconds = []
        for question in questions:
            start = time.process_time()
            await brain.search(question)
            seconds.append(time.process_time() - start)
        passes.append(sorted(seconds))
    await store.close()
    first, again = passes
    return {
        "queries": len(questions),
        "cpu_p50_ms": round(statistics.median(first) * 1000, 2),
        "cpu_p95_ms": round(first[int(0.95 * (len(first) - 1))] * 1000, 2),
        "again_cpu_p50_ms": round(statistics.median(again) * 1000, 2),
    }


def measure_ctags(tree: Path, work: Path) -> dict[str, Any] | str:
    program = shutil.which("ctags")
    if program is None:
        return "ctags: not installed (apt-get install universal-ctags)"
    cost = run([program, "-R", "-f", str(work / "tags"), str(tree)], work, clean_environment())
    return cost.as_json()


def measure_semble(repos: Path, work: Path, python: Path) -> dict[str, Any] | str:
    """Measure semble's command, whose search indexes first; in one process, and as it comes."""
    semble = find_semble(python, work, repos / BEFORE)
    if isinstance(semble, str):
        return semble
    tree = work / "django"
    copy_tree(repos / BEFORE, tree)
    found: dict[str, Any] = {"label": semble.label, "model": semble.model or "its own"}
    for name, workers in (("full, four workers", "4"), ("full", "0")):
        shutil.rmtree(work / "cache", ignore_errors=True)
        found[name] = search_with(semble, tree, workers)
    found["no change"] = search_with(semble, tree, "0")
    grow(tree, MUCH_IMPORTED)
    found["one file"] = search_with(semble, tree, "0")
    copy_tree(repos / AFTER, tree)
    found["switch"] = search_with(semble, tree, "0")
    return found


def search_with(semble: Semble, tree: Path, workers: str) -> dict[str, float]:
    environment = semble.environment(SEMBLE_INDEX_WORKERS=workers)
    return run([semble.command, "search", QUESTION, str(tree)], tree, environment).as_json()


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure and what it should not exceed."""

    what: str
    figure: float
    limit: float
    unit: str

    @property
    def is_kept(self) -> bool:
        return self.figure <= self.limit

    def __str__(self) -> str:
        verdict = "kept" if self.is_kept else "MISSED"
        return f"{self.what:<26} {self.figure:>8.2f} {self.unit:<5} ≤ {self.limit:>7.2f}  {verdict}"


def bars(ours: dict[str, Any], semble: dict[str, Any] | str) -> list[Bar]:
    kept = [
        Bar("full, memory", ours["full"]["peak_mb"], MEMORY_BAR_MB, "MB"),
        Bar("no change", ours["no change"]["cpu_s"], NO_CHANGE_BAR, "CPU s"),
        Bar("one file", ours["one file"]["cpu_s"], ONE_FILE_BAR, "CPU s"),
        Bar("search, the command", ours["search"]["cpu_s"], SEARCH_BAR, "CPU s"),
        Bar("search, warm, p50", ours["query"]["cpu_p50_ms"], QUERY_BAR_MS, "ms"),
    ]
    if isinstance(semble, str):
        return kept
    theirs = min(semble["full"]["cpu_s"], semble["full, four workers"]["cpu_s"])
    return [Bar("full, against semble", ours["full"]["cpu_s"], FULL_BAR * theirs, "CPU s"), *kept]


def show_peer(name: str, found: dict[str, Any] | str) -> None:
    if isinstance(found, str):
        print(found)
        return
    rows = {"full": found} if "cpu_s" in found else found
    for what, cost in rows.items():
        if isinstance(cost, dict):
            print(f"  {name}, {what:<20} {cost['cpu_s']:>7.2f} CPU s  {cost['peak_mb']:>6.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    add_places(parser)
    chosen = parser.parse_args()
    for name, version in VERSIONS.items():
        if not (chosen.repos / name).is_dir():
            sys.exit(
                f"{chosen.repos / name} is missing. Fetch it, or name --repos:\n  git clone "
                f"--depth 1 -b {version} https://github.com/django/django {chosen.repos / name}"
            )
    with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
        print(f"Django {VERSIONS[BEFORE]}, then {VERSIONS[AFTER]}")
        found = measure_ourselves(chosen.repos, Path(ours))
        ctags = measure_ctags(chosen.repos / BEFORE, Path(theirs))
        show_peer("ctags", ctags)
        semble = measure_semble(chosen.repos, Path(theirs), chosen.semble)
        show_peer("semble" if isinstance(semble, str) else semble.pop("label"), semble)
    kept = bars(found, semble)
    print(*kept, sep="\n")
    peers = {"ctags": ctags, "semble": semble}
    results = {"ragforge": found, "peers": peers, "bars": [asdict(bar) for bar in kept]}
    print(f"saved to {save('ingest', results)}")


if __name__ == "__main__":
    main()
