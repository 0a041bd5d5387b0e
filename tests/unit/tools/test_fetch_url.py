"""fetch_url: permission for each host, redirects, what is text, and what is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ragforge.errors import Declined, FetchFailed, InputError, StoreError
from ragforge.ports.web import WebPage, WebResponse
from ragforge.tools.fetch_url import (
    MAX_CHARS,
    PageFetcher,
    make_fetch_tool,
    parse_address,
    read_page,
)
from ragforge.tools.permission import PermissionRequest

URL = "https://docs.example.org/guide"
HTML = WebResponse(
    200, "text/html; charset=utf-8", b"<title>T</title><h1>Guide</h1><p>Leases end.</p>"
)


class Web:
    """Answers by address, and remembers what it was asked."""

    def __init__(self, pages: Mapping[str, WebResponse]) -> None:
        self.pages = pages
        self.asked: list[str] = []

    async def get(self, url: str) -> WebResponse:
        self.asked.append(url)
        return self.pages.get(url, WebResponse(404))


class User:
    """Allows some hosts, and remembers the requests."""

    def __init__(self, *hosts: str) -> None:
        self.hosts = hosts
        self.requests: list[PermissionRequest] = []

    async def permit(self, request: PermissionRequest) -> None:
        self.requests.append(request)
        if request.subject not in self.hosts:
            raise Declined("no")


class PageStore:
    """Stores pages."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.pages: list[WebPage] = []

    async def keep(self, page: WebPage) -> bool:
        if self.error:
            raise self.error
        self.pages.append(page)
        return True


async def fetch(web: Web, user: User, kept: PageStore | None = None, **given: Any) -> Any:
    tool = make_fetch_tool(PageFetcher(web, (kept or PageStore()).keep), user.permit)
    return await tool.run({"url": URL, **given})


async def test_a_page_is_asked_for_with_its_whole_address_read_and_kept() -> None:
    web, user, kept = Web({f"{URL}?q=a": HTML}), User("docs.example.org"), PageStore()
    found = await fetch(web, user, kept, url=f"{URL}?q=a#part")

    assert found["content"] == "# Guide\n\nLeases end."
    assert (found["url"], found["title"], found["is_kept"]) == (f"{URL}?q=a", "T", True)
    assert not found["truncated"]
    [request] = user.requests
    assert (request.action, request.subject) == ("fetch_url", "docs.example.org")
    assert request.preview == f"GET {URL}?q=a"
    assert request.always == ("docs.example.org",)
    assert [page.url for page in kept.pages] == [f"{URL}?q=a"]


async def test_nothing_leaves_the_machine_before_the_users_yes() -> None:
    web = Web({URL: HTML})
    with pytest.raises(Declined):
        await fetch(web, User())

    assert web.asked == []


async def test_a_redirect_to_another_host_is_asked_for_again() -> None:
    away = WebResponse(302, location="//evil.example.net/x")
    web, user = Web({URL: away}), User("docs.example.org")
    with pytest.raises(Declined):
        await fetch(web, user)

    assert web.asked == [URL]
    assert [one.subject for one in user.requests] == ["docs.example.org", "evil.example.net"]
    assert user.requests[1].preview == f"GET https://evil.example.net/x\nwhere {URL} leads"


async def test_a_redirect_within_a_host_is_followed_without_a_question() -> None:
    web = Web({URL: WebResponse(301, location="guide/"), f"{URL}/": HTML})
    user, kept = User("docs.example.org"), PageStore()
    await fetch(web, user, kept)

    assert len(user.requests) == 1
    assert kept.pages[0].url == f"{URL}/"


async def test_five_redirects_are_followed_and_no_more() -> None:
    def chain(length: int) -> Web:
        steps = [f"https://docs.example.org/{n}" for n in range(length)]
        leads = dict(zip([URL, *steps], steps, strict=False))
        pages = {url: WebResponse(302, location=to) for url, to in leads.items()}
        return Web({**pages, [URL, *steps][-1]: HTML})

    assert (await fetch(chain(5), User("docs.example.org")))["title"] == "T"
    with pytest.raises(FetchFailed, match="redirects more than 5 times"):
        await fetch(chain(6), User("docs.example.org"))


@pytest.mark.parametrize("place", ["file:///etc/passwd", "ftp://x.org/", "https://a:b@x.org/"])
async def test_a_redirect_to_something_other_than_a_page_is_refused(place: str) -> None:
    web = Web({URL: WebResponse(302, location=place)})
    with pytest.raises(FetchFailed):
        await fetch(web, User("docs.example.org", "x.org"))

    assert web.asked == [URL]


async def test_an_answer_that_is_not_a_page_is_named() -> None:
    with pytest.raises(FetchFailed, match=r"docs\.example\.org answers 404 Not Found\."):
        await fetch(Web({}), User("docs.example.org"))


