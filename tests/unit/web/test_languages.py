"""Languages: no page shows a text, a number or a date of another language than its own.

All that is stored here is written in Cyrillic, and all translations are put between marks. So every
Latin word that a page shows outside of marks was not translated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from html.parser import HTMLParser

import pytest

pytest.importorskip("jinja2", reason="the extra web is not installed")

from starlette.routing import Route

from ragforge.domain.instants import now
from ragforge.domain.receipts import (
    SECTIONS,
    Layout,
    LeftOut,
    Receipt,
    ReceiptItem,
    RequestPart,
    SearchReport,
)
from ragforge.domain.schema import CONVERSATION, MESSAGE, NOTE
from ragforge.domain.work import NewJob
from ragforge.web import language as languages
from ragforge.web.access import Access
from ragforge.web.language import (
    LANGUAGES,
    format_count,
    format_day,
    format_money,
    format_number,
    format_size,
    load_texts,
    translate_told,
)
from ragforge.web.site import build_site
from tests.fakes.builders import (
    assistant,
    conversation,
    level_2,
    note,
    reference,
    summary,
    tool_call,
    tool_result,
    user,
)
from tests.fakes.jobs import fail_job
from tests.unit.web.conftest import Page, commit

UUID = "9719cf4e-0000-4000-8000-000000000031"
CHILD = "9719cf4e-0000-4000-8000-000000000032"
DIFF = "@@ -1,2 +1,2 @@\n-а = 1\n+а = 2\n б = 3\n"
CODE = "import os\n\n\ndef скидка(цена):\n    return цена\n\n\ndef касса():\n    return скидка(1)\n"
OTHERS = tuple(one for one in LANGUAGES if one != "en")

PAGES = (
    "/search?q=скидка",
    "/search?q=ничего",
    "/search?q=скидка&file=нет",
    f"/sessions/{UUID}",
    f"/sessions/{UUID}?from=20",
    f"/sessions/{CHILD}",
    f"/sessions/{UUID}/receipt?turn=0",
    "/context?q=скидка",
    "/code?name=скидка",
    "/code?name=shop.py",
    "/code?name=нет",
    "/code/changes?file=shop.py&since=2026-01-05T12:00:00Z",
    "/map?by=lately",
    "/map?by=stale",
    f"/graph?node=session:{UUID}",
    "/graph?node=file:shop.py",
    "/notes?q=нет",
    "/store/forget?project={project}",
    "/enter",
    "/нет",
)
"""Besides the addresses without parameters, which are found in the site."""

SAME = {
    *("Sessions", "Code", "Notes", "Agent", "Arguments", "Score", "Source", "commit", "session"),
    *("note", "notes", "sessions", "type", "code", "documents", "instructions", "question"),
    *("mode", "ok", "module", "trait", "interface", "macro", "section", "1 commit"),
    *("{n} commits", "note {id}", "{n} ms", "{n} s", "{n} min {m} s", "Relation", "Type"),
}
"""Texts that are the same in English and in another language."""

_EMPTY = frozenset({"br", "col", "hr", "img", "input", "link", "meta", "rect"})
_QUOTED = frozenset({"code", "pre", "kbd", "script", "style"})
_READ = ("title", "aria-label", "placeholder", "alt", "data-state", "data-failed", "data-found")
_WORD = re.compile(r"(?<![\w.@])[A-Za-z]{2,}(?![\w.])")
_FORM = re.compile(r"\b\d{4}-\d{2}-\d{2}\b|\d,\d{3}\b|\b\d+\.\d+\b")


class Reader(HTMLParser):
    """Collects what a page shows and says, without names, code and quoted messages."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        is_quoted = bool(self._open and self._open[-1][1]) or tag in _QUOTED
        is_quoted |= given.get("translate") == "no" or (tag != "html" and "lang" in given)
        if not is_quoted:
            self.texts += [given[name] or "" for name in _READ if name in given]
        if tag not in _EMPTY:
            self._open.append((tag, is_quoted))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _EMPTY:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not (self._open and self._open[-1][1]):
            self.texts.append(data)


