"""Addresses at which no Neo4j answers: each is diagnosed quickly."""

from __future__ import annotations

import asyncio
import gc
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ragforge.adapters.stores.neo4j import driver, failures
from ragforge.adapters.stores.neo4j.store import open_neo4j
from ragforge.errors import StoreUnavailable
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS

# The driver forgets to close a socket whose TLS handshake failed.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

STRANGER = "is not Neo4j, or not its Bolt port"
SENT = {
    "http": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "ssh": b"SSH-2.0-OpenSSH_9.6\r\n",
    "closes": b"",
}
SCHEMES = ("bolt", "neo4j")


@asynccontextmanager
async def listening(
    sent: bytes | None, context: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """A program that answers everything with the same bytes, or never; its port."""
    stopped = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if sent is None:
            await stopped.wait()
        else:
            await reader.read(20)
            writer.write(sent)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        stopped.set()
        server.close()


async def describe(url: str) -> str:
    with pytest.raises(StoreUnavailable) as raised:
        await open_neo4j(url, WORDS, REDACTOR, password="secret")
    said = str(raised.value)
    assert "secret" not in said
    del raised
    gc.collect()  # now, not in another test
    return said


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("kind", "said"),
    [("http", STRANGER), ("ssh", STRANGER), ("closes", "It may require TLS: write {}+s://")],
)
async def test_a_port_of_another_program_is_named(scheme: str, kind: str, said: str) -> None:
    async with listening(SENT[kind]) as port:
        assert said.format(scheme) in await describe(f"{scheme}://127.0.0.1:{port}")


@pytest.mark.parametrize("scheme", [*SCHEMES, "bolt+s"])
async def test_a_program_that_never_answers_is_not_waited_for(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert driver.ANSWER_SECONDS < 10
    monkeypatch.setattr(driver, "ANSWER_SECONDS", 0.3)
    async with listening(None) as port:
        said = await describe(f"{scheme}://127.0.0.1:{port}")
    assert "does not answer within 0.3 seconds" in said
    assert "another program listens there" in said


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_a_server_without_tls_is_named(scheme: str) -> None:
    async with listening(SENT["http"]) as port:
        said = await describe(f"{scheme}+s://127.0.0.1:{port}")
    assert "the TLS handshake failed. The server may have no TLS on this port" in said
    assert f"write {scheme}:// instead of {scheme}+s://" in said


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_an_untrusted_certificate_is_named(scheme: str, tmp_path: Path) -> None:
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    files = ["-keyout", str(key), "-out", str(certificate), "-subj", "/CN=localhost"]
    subprocess.run([*command.split(), *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    async with listening(b"", context) as port:
        said = await describe(f"{scheme}+s://localhost:{port}")
    assert "the TLS handshake failed, because the server's certificate is not trusted" in said
    assert f"write {scheme}+ssc://" in said


async def test_make_neo4j_is_advised_only_in_a_checkout_and_for_this_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with listening(b"") as port:
        pass  # nothing listens there any more
    here = await describe(f"bolt://127.0.0.1:{port}")
    assert f"`make neo4j` in {Path(__file__).parents[2]}" in here
    monkeypatch.setattr(failures, "_find_checkout", lambda: None)
    assert "make" not in await describe(f"bolt://127.0.0.1:{port}")
