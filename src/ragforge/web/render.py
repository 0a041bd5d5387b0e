"""Render: templates become pages. Every text is escaped unless it is marked as HTML of ours."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache, partial
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context, select_autoescape
from starlette.responses import HTMLResponse

from ragforge.domain.instants import now
from ragforge.show.console import spell_controls
from ragforge.show.sessions import format_age, shorten_id
from ragforge.web.diffs import pair_lines
from ragforge.web.language import choose_language, translate, translate_age
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


# What a form or a script sends back. A quotation mark in a text is escaped, so it opens none.
_SENT_BACK = re.compile(r'((?:value|data-[a-z]+)="[^"]*")')


@cache
def load_templates() -> Environment:
    """Return the templates of the package, with autoescape on for all of them."""
    found = Environment(
        loader=PackageLoader("ragforge.web"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        auto_reload=False,  # a package that is upgraded meanwhile is another program
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
    """Return a page that shows what cannot be seen: controls, and what reverses a text.

    The whole page is looked at, so that no template can forget it.
    """
    parts = _SENT_BACK.split(page) if spell_controls(page) != page else [page]
    forms = "&lt;U+{:04X}&gt;", "&#x{:X};"
    return "".join(spell_controls(part, forms[at % 2]) for at, part in enumerate(parts))
