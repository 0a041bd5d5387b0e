"""Render: fill templates. Every text is escaped unless it is marked as our own HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import zip_longest
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context, select_autoescape
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from ragforge.domain.conversations import name_other
from ragforge.show.console import spell_controls
from ragforge.show.hunks import Line, read_hunks
from ragforge.show.sessions import shorten_id
from ragforge.web.language import (
    choose_language,
    format_ago,
    format_count,
    format_day,
    format_moment,
    format_money,
    format_month,
    format_number,
    format_size,
    format_weekday,
    translate,
    translate_told,
)

if TYPE_CHECKING:
    from jinja2.runtime import Context
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from starlette.requests import Request

    from ragforge.web.access import Access

# Values that a form or a script sends back. Quotation marks inside of them are escaped.
_SENT_BACK = re.compile(r'((?:value|data-[a-z]+)="[^"]*")')


_LOCAL: Mapping[str, Callable[..., str]] = {
    "age": format_ago,
    "count": format_count,
    "day": format_day,
    "decimal": lambda value, digits, language: format_number(value, language, digits),
    "moment": format_moment,
    "money": format_money,
    "month": format_month,
    "number": format_number,
    "say": translate_told,
    "size": format_size,
    "weekday": format_weekday,
}
"""Filters whose result depends on the language of the page."""


@cache
def load_templates() -> Environment:
    """Return the templates of the package, with autoescape on for all of them."""
    found = Environment(
        loader=PackageLoader("ragforge.web"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        auto_reload=False,  # they change only with an upgrade, which needs a restart
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "markdown": format_markdown,
        "colour": colour_code,
        "diff": format_diff,
        "pairs": pair_lines,
        "short": shorten_id,
        **{name: _localise(form) for name, form in _LOCAL.items()},
        "lexer": guess_language,
        "plain": strip_marks,
        "project": name_project,
    }
    return found


def name_project(path: str) -> str:
    """Return the name of a project: that of its folder."""
    return PurePath(path).name or path


def _localise(form: Callable[..., str]) -> Callable[..., str]:
    """Return a filter that gives a function the language of the page as its last argument."""

    @pass_context
    def apply(context: Context, *given: object) -> str:
        return form(*given, language=context["language"])

    return apply


def render(request: Request, template: str, status: int = 200, /, **values: object) -> HTMLResponse:
    """Return a page: a template filled with values, in the language of the browser."""
    access: Access = request.app.state.access
    language = choose_language(request.headers.get("accept-language", ""))
    text = (
        load_templates()
        .get_template(template)
        .render(
            base=access.base,
            language=language,
            t=partial(translate, language=language),
            form_token=access.form_token,
            other=lambda author: name_other(author, request.app.state.app.identity.key),
            path=request.url.path.removeprefix(access.base),
            **values,
        )
    )
    text = _spell_hidden(text)
    # Lone surrogates are in some transcripts and in no UTF-8.
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def _spell_hidden(page: str) -> str:
    """Spell out invisible characters of a page: controls, and those that reverse a text.

    It works on the whole page, so that no template can forget it.
    """
    parts = _SENT_BACK.split(page) if spell_controls(page) != page else [page]
    forms = "&lt;U+{:04X}&gt;", "&#x{:X};"
    return "".join(spell_controls(part, forms[at % 2]) for at, part in enumerate(parts))


class Side(NamedTuple):
    """One line of a column; its number is 0 where it is not known."""

    kind: str
    number: int
    text: str


class Row(NamedTuple):
    """Two lines side by side; a heading spans both columns."""

    left: Side | None
    right: Side | None
    heading: str = ""


def pair_lines(diff: str) -> list[Row]:
    """Return a unified diff as rows: removed lines on the left, added lines on the right."""
    hunks, rest = read_hunks(diff)
    rows = []
    for at, hunk in enumerate(hunks):
        if hunk.heading or at:  # the first one without numbers needs no separator
            rows.append(Row(None, None, hunk.heading or "@@"))
        rows += _pair(hunk.lines)
    return rows + [Row(Side("same", 0, line), Side("same", 0, line)) for line in rest]


def _pair(lines: Sequence[Line]) -> Iterator[Row]:
    gone: list[Side] = []
    came: list[Side] = []

    def flush() -> Iterator[Row]:
        yield from (Row(left, right) for left, right in zip_longest(gone, came))
        gone.clear()
        came.clear()

    for line in lines:
        if line.sign == " " or (line.sign == "-" and came):  # another change right behind
            yield from flush()
        if line.sign == "-":
            gone.append(Side("del", line.old, line.text))
        elif line.sign == "+":
            came.append(Side("ins", line.new, line.text))
        else:
            yield Row(Side("same", line.old, line.text), Side("same", line.new, line.text))
    yield from flush()


COLOURED_CHARS = 100_000
"""Code that is longer is shown without colours: they would take seconds."""
MARKDOWN_CHARS = 300_000
"""A longer text is shown as plain text."""
_SIGNS = re.compile(r"```\w*|[*`]+")
_STARTS = re.compile(r"\|+|^ *(?:#+|[-+]) ", re.MULTILINE)
_SAFE_SCHEMES = ("http://", "https://", "mailto:")


def format_markdown(text: str) -> Markup:
    """Return a text as HTML. Its own HTML is shown as text; links show where they lead."""
    if len(text) > MARKDOWN_CHARS:
        return Markup("<pre>{}</pre>").format(text)
    return Markup(_load_parser().render(text))


def strip_marks(text: str) -> str:
    """Return Markdown on one line without its marks."""
    return " ".join(_STARTS.sub(" ", _SIGNS.sub("", text)).split())


def colour_code(code: str, language: str) -> Markup:
    """Return code with a class for each kind of word; without, if its language is not known."""
    if not language or len(code) > COLOURED_CHARS:
        return escape(code)
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return escape(code)
    return Markup(highlight(code, lexer, HtmlFormatter(nowrap=True)))


def guess_language(path: str) -> str:
    """Return the name of the language of a file, empty if it is unknown."""
    from pygments.lexers import find_lexer_class_for_filename

    found = find_lexer_class_for_filename(path.rsplit("/", 1)[-1][-80:] or "x")
    return found.aliases[0] if found is not None and found.aliases else ""


def format_diff(diff: str) -> Markup:
    """Return a unified diff with a class for lines that come and go."""
    kinds = {"+": "ins", "-": "del", "@": "hunk"}
    lines = []
    for line in diff.split("\n"):
        kind = "head" if line.startswith(("+++", "---")) else kinds.get(line[:1], "same")
        lines.append(Markup('<span class="line {}">{}</span>').format(kind, line or " "))
    return Markup("").join(lines)  # each is a block element


@cache
def _load_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(
        ["table", "strikethrough"]
    )
    parser.add_render_rule("image", _show_image)
    parser.add_render_rule("link_open", _open_link)
    parser.add_render_rule("link_close", _close_link)
    parser.add_render_rule("fence", _show_fence)
    parser.add_render_rule("code_block", _show_fence)
    return parser


def _show_fence(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any
) -> str:
    token = tokens[at]
    language = (token.info.split() or [""])[0].lower()
    if language == "diff":
        return str(Markup('<pre class="diff">{}</pre>').format(format_diff(token.content)))
    shown = colour_code(token.content, language)
    return str(Markup('<pre class="code"><code>{}</code></pre>').format(shown))


def _show_image(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any
) -> str:
    """Show an image as its text and address: loading it would tell its server that it was read."""
    token = tokens[at]
    return str(
        Markup('<span class="image">[{}] <code>{}</code></span>').format(
            token.content or "image", str(token.attrGet("src") or "")[:200]
        )
    )


def _open_link(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    target = _get_target(tokens[at])
    if not target.lower().startswith(_SAFE_SCHEMES):
        return '<span class="link">'
    return str(Markup('<a href="{}" rel="noreferrer noopener" target="_blank">').format(target))


def _close_link(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any
) -> str:
    """End a link, and show its target: its text may name another one."""
    opened, depth = at, 0
    while True:
        opened -= 1
        depth += {"link_close": 1, "link_open": -1}.get(tokens[opened].type, 0)
        if depth < 0:
            break
    target = _get_target(tokens[opened])
    text = "".join(token.content for token in tokens[opened + 1 : at])
    end = "</a>" if target.lower().startswith(_SAFE_SCHEMES) else "</span>"
    shown = Markup("") if text == target else Markup(' <span class="target">{}</span>')
    return end + str(shown.format(target[:300]))


def _get_target(token: Token) -> str:
    return str(token.attrGet("href") or "")
