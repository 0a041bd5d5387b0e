"""Measure what a user waits for, next to peers, and write one page of figures and bars.

    python -m benchmarks [--only ingest,commands] [--quick] [--million] [--json]
                         [--django FOLDER | --fetch] [--repos FOLDER] [--semble PYTHON]

Each part runs in a separate process with a time limit, one after the other. A part that fails, or
whose data are not there, says why, next to what it has measured so far. The page is
benchmarks/results/latest.md. With --only, the rows of the other parts stay as they were measured
before; each part names its commit and the load of the machine. The exit code is 1 if a part
failed; a bar that is missed is shown, and is not a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import (
    PROJECT,
    RESULTS,
    Row,
    describe_commit,
    describe_machine,
    make_parser,
    require,
)
from benchmarks.peers import add_places

PAGE = Path(__file__).parent / "results" / "latest.md"
CODE_SEARCH = "requests,gin,redux,cobra"
"""The repositories of the page: those of the whole set take a quarter of an hour."""
DJANGO_VERSION = "5.2"
HEAD = """# Benchmarks

Written by `python -m benchmarks`; [the README](../README.md) says what each part measures.
Seconds are of CPU, user and system, with all children; the least or the median of several runs
counts, and programs that are compared take turns.

{machine}

{summary}
"""
COLUMNS = """| work | figure | bar | peers in the same run | bar holds? |
| --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A benchmark with the options that the page wants, and how long it may take."""

    module: str
    seconds: int
    options: str
    quick: str
    needs: Callable[[argparse.Namespace], str] = lambda _: ""

    def list_options(self, chosen: argparse.Namespace) -> list[str]:
        options = self.quick if chosen.quick else self.options
        if self.module == "memory_scale" and chosen.million:
            options += ",1000000"
        return options.split()


def needs_django(chosen: argparse.Namespace) -> str:
    """Return what is missing, if anything is."""
    return "" if chosen.django.is_dir() else "a checkout of Django (--django FOLDER or --fetch)"


def needs_repositories(chosen: argparse.Namespace) -> str:
    names = CODE_SEARCH.split(",")
    if all((chosen.repos / name).is_dir() for name in names) and chosen.data.is_dir():
        return ""
    return f"checkouts of {', '.join(names)} (--repos) and their questions (--data)"


def needs_locomo(chosen: argparse.Namespace) -> str:
    file = chosen.data / "memory" / "locomo-dev.json"
    return "" if file.is_file() else "LoCoMo's conversations, memory/locomo-dev.json (--data)"


PARTS = {
    "ingest": Part("ingest", 900, "--rounds 2", "--rounds 1", needs_django),
    "commands": Part("commands", 600, "--rounds 5", "--rounds 2"),
    "growth": Part("growth", 900, "", "--files 2000"),
    "context": Part(
        *("context", 900, "--no-coverage", "--no-coverage --turns 0,1000 --rounds 2", needs_django)
    ),
    "memory_scale": Part("memory_scale", 900, "--turns 10000,100000", "--turns 1000 --queries 20"),
    "transcripts": Part("transcripts", 600, "", "--megabytes 10"),
    "hook": Part("hook", 600, "--runs 20", "--runs 5 --long 100 --short 1000"),
    "web": Part("web", 600, "--turns 10000", "--turns 1000"),
    "long_session": Part("long_session", 600, "--turns 2000", "--turns 120"),
    "mcp": Part("mcp", 300, "--runs 3 --servers 5", "--runs 1 --servers 2 --turns 200"),
    "tools": Part("tools", 300, "--runs 5 --many 100", "--runs 2 --many 10", needs_django),
    "code_search": Part(
        *("code_search", 900, f"--only {CODE_SEARCH}", "--only requests", needs_repositories)
    ),
    "memory_recall": Part("memory_recall", 900, "", "", needs_locomo),
    "redaction": Part("redaction", 300, "--lines 300000", "--lines 20000"),
    "notes": Part("notes", 120, "", ""),
    "contradictions": Part("contradictions", 60, "", ""),
}


def describe_missing(name: str, chosen: argparse.Namespace) -> str:
    """Return what a part leaves out for want of data or of an option."""
    if name == "memory_scale" and not chosen.million:
        return "A million turns (≤ 80 CPU ms, ≤ 400 MB): not measured: needs --million."
    if name in ("ingest", "code_search") and not chosen.semble.is_file():
        return "semble: not measured: needs a Python that has it (--semble)."
    return ""


def run_part(name: str, chosen: argparse.Namespace) -> dict[str, Any]:
    """Run a part; return its rows, or why there are none."""
    part, begun = PARTS[name], time.monotonic()
    found: dict[str, Any] = {"commit": describe_commit(), "load": round(os.getloadavg()[0], 1)}
    if missing := part.needs(chosen):
        return {**found, "rows": [], "problem": f"not measured: needs {missing}", "failed": False}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory(prefix="ragforge-benchmarks-") as folder:
        limit = part.seconds * chosen.patience
        code, said = call_module(part, chosen, Path(folder), limit)
        rows = [
            row
            for file in sorted(Path(folder).glob("*.json"))
            for row in json.loads(file.read_text("utf-8"))["rows"]
        ]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    problem = ""
    if code:
        last = (said.strip().splitlines() or [f"exit code {code}"])[-1]
        late = f"took more than {limit:g} s (--patience gives it more)"
        problem = f"failed: {late if code == -signal.SIGKILL else last[:300]}"
    elif not rows:
        problem = "failed: it reports no figures"
    found |= {"cpu_s": round(cpu), "wall_s": round(time.monotonic() - begun)}
    return {**found, "rows": rows, "problem": problem, "failed": bool(problem)}


def call_module(
    part: Part, chosen: argparse.Namespace, results: Path, limit: float
) -> tuple[int, str]:
    """Run a benchmark with what it writes on the terminal; return its exit code and stderr."""
    places = [f"--{name}={getattr(chosen, name)}" for name in ("repos", "django", "data", "semble")]
    command = [sys.executable, "-m", f"benchmarks.{part.module}", *part.list_options(chosen)]
    if part.module in TAKES_PLACES:
        command += places
    environ = {**os.environ, RESULTS: str(results)}
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command,
            cwd=PROJECT,
            env=environ,
            stdout=sys.stderr,
            stderr=errors,
            start_new_session=True,  # all that it started ends with it
        )
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
        errors.seek(0)
        return code, errors.read()


TAKES_PLACES = {"ingest", "commands", "context", "tools", "code_search", "memory_recall"}


def fetch_django(folder: Path) -> None:
    """Clone Django, unless it is there."""
    if not folder.is_dir():
        source = "https://github.com/django/django"
        command = ["git", "clone", "-q", "--depth=1", "-b", DJANGO_VERSION, source, str(folder)]
        subprocess.run(command, check=True)


def write_page(parts: Mapping[str, dict[str, Any]], page: Path) -> None:
    """Write the page, and its figures next to it for the next run with --only."""
    rows = [Row(**row) for part in parts.values() for row in part["rows"]]
    barred = [row for row in rows if row.holds is not None]
    held = sum(bool(row.holds) for row in barred)
    problems = sum(bool(part["problem"]) for part in parts.values())
    summary = f"{held} of {len(barred)} bars hold; {problems} of {len(parts)} parts lack figures."
    text = HEAD.format(machine=describe_environment(), summary=summary)
    for name, part in parts.items():
        command = f"python -m benchmarks.{PARTS[name].module} {part['options']}".rstrip()
        text += f"\n## {name}\n\n`{command}`"
        text += f" at {part['commit']}, load {part['load']}"
        text += f", {part['cpu_s']} CPU s\n\n" if "cpu_s" in part else "\n\n"
        if part["problem"]:
            text += f"{part['problem']}\n\n"
        text += COLUMNS if part["rows"] else ""
        for row in (Row(**row) for row in part["rows"]):
            figure = f"{row.figure:g} {row.unit}".strip()
            text += f"| {row.work} | {figure} | {row.limit} | {row.peer} | {row.verdict} |\n"
        if part["note"]:
            text += f"\n{part['note']}\n"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, "utf-8")
    page.with_suffix(".json").write_text(json.dumps(parts, indent=1) + "\n", "utf-8")


def describe_environment() -> str:
    """Return the machine in a sentence."""
    on = describe_machine()
    return (
        f"Machine: {on['cores']} cores ({on['machine']}, {on['system']}), {on['memory_gb']} GB of "
        f"memory, Python {on['python']}. Load is the number of processes that wanted a core when "
        "a part began: where it is more than the cores, other work slows every CPU second down, "
        "and only figures of the same part can be compared."
    )


def read_parts(page: Path) -> dict[str, dict[str, Any]]:
    """Return what the page says of each part."""
    file = page.with_suffix(".json")
    found = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return {name: found[name] for name in PARTS if name in found}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--only", default="", help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it work at all?")
    parser.add_argument("--million", action="store_true", help="memory search in a million turns")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--fetch", action="store_true", help="clone Django if it is not there")
    parser.add_argument("--patience", type=float, default=1, help="times the limits of time")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE")
    add_places(parser)
    chosen = parser.parse_args(arguments)
    names = [name for name in chosen.only.split(",") if name] or list(PARTS)
    unknown = sorted(set(names) - set(PARTS))
    require(not unknown, f"there is no part {', '.join(unknown)}, but {', '.join(PARTS)}.")
    for place in ("repos", "django", "data", "semble"):
        # Not resolved: the Python of an environment is a link.
        setattr(chosen, place, Path(os.path.abspath(getattr(chosen, place))))
    if chosen.fetch:
        fetch_django(chosen.django)
    parts = read_parts(chosen.page) if chosen.only else {}
    for name in names:
        print(f"== {name}", file=sys.stderr, flush=True)
        parts[name] = run_part(name, chosen)
        parts[name]["note"] = describe_missing(name, chosen)
        parts[name]["options"] = " ".join(PARTS[name].list_options(chosen))
        if parts[name]["problem"]:
            print(parts[name]["problem"], file=sys.stderr, flush=True)
        ordered = {one: parts[one] for one in PARTS if one in parts}
        write_page(ordered, chosen.page)  # a run that is interrupted has its figures so far
    if chosen.json:
        print(json.dumps({name: parts[name] for name in names}, indent=1))
    else:
        print(f"written to {chosen.page}")
    return int(any(parts[name]["failed"] for name in names))


if __name__ == "__main__":
    sys.exit(main())
