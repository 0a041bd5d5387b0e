"""Render: fill templates. Every text is escaped unless it is marked as our own HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import zip_longest
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context, select_autoescape
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
from ragforge.web.markdown import (
    colour_code,
    format_diff,
    format_markdown,
    guess_language,
    strip_marks,
)

if TYPE_CHECKING:
    from jinja2.runtime import Context
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
