"""Render: fill templates. Every text is escaped unless it is marked as our own HTML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context, select_autoescape
from starlette.responses import HTMLResponse

from ragforge.domain.instants import now
from ragforge.resources import read_resource
from ragforge.show.console import spell_controls
from ragforge.show.hunks import Line, read_hunks
from ragforge.show.sessions import format_age, shorten_id
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
        "age": _format_age,
        "number": lambda value: f"{value:,}",
        "lexer": guess_language,
        "plain": strip_marks,
    }
    return found


@pass_context
def _format_age(context: Context, moment: datetime) -> str:
    return translate_age(format_age(moment, now()), context["language"])


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


@cache
def load_texts(language: str) -> Mapping[str, str]:
    """Return the texts of the page in a language by the English ones; English has no file."""
    texts: Mapping[str, str] = json.loads(read_resource(f"web/languages/{language}.json"))
    return texts


def choose_language(header: str) -> str:
    """Return `fr` or `en`, whichever an Accept-Language header prefers."""
    best, weight = "en", 0.0
    for part in header.lower().split(",")[:20]:
        name, _, quality = part.strip().partition(";q=")
        language = name.partition("-")[0]
        try:
            value = float(quality) if quality else 1.0
        except ValueError:
            continue
        if language in ("en", "fr") and value > weight:
            best, weight = language, value
    return best


def translate(text: str, language: str) -> str:
    """Return a text of the page in a language."""
    return load_texts("fr").get(text, text) if language == "fr" else text


def translate_age(age: str, language: str) -> str:
    """Return how long ago something was, such as `3 days ago`, in a language."""
    if language != "fr" or not age.endswith(" ago"):
        return translate(age, language)
    return f"il y a {age.removesuffix(' ago').replace('day', 'jour')}"


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
