"""Markdown, code and diffs as safe HTML: without HTML of the text, and without images."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token

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
