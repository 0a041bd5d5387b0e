"""English: words that read like a translation are in no name and no text of the project."""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

REPLACEMENTS = {
    r"(?<!there )\b(is|are|was|were) no (?!more\b|way\b|one\b|\w+er\b)[a-z'\"{`]": "is not a",
    r"\b(no|some|any)body\b": "no one, another user",
    r"\bbesides?\b": "next to, in addition to, under load",
    r"\banew\b": "again, recreated",
    r"\bso many\b": "N, the number of",
    r"\bstands? (in|for|there|at|between|before|after|first|around|on)\b": "is in, means",
    r"(?<!let )(?<!leave )(?<!left )(?<!leaves )\balone\b": "only",
    r"\b(takes?|took|taken|taking) in\b": "imports, reads",
    r"\b(gives?|gave|given|giving) back\b": "returns",
    r"\b(goes|went|going|go) on\b(?! to\b)": "continues",
    r"\bof (its|their|one's|his) own\b": "separate, custom",
    r"\bcannot be called so\b": "invalid arguments",
    r"\bwhat bears on\b": "relevant",
    r"\bto be so\b": "that way",
}
"""What to look for, and what programmers write instead."""

NAMES = frozenset({"anew", "alone", "beside", "nobody", "somebody", "most", "least"})
"""Words that are no part of a name: `MAX_LINKS` and `limit`, not `MOST_LINKS` and `most`."""

DATA = frozenset(
    {
        "src/ragforge/cli/arguments.py",
        "src/ragforge/originals/files.py",
        "src/ragforge/search/words/lexicon.py",
        "src/ragforge/search/question/software.py",
        "tests/unit/test_english.py",
    }
)
"""Files that hold such words as data."""


def list_files(*endings: str) -> list[Path]:
    folders = (ROOT / "src", ROOT / "docs")
    files = [file for folder in folders for file in folder.rglob("*") if file.suffix in endings]
    files += [file for file in ROOT.glob("*") if file.suffix in endings]
    return sorted(file for file in files if str(file.relative_to(ROOT)) not in DATA)


def list_texts(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the strings and comments of Python; of pages each line outside of code blocks."""
    text = file.read_text("utf-8")
    if file.suffix != ".py":
        is_code = False
        for number, line in enumerate(text.splitlines(), 1):
            is_code ^= line.lstrip().startswith("```")
            if not is_code:
                yield number, line
        return
    kinds = (tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds:
            yield from enumerate(token.string.splitlines(), token.start[0])


@cache
def read_texts(file: Path) -> list[tuple[int, str]]:
    return list(list_texts(file))


@pytest.mark.parametrize("pattern", REPLACEMENTS)
def test_texts_are_in_the_words_that_programmers_use(pattern: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {text.strip()}"
        for file in list_files(".py", ".md")
        for line, text in read_texts(file)
        if re.search(pattern, text, re.IGNORECASE)
    ]

    assert not found, f"write {REPLACEMENTS[pattern]!r} instead:\n" + "\n".join(found)


def test_names_are_in_the_words_that_programmers_use() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{token.start[0]}: {token.string}"
        for file in list_files(".py")
        for token in tokenize.generate_tokens(io.StringIO(file.read_text("utf-8")).readline)
        if token.type == tokenize.NAME
        and not keyword.iskeyword(token.string)
        and token.string != "most_common"  # of the standard library
        and NAMES.intersection(token.string.lower().split("_"))
    ]

    assert not found, "\n".join(found)
