"""Mine pairs of texts that belong together from public repositories of code.

    python -m training.mine_code --mirrors FOLDER --pairs FOLDER [--only OWNER/NAME]

Every repository of `table_sources.json` gives the lines of one file, `PAIRS/OWNER+NAME.jsonl`:

- doc: the first sentences of a docstring, and its scope without that docstring;
- outline: the same, and the outline of its file;
- commit: the subject of a commit, and the outline of a file that it changed;
- test: the words of a test's name, and the outline of the file it is named after;
- section: a heading of a document, and the text below it.

The texts have the form in which the product embeds them. Folders with copies of other projects
are left out, for a benchmark's repository may be among them.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from ragforge.brain.parse.outline import build_scopes
from ragforge.brain.parse.read_source import parse
from ragforge.domain.code import MODULE, Scope
from ragforge.search.rank_paths import is_secondary

SOURCES = Path(__file__).with_name("table_sources.json")
SEED = 20
FILES, COMMITS_READ, FILE_CHARS, TEXT_CHARS = 700, 3_000, 60_000, 2_500
FILES_OF_OTHERS, OTHERS = 150, 700
MOST = {"doc": 3_000, "outline": 800, "commit": 1_000, "test": 400, "section": 800}
"""The most pairs of each kind that a repository gives."""

_CODE = re.compile(
    r"\.(bash|c|cc|cpp|cs|ex|exs|go|h|hpp|hs|java|js|kt|lua|php|py|rb|rs|scala|sh|swift|ts|zig|zsh)$"
)
_PROSE = re.compile(r"\.(md|rst|markdown)$")
_COPIES = re.compile(
    r"(^|/)(_?vendor(ed)?|third[_-]?party|3rdparty|bundled|extern(al)?s?|node_modules|deps|dist|"
    r"submodules|contrib/libs|external_libs)(/|$)|\.min\.",
    re.I,
)
_NO_SUBJECT = re.compile(
    r"\b(merge|bump|release|version|changelog|typos?|lint|format|revert|readme|docs?|ci)\b", re.I
)
_MARKUP = re.compile(r"<[^>]*>|\{@\w+|[`{}\[\]*]|:\w+:|^\s*[@\\:]\w+.*$", re.M)
_TEST = re.compile(r"^(?:test_?)(\w{12,})$", re.I)
_TEST_FILE = re.compile(r"(?:^test_|[._-]?tests?$|[._-]spec$)", re.I)
_HEADING = re.compile(r"^#{1,4} +(.+?) *#*$|^(\S.*)\n[=~^\-]{4,}$", re.M)


class Pair(NamedTuple):
    """Two texts that belong together."""

    kind: str
    question: str
    answer: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--mirrors", type=Path, required=True, help="OWNER+NAME/repo, bare clones")
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--only", default="", help="repositories, with commas")
    parser.add_argument("--others", action="store_true", help="mine wrong answers instead")
    chosen = parser.parse_args()
    chosen.pairs.mkdir(parents=True, exist_ok=True)
    sources = json.loads(SOURCES.read_text("utf-8"))["code"]
    names = [source["github"] for source in sources]
    names = [name for name in names if not chosen.only or name in chosen.only.split(",")]
    with ProcessPoolExecutor(2) as pool:
        folders = [chosen.mirrors] * len(names), [chosen.pairs] * len(names)
        work = mine_others if chosen.others else mine
        for name, counts in zip(names, pool.map(work, names, *folders), strict=True):
            print(name, counts, flush=True)


def mine(name: str, mirrors: Path, pairs: Path) -> dict[str, int]:
    """Write the pairs of one repository and return how many there are of each kind."""
    target = pairs / f"{name.replace('/', '+')}.jsonl"
    mirror = mirrors / name.replace("/", "+") / "repo"
    chance = random.Random(f"{SEED} {name}")  # the same pairs whichever repositories are mined
    kinds: dict[str, list[Pair]] = defaultdict(list)
    for pair in _find_pairs(mirror, chance):
        kinds[pair.kind].append(pair)
    chosen = [
        pair
        for kind, some in kinds.items()
        for pair in chance.sample(some, min(len(some), MOST[kind]))
    ]
    lines = (json.dumps(pair._asdict(), ensure_ascii=False) for pair in chosen)
    target.write_text("\n".join(lines), "utf-8")
    return {kind: min(len(some), MOST[kind]) for kind, some in kinds.items()}


def mine_others(name: str, mirrors: Path, pairs: Path) -> int:
    """Write scopes that answer no question, for wrong answers as a search meets them: small ones,
    tests, those without a docstring. Return how many there are.
    """
    mirror = mirrors / name.replace("/", "+") / "repo"
    chance = random.Random(f"{SEED} {name}")
    texts = _read_tree(mirror)
    code = sorted(path for path in texts if _CODE.search(path))
    found = list[str]()
    for path in sorted(chance.sample(code, min(FILES_OF_OTHERS, len(code)))):
        scopes = _read_scopes(path, texts[path])
        found += [format_bare(scope) for scope in scopes if not take_sentence(scope.docstring)]
    chosen = chance.sample(found, min(OTHERS, len(found)))
    lines = (json.dumps(Pair("other", "", text)._asdict(), ensure_ascii=False) for text in chosen)
    target = pairs / f"{name.replace('/', '+')}.others.jsonl"
    target.write_text("\n".join(lines), "utf-8")
    return len(chosen)


def _read_scopes(path: str, text: str) -> tuple[Scope, ...]:
    try:
        outline = parse(path, text)
        ids = [str(number) for number in range(len(outline.definitions))]
        return build_scopes(path, outline, text, ids)
    except Exception as error:  # one odd file is not worth the others
        print(f"{path}: {type(error).__name__}", flush=True)
        return ()


def _find_pairs(mirror: Path, chance: random.Random) -> Iterator[Pair]:
    texts = _read_tree(mirror)
    code = sorted(path for path in texts if _CODE.search(path))
    code = sorted(chance.sample(code, min(FILES, len(code))))
    outlines: dict[str, str] = {}
    tests: list[tuple[str, str]] = []
    for path in code:
        scopes = _read_scopes(path, texts[path])
        if is_secondary(path):
            tests += [(path, match[1]) for scope in scopes if (match := _TEST.match(scope.name))]
            continue
        outlines[path] = format_outline(path, scopes)
        for scope in scopes:
            sentence = take_sentence(scope.docstring)
            if sentence and scope.type == MODULE:
                yield Pair("outline", sentence, outlines[path])
            elif sentence:
                yield Pair("doc", sentence, format_bare(scope))
                if chance.random() < 0.3:
                    yield Pair("outline", sentence, outlines[path])
    yield from _ask_by_tests(tests, outlines)
    yield from _ask_by_commits(mirror, outlines, chance)
    for path in sorted(path for path in texts if _PROSE.search(path)):
        yield from find_sections(texts[path])


def _read_tree(mirror: Path) -> dict[str, str]:
    """Return the texts of a repository by their paths. A mirror may lack its largest files."""
    listed = _run_git(mirror, "ls-tree", "-r", "-l", "-z", "HEAD").decode("utf-8", "replace")
    blobs: dict[str, str] = {}
    for entry in filter(None, listed.split("\0")):
        about, path = entry.split("\t", 1)
        _, kind, blob, size = about.split()
        wanted = (_CODE.search(path) or _PROSE.search(path)) and not _COPIES.search(path)
        if wanted and kind == "blob" and size.isdigit() and 200 < int(size) < FILE_CHARS:
            blobs[path] = blob
    packed = BytesIO(_run_git(mirror, "cat-file", "--batch", given="\n".join(blobs.values())))
    found = {}
    for path in blobs:
        size = int(packed.readline().split()[-1])
        found[path] = packed.read(size).decode("utf-8", "replace")
        packed.readline()
    return found


def _run_git(mirror: Path, *arguments: str, given: str = "") -> bytes:
    command = ["git", "-C", str(mirror), *arguments]
    done = subprocess.run(command, check=False, capture_output=True, input=given.encode())
    return done.stdout  # as far as it came: a mirror may lack objects


def take_sentence(docstring: str) -> str:
    """Return the first sentence of a docstring, or the first two if that is short."""
    text = _MARKUP.sub(" ", docstring).strip().split("\n\n")[0]
    sentences = re.split(r"(?<=[.!?])\s+", " ".join(text.strip("/#-! \n").split()))
    first = sentences[0]
    if len(first.split()) < 6 and len(sentences) > 1:
        first = f"{first} {sentences[1]}"
    words = first.split()
    return " ".join(words[:40]) if len(words) >= 4 and first.isascii() else ""


def format_bare(scope: Scope) -> str:
    """Return the text of a scope without its docstring, wherever that stands in it."""
    source = scope.indexed_text
    for line in scope.docstring.splitlines():
        if len(line.strip()) > 8:
            source = source.replace(line.strip(), "")
    parts = f"{scope.file} {scope.qualified_name}", scope.signature, source[:1_500]
    return "\n".join(parts)[:TEXT_CHARS]


def format_outline(path: str, scopes: tuple[Scope, ...]) -> str:
    """Return the names in a file, without docstrings."""
    lines = [f"{path} {s.qualified_name} {s.signature}" for s in scopes if s.type != MODULE]
    return "\n".join([path, *lines])[:TEXT_CHARS]


def _ask_by_tests(tests: list[tuple[str, str]], outlines: Mapping[str, str]) -> Iterator[Pair]:
    stems: dict[str, list[str]] = defaultdict(list)
    for path in outlines:
        stems[Path(path).stem.lower()].append(path)
    for path, name in tests:
        targets = stems.get(_TEST_FILE.sub("", Path(path).stem).lower(), [])
        words = re.sub(r"_+|(?<=[a-z])(?=[A-Z])", " ", name).strip().lower()
        if len(targets) == 1 and 3 <= len(words.split()) <= 12:
            yield Pair("test", words, outlines[targets[0]])


def _ask_by_commits(
    mirror: Path, outlines: Mapping[str, str], chance: random.Random
) -> Iterator[Pair]:
    options = "--no-merges", "--no-renames", f"-n{COMMITS_READ}", "--name-only", "--format=%x00%s"
    log = _run_git(mirror, "log", *options).decode("utf-8", "replace")
    for entry in log.split("\0")[1:]:
        subject, *paths = [line for line in entry.splitlines() if line] or [""]
        subject = clean_subject(subject)
        code = [path for path in paths if _CODE.search(path) and not is_secondary(path)]
        there = [path for path in code if path in outlines]
        if subject and len(code) <= 3 and there:
            yield Pair("commit", subject, outlines[chance.choice(there)])


def clean_subject(subject: str) -> str:
    """Return what a commit's subject says, or nothing if it says too little."""
    text = re.sub(r"\s*\(?#\d+\)?|^\[?\w+(\(.*?\))?\]?:\s*", "", subject).strip()
    telling = 4 <= len(text.split()) <= 20 and not _NO_SUBJECT.search(text)
    return text if telling else ""


def find_sections(text: str) -> Iterator[Pair]:
    """Yield the headings of a document, each with the text below it."""
    marks = list(_HEADING.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=False):  # a text without headings has an end too
        heading, body = mark[1] or mark[2], text[mark.end() : end].strip()
        if 3 <= len(heading.split()) <= 15 and len(body) > 80 and "license" not in heading.lower():
            yield Pair("section", heading, body[:1_500])


if __name__ == "__main__":
    main()
