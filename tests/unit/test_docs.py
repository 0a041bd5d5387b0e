"""Docs: what the pages name exists, and their lines and tables are easy to read."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer._click.exceptions import UsageError
from typer.core import TyperGroup
from typer.main import get_command

from ragforge.cli import main
from ragforge.cli.arguments import arrange
from ragforge.config.dotted_keys import ALIASES, list_keys, list_sections

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "ragforge"
GENERATED = {"docs/api.md"}  # its lines are signatures and docstrings
MAX_LINE = 120
MAX_ROW = 170
WIDE = {"docs/graph.md"}  # its rows are written by a script
MAX_SENTENCES = 2

PATTERNS = [
    *("README.md", "CONTRIBUTING.md", "benchmarks/README.md"),
    *("docs/*.md", "docs/agents/*.md", "docs/decisions/*.md"),
]
PAGES = sorted(page for pattern in PATTERNS for page in ROOT.glob(pattern))
WRITTEN = [page for page in PAGES if page.relative_to(ROOT).as_posix() not in GENERATED]
TOPS = {"docs", "tests", "benchmarks", "scripts", "training", "deploy", "plugins", "examples"}
NOT_OURS = {  # names in other projects and protocols
    "docs/style.md",
    "docs/prompts.md",
    "docs/decisions/NNNN-….md",
    "tests/test_orders.py",
    "tools/call",
    "tools/list",
}
FILE_ENDINGS = ("yaml", "yml", "json", "jsonc", "toml", "md", "db", "log", "zst")
SHELL_WORDS = {"|", "&&", ";", ">", "<"}


@dataclass(frozen=True)
class Line:
    """A line of a page outside of its code blocks."""

    number: int
    text: str


@cache
def read_page(page: Path) -> str:
    return page.read_text("utf-8")


@cache
def list_prose(page: Path) -> list[Line]:
    """Return the lines that are not part of a code block."""
    lines, is_code = [], False
    for number, text in enumerate(read_page(page).splitlines(), 1):
        if text.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            lines.append(Line(number, text))
    return lines


@cache
def list_code(page: Path) -> list[Line]:
    """Return the lines of the code blocks."""
    outside = {line.number for line in list_prose(page)}
    lines = enumerate(read_page(page).splitlines(), 1)
    return [Line(number, text) for number, text in lines if number not in outside]


@cache
def list_paragraphs(page: Path) -> list[Line]:
    """Return paragraphs, and rows of tables, each on one line with the number of its first line."""
    paragraphs: list[Line] = []
    last = 0  # the number of the line before, if its paragraph can continue
    for line in list_prose(page):
        is_alone = is_table(line.text) or line.text.startswith("#")
        if not line.text.strip() or is_alone or line.number != last + 1:
            paragraphs.append(line)
        else:
            before = paragraphs[-1]
            paragraphs[-1] = Line(before.number, f"{before.text} {line.text.strip()}")
        last = 0 if is_alone or not line.text.strip() else line.number
    return paragraphs


def list_spans(page: Path) -> Iterator[tuple[int, str]]:
    """Return the code between backticks in prose, with the line where its paragraph begins."""
    for line in list_paragraphs(page):
        for span in re.findall(r"``(.+?)``|`([^`]+)`", line.text):
            yield line.number, "".join(span).strip()


def name_page(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def is_table(text: str) -> bool:
    return text.startswith("|")


# Names of files, modules, functions and settings


@cache
def list_rooms() -> frozenset[str]:
    return frozenset(folder.name for folder in SOURCE.iterdir() if folder.is_dir())


@cache
def read_folder(folder: Path) -> str:
    """Return the code of a module, or of the modules right in a folder."""
    files = [folder] if folder.is_file() else sorted(folder.glob("*.py"))
    return "\n".join(file.read_text("utf-8") for file in files)


def defines(place: Path, name: str) -> bool:
    """Tell whether a module defines or exports a name, or a module in a folder defines it."""
    pattern = rf"(?:def|class) {name}\b"
    if place.is_file():
        pattern += rf"|^\s*{name}\b.*[:=]|\"{name}\""
    return re.search(pattern, read_folder(place), re.MULTILINE) is not None


def resolve_dotted(name: str, start: Path) -> bool:
    """Tell whether a dotted name leads from a folder to a module or to what it defines."""
    place = start
    parts = name.split(".")
    for at, part in enumerate(parts):
        if (place / part).is_dir():
            place /= part
        elif (place / f"{part}.py").is_file():
            place /= f"{part}.py"
        else:
            return all(defines(place, one) for one in parts[at:])
    return True


def has_path(name: str, page: Path) -> bool:
    """Tell whether a path exists: in the repository, in its source or next to the page."""
    pattern = re.sub(r"<[^>]+>|…", "*", name.rstrip("/").split("#")[0])
    return any(
        any(start.glob(pattern)) if "*" in pattern else (start / pattern).exists()
        for start in (ROOT, SOURCE, page.parent)
    )


def is_file_name(name: str) -> bool:
    return name.rpartition(".")[2] in FILE_ENDINGS


def list_missing_names(page: Path) -> Iterator[str]:
    # In benchmarks/README.md, `results/…` and `questions/…` are next to the page.
    tops = TOPS | list_rooms()
    if page.parent.name == "benchmarks":
        tops |= {"results", "questions"}
    for number, span in list_spans(page):
        words = span.split()
        if words[:2] == ["python", "-m"] and words[2].split(".")[0] in TOPS:
            if not resolve_dotted(words[2], ROOT):
                yield f"{number}: {words[2]}"
            continue
        if span in NOT_OURS or len(words) != 1:
            continue
        is_path = re.fullmatch(r"[\w<>*…-][\w./<>*…+-]*/[\w./<>*…+-]*(#L\d+)?", span)
        is_ours = is_path and (span.startswith("src/ragforge/") or span.split("/")[0] in tops)
        if is_ours and not has_path(span, page):
            yield f"{number}: {span}"
        is_dotted = re.fullmatch(r"ragforge(\.[A-Za-z_]\w*)+", span) and not is_file_name(span)
        if is_dotted and not resolve_dotted(span, SOURCE.parent):
            yield f"{number}: {span}"


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_every_file_and_module_that_a_page_names_exists(page: Path) -> None:
    assert list(list_missing_names(page)) == []


@cache
def list_settings() -> frozenset[str]:
    return frozenset((*list_keys(), *list_sections(), *ALIASES))


def list_missing_settings(page: Path) -> Iterator[str]:
    sections = {key.split(".")[0] for key in list_keys() if "." in key}
    for number, span in list_spans(page):
        name = re.split(r"[:=]\s", span)[0].removesuffix(".*")
        if not re.fullmatch(r"[a-z]\w*(\.\w+)+", name) or is_file_name(name):
            continue
        room = name.split(".")[0]
        if name in list_settings():
            continue
        if room in sections | list_rooms() and not resolve_dotted(name, SOURCE):
            yield f"{number}: {name}"


@pytest.mark.parametrize("page", WRITTEN, ids=name_page)
def test_every_dotted_name_is_a_setting_or_is_in_a_room(page: Path) -> None:
    assert list(list_missing_settings(page)) == []


# Commands and their options


@cache
def build_tree() -> Any:
    return get_command(main.build_program())


@cache
def list_options(command: Any) -> dict[str, bool]:
    """Return the options of a command, and whether each takes a value."""
    found = {"--help": False, "-h": False}
    for one in command.params:
        if one.param_type_name == "option":
            found |= dict.fromkeys((*one.opts, *one.secondary_opts), not one.is_flag)
    return found


def list_shown_commands(page: Path) -> Iterator[tuple[int, str]]:
    """Return the commands that a page shows, in prose and in code blocks."""
    for number, span in list_spans(page):
        if re.match(r"ragforge( |$)", span):
            yield number, span
    for line in list_code(page):
        found = re.match(r"(?:\$ )?(?:[A-Z_]+=\S+ )*(?:.* \| )?(ragforge(?: .*)?)$", line.text)
        if found:
            yield line.number, re.split(r"\s{2,}", found[1])[0]


def split_command(text: str) -> list[str]:
    """Split a command into words, without what follows it in the shell."""
    text = re.sub(r"\\\||[\[\]]", " ", text)
    try:
        words = shlex.split(text, comments=True)
    except ValueError:  # a quote that ends on another line
        words = text.split()
    ends = [at for at, word in enumerate(words) if word in SHELL_WORDS]
    return words[1 : ends[0] if ends else None]


def find_unknown(words: list[str]) -> str | None:
    """Return the first word of a command that the program does not know."""
    command = build_tree()
    root = list_options(command)
    skips = False
    for word in words:
        if skips:
            skips = False
        elif re.fullmatch(r"--?[A-Za-z][\w-]*(=.*)?", word):
            name = word.split("=")[0]
            options = root | list_options(command)
            if name not in options:
                return name
            skips = options[name] and "=" not in word
        elif isinstance(command, TyperGroup):
            # A line of output such as "ragforge 0.9.0", or a placeholder, is not a command.
            if not re.fullmatch(r"[a-z][a-z-]+", word):
                return None
            if word not in command.commands:
                return word
            command = command.get_command(None, word)
    return None


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_every_command_that_a_page_shows_exists_with_its_options(page: Path) -> None:
    shown = [(number, text, split_command(text)) for number, text in list_shown_commands(page)]
    unknown = [(number, text, find_unknown(words)) for number, text, words in shown]
    assert [one for one in unknown if one[2] is not None] == []


def list_run_commands(page: Path) -> Iterator[tuple[int, str]]:
    """Return the commands of code blocks; lines that end with a backslash are joined."""
    joined: list[Line] = []
    for line in list_code(page):
        if joined and joined[-1].text.endswith(" \\"):
            begun = joined[-1].text.removesuffix("\\")
            joined[-1] = Line(joined[-1].number, begun + line.text.strip())
        else:
            joined.append(Line(line.number, line.text))
    for line in joined:
        found = re.match(r"(?:\$ )?(?:[A-Z_]+=\S+ )*(?:.* \| )?(ragforge(?: .*)?)$", line.text)
        if found and not re.match(r"ragforge \d", found[1]):
            yield line.number, re.split(r"\s{2,}", found[1])[0]


def parse_command(words: list[str]) -> str | None:
    """Parse a command as the program does, without running it; return what is wrong with it."""
    with ExitStack() as stack:
        try:
            context = build_tree().make_context("ragforge", arrange(words))
            stack.enter_context(context)
            while isinstance(context.command, TyperGroup):
                given = [*context._protected_args, *context.args]
                if not given:
                    break
                name, command, rest = context.command.resolve_command(context, given)
                context = command.make_context(name, rest, parent=context)
                stack.enter_context(context)
        except Exception as error:
            return error.format_message() if isinstance(error, UsageError) else str(error)
    return None


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_every_command_in_a_block_of_code_is_one_that_the_program_takes(page: Path) -> None:
    wrong = [
        (number, text, problem)
        for number, text in list_run_commands(page)
        if (problem := parse_command(split_command(text))) is not None
    ]
    assert wrong == []


# Links


@cache
def list_anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as GitHub creates them, and explicit ones."""
    explicit = re.findall(r'<a id="([^"]+)">', read_page(page))
    headings = (line.text for line in list_prose(page) if line.text.startswith("#"))
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text.lstrip("# ")) for text in headings)
    made = (re.sub(r"[^\w\s-]", "", text.lower()).replace(" ", "-") for text in plain)
    return frozenset((*made, *explicit))


