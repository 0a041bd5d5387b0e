"""Serve: the page on a real socket, which closes when it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest

pytest.importorskip("jinja2", reason="the extra web is not installed")

from ragforge.app import App
from ragforge.app.features.memory import Memory
from ragforge.web.access import Access
from ragforge.web.serve import listen, serve


@pytest.fixture
async def access(app: App, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Access]:
    monkeypatch.setattr("ragforge.web.serve.IDLE_SECONDS", 1)
    with listen("127.0.0.1", 0) as opened:
        found, started = Access(opened.getsockname()[1]), asyncio.Event()
        running = asyncio.create_task(serve(app, found, opened, started.set))
        await started.wait()
        yield found
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_a_browser_opens_the_address_and_sees_the_search(access: Access) -> None:
    async with httpx2.AsyncClient(follow_redirects=True, trust_env=False) as client:
        opened = await client.get(access.address)

    assert opened.status_code == 200
    assert str(opened.url) == f"{access.root}/search"


async def test_a_query_of_ten_megabytes_is_refused_before_it_is_read(access: Access) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", access.port)
    try:
        writer.write(b"GET /?q=")
        for _ in range(100):
            writer.write(b"x" * 100_000)
            await writer.drain()
        said = await reader.read(100)
    except ConnectionError:
        said = b"HTTP/1.1 400"  # it closed before all was sent
    finally:
        writer.close()

    assert said.startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: ",
        b"POST /BASE/enter HTTP/1.1\r\nHost: HOST\r\nContent-Length: 9\r\n\r\npass",
        b"GET /BASE/enter HTTP/1.1\r\nHost: HOST\r\n\r\nGET / HT",
    ],
)
async def test_a_client_that_does_not_finish_its_request_is_disconnected(
    access: Access, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragforge.web.serve.REQUEST_SECONDS", 0.1)
    reader, writer = await asyncio.open_connection("127.0.0.1", access.port)
    writer.write(
        begun.replace(b"/BASE", access.base.encode()).replace(
            b"HOST", f"127.0.0.1:{access.port}".encode()
        )
    )
    try:
        said = await reader.read()  # ends when the server closes
    except ConnectionError:
        said = b""
    writer.close()

    assert said.count(b"HTTP/1.1 ") == (1 if begun.startswith(b"GET /BASE") else 0)


async def test_a_slow_client_does_not_hold_up_others(access: Access) -> None:
    _, slow = await asyncio.open_connection("127.0.0.1", access.port)
    slow.write(b"GET / HTTP/1.1\r\nHost: ")
    async with httpx2.AsyncClient(follow_redirects=True, trust_env=False) as client:
        assert (await client.get(access.address)).status_code == 200
    slow.close()


async def test_a_search_stops_when_its_browser_leaves(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def search(*_: object, **__: object) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    monkeypatch.setattr(Memory, "search", search)
    _, writer = await asyncio.open_connection("127.0.0.1", access.port)
    host, cookie = f"127.0.0.1:{access.port}", f"ragforge={access.key}"
    path = f"{access.base}/search?q=cart"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n".encode())
    async with asyncio.timeout(60):
        await begun.wait()
        assert not stopped.is_set()
        writer.close()
        await stopped.wait()
