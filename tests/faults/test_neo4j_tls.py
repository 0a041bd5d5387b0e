"""A Neo4j server that requires TLS, with a certificate of a private authority."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ragforge.adapters.stores.neo4j.store import open_neo4j
from ragforge.domain.schema import CONVERSATION
from ragforge.errors import StoreUnavailable
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from scripts.neo4j_server import Neo4jServer, Neo4jUnavailable
from tests.fakes.builders import conversation

pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.long,
    # The driver forgets to close a socket whose TLS handshake failed.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
COMPOSE = Path(__file__).parents[2] / "deploy" / "compose.yaml"


def run(folder: Path, command: str) -> None:
    subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)


def make_certificates(folder: Path) -> Path:
    """Make an authority, and a certificate of it for localhost; return the authority's own."""
    folder.mkdir(parents=True)
    keys = "-newkey rsa:2048 -nodes"
    run(folder, f"req -x509 {keys} -days 2 -subj /CN=authority -keyout ca.key -out ca.crt")
    run(folder, f"req -new {keys} -subj /CN=localhost -keyout private.key -out server.csr")
    (folder / "names").write_text("subjectAltName=DNS:localhost\n")
    signed = "-CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out public.crt"
    run(folder, f"x509 -req -in server.csr {signed}")
    return folder / "ca.crt"


def read_settings() -> dict[str, str]:
    """Return the TLS settings of the compose file, under the names that Neo4j gives them."""
    found = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]["neo4j"]["environment"]
    names = {
        name: name.removeprefix("NEO4J_").replace("__", "%").replace("_", ".").replace("%", "_")
        for name in found
    }
    wanted = ("server.bolt.tls_level", "dbms.ssl.policy.bolt.")
    return {names[one]: found[one] for one in found if names[one].startswith(wanted)}


@pytest.fixture(scope="module")
def server() -> Iterator[Neo4jServer]:
    server = Neo4jServer(settings=read_settings())
    server.settings["server.bolt.advertised_address"] = f"localhost:{server.port}"
    make_certificates(server.home / "certificates" / "bolt")
    try:
        with server:
            yield server
    except Neo4jUnavailable as error:
        pytest.skip(f"no Neo4j: {error}")


async def test_a_server_with_tls_is_used_and_its_certificate_checked(
    server: Neo4jServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = f"localhost:{server.port}"
    for scheme in ("bolt+s", "neo4j+s"):
        with pytest.raises(StoreUnavailable, match="TLS handshake failed, because the server's"):
            await open_neo4j(f"{scheme}://{place}", WORDS, REDACTOR)
    for scheme in ("bolt", "neo4j"):
        with pytest.raises(StoreUnavailable, match="It may require TLS"):
            await open_neo4j(f"{scheme}://{place}", WORDS, REDACTOR)

    authority = server.home / "certificates" / "bolt" / "ca.crt"
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    for scheme in ("bolt+s", "neo4j+s", "neo4j+ssc", "bolt+ssc"):
        store = await open_neo4j(f"{scheme}://{place}", WORDS, REDACTOR, state=tmp_path)
        try:
            await store.records.put(CONVERSATION, conversation(uuid=scheme))
            assert (await store.records.get(CONVERSATION, scheme)).uuid == scheme
        finally:
            await store.close()
    # The certificate names localhost and no number.
    with pytest.raises(StoreUnavailable, match="TLS handshake failed, because the server's"):
        await open_neo4j(f"bolt+s://127.0.0.1:{server.port}", WORDS, REDACTOR)