def drop_translations(text: str) -> str:
    """Return a text without what is between marks, one within the other."""
    shorter = re.sub(r"⟦[^⟦⟧]*⟧", " ", text.replace("RagForge", ""))
    return text if shorter == text else drop_translations(shorter)


def find_untranslated(page: str) -> set[str]:
    """Return the words, numbers and dates of a page that are in no translation."""
    reader = Reader()
    reader.feed(page)
    found = set()
    for text in map(drop_translations, reader.texts):
        found |= {*_WORD.findall(text), *_FORM.findall(text)}
    return found


@pytest.fixture
async def shop(page: Page) -> Page:
    """A page over a store that has something of everything."""
    app, store = page.app, page.app.store
    commit(app.project_path, CODE, "Касса")
    (app.project_path / "test.py").write_text("from shop import скидка\n")
    await app.code.ingest()
    own = {"project_id": app.project.id, "updated_at": now() - timedelta(days=3)}
    edit = tool_call("правка", result=tool_result({"diff": DIFF}), duration_ms=2_100)
    runs = [
        tool_call("поиск", arguments={"query": "скидка"}, result=tool_result({"matches": [1] * 2})),
        tool_call("запуск", arguments={"command": "да"}, result=tool_result({"exit_code": 0})),
        tool_call("сбой", result=tool_result(None, success=False, error="Нет.")),
        tool_call("ждёт", result=None),
    ]
    asked = user("Где скидка?")
    said = [asked, assistant("Смотрю.", edit, *runs, reasoning="Там?", token_count=1_834, usd=0.01)]
    said[-1] = assistant("Здесь.", edit, *runs, token_count=1_834, usd=0.0118, receipt=_receipt())
    said += [m for n in range(25) for m in (user(f"Вопрос {n}."), assistant("Да."))]
    place = {"git_branch": "ветка", "tags": ("ярлык",), **own}
    first = conversation(str(app.cwd), uuid=UUID, title="Цены", summary="О ценах.", **place)
    child = conversation(
        *("/труд/блог",),
        **{"uuid": CHILD, "parent_id": UUID, "title": "Ищи", "agent": "codex"},
        **{"status": "archived", "author": "Аня <а@б>"},
    )
    await store.records.put(CONVERSATION, first, child)
    await store.timeline.append(UUID, said)
    [scope] = [one for one in await app.code.outline("shop.py") if one.name == "скидка"]
    touch = reference(scope.uuid, "shop.py", "скидка", "old", "edited")
    await store.timeline.link(MESSAGE, asked.uuid, [touch])
    part = summary(UUID, 0, 4, conversation_summary="О скидке.")
    await store.timeline.save_summary(part)
    await store.timeline.save_summary(level_2([part], conversation_summary="О скидке и кассе."))
    old = note("Скидка по пятницам.", str(app.cwd), project_id=app.project.id)
    rule = note(
        "Скидка по средам.",
        str(app.cwd),
        project_id=app.project.id,
        supersedes=old.uuid,
        is_rule=True,
    )
    await store.records.put(NOTE, old)
    await store.records.put(NOTE, rule)
    await store.jobs.enqueue([NewJob("a", "settle_turn", "x"), NewJob("b", "summarise", "y")])
    await store.jobs.claim(app.worker.holder, timedelta(minutes=1))
    await fail_job(store, "a", app.worker.holder, "Сбой.")
    return page


