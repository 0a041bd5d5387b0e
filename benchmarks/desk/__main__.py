"""Is memory right, relevant and in time where programmers work with agents?

    python -m benchmarks.desk REPOSITORY [--part PART] [--quick]
        [--labels 30] [--show-misses] [--no-save]

REPOSITORY is a clone that keeps the transcripts of its own sessions (see `sessions`). What was
derived from it is kept in .cache/desk.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.desk import documents, foresight, questions, scores, silence, ways
from benchmarks.desk.deeds import Paths, list_folders, read_turns
from benchmarks.desk.foresight import Asked, ask_all
from benchmarks.desk.labels import History
from benchmarks.desk.replay import CutOff, Desk, find_branch, grow, plan
from benchmarks.desk.sessions import read_logs, run_git, unpack
from benchmarks.measure import make_parser, require, save

PARTS = ("foresight", "questions", "silence", "documents")
CACHE = Path(".cache/desk")
CUT_OFFS = 24
PROMPTS = 10
QUICK = (3, 4, 30)
"""Cut-offs, prompts at each, and sessions of the quick size."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse_options(arguments)
    start = time.process_time()
    results = asyncio.run(measure(options))
    print(f"{time.process_time() - start:.0f} CPU s")
    if results:
        require(any(results.values()), "Nothing was asked.")
        name = "desk-quick" if options.quick else "desk"
        save(f"{name}-{name_repository(options.repository)}", results)


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = make_parser(__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--part", choices=PARTS, action="append", help="default: all")
    parser.add_argument("--cut-offs", type=int, default=CUT_OFFS)
    parser.add_argument("--prompts", type=int, default=PROMPTS, help="asked at each cut-off")
    parser.add_argument("--sessions", type=int, help="only the first ones")
    parser.add_argument("--quick", action="store_true", help="a minute or two")
    parser.add_argument("--labels", type=int, default=0, help="print some labels, ask nothing")
    parser.add_argument("--show-misses", action="store_true")
    parser.add_argument("--cache", type=Path, default=CACHE)
    options = parser.parse_args(arguments)
    if options.quick:
        options.cut_offs, options.prompts, options.sessions = QUICK
    return options


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Measure the parts that were asked for."""
    desk, history = prepare(options.repository, options.cache, options.sessions)
    asked = history.list_askable()
    cuts = plan(desk.repository, asked, options.cut_offs, options.prompts)
    if options.labels:
        print_labels(desk, history, cuts, options.labels)
        return {}
    parts = options.part or PARTS
    results: dict[str, Any] = {
        "sessions": len(desk.logs),
        "turns": len(history.turns),
        "MB": round(sum(log.lines[-1].end for log in desk.logs) / 1e6, 1),
        "prompts with edits": len(asked),
    }
    if "documents" in parts:
        listed = await documents.ask_documents(desk, history, cuts)
        results["documents"] = documents.report(listed)
        if options.show_misses:
            documents.print_misses(listed)
    end = make_end(desk, history)
    if set(parts) != {"documents"}:
        await grow(desk, [*cuts, end] if "questions" in parts else cuts)
    if "questions" in parts:
        found = await questions.ask_questions(desk, history, end)
        results["questions"] = questions.report(found, history)
        if options.show_misses:
            questions.print_misses(found, history)
    if "silence" in parts:
        three = [cuts[0], cuts[len(cuts) // 2], cuts[-1]]
        answers = await silence.ask_silence(desk, three)
        results["silence"] = silence.report(answers)
        if options.show_misses:
            silence.print_misses(answers)
    if "foresight" in parts:
        asked_all = await ask_all(desk, history, cuts)
        write_details(asked_all, desk.folder / "foresight.json")
        results["foresight"] = report_foresight(asked_all, options)
    return results


def make_end(desk: Desk, history: History) -> CutOff:
    """Return the cut-off after everything."""
    commit = run_git(desk.repository, "rev-parse", find_branch(desk.repository)).strip()
    return CutOff(99, f"{history.turns[-1].end}~", commit, ())


def prepare(repository: Path, cache: Path, sessions: int | None = None) -> tuple[Desk, History]:
    """Read the transcripts of a repository; of all sessions, or of the first ones."""
    cache = cache / name_repository(repository)
    unpack(repository, cache / "sessions")
    logs = read_logs(cache / "sessions")
    logs.sort(key=lambda log: log.lines[0].at)
    logs = logs[:sessions]
    listed = run_git(repository, "log", find_branch(repository), "--name-only", "--format=")
    paths = Paths.of(filter(None, listed.splitlines()), list_folders(logs))
    turns = [turn for log in logs for turn in read_turns(log, paths)]
    folder = (cache / (f"first-{sessions}" if sessions else "all")).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return Desk(repository, folder, logs, paths), History.of(turns)


def name_repository(repository: Path) -> str:
    """Return a folder name for a repository: its own, or its parent's for a bare one."""
    path = repository.resolve()
    return path.parent.name if path.name in ("repo", ".git") else path.name


def report_foresight(asked: Asked, options: argparse.Namespace) -> dict[str, Any]:
    """Print the tables and return them."""
    groups = {id_: label.turn.session for id_, label in asked.labels.items()}
    named = {id_ for id_, label in asked.labels.items() if label.names}
    columns = foresight.METRICS
    results: dict[str, Any] = {
        "prompts": len(asked.labels),
        "prompts that name something": len(named),
        "with strong turns": sum(bool(label.strong) for label in asked.labels.values()),
        "with fresh files": sum(bool(label.fresh) for label in asked.labels.values()),
    }
    print(results)
    kinds = {
        "all": lambda _: True,
        "that name something": lambda id_: id_ in named,
        "that name nothing": lambda id_: id_ not in named,
    }
    for kind, keep in kinds.items():
        table = {way: scores.summarise(rows, columns, keep) for way, rows in asked.rows.items()}
        scores.print_table(f"prompts: {kind}", table)
        results[kind] = table
    results["intervals"] = report_intervals(asked, groups)
    if options.show_misses:
        print_misses(asked)
    return results


def report_intervals(asked: Asked, groups: dict[str, str]) -> dict[str, Any]:
    """Return the intervals of the product's ways, and of what they are better by than controls."""
    rows = asked.rows
    pairs = (
        (ways.MEMORY, ways.BM25, ("strong@5", "MRR")),
        (ways.MEMORY, ways.DEEDS_BM25, ("strong@5", "MRR")),
        (ways.HOOK, ways.BM25_HOOK, ("strong@5", "edited", "fresh")),
        (ways.HOOK, ways.VOTE, ("edited", "fresh")),
        (ways.CONTEXT, ways.BM25_CONTEXT, ("strong@5", "edited", "fresh")),
    )
    found: dict[str, Any] = {}
    for one, other, metrics in pairs:
        for metric in metrics:
            own = scores.bootstrap({id_: row[metric] for id_, row in rows[one].items()}, groups)
            difference = scores.compare(rows[one], rows[other], metric, groups)
            found[f"{one}: {metric}"] = own
            found[f"{one} − {other}: {metric}"] = difference
    print("\n95 % intervals (bootstrap over sessions)")
    for name, interval in found.items():
        print(f"  {name}: {interval}")
    return found


def write_details(asked: Asked, path: Path) -> None:
    """Write what every way gave for every prompt, for a closer look."""
    details = [
        {
            "turn": id_,
            "session": label.turn.session,
            "at": label.turn.at,
            "prompt": label.turn.prompt,
            "names something": label.names,
            "edited": sorted(label.edited),
            "fresh": sorted(label.fresh),
            "strong": sorted(label.strong),
            "ways": {
                way: {
                    "turns": [*found[id_].turns],
                    "files": found[id_].files,
                    "text": found[id_].text,
                }
                for way, found in asked.answers.items()
            },
            "scores": {way: rows[id_] for way, rows in asked.rows.items()},
        }
        for id_, label in asked.labels.items()
    ]
    path.write_text(json.dumps(details, indent=1))


def print_misses(asked: Asked) -> None:
    """Print the prompts for which memory search has no strong turn among the first five."""
    for id_, label in asked.labels.items():
        row = asked.rows[ways.MEMORY][id_]
        if row["strong@5"] == 0:
            print("-" * 20, label.turn.at[:16], label.turn.session[:8], id_[:8])
            print("prompt:", flatten(label.turn.prompt, 300))
            print("edited:", *sorted(label.edited))
            print("strong:", *(one[:8] for one in label.strong))
            for way in (ways.MEMORY, ways.DEEDS_BM25):
                print(f"{way}:", *(one[:8] for one in asked.answers[way][id_].turns[:5]))


def print_labels(desk: Desk, history: History, cuts: Sequence[CutOff], count: int) -> None:
    """Print some labels, so that they can be read."""
    known = {turn.id: turn for turn in history.turns}
    some = [(cut, turn) for cut in cuts for turn in cut.prompts]
    for cut, turn in some[:: max(1, len(some) // count)][:count]:
        listed = run_git(desk.repository, "ls-tree", "-r", "--name-only", cut.commit)
        label = history.label(turn, cut.moment, frozenset(listed.splitlines()))
        print("-" * 20, turn.at[:16], turn.session[:8], "names" if label.names else "")
        print("prompt:", flatten(turn.prompt, 300))
        print("edited:", *sorted(label.edited), f"({len(label.fresh)} fresh)")
        print(f"{len(label.strong)} strong, {len(label.same_file)} with the same files")
        for id_, lines in list(label.strong.items())[:3]:
            print("  *", known[id_].at[:10], flatten(known[id_].prompt, 120))
            print("   ", len(lines), "lines, as:", " | ".join(lines[:2])[:160])


def flatten(text: str, chars: int) -> str:
    return " ".join(text.split())[:chars]


if __name__ == "__main__":
    main()
