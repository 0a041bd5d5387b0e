"""Prose: the sections of documents that are not Markdown, by the headings of each format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from ragforge.brain.languages.table import detect_language
from ragforge.brain.parse.chunks import outline_chunks
from ragforge.brain.parse.markdown import Heading, find_headings, outline_sections
from ragforge.brain.parse.outline import Outline
from ragforge.domain.code import SECTION

_ROW = re.compile(r"([=\-~^\"'`#*+.:_<>])\1{2,}[ \t\r]*$")
_ASCIIDOC = re.compile(r"(={1,6})[ \t]+(\S.*?)(?:[ \t]+=+)?[ \t\r]*$")
_ASCIIDOC_BLOCK = re.compile(r"(-{4,}|\.{4,}|={4,}|\+{4,}|/{4,}|```)[ \t\r]*$")
_ORG = re.compile(r"(\*{1,6})[ \t]+(\S.*?)[ \t\r]*$")


# Lists of packages and logs are data, though they have the ending of a text.
_DATA = re.compile(
    r"(?:^|/)(?:[\w.-]*(?:requirements|constraints)[\w.-]*\.txt|robots\.txt|[^/]*\.log)$",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"""(?:^|/)(?:readme|changes|changelog|news|history|releases?|contributing|authors|contributors
    |maintainers|licen[sc]e|copying|copyright|notice|install|upgrading|todo|faq|hacking|bugs
    |security|support|thanks|credits)[^/.]*$""",
    re.IGNORECASE | re.VERBOSE,
)


def is_prose(path: str) -> bool:
    """Tell whether a file is a document, by its ending or by a name such as README."""
    if "." in path.rpartition("/")[2].lstrip("."):
        return not _DATA.search(path) and detect_language(path) in FORMATS
    return _BARE.search(path) is not None


def outline_prose(language: str, path: str, text: str) -> Outline:
    """Return the outline of a document; without headings, in chunks of about sixty lines."""
    lines = text.removeprefix("\ufeff").split("\n")
    headings = list(FORMATS[language](lines))
    if not headings:
        return outline_chunks(language, path, text, SECTION)
    return outline_sections(language, path, lines, headings)


def _find_underlined(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield titles with a row of signs below, or above and below.

    Each document chooses its signs: the first that appears is level 1, the next level 2.
    """
    levels: dict[tuple[str, bool], int] = {}
    for number, line in enumerate(lines):
        if number == 0 or line[:1].isalnum() or (below := _ROW.match(line)) is None:
            continue  # true for nearly all lines
        title = lines[number - 1].rstrip()
        if not title or _ROW.match(title):
            continue
        above = _ROW.match(lines[number - 2]) if number > 1 else None
        over = above is not None and above[1] == below[1]
        if not over and (title[0].isspace() or (number > 1 and lines[number - 2].strip())):
            continue  # the last line of a paragraph, or of a block
        if len(line.rstrip()) < min(len(title.strip()), 6):
            continue
        level = levels.setdefault((below[1], over), len(levels) + 1)
        yield Heading(title.strip(), level, number - 2 if over else number - 1)


def _find_plain(lines: Sequence[str]) -> Sequence[Heading]:
    """Return the headings of a plain text: underlined or marked, whichever are more."""
    underlined = list(_find_underlined(lines))
    if not any(line.startswith("#") for line in lines):
        return underlined
    marked = list(find_headings(lines))
    return marked if len(marked) > len(underlined) else underlined


def _find_asciidoc(lines: Sequence[str]) -> Iterator[Heading]:
    yield from _find_marked(lines, _ASCIIDOC, _ASCIIDOC_BLOCK)


def _find_org(lines: Sequence[str]) -> Iterator[Heading]:
    yield from _find_marked(lines, _ORG, re.compile(r"#\+(?:begin|end)_", re.IGNORECASE))


def _find_marked(
    lines: Sequence[str], heading: re.Pattern[str], block: re.Pattern[str]
) -> Iterator[Heading]:
    """Yield lines that start with as many signs as their level, outside of code blocks."""
    inside = ""
    for number, line in enumerate(lines):
        if fence := block.match(line):
            kind = fence[0].strip()[:2]
            inside = "" if inside == kind else inside or kind
        elif not inside and (found := heading.match(line)):
            yield Heading(found[2], len(found[1]), number)


FORMATS: dict[str, Callable[[Sequence[str]], Iterable[Heading]]] = {
    "asciidoc": _find_asciidoc,
    "org": _find_org,
    "restructuredtext": _find_underlined,
    "text": _find_plain,
}
