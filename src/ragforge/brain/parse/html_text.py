"""HTML text: a web page as Markdown that people and models can read.

Headings, code blocks, lists, tables and links are kept. What is not the page's own text, such as
navigation and scripts, is left out; so is what a reader of the page would not see.

The standard library's parser takes quadratic time on pages that are made for it. Here every
character is examined a fixed number of times: what is never closed ends the page, as in the HTML
standard.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from html import unescape
from urllib.parse import urljoin

from ragforge.records import dataclass

_TAG_NAME = re.compile(r"/?[A-Za-z][^\s/>]*")
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>]+))?""")
# A quote counts only after a `=`, and only if it is closed: not in <p title=it's>.
_END_OF_TAG = re.compile(r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+>""")
RAW = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"))
"""Elements whose content is text up to their own end, whatever it looks like."""
MAX_ATTRIBUTE_CHARS = 5_000
MIN_MAIN = 200
"""Minimum number of characters for the main part of a page to be returned as the whole page."""
MAX_LINK_CHARS = 300
DEEPEST = 6
"""Lists are indented to this depth: a page may nest them without end."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LEFT_OUT = frozenset(
    """script style template noscript svg math canvas iframe object audio video nav footer aside
    form button select datalist dialog textarea noembed noframes map""".split()  # noqa: SIM905
)
_VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()  # noqa: SIM905
)
_OPTIONAL_END_TAGS = frozenset(
    "p li dt dd tr td th thead tbody tfoot option html body head".split()  # noqa: SIM905
)
"""Elements that may have no end tag: where a hidden one ends is unknown."""
_BLOCKS = frozenset(
    """address article blockquote body center dd details div dl dt fieldset figcaption figure
    header hgroup hr li main ol p section summary table tbody tfoot thead tr ul""".split()  # noqa: SIM905
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|highlight)-([\w+#-]+)")
_BLANKS = re.compile(r"\s+")
_ANCHOR_SIGNS = frozenset(("", "¶", "#", "§", "🔗", "\uf0c1"))


@dataclass(frozen=True, slots=True)
class Tag:
    """The start or the end of an element."""

    name: str
    is_end: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict)


def read_tokens(html: str) -> Iterator[Tag | str]:
    """Yield the tags of a page and the texts between them, references replaced."""
    at = 0
    while (start := html.find("<", at)) >= 0:
        named = _TAG_NAME.match(html, start + 1)
        if named is None and html[start + 1 : start + 2] not in ("!", "?", "/"):
            at_text = html.find("<", start + 1)  # only a sign, as in `a < b`
            end = len(html) if at_text < 0 else at_text
            yield unescape(html[at:end])
            at = end
            continue
        if start > at:
            yield unescape(html[at:start])
        if named is None:
            at = _skip_declaration(html, start)
            continue
        closed = _END_OF_TAG.match(html, named.end())
        if closed is None:
            return
        at = closed.end()
        tag = _read_tag(named[0], html[named.end() : at - 1])
        yield tag
        if tag.name in RAW and not tag.is_end:
            end = _find_end(html, tag.name, at)
            yield unescape(html[at:end])
            at = end
    if at < len(html):
        yield unescape(html[at:])


def _skip_declaration(html: str, start: int) -> int:
    """Return where a comment or declaration ends."""
    is_comment = html.startswith("<!--", start)
    end = html.find("-->", start + 2) if is_comment else html.find(">", start)
    return len(html) if end < 0 else end + (3 if is_comment else 1)


def _read_tag(name: str, inside: str) -> Tag:
    if name.startswith("/"):
        return Tag(name[1:].lower(), is_end=True)
    attributes: dict[str, str] = {}
    for found in _ATTRIBUTE.finditer(inside[:MAX_ATTRIBUTE_CHARS]):
        value = found[2] or ""
        if value[:1] in ("'", '"'):
            value = value[1:-1]
        attributes.setdefault(found[1].lower(), unescape(value))
    return Tag(name.lower(), attributes=attributes)


def _find_end(html: str, name: str, start: int) -> int:
    """Return where the end of a raw element begins, or the end of the page."""
    found = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(html, start)
    return len(html) if found is None else found.start()


@dataclass(frozen=True, slots=True)
class HtmlText:
    """The title of a page and its text as Markdown."""

    title: str
    text: str


def convert_html(html: str, url: str) -> HtmlText:
    """Return the readable text of a page. It never raises: any text has some."""
    writer = _Writer(url)
    for token in read_tokens(html):
        if isinstance(token, str):
            writer.add_text(token)
        elif token.is_end:
            writer.end(token.name)
        else:
            writer.start(token)
    return writer.finish()


@dataclass(slots=True)
class _Block:
    """A paragraph, heading, item or code block that is finished."""

    text: str
    is_main: bool
    kind: str = ""  # "item" or "row": between two of a kind there is no empty line


@dataclass(slots=True)
class _Writer:
    """Writes down the page element by element."""

    url: str
    title: str = ""
    blocks: list[_Block] = field(default_factory=list)
    line: list[str] = field(default_factory=list)  # of the block that is being written
    lists: list[int | None] = field(default_factory=list)  # numbers of the open lists
    cells: list[list[str]] | None = None  # of the open row of a table, with their texts
    rows: int = 0  # of the open table
    code: list[str] | None = None  # the text of an open code block
    code_language: str = ""
    heading: int = 0
    mark: str = ""  # of the item that is being written
    quotes: int = 0
    mains: int = 0
    link: str = ""
    link_start: int = 0
    skipped: str = ""  # the element that is left out, and how deep it is in itself
    depth: int = 0
    in_title: bool = False

    def start(self, tag: Tag) -> None:
        """Begin an element."""
        name = tag.name
        if self.skipped:
            self.depth += name == self.skipped
        elif name in _LEFT_OUT or _is_hidden(tag):
            self.skipped, self.depth = name, 1
        elif name == "title":
            self.in_title = not self.title
        elif self.code is not None:
            if name == "br":
                self.code.append("\n")
            elif name == "code":
                self.code_language = self.code_language or _find_language(tag)
        elif act := _STARTS.get(name):
            act(self, tag)
        elif name in _BLOCKS:
            self._flush()

    def end(self, name: str) -> None:
        """End an element."""
        if self.skipped:
            self.depth -= name == self.skipped
            if not self.depth:
                self.skipped = ""
        elif name == "title":
            self.in_title = False
        elif name == "pre":
            self._end_code()
        elif self.code is None:
            if act := _ENDS.get(name):
                act(self)
            elif name in _BLOCKS or name in _HEADINGS:
                self._flush()

    def add_text(self, text: str) -> None:
        """Add a text to what is being written."""
        if self.skipped:
            return
        if self.in_title:
            self.title = _BLANKS.sub(" ", text).strip()
        elif self.code is not None:
            self.code.append(text)
        else:
            self.line.append(text)

    def finish(self) -> HtmlText:
        """Return all that was written."""
        self._end_code()
        self._end_row()
        self._flush()
        main = [block for block in self.blocks if block.is_main]
        chosen = main if sum(len(block.text) for block in main) >= MIN_MAIN else self.blocks
        parts: list[str] = []
        before = ""
        for block in chosen:
            is_tight = block.kind and block.kind == before
            parts.append(block.text if is_tight or not parts else f"\n{block.text}")
            before = block.kind
        return HtmlText(self.title, "\n".join(parts))

    def _flush(self) -> None:
        """Finish the block that is being written, if it has any text."""
        self._end_link()
        text = _BLANKS.sub(" ", "".join(self.line)).replace(" \0 ", "\n").replace("\0", "\n")
        self.line.clear()
        text, heading, mark = text.strip(), self.heading, self.mark
        self.heading, self.mark = 0, ""
        if not text:
            self.mark = mark  # of an item whose text is in an inner element
            return
        if self.cells is not None:
            if self.cells:
                self.cells[-1].append(text)
        elif heading:
            self._add(f"{'#' * heading} {text.replace(chr(10), ' ')}")
        elif self.lists:
            indent = "  " * (min(len(self.lists), DEEPEST) - 1)
            lead = mark or "  "
            lines = text.replace("\n", f"\n{indent}{' ' * len(lead)}")
            self._add(f"{indent}{lead}{lines}", "item" if mark else "")
        else:
            self._add(text)

    def _add(self, text: str, kind: str = "") -> None:
        if self.quotes:
            text = "> " + text.replace("\n", "\n> ")
        self.blocks.append(_Block(text, self.mains > 0, kind))

    def _start_heading(self, tag: Tag) -> None:
        self._flush()
        self.heading = _HEADINGS[tag.name]

    def _start_item(self, tag: Tag) -> None:
        self._flush()
        number = self.lists[-1] if self.lists else None
        self.mark = "- " if number is None else f"{number}. "
        if number is not None:
            self.lists[-1] = number + 1

    def _start_list(self, tag: Tag) -> None:
        self._flush()
        self.lists.append(1 if tag.name == "ol" else None)

    def _end_list(self) -> None:
        self._flush()
        self.mark = ""
        if self.lists:
            self.lists.pop()

    def _start_quote(self, tag: Tag) -> None:
        self._flush()
        self.quotes += 1

    def _end_quote(self) -> None:
        self._flush()
        self.quotes = max(0, self.quotes - 1)

    def _start_main(self, tag: Tag) -> None:
        self._flush()
        self.mains += 1

    def _end_main(self) -> None:
        self._flush()
        self.mains = max(0, self.mains - 1)

    def _start_code(self, tag: Tag) -> None:
        self._flush()
        self.code, self.code_language = [], _find_language(tag)

    def _end_code(self) -> None:
        if self.code is None:
            return
        text = "".join(self.code).strip("\n").rstrip()
        language, self.code, self.code_language = self.code_language, None, ""
        if self.cells is not None:
            self.line.append(f" {text} ")
        elif text:
            longest = max((len(run) for run in re.findall("`+", text)), default=0)
            fence = "`" * max(3, longest + 1)
            self._add(f"{fence}{language}\n{text}\n{fence}")

    def _mark_code(self, tag: Tag | None = None) -> None:
        self.line.append("`")

    def _break_line(self, tag: Tag) -> None:
        self.line.append(" \0 ")

    def _start_table(self, tag: Tag) -> None:
        self._end_row()
        self._flush()
        self.rows = 0

    def _start_row(self, tag: Tag) -> None:
        self._end_row()
        self._flush()
        self.cells = []

    def _start_cell(self, tag: Tag) -> None:
        if self.cells is not None:
            self._flush()
            self.cells.append([])

    def _end_row(self) -> None:
        if self.cells is None:
            return
        self._flush()
        cells, self.cells = self.cells, None
        if any(cells):
            texts = (" ".join(" ".join(cell).split()) for cell in cells)
            row = " | ".join(text.replace("|", "\\|") for text in texts)
            head = "" if self.rows else f"\n|{' --- |' * len(cells)}"
            self._add(f"| {row} |{head}", "row")
            self.rows += 1

    def _start_link(self, tag: Tag) -> None:
        self._end_link()
        self.link, self.link_start = tag.attributes.get("href", ""), len(self.line)

    def _end_link(self) -> None:
        """Write a link as Markdown; of one to a place on the same page only the text."""
        link, self.link = self.link, ""
        if not link:
            return
        written = _BLANKS.sub(" ", "".join(self.line[self.link_start :]))
        text = written.strip()
        try:
            target = urljoin(self.url, link.strip())
        except ValueError:
            return
        if text in _ANCHOR_SIGNS:
            del self.line[self.link_start :]
        elif (
            target.startswith(("https://", "http://"))
            and not link.startswith("#")
            and len(target) <= MAX_LINK_CHARS
            and not any(sign in target for sign in " ()<>\n\t")
            and "\0" not in text
        ):
            around = written.replace(text, f"[{text}]({target})", 1)
            self.line[self.link_start :] = [around]


_STARTS: dict[str, Callable[[_Writer, Tag], None]] = {
    **dict.fromkeys(_HEADINGS, _Writer._start_heading),
    "li": _Writer._start_item,
    "dt": _Writer._start_item,
    "ul": _Writer._start_list,
    "ol": _Writer._start_list,
    "blockquote": _Writer._start_quote,
    "main": _Writer._start_main,
    "article": _Writer._start_main,
    "pre": _Writer._start_code,
    "code": _Writer._mark_code,
    "br": _Writer._break_line,
    "table": _Writer._start_table,
    "tr": _Writer._start_row,
    "td": _Writer._start_cell,
    "th": _Writer._start_cell,
    "a": _Writer._start_link,
}
_ENDS: dict[str, Callable[[_Writer], None]] = {
    "ul": _Writer._end_list,
    "ol": _Writer._end_list,
    "blockquote": _Writer._end_quote,
    "main": _Writer._end_main,
    "article": _Writer._end_main,
    "code": _Writer._mark_code,
    "tr": _Writer._end_row,
    "table": _Writer._end_row,
    "a": _Writer._end_link,
}


def _is_hidden(tag: Tag) -> bool:
    """Tell whether a reader of the page does not see an element."""
    if tag.name in _VOID or tag.name in _OPTIONAL_END_TAGS or not tag.attributes:
        return False
    return (
        "hidden" in tag.attributes
        or tag.attributes.get("aria-hidden", "").lower() == "true"
        or _HIDDEN_STYLE.search(tag.attributes.get("style", "")) is not None
    )


def _find_language(tag: Tag) -> str:
    found = _LANGUAGE.search(tag.attributes.get("class", ""))
    return "" if found is None else found[1]
