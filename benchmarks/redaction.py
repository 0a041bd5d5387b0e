"""Redaction: are secrets found, is ordinary code left alone, and what does it cost?

Samples are those of the tests. False positives are lines of real code that change: the standard
library, the installed packages and this project. Passwords that tests and examples make up are not
secrets, but no program could tell: they are counted separately, and shown like the others.
"""

from __future__ import annotations

import ast
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, make_parser, require, save
from ragforge.memory.secrets.redact import redact
from tests.fakes.further_secrets import FURTHER, GAPS, grep_key
from tests.fakes.secrets import KEYS, LOOK_ALIKES, NAMED, Sample, shaped

SHOWN = 100
PLACE = ("value of ", " (status 403)\n")


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """A line of real code that redaction changes."""

    path: str
    line: str
    is_example: bool  # of a test, a comment or a docstring


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000, help="of real code to read")
    options = parser.parse_args(arguments)
    results = measure_samples() | measure_code(options.lines)
    for name, value in results.items():
        print(f"{name}: {value}")
    caught, every = (
        sum(one[key] for one in results.values() if isinstance(one, dict) and key in one)
        for key in ("caught", "samples")
    )
    require(caught > 0.9 * every, f"Only {caught} of {every} secrets are found.")
    floor = results["floor (lower case and one search), MB per CPU second"]
    peer = f"lower case and one search {floor} MB"
    rows = [
        Row("secrets that are found", round(caught / every, 4), "", 1.0, f"{every} samples", True),
        Row("false positives in 100,000 lines", results["per 100,000 lines"], ""),
        Row("redaction, in a CPU second", results["MB per CPU second"], "MB", peer=peer),
    ]
    save("redaction", results, rows)


def measure_samples() -> dict[str, Any]:
    """Return how many samples and kinds are found, and which are not."""
    by_kind = {
        "known kinds": [*shaped(), *NAMED],
        "hidden in places": list(GAPS),
        "further kinds": [Sample(PLACE[0], key, PLACE[1], kind) for kind, key in FURTHER.items()],
    }
    results: dict[str, Any] = {}
    for name, samples in by_kind.items():
        missed = [sample for sample in samples if sample.secret in redact(sample.text)]
        results[name] = {
            "samples": len(samples),
            "caught": len(samples) - len(missed),
            "kinds": len({sample.what for sample in samples}),
            "kinds missed": sorted({sample.what for sample in missed}),
        }
    text, lines = grep_key()
    results["lines of a key left by grep"] = sum(line in redact(text) for line in lines)
    results["look-alikes changed"] = sum(redact(text) is not text for text in LOOK_ALIKES)
    results["shapes with a key"] = len(KEYS) + len(FURTHER)
    return results


def measure_code(maximum: int) -> dict[str, Any]:
    """Return the false positives per 100,000 lines and the throughput over real code."""
    texts = list(_read_code(maximum))
    lines = sum(text.count("\n") for _, text in texts)
    size = sum(len(text) for _, text in texts)
    start = time.process_time()
    done = [redact(text) for _, text in texts]
    seconds = time.process_time() - start
    start = time.process_time()
    for _, text in texts:
        text.lower().find("\0 no text holds this")
    floor = time.process_time() - start
    changed = [
        one
        for (path, text), new in zip(texts, done, strict=True)
        if new is not text
        for one in _list_changes(path, text, new)
    ]
    false = [one for one in changed if not one.is_example]
    for one in changed[:SHOWN]:
        print("example" if one.is_example else "FALSE  ", one.path, "|", one.line.strip()[:120])
    return {
        "lines": lines,
        "false positives": len(false),
        "per 100,000 lines": round(len(false) / lines * 100_000, 3),
        "made-up passwords in tests and examples": len(changed) - len(false),
        "in files": dict(Counter(one.path for one in changed).most_common(10)),
        "MB per CPU second": round(size / 1e6 / seconds, 1),
        "floor (lower case and one search), MB per CPU second": round(size / 1e6 / floor, 1),
    }


def _read_code(maximum: int) -> Iterator[tuple[str, str]]:
    """Yield the paths and texts of real code, up to this many lines, without samples of secrets."""
    paths = sysconfig.get_paths()
    own = Path(__file__).parent.parent / "src"
    lines = 0
    for root in (own, Path(paths["stdlib"]), Path(paths["purelib"])):
        for path in sorted(root.rglob("*.py")):
            if root == Path(paths["stdlib"]) and "site-packages" in path.parts:
                continue
            text = path.read_text("utf-8", "replace")
            yield str(path.relative_to(root)), text
            lines += text.count("\n")
            if lines >= maximum:
                return


def _list_changes(path: str, text: str, new: str) -> Iterator[ChangedLine]:
    examples = set(_find_docstring_lines(text))
    for number, (before, after) in enumerate(
        zip(text.split("\n"), new.split("\n"), strict=True), 1
    ):
        if before != after:
            is_example = "test" in path or number in examples or before.lstrip().startswith("#")
            yield ChangedLine(path, before, is_example)


def _find_docstring_lines(text: str) -> Iterator[int]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


if __name__ == "__main__":
    main()
