"""Mine questions about code whose answers are known, to learn the ranking on.

    python -m training.rank_mine --mirrors FOLDER --work FOLDER

For every repository of `rank_sources.json` it writes its files to `WORK/trees/NAME` and questions,
in the form of the code-search benchmark, to `WORK/questions/NAME.json`:

- the first sentence of a docstring asks for the file of its scope; the docstring is blanked in
  the tree, or the question would find itself;
- the subject of a commit asks for the one to three files that it changed;
- the name of a test asks for the file that the test's file is named after.

No repository of the code-search benchmark or of SWE-bench may be listed there.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from ragforge.brain.parse.read_source import parse
from ragforge.search.rank_paths import is_secondary

SOURCES = Path(__file__).with_name("rank_sources.json")
SEED = 20
OF_DOCSTRINGS, OF_COMMITS, OF_TESTS = 60, 60, 20
"""The most questions of each kind that a repository gives."""
COMMITS_READ = 4_000

_CODE = re.compile(r"\.(c|cc|cpp|cs|go|h|java|js|kt|php|py|rb|rs|swift|ts)$")
_NO_SUBJECT = re.compile(
    r"\b(merge|bump|release|version|changelog|typos?|lint|format|revert|readme|docs?|ci)\b", re.I
)
_MARKUP = re.compile(r"<[^>]*>|\{@\w+|[`{}\[\]]|:\w+:")
_SENTENCE = re.compile(r"[^.!?\n]*(?:\n(?!\n)[^.!?\n]*)*")
_TEST = re.compile(r"^(?:test_?)(\w{12,})$", re.I)
_TEST_FILE = re.compile(r"(?:^test_|[._-]?tests?$|[._-]spec$)", re.I)

Question = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--mirrors", type=Path, required=True, help="OWNER+NAME/repo, bare clones")
    parser.add_argument("--work", type=Path, required=True)
    chosen = parser.parse_args()
    sources = json.loads(SOURCES.read_text("utf-8"))
    (chosen.work / "questions").mkdir(parents=True, exist_ok=True)
    for source in sources:
        mirror = chosen.mirrors / source["github"].replace("/", "+") / "repo"
        tree = chosen.work / "trees" / source["name"]
        _export(mirror, source, tree)
        chance = random.Random(SEED)  # the same questions whichever repositories are mined
        questions = [
            *_ask_by_tests(tree, chance),
            *_ask_by_commits(mirror, source, tree, chance),
            *_ask_by_docstrings(tree, chance),
        ]
        source["pairs"] = len(questions)
        target = chosen.work / "questions" / f"{source['name']}.json"
        target.write_text(json.dumps(questions, indent=1), "utf-8")
        print(f"{source['name']:<24} {len(questions)}", flush=True)
    lines = ",\n".join(f"  {json.dumps(source)}" for source in sources)
    SOURCES.write_text(f"[\n{lines}\n]\n", "utf-8")


def _export(mirror: Path, source: dict[str, Any], tree: Path) -> None:
    """Write the files of a repository at its revision."""
    command = ["git", "-C", str(mirror), "archive", f"{source['revision']}:{source['root']}"]
    packed = subprocess.run(command, check=True, capture_output=True).stdout
    tree.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(tree, filter="data")


def _list_code(tree: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(tree.rglob("*")):
        if _CODE.search(path.name) and path.is_file() and not path.is_symlink():
            yield path.relative_to(tree).as_posix(), path


def _make(text: str, category: str, paths: list[str]) -> Question:
    return {"query": text, "category": category, "relevant": paths, "secondary": []}


def _ask_by_docstrings(tree: Path, chance: random.Random) -> list[Question]:
    """Return questions that are docstrings, and blank those in the tree."""
    found: list[tuple[str, Path, str, str]] = []
    for name, path in _list_code(tree):
        if not is_secondary(name):
            text = path.read_text("utf-8", "replace")
            for one in parse(name, text).definitions:
                first = _SENTENCE.match(_MARKUP.sub("", one.docstring).strip())
                sentence = " ".join(first[0].split()) if first else ""
                if one.type != "module" and 5 <= len(sentence.split()) <= 20:
                    found.append((name, path, sentence, one.docstring))
    chosen = chance.sample(found, min(OF_DOCSTRINGS, len(found)))
    for _, path, _, docstring in chosen:
        text = path.read_text("utf-8", "replace")
        for line in docstring.splitlines():
            if len(line.strip()) > 8:
                text = text.replace(line.strip(), "")
        path.write_text(text, "utf-8")
    return [_make(sentence, "docstring", [name]) for name, _, sentence, _ in chosen]


def _ask_by_commits(
    mirror: Path, source: dict[str, Any], tree: Path, chance: random.Random
) -> list[Question]:
    """Return questions that are the subjects of commits."""
    command = ["git", "-C", str(mirror), "log", "--no-merges", f"-n{COMMITS_READ}"]
    command += ["--name-only", "--format=%x00%s", source["revision"], "--", source["root"] or "."]
    log = subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8", "replace")
    root, found = f"{source['root']}/" if source["root"] else "", list[Question]()
    for entry in log.split("\0")[1:]:
        subject, *paths = filter(None, entry.splitlines())
        subject = re.sub(r"\s*\(?#\d+\)?|^\[?\w+(\(.*?\))?\]?:\s*", "", subject).strip()
        inside = [path.removeprefix(root) for path in paths if path.startswith(root)]
        code = [path for path in inside if _CODE.search(path) and not is_secondary(path)]
        there = [path for path in code if (tree / path).is_file()]
        telling = 4 <= len(subject.split()) <= 20 and not _NO_SUBJECT.search(subject)
        if telling and 1 <= len(code) <= 3 and len(there) == len(code):
            found.append(_make(subject, "commit", there))
    return chance.sample(found, min(OF_COMMITS, len(found)))


def _ask_by_tests(tree: Path, chance: random.Random) -> list[Question]:
    """Return questions that are the words of a test's name."""
    code = list(_list_code(tree))
    stems: dict[str, list[str]] = {}
    for name, path in code:
        if not is_secondary(name):
            stems.setdefault(path.stem.lower(), []).append(name)
    found = []
    for name, path in code:
        targets = stems.get(_TEST_FILE.sub("", path.stem).lower(), [])
        if is_secondary(name) and len(targets) == 1:
            for one in parse(name, path.read_text("utf-8", "replace")).definitions:
                if match := _TEST.match(one.name):
                    words = re.sub(r"_+|(?<=[a-z])(?=[A-Z])", " ", match[1]).strip().lower()
                    if 3 <= len(words.split()) <= 12:
                        found.append(_make(words, "test", targets))
    return chance.sample(found, min(OF_TESTS, len(found)))


if __name__ == "__main__":
    main()