async def test_a_long_page_is_read_on_without_being_fetched_again() -> None:
    text = "word " * (MAX_CHARS // 4)
    web = Web({URL: WebResponse(200, "text/plain", text.encode(), is_cut=True)})
    user = User("docs.example.org")
    tool = make_fetch_tool(PageFetcher(web, PageStore().keep), user.permit)

    first: Any = await tool.run({"url": URL})
    rest: Any = await tool.run({"url": URL, "start": first["end"]})

    assert first["note"] == f"More text follows: call again with start {MAX_CHARS}."
    assert first["content"] + rest["content"] == text.strip()
    assert rest["note"] == "The page is longer than what was downloaded."
    assert (len(web.asked), len(user.requests)) == (1, 1)
    await tool.run({"url": URL})
    assert len(web.asked) == 2


@pytest.mark.parametrize("error", [StoreError("full"), InputError("odd")])
async def test_a_page_that_cannot_be_stored_is_read_all_the_same(error: Exception) -> None:
    found = await fetch(Web({URL: HTML}), User("docs.example.org"), PageStore(error))

    assert found["content"]
    assert not found["is_kept"]


@pytest.mark.parametrize(
    "query", [f"token=ghp_{'a1B2' * 9}", f"x={'y' * 600}"], ids=["secret", "long"]
)
async def test_an_address_that_should_not_be_stored_is_not(query: str) -> None:
    url, kept = f"{URL}?{query}", PageStore()
    found = await fetch(Web({url: HTML}), User("docs.example.org"), kept, url=url)

    assert not found["is_kept"]
    assert kept.pages == []


@pytest.mark.parametrize(
    ("text", "url", "host"),
    [
        ("HTTPS://Docs.Example.ORG.", "https://docs.example.org/", "docs.example.org"),
        ("http://x.org:80/a b".replace(" ", "%20"), "http://x.org/a%20b", "x.org"),
        ("https://x.org:8443/ä?ö=1#f", "https://x.org:8443/%C3%A4?%C3%B6=1", "x.org:8443"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("http://[::1]:8000/", "http://[::1]:8000/", "[::1]:8000"),
    ],
)
def test_an_address_is_written_in_one_way(text: str, url: str, host: str) -> None:
    found = parse_address(text)

    assert (found.url, found.host) == (url, host)
    assert parse_address(found.url) == found


@pytest.mark.parametrize(
    "text",
    [
        *("", "docs.example.org", "file:///etc/passwd", "ftp://x.org", "javascript:alert(1)"),
        *(
            "https://",
            "https:///x",
            "https://user@x.org",
            "https://u:p@x.org",
            "https://x.org:99999",
        ),
        *("https://x.org:y/", "https://x.org/a b", "https://good.org\\@evil.org/", "https://[::1"),
        *("https://x.org/\u0085y", "https://x.org\n.evil.org", "https://a..b/", "https://-x.org/"),
        f"https://x.org/{'a' * 2_000}",
    ],
)
def test_text_that_is_not_the_address_of_a_page_is_refused(text: str) -> None:
    with pytest.raises(FetchFailed):
        parse_address(text)


@pytest.mark.parametrize(
    ("content_type", "url", "language"),
    [
        ("text/html", URL, "markdown"),
        ("Text/Markdown; charset=utf-8", URL, "markdown"),
        ("text/plain", f"{URL}/README.md?raw=1", "markdown"),
        ("text/plain", URL, "text"),
        ("text/x-python", URL, "text"),
        ("application/json", URL, "json"),
        ("application/problem+json", URL, "json"),
    ],
)
def test_text_html_markdown_and_json_are_read(content_type: str, url: str, language: str) -> None:
    assert read_page(url, WebResponse(200, content_type, b"x")).language == language


@pytest.mark.parametrize(
    ("content_type", "body", "words"),
    [
        ("application/pdf", b"%PDF", r"Only text, .* The content type is application/pdf\."),
        ("image/png", b"\x89PNG", r"The content type is image/png\."),
        ("", b"text", "The page has no content type"),
        ("text/plain", b"\x7fELF\0\0", "binary, whatever its content type says"),
    ],
)
def test_what_is_not_text_is_refused_with_a_sentence(
    content_type: str, body: bytes, words: str
) -> None:
    with pytest.raises(FetchFailed, match=words):
        read_page(URL, WebResponse(200, content_type, body))


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/plain; charset=iso-8859-1", "Größe".encode("latin-1")),
        ("text/plain; charset=nonsense", "Größe".encode()),
        ("text/plain; charset=punycode", "Größe".encode()),
        ("text/plain", "\ufeffGröße".encode()),
        ("text/plain", "Größe".encode("utf-16")),
        ("text/html", '<meta charset="windows-1252">Größe'.encode("cp1252")),
        ("text/plain", "Gr\u200bö\u202eß\U000e0041e\x1b".encode()),
    ],
)
def test_text_is_decoded_and_has_nothing_unseen_in_it(content_type: str, body: bytes) -> None:
    assert read_page(URL, WebResponse(200, content_type, body)).text == "Größe"
