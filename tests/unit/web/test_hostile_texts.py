"""Hostile texts: what a transcript or a file contains is shown, and never executed."""

from __future__ import annotations

from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest

from ragforge.domain.schema import CONVERSATION, MESSAGE, NOTE
from tests.fakes.jobs import fail_job

pytest.importorskip("jinja2", reason="the extra web is not installed")

from ragforge.domain.receipts import Layout, Receipt, ReceiptItem, RequestPart, SearchReport
from ragforge.domain.work import NewJob
from ragforge.web.render import colour_code, format_diff, format_markdown
from tests.fakes.builders import (
    assistant,
    conversation,
    note,
    reference,
    summary,
    tool_call,
    tool_result,
    user,
)
from tests.unit.web.conftest import Page, commit

UUID = "9719cf4e-0000-4000-8000-000000000002"
OTHER = "a719cf4e-0000-4000-8000-000000000002"
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg onload=alert(3)>"
LINKS = (
    "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,<script>) "
    "[d](vbscript:x) ![e](https://evil.example/pixel.png) <javascript:alert(1)> "
    "[f](https://good.example/ \"t' onclick='x\") [g](file:///etc/passwd)"
)
OWN = {"page.js", "graph.js"}


class Inspector(HTMLParser):
    """Collects everything in a page that could be executed."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        attributes = dict(given)
        source = attributes.get("src") or ""
        if tag in ("script", "img", "iframe", "object", "embed", "base", "style") and not (
            tag == "script" and source.rsplit("/", 1)[-1] in OWN
        ):
            self.faults.append(tag)
        self.faults += [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("href", "src", "action"):
            value = (attributes.get(name) or "").strip().lower()
            scheme = value.partition(":")[0]
            if ":" in value and scheme not in ("http", "https", "mailto"):
                self.faults.append(value)


def find_faults(page: str) -> list[str]:
    inspector = Inspector()
    inspector.feed(page)
    return inspector.faults


def test_the_inspector_finds_what_it_looks_for() -> None:
    assert find_faults(SCRIPT) == ["script", "img", "onerror", "onload"]
    assert find_faults('<a href="javascript:x">') == ["javascript:x"]


@pytest.mark.parametrize("text", [SCRIPT, LINKS, f"```{SCRIPT}\n{SCRIPT}\n```", f"`{SCRIPT}`"])
def test_markdown_does_nothing(text: str) -> None:
    assert find_faults(format_markdown(text)) == []


def test_a_link_shows_where_it_leads() -> None:
    shown = format_markdown("[your bank](https://evil.example/login)")

    assert 'href="https://evil.example/login"' in shown
    assert '<span class="target">https://evil.example/login</span>' in shown
    assert "noreferrer" in shown


def test_an_image_is_shown_as_its_address_and_not_loaded() -> None:
    shown = format_markdown("![chart](https://evil.example/pixel.png)")

    assert "<img" not in shown
    assert "https://evil.example/pixel.png" in shown


def test_a_link_within_a_link_and_one_without_text_are_shown() -> None:
    assert find_faults(format_markdown("[](https://a.example) [![x](y)](https://b.example)")) == []


@pytest.mark.parametrize("language", ["python", "html", "no-such-language", "", "javascript"])
def test_code_does_nothing(language: str) -> None:
    assert find_faults(colour_code(SCRIPT, language)) == []
    assert find_faults(format_diff(f"@@ {SCRIPT}\n+{SCRIPT}\n-{SCRIPT}\n {SCRIPT}")) == []


def test_a_very_long_text_is_shown_as_it_is() -> None:
    assert format_markdown("<b>" * 200_000).startswith("<pre>&lt;b&gt;")


async def store_everywhere(page: Page, text: str) -> list[str]:
    """Store a text in every field of a transcript; return the addresses that show it."""
    receipt = Receipt(
        100,
        50,
        (ReceiptItem("code", text, text, 50, 0.5, text),),
        searches=(SearchReport(text, "failed", problem=text, note=text),),
        layout=Layout((RequestPart(text, 9),), 0, 0, 0),
    )
    store = page.app.store
    await store.records.put(
        CONVERSATION,
        conversation(
            cwd=f"/{text}",
            project_path=f"/{text}",
            project_id=text,
            uuid=UUID,
            title=text,
            summary=text,
            tags=(text,),
            agent=text,
            git_branch=text,
        ),
    )
    asked = user(text, author=text)
    failed = tool_result(None, success=False, error=text)
    await store.timeline.append(
        UUID,
        [
            asked,
            assistant(
                text,
                tool_call(text, arguments={text: text, "command": text}, result=tool_result(text)),
                tool_call("edit", arguments={"old_text": text, "new_text": text + "\n" + text}),
                tool_call("bash", arguments=text, result=failed),
                tool_call("ls", result=tool_result({"diff": text})),
                reasoning=text,
                model=text,
            ),
            assistant(text, receipt=receipt.to_json()),
        ],
    )
    await store.records.put(CONVERSATION, conversation(uuid=OTHER, author=text))
    await store.records.put(NOTE, note(text, text, conversation_id=UUID, tags=(text,)))
    told = {"conversation_summary": text, "key_findings": (text,), "files_mentioned": (text,)}
    await store.timeline.save_summary(summary(UUID, 0, 0, **told))
    await store.jobs.enqueue([NewJob("a", text, text)])
    await store.jobs.claim(page.app.worker.holder, timedelta(minutes=1))
    await fail_job(store, "a", page.app.worker.holder, text, None)
    touched = reference("x", text[:200], text[:200], "h", "edited")
    await store.timeline.link(MESSAGE, asked.uuid, [touched])
    project = quote(text, safe="")
    commit(page.app.project_path, "x = 1\n", text)
    return [
        "/search",
        "/timeline",
        f"/timeline?project={project}",
        f"/store/forget?project={project}",
        f"/graph?node=session:{UUID}",
        "/notes",
        "/map",
        "/sessions",
        f"/sessions/{UUID}",
        f"/sessions/{OTHER}",
        f"/sessions/{UUID}/receipt?turn=0",
        "/search?q=cart",
        "/context?q=cart",
        "/code?name=cart",
        "/store",
    ]


async def test_script_in_every_field_of_a_transcript_is_shown_as_text(page: Page) -> None:
    for path in await store_everywhere(page, f"{SCRIPT} cart {LINKS}"):
        assert find_faults(await page.read(path)) == [], path
    assert "&lt;script&gt;alert(1)" in await page.read(f"/sessions/{UUID}")
    assert "&lt;script&gt;" in await page.read("/search?q=cart")


HIDDEN = "\x07\x1b[31m\x85\u200b\u202e\u2066\u2028\ufeff\U000e0041"


def find_hidden(shown: str) -> list[str]:
    return [f"{ord(char):x}" for char in HIDDEN if char in shown and not char.isprintable()]


async def test_characters_that_cannot_be_seen_are_spelt_out_wherever_text_is_shown(
    page: Page,
) -> None:
    text = f"cart{HIDDEN} `{HIDDEN}` &#x202e; [a{HIDDEN}](https://a.example/{HIDDEN})"
    for path in await store_everywhere(page, f"{text}\n\n```python\n{HIDDEN}\n```"):
        assert find_hidden(await page.read(path)) == [], path
    shown = await page.read(f"/sessions/{UUID}")
    for number in ("0007", "001B", "0085", "200B", "202E", "2066", "2028", "FEFF", "E0041"):
        assert f"&lt;U+{number}&gt;" in shown
    assert find_hidden((await page.get(f"/api/sessions/{UUID}")).text) == []
    assert (await page.get(f"/api/sessions/{UUID}")).json()["title"].startswith(f"cart{HIDDEN}")


async def test_text_of_every_script_is_shown_as_it_is(page: Page) -> None:
    emoji = "\U0001f469\u200d\U0001f4bb \u2764\ufe0f"
    hebrew = "\u05e9\u05dc\u05d5\u05dd"
    text = f"{hebrew} \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 {emoji} a\tb\r\nc"
    await page.app.store.records.put(CONVERSATION, conversation(uuid=UUID, title=text))

    shown = await page.read(f"/sessions/{UUID}")

    assert text.replace("\r\n", "\n") in shown
    assert "U+" not in shown


async def test_a_file_with_a_hidden_character_in_its_name_is_still_found_by_its_link(
    page: Page,
) -> None:
    name = "car\u202et.py"
    (page.app.project_path / name).write_text("def pay(cart):\n    return cart\n")
    await page.app.code.ingest()

    shown = await page.read(f"/graph?node=file:{quote(name)}")

    assert find_hidden(shown) == []
    assert "car&lt;U+202E&gt;t.py" in shown
    assert f"/code?name={quote(name)}" in shown
    assert 'data-node="file:car&#x202E;t.py"' in shown  # the script asks for its neighbours by it


async def test_script_in_code_and_its_names_is_shown_as_text(page: Page) -> None:
    folder: Path = page.app.project_path
    name = "<script>alert(1)<_script>.py"
    (folder / name).write_text(f"def pay(cart):\n    '''{SCRIPT}'''\n    return cart\n")
    await page.app.code.ingest()

    found = await page.read("/search?q=pay+cart")
    shown = await page.read("/code?name=pay")
    others = [
        await page.read(f"{place}{quote(name)}{more}")
        for place, more in (
            ("/code?name=", ""),
            ("/graph?node=file:", ""),
            ("/code/changes?file=", "&since=2026-01-05T12:00:00Z"),
            ("/search?q=cart&file=", ""),
            ("/map?by=", ""),
        )
    ]

    for text in (found, shown, *others):
        assert find_faults(text) == []
    assert "pay" in found
    assert "&lt;script&gt;alert(1)&lt;_script&gt;.py" in others[-1]
    assert "&lt;script&gt;" in shown


@pytest.mark.parametrize(
    "path",
    [
        "/search?q={}",
        "/search?q=a&file={}&level={}",
        "/code?name={}",
        "/code/changes?file={}&since=2026-01-05T12:00:00Z",
        "/context?q={}",
        "/timeline?project={}",
        "/graph?node={}",
        "/notes?q={}",
        "/map?by={}",
        "/store/forget?project={}",
        "/{}",
    ],
)
async def test_script_in_the_address_is_shown_as_text(page: Page, path: str) -> None:
    response = await page.client.get(page.access.base + path.replace("{}", quote(SCRIPT, safe="")))

    assert find_faults(response.text) == []


async def test_lone_surrogates_are_shown_as_a_sign(page: Page) -> None:
    assert find_faults(await page.read("/search?q=%ED%A0%80")) == []