def _receipt() -> dict[str, object]:
    items = [
        ReceiptItem(
            section, f"turn 7 of session {UUID[:8]}", "found by words, meaning", 1_200, 0.91
        )
        for section in SECTIONS
    ]
    items.append(ReceiptItem("code", "shop.py:4-5", "found by name", 300, 0.5, "changed since: а"))
    layout = Layout(
        tuple(
            RequestPart(name, 1_000)
            for name in ("system prompt", "project instructions", "3 newest turns", "question")
        ),
        0,
        0,
        1_500,
    )
    searches = (
        SearchReport("notes", "ok", 1_200, 3),
        SearchReport("code by meaning", "late", 9_000, 0, "over 8 s"),
    )
    left_out = (LeftOut("documents", "shop.py:1-2", "over the budget"),)
    receipt = Receipt(20_000, 11_100, tuple(items), left_out, searches, layout)
    value = receipt.to_json()
    assert isinstance(value, dict)
    return value


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put every translation between marks."""
    real = load_texts

    def load(name: str) -> dict[str, str]:
        return {text: f"⟦{other}⟧" for text, other in real(name).items()}

    monkeypatch.setattr(languages, "load_texts", load)
    caches = (languages.translate_told, languages._load_patterns)
    for one in caches:
        one.cache_clear()
    yield
    for one in caches:
        one.cache_clear()


def list_addresses(page: Page) -> list[str]:
    """Return the addresses of all pages: with examples of those that have parameters."""
    [mount] = build_site(page.app, Access(1)).app.routes  # type: ignore[attr-defined]
    routes = [route for route in mount.app.routes if isinstance(route, Route)]
    shown = [
        route
        for route in routes
        if "GET" in (route.methods or ()) and "/api/" not in route.path and route.path != "/"
        if not route.path.endswith("/export")
    ]
    plain = [route.path for route in shown if "{" not in route.path and route.path not in NEEDY]
    visited = [one.partition("?")[0] for one in (*plain, *PAGES)]
    missed = [route.path for route in shown if not any(map(route.path_regex.match, visited))]
    assert missed == [], "PAGES needs an example of these"
    return [*plain, *PAGES]


NEEDY = ("/graph", "/code/changes", "/store/forget")
"""Pages without parameters in their path that need some after it."""


@pytest.mark.parametrize("language", OTHERS)
async def test_every_page_is_wholly_in_the_language_of_the_browser(
    shop: Page, marked: None, language: str
) -> None:
    left = {}
    for address in list_addresses(shop):
        path = address.format(project=shop.app.project.id)
        response = await shop.get(path, **{"Accept-Language": language})
        assert response.status_code in (200, 403, 404), path
        assert f'<html lang="{language}"' in response.text
        if found := find_untranslated(response.text):
            left[path] = sorted(found)

    assert not left, "\n".join(f"{path}: {words}" for path, words in left.items())


def test_the_check_sees_texts_numbers_and_dates_that_are_not_translated() -> None:
    page = '<p title="A title">⟦Texte ⟦12⟧⟧ Word <b translate="no">Ann</b> 2026-01-05 1,234 0.5</p>'

    assert find_untranslated(page) == {"title", "Word", "2026-01-05", "1,234", "0.5"}


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_is_not_the_english_text(language: str) -> None:
    texts = load_texts(language)

    assert {text for text, other in texts.items() if text == other} <= SAME
    for text, other in texts.items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", other)), text


def test_numbers_and_dates_have_the_form_of_the_language() -> None:
    assert format_number(1_234_567, "en") == "1,234,567"
    assert format_number(1_234_567, "fr") == "1\u202f234\u202f567"
    assert (format_number(0.5, "en", 2), format_number(0.5, "fr", 2)) == ("0.50", "0,50")
    assert (format_size(999, "en"), format_size(1_500_000, "fr")) == ("999 B", "1,5 Mo")
    assert (format_money(0.0118, "en"), format_money(0.0118, "fr")) == ("$0.0118", "0,0118\u00a0$")
    assert format_day(date(2026, 3, 1), "en") == "1 March 2026"
    assert format_day(date(2026, 3, 1), "fr") == "1er mars 2026"
    counts = [format_count(n, "turn", "turns", "fr") for n in (0, 1, 2)]
    assert counts == ["0 tour", "1 tour", "2 tours"]
    assert format_count(0, "turn", "turns", "en") == "0 turns"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("3 matches", "3 correspondances"),
        ("1,234 lines · 2.1 s", "1\u202f234 lignes · 2,1 s"),
        ("moved to search/turn.py:4-9 and changed", "déplacé vers search/turn.py:4-9 et modifié"),
        ("found by words, meaning", "trouvé par mots, sens"),
        ("changed since: search, turn", "modifié depuis : search, turn"),
        ("on 2026-02-31", "on 2026-02-31"),
        ("Something else.", "Something else."),
    ],
)
def test_what_the_application_says_is_translated_and_names_are_not(
    told: str, expected: str
) -> None:
    assert translate_told(told, "fr") == expected
    assert translate_told(told, "en") == told
