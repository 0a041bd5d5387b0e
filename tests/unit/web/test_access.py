"""Access: only the user sees the page, and no other site makes their browser do something."""

from __future__ import annotations

import pytest

from ragforge.domain.schema import CONVERSATION

pytest.importorskip("jinja2", reason="the extra web is not installed")

from ragforge.web.access import Access, is_loopback, list_hosts
from ragforge.web.site import MAX_BODY
from tests.fakes.builders import conversation
from tests.unit.web.conftest import HOST, PORT, Page

UUID = "9719cf4e-0000-4000-8000-000000000001"


async def test_the_address_of_the_terminal_opens_the_page_and_leaves_a_strict_cookie(
    stranger: Page,
) -> None:
    entered = await stranger.client.get(stranger.access.address)

    assert entered.status_code == 303
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert f"path={stranger.access.base}" in cookie
    assert "No sessions yet." in await stranger.read("/sessions")


async def test_a_token_works_once(stranger: Page) -> None:
    address = stranger.access.address
    await stranger.client.get(address)
    stranger.client.cookies.clear()

    again = await stranger.client.get(address)

    assert again.status_code == 403
    assert "set-cookie" not in again.headers
    assert "already been used" in again.text


@pytest.mark.parametrize("token", ["", "x", "é", "\ud800".encode("utf-8", "replace").decode()])
async def test_another_token_opens_nothing(stranger: Page, token: str) -> None:
    stranger.access.use_token(stranger.access.token)

    entered = await stranger.client.get(f"{stranger.access.base}/enter", params={"token": token})

    assert entered.status_code == 403


@pytest.mark.parametrize("path", ["/", "/sessions", f"/sessions/{UUID}", "/api/sessions", "/none"])
async def test_without_the_cookie_there_is_nothing(stranger: Page, path: str) -> None:
    assert (await stranger.get(path)).status_code == 403


async def test_a_wrong_cookie_counts_as_none(stranger: Page) -> None:
    assert (await stranger.get("/sessions", Cookie="ragforge=guess")).status_code == 403


async def test_there_is_nothing_outside_its_own_path(page: Page) -> None:
    assert (await page.client.get("/sessions")).status_code == 404
    assert (await page.client.get(f"{page.access.base}x/sessions")).status_code == 404


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1.evil.example:{PORT}"]
)
async def test_another_name_is_refused_so_that_no_name_can_be_bound_to_it(
    page: Page, host: str
) -> None:
    assert (await page.get("/sessions", Host=host)).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", f"https://{HOST}", "http://127.0.0.1:1", ""]
)
async def test_another_origin_is_refused(page: Page, origin: str) -> None:
    assert (await page.get("/sessions", Origin=origin)).status_code == 403
    assert (await page.post("/store/retry", {}, Origin=origin)).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
async def test_a_request_that_another_site_caused_is_refused(page: Page, site: str) -> None:
    assert (await page.get("/sessions", **{"Sec-Fetch-Site": site})).status_code == 403


@pytest.mark.parametrize("site", ["none", "same-origin"])
async def test_a_request_of_the_page_itself_is_answered(page: Page, site: str) -> None:
    headers = {"Sec-Fetch-Site": site, "Origin": f"http://{HOST}"}
    assert (await page.get("/sessions", **headers)).status_code == 200


@pytest.mark.parametrize("path", ["/sessions", "/enter", "/none"])
async def test_forms_of_every_page_say_where_they_come_from_and_links_do_not(
    page: Page, path: str
) -> None:
    assert '<meta name="referrer" content="same-origin">' in (await page.get(path)).text


@pytest.mark.parametrize("path", ["/sessions", "/enter", "/none", "/assets/page.css"])
async def test_every_response_has_the_strict_headers(page: Page, path: str) -> None:
    headers = (await page.get(path)).headers

    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


async def test_no_page_has_an_inline_script_or_style(page: Page) -> None:
    for path in ("/sessions", "/none"):
        text = (await page.get(path)).text
        assert "<style" not in text
        assert " style=" not in text
        assert "<script>" not in text
        assert " onclick" not in text


async def test_a_long_query_is_refused(page: Page) -> None:
    assert (await page.get(f"/sessions?project={'x' * 60_000}")).status_code == 414
    assert (await page.get(f"/sessions?project={'x' * 2_000}")).status_code == 414