def list_broken_links(page: Path) -> Iterator[str]:
    for line in list_paragraphs(page):
        for text, target in re.findall(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)", line.text):
            if re.match(r"\w+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists() or (anchor and anchor not in list_anchors(file)):
                yield f"{line.number}: {target}"
            elif file.suffix == ".py" and text.startswith("`"):
                names = text.strip("`").removesuffix("()").split(".")
                if not all(defines(file, name) for name in names):
                    yield f"{line.number}: {text} in {path}"


@pytest.mark.parametrize("page", WRITTEN, ids=name_page)
def test_every_link_leads_to_a_file_a_heading_or_a_function(page: Path) -> None:
    assert list(list_broken_links(page)) == []


def test_every_page_is_in_the_list_of_the_readme() -> None:
    listed = set(re.findall(r"\]\((docs/[\w/-]+\.md)", read_page(ROOT / "README.md")))
    pages = {page.relative_to(ROOT).as_posix() for page in ROOT.glob("docs/*.md")}
    assert pages - listed == set()


# Lines and tables


def list_long_lines(page: Path) -> Iterator[str]:
    for line in list_prose(page):
        is_prose = not is_table(line.text) and not re.match(r"<|\[[^\]]+\]: ", line.text)
        if is_prose and len(line.text) > MAX_LINE:
            yield f"{line.number}: {len(line.text)} characters"


@pytest.mark.parametrize("page", WRITTEN, ids=name_page)
def test_no_line_of_prose_is_too_long(page: Path) -> None:
    assert list(list_long_lines(page)) == []


@pytest.mark.parametrize("page", WRITTEN, ids=name_page)
def test_no_row_of_a_table_is_too_wide(page: Path) -> None:
    rows = [line for line in list_prose(page) if is_table(line.text)]
    wide = [row.number for row in rows if len(row.text) > MAX_ROW]
    assert name_page(page) in WIDE or wide == []


def count_sentences(cell: str) -> int:
    """Count the sentences of a cell; code and links count as words."""
    text = re.sub(r"``.+?``|`[^`]*`", "X", cell)
    text = re.sub(r"\]\([^)]*\)", "]", text).strip()
    return len(re.findall(r"[.!?][)\"”*]*(?=\s+[\[(\"“*]*[A-Z0-9])", text)) + bool(text)


def list_full_cells(page: Path) -> Iterator[str]:
    for line in list_prose(page):
        if is_table(line.text):
            cells = re.split(r"(?<!\\)\|", line.text)
            if any(count_sentences(cell) > MAX_SENTENCES for cell in cells):
                yield f"{line.number}: {line.text[:60]}"


@pytest.mark.parametrize("page", WRITTEN, ids=name_page)
def test_no_cell_of_a_table_has_more_than_two_sentences(page: Path) -> None:
    assert list(list_full_cells(page)) == []


# The checks themselves


@pytest.mark.parametrize(
    ("command", "unknown"),
    [
        ("ragforge search x --in memory -k 1", None),
        ("ragforge --model ollama:qwen3 ask x", None),
        ("ragforge web [--port N] [--no-open]", None),
        ("ragforge store query x [--json\\|--csv]", None),
        ("ragforge serch x", "serch"),
        ("ragforge sessions lst", "lst"),
        ("ragforge ask --yess x", "--yess"),
        ("ragforge ask x | grep --yess", None),
    ],
)
def test_a_command_that_does_not_exist_is_found(command: str, unknown: str | None) -> None:
    assert find_unknown(split_command(command)) == unknown


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("ragforge search x --in memory -k 1", None),
        ("ragforge -r 9719cf4e", None),
        ("ragforge search x --in cellar", "'cellar' is not one of"),
        ("ragforge search x -k many", "valid integer"),
        ("ragforge sessions show", "Missing argument"),
        ("ragforge import x", "unexpected extra argument"),
    ],
)
def test_a_command_that_the_program_refuses_is_found(command: str, problem: str | None) -> None:
    found = parse_command(split_command(command))
    assert found is None if problem is None else problem in str(found)


@pytest.mark.parametrize(
    ("cell", "count"),
    [
        ("", 0),
        ("one", 1),
        ("One. Two", 2),
        ("One (`a. B`). See [two. x](y.md). Three.", 3),
        ("0.5 of 1.0, e.g. here", 1),
    ],
)
def test_sentences_of_a_cell_are_counted(cell: str, count: int) -> None:
    assert count_sentences(cell) == count


@pytest.mark.parametrize(
    ("name", "is_there"),
    [
        ("ragforge.errors.InputError", True),
        ("ragforge.memory.notes", True),
        ("ragforge.memory.nothing", False),
        ("ragforge.errors.NoSuchError", False),
        ("ragforge.tools.permission.PermissionRequest", True),
        ("ragforge.tools.permit.Wish", False),
    ],
)
def test_a_dotted_name_that_does_not_exist_is_found(name: str, is_there: bool) -> None:
    assert resolve_dotted(name, SOURCE.parent) == is_there
