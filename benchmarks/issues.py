"""Real issues, the code as it was when each was written, and the functions that fixed it."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEVELOPMENT = {
    "sphinx": "sphinx-doc/sphinx",
    "astropy": "astropy/astropy",
    "matplotlib": "matplotlib/matplotlib",
    "django": "django/django",
    "scikit-learn": "scikit-learn/scikit-learn",
    "sympy": "sympy/sympy",
}
"""The repositories whose issues may be looked at; those of others are for a final check."""
_HUNK = re.compile(r"@@ -(\d+)")


@dataclass(frozen=True, slots=True)
class Function:
    """A function that a fix changed, with its lines before the fix."""

    path: str
    name: str  # qualified
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue, and what was changed to fix it."""

    id: str
    repository: str
    commit: str  # what the fix was made on
    text: str
    files: tuple[str, ...]
    functions: tuple[Function, ...]  # none if only lines outside functions were changed


@dataclass(frozen=True, slots=True)
class Checkout:
    """A repository's history, and a tree that shows one commit of it."""

    history: Path
    tree: Path

    def switch_to(self, commit: str) -> None:
        """Make the tree show a commit."""
        self.tree.mkdir(parents=True, exist_ok=True)
        if not (self.tree / ".git").exists():
            command = ["git", "clone", "-q", "--shared", "--no-checkout"]
            subprocess.run([*command, str(self.history), str(self.tree)], check=True)
        # It fails if a mirror lacks a large file, though all others are there then.
        self._git(self.tree, "checkout", "-q", "-f", commit, check=False)
        if self._git(self.tree, "rev-parse", "HEAD").strip() != commit:
            sys.exit(f"{self.tree} cannot show {commit}.")
        self._git(self.tree, "clean", "-q", "-f", "-d", "-x")

    def read(self, commit: str, path: str) -> str:
        """Return a file at a commit; empty if there is none."""
        return self._git(self.history, "show", f"{commit}:{path}", check=False)

    def order(self, commits: Sequence[str]) -> dict[str, int]:
        """Return when commits were made. Those that the history lacks are left out."""
        times: dict[str, int] = {}
        for commit in commits:
            shown = self._git(self.history, "show", "-s", "--format=%ct", commit, check=False)
            if shown.strip():
                times[commit] = int(shown)
        return times

    def _git(self, folder: Path, *arguments: str, check: bool = True) -> str:
        command = ["git", "-C", str(folder), *arguments]
        done = subprocess.run(command, capture_output=True, check=check)
        return done.stdout.decode("utf-8", errors="replace")


def read_issues(
    file: Path, checkouts: Mapping[str, Checkout], every: Mapping[str, int]
) -> dict[str, list[Issue]]:
    """Return the issues of some repositories, oldest commit first; of many, every n-th.

    Exits if the data is not there.
    """
    if not file.is_file():
        sys.exit(f"{file} is missing: SWE-bench Lite, one JSON object a line.")
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        rows[row["repo"]].append(row)
    found: dict[str, list[Issue]] = {}
    for name, checkout in checkouts.items():
        some = rows[DEVELOPMENT[name]]
        times = checkout.order([row["base_commit"] for row in some])
        some = [row for row in some if row["base_commit"] in times]
        some.sort(key=lambda row: (times[row["base_commit"]], row["instance_id"]))
        found[name] = [_make_issue(name, row, checkout) for row in some[:: every.get(name, 1)]]
    return found


def _make_issue(name: str, row: dict[str, Any], checkout: Checkout) -> Issue:
    changed = _list_changed_lines(row["patch"])
    functions: dict[Function, None] = {}
    for path, lines in changed.items():
        inside = list(_list_functions(path, checkout.read(row["base_commit"], path)))
        for line in lines:
            around = [one for one in inside if one.start_line <= line <= one.end_line]
            if around:
                functions[min(around, key=lambda one: one.end_line - one.start_line)] = None
    return Issue(
        row["instance_id"],
        name,
        row["base_commit"],
        row["problem_statement"],
        tuple(changed),
        tuple(functions),
    )


def _list_changed_lines(patch: str) -> dict[str, list[int]]:
    """Return the lines of each file that a patch removes, or before which it adds some."""
    changed: dict[str, list[int]] = {}
    lines: list[int] = []
    number = 0
    for line in patch.splitlines():
        if line.startswith("--- "):
            path = line[4:].strip().removeprefix("a/")
            lines = [] if path == "/dev/null" else changed.setdefault(path, [])
        elif line.startswith("diff ") or line.startswith("+++ "):
            continue
        elif hunk := _HUNK.match(line):
            number = int(hunk[1])
        elif line.startswith("-"):
            lines.append(number)
            number += 1
        elif line.startswith("+"):
            lines.append(number)
        else:
            number += 1
    return changed


def _list_functions(path: str, source: str) -> Iterator[Function]:
    """Yield the functions of a Python file, without those inside functions."""
    if not path.endswith(".py"):
        return
    pending: list[tuple[str, ast.AST]] = [("", ast.parse(source))]
    while pending:
        outer, node = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                pending.append((f"{outer}{child.name}.", child))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                start = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                yield Function(path, outer + child.name, start, child.end_lineno or start)
            else:
                pending.append((outer, child))