async def test_a_body_of_ten_megabytes_is_refused_however_it_is_sent(page: Page) -> None:
    async def pieces():  # type: ignore[no-untyped-def]
        for _ in range(160):
            yield b"x" * MAX_BODY

    path = f"{page.access.base}/enter"
    assert (await page.client.post(path, content=b"x" * 10_000_000)).status_code == 413
    assert (await page.client.post(path, content=pieces())).status_code == 413


async def test_an_invalid_id_finds_nothing(page: Page) -> None:
    await page.app.store.records.put(CONVERSATION, conversation(uuid=UUID))
    names = [
        "..%2f..%2fetc%2fpasswd",
        "....//",
        "%00",
        "a'%20OR%201=1",
        "%2e%2e",
        "x" * 600,
        "_%25",
    ]

    for place in (
        "/sessions/{}",
        "/sessions/{}/export",
        "/sessions/{}/receipt?turn=0",
        "/api/sessions/{}",
        "/api/sessions/{}/receipt?turn=0",
        "/graph?node=session:{}",
        "/graph?node=file:{}",
        "/graph?node=scope:{}",
        "/graph?node=place:{}:1",
        "/api/graph?node=file:{}",
        "/store/forget?project={}",
    ):
        for name in [*names, "..."]:
            assert (await page.get(place.format(name))).status_code == 404, (place, name)
    token = {"token": page.access.form_token}
    for place in ("/sessions/{}/delete", "/notes/{}/forget"):
        for name in [*names, "..."]:
            assert (await page.post(place.format(name), token)).status_code == 404, (place, name)
    assert (await page.get(f"/sessions/{UUID}")).status_code == 200


async def test_a_place_outside_of_the_project_shows_nothing(page: Page) -> None:
    (page.app.project_path.parent / "secret.py").write_text("def hidden_thing(): ...\n")
    (page.app.project_path / "pay.py").write_text("def pay(): ...\n")
    await page.app.code.ingest()
    outside = str(page.app.project_path.parent / "secret.py")

    for name in ("../secret.py", "..%2fsecret.py", outside, "../secret.py:1", ":(top)../secret.py"):
        for place in (
            "/code?name={}",
            "/api/code?name={}",
            "/code/changes?file={}&since=2026-01-05T12:00:00Z",
            "/search?q=hidden_thing&file={}",
        ):
            shown = (await page.get(place.format(name))).text
            assert "def hidden_thing" not in shown, (place, name)


async def test_files_next_to_the_assets_are_not_served(page: Page) -> None:
    for path in ("../site.py", "..%2fsite.py", "%2fetc/passwd", ""):
        assert (await page.get(f"/assets/{path}")).status_code == 404, path


async def test_nothing_is_deleted_without_the_token_of_the_form(page: Page) -> None:
    await page.app.store.records.put(CONVERSATION, conversation(uuid=UUID))

    for form in ({}, {"token": "guess"}):
        assert (await page.post(f"/sessions/{UUID}/delete", form)).status_code == 403
    assert (await page.get(f"/sessions/{UUID}/delete")).status_code == 405
    assert (await page.get(f"/sessions/{UUID}")).status_code == 200


async def test_a_session_is_deleted_with_the_token_of_the_form(page: Page) -> None:
    await page.app.store.records.put(CONVERSATION, conversation(uuid=UUID))

    done = await page.post(f"/sessions/{UUID}/delete", {"token": page.access.form_token})

    assert done.status_code == 303
    assert (await page.get(f"/sessions/{UUID}")).status_code == 404


def test_a_password_is_looked_at_ten_times() -> None:
    access = Access(PORT, password="correct horse battery")

    assert access.check_password("correct horse battery")
    assert not any(access.check_password("guess") for _ in range(10))
    assert not access.check_password("correct horse battery")


def test_without_a_password_none_is_right() -> None:
    assert not Access(PORT).check_password("")


def test_only_the_loopback_needs_no_permission() -> None:
    assert [is_loopback(name) for name in ("127.0.0.1", "localhost", "::1", "127.1.2.3")] == [
        True
    ] * 4
    assert not any(is_loopback(name) for name in ("0.0.0.0", "192.168.1.2", "::", "example.org"))
    assert list_hosts("::1")[0] == "[::1]"
