"""Draft instructions: an AGENTS.md out of what is known of a project's code.

It holds only facts: folders, commands, the files that most others use. What the project's people
want of an agent only they can say; a model may add what it reads.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ragforge.brain.files.beneath import open_parent, read_bytes
from ragforge.domain.code import MODULE, File, FileFilter, ScopeFilter
from ragforge.domain.schema import FILE, PROJECT, SCOPE
from ragforge.domain.text import to_one_line
from ragforge.errors import InputError
from ragforge.llm.prompts import load_prompt
from ragforge.ports.store import Store
from ragforge.search.rank_paths import is_secondary

AGENTS_FILE = "AGENTS.md"
MAX_FOLDERS = 12
MAX_FILES = 8
MAX_COMMANDS = 12
_TARGET = re.compile(r"^([A-Za-z][\w-]*)\s*:(?!=)(?:[^#\n]*##\s*(.+))?", re.MULTILINE)
_USUAL = {
    "Cargo.toml": ("cargo build", "cargo test"),
    "go.mod": ("go build ./...", "go test ./..."),
    "pom.xml": ("mvn test",),
    "build.gradle": ("./gradlew test",),
    "mix.exs": ("mix test",),
}


async def draft_instructions(store: Store, project_id: str, root: Path) -> str:
    """Return the text of a new AGENTS.md. Raises ProjectNotFound if the code is not read yet."""
    name = (await store.records.get(PROJECT, project_id)).name
    files = await store.records.find(FILE, FileFilter(project_id))
    used = await _describe_used_files(store, project_id, files)
    parts = [
        f"# {name}",
        _format_list("Folders", _describe_folders(files)),
        _format_list("Commands", find_commands(str(root))),
        _format_list("Where to begin", used),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def word_task(draft: str, wishes: str = "") -> str:
    """Return what a model is asked, so that it writes the file."""
    task = load_prompt("ragforge.agent.prompts", "init")
    parts = (task, wishes and f"The user adds: {wishes}", f"The draft:\n\n{draft}")
    return "\n\n".join(filter(None, parts))


def save_instructions(root: Path, text: str) -> None:
    """Write the file, if there is none yet. Raises InputError."""
    try:
        with open_parent(str(root), AGENTS_FILE) as place:
            with suppress(FileNotFoundError):
                place.stat()
                raise InputError(
                    f"{AGENTS_FILE} already exists. With a chat model, /init updates it."
                )
            place.replace(text.encode(), 0o644)
    except OSError as error:
        raise InputError(f"{AGENTS_FILE} cannot be written: {error.strerror}.") from error


async def _describe_used_files(store: Store, project_id: str, files: Sequence[File]) -> list[str]:
    """Return the files that most others import, each with what it says of itself."""
    paths = [file.path for file in files if file.kind == "code" and not is_secondary(file.path)]
    counts = Counter(await store.code.importers(project_id, paths))
    lines = []
    for path, importers in counts.most_common(MAX_FILES):
        scopes = await store.records.find(SCOPE, ScopeFilter(project_id, [path]))
        module = next((scope for scope in scopes if scope.type == MODULE), None)
        about = to_one_line(module.docstring.strip().partition("\n")[0]) if module else ""
        uses = "one file" if importers == 1 else f"{importers} files"
        lines.append(f"`{path}`, which {uses} import" + (f": {about}" if about else ""))
    return lines


def _describe_folders(files: Sequence[File]) -> list[str]:
    """Return the folders of the root, and those in one that holds most of the code."""
    code = [file for file in files if file.kind == "code"]
    inside = Counter("/".join(file.path.split("/")[:2]) for file in code if "/" in file.path)
    tops = Counter(file.path.split("/")[0] for file in code if "/" in file.path)
    lines = []
    for folder, many in tops.most_common(MAX_FOLDERS):
        within = Counter(
            file.language for file in code if file.path.startswith(f"{folder}/") and file.language
        )
        languages = ", ".join(name for name, _ in within.most_common(2))
        inner = [
            f"`{path.split('/')[1]}/`"
            for path, _ in inside.most_common()
            if path.startswith(f"{folder}/") and "." not in path.split("/")[1]
        ]
        text = f"`{folder}/`: {many} files" + (f" of {languages}" if languages else "")
        lines.append(f"{text}, in {', '.join(inner[:6])}" if inner else text)
    return lines


def find_commands(root: str) -> list[str]:
    """Return the commands that a project's own files name, each with what it is for."""
    return [*_list_commands(root)][:MAX_COMMANDS]


def _list_commands(root: str) -> Iterator[str]:
    for target, purpose in _TARGET.findall(_read(root, "Makefile")):
        yield f"`make {target}`" + (f": {purpose.strip()}" if purpose else "")
    scripts = _parse_json(_read(root, "package.json")).get("scripts")
    if isinstance(scripts, Mapping):
        for name, line in scripts.items():
            yield f"`npm run {name}`: `{to_one_line(str(line))}`"
    python = _parse_toml(_read(root, "pyproject.toml"))
    tools = python.get("tool", {})
    if "pytest" in tools:
        yield "`pytest`"
    if "ruff" in tools:
        yield "`ruff check .` and `ruff format .`"
    if "mypy" in tools:
        yield "`mypy`"
    for file, commands in _USUAL.items():
        if _read(root, file):
            yield from (f"`{command}`" for command in commands)


def _format_list(title: str, lines: Sequence[str]) -> str:
    return f"## {title}\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""


def _read(root: str, name: str) -> str:
    try:
        return read_bytes(root, name).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _parse_json(text: str) -> Mapping[str, object]:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _parse_toml(text: str) -> Mapping[str, Mapping[str, object]]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}
