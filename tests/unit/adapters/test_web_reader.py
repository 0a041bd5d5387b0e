"""The web reader: one request, to an address that was checked, up to a size and a time."""

from __future__ import annotations

import gzip
import socket
import ssl
import subprocess
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ragforge.adapters.web import reader as reader_module
from ragforge.adapters.web.reader import HttpReader, find_proxy, is_allowed_host, is_public
from ragforge.errors import FetchFailed
from ragforge.ports.web import WebResponse
from tests.fakes.http_server import Answered, HttpServer

NAME = "docs.example.org"


class Names:
    """Answers as name servers do, one answer after the other, the last one for ever."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not found:
            raise socket.gaierror("no such name")
        return found


def make_reader(
    names: Names | None = None,
    allowed: Sequence[str] = (NAME,),
    *,
    maximum: int = 1_000,
    seconds: float = 60.0,
    proxy: str | None = None,
) -> HttpReader:
    names = names or Names(["127.0.0.1"])
    return HttpReader(maximum, seconds, allowed, names.resolve, lambda *_: proxy)


def name_url(server: HttpServer, path: str = "/page", name: str = NAME) -> str:
    return f"http://{name}:{urlsplit(server.url).port}{path}"


def says(
    body: bytes = b"Hello",
    content_type: str = "text/plain",
    context: ssl.SSLContext | None = None,
    **more: object,
) -> HttpServer:
    chunks = tuple(body[at : at + 16_384] for at in range(0, len(body), 16_384))
    answered = Answered(chunks=chunks, content_type=content_type, **more)  # type: ignore[arg-type]
    return HttpServer(lambda asked: answered, context)


async def test_the_address_that_was_checked_is_asked_under_the_name_of_the_host() -> None:
    names = Names(["127.0.0.1"])
    async with says(b"Hello") as server:
        found = await make_reader(names).get(name_url(server, "/a?b=c"))
        [asked] = server.asked

    assert found == WebResponse(200, "text/plain", b"Hello")
    assert (asked.method, asked.path) == ("GET", "/a?b=c")
    assert asked.headers["host"].startswith(NAME)
    assert names.asked == [NAME]
    assert not asked.headers.keys() & {"cookie", "authorization", "referer"}


async def test_a_name_that_changes_its_address_after_the_check_gains_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader_module, "is_public", lambda address: address == "::1")
    names = Names(["::1"], ["127.0.0.1"])
    async with says() as server:  # it listens only on 127.0.0.1
        with pytest.raises(FetchFailed):
            await make_reader(names, ()).get(name_url(server))

    assert (names.asked, server.asked) == ([NAME], [])


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.192", "198.18.0.1"),
        *("192.0.2.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
        *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1"),
        *("fec0::1", "2001:db8::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1"),
        *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "100::1", "", "x"),
        *("3fff::1", "3fff:fff::1", "5f00::1", "2001::1", "2001:db8:ffff::1", "::ffff:0:a00:1"),
    ],
)
async def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_public(address)
    async with says() as server:
        for addresses in ([address], ["93.184.216.34", address]):
            with pytest.raises(FetchFailed, match="not on the public internet"):
                await make_reader(Names(addresses), ()).get(name_url(server))
    assert server.asked == []


@pytest.mark.parametrize(
    "block",  # not reachable from everywhere, by the registries of IANA
    [
        *(
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
        ),
        *(
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
        ),
        *(
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
            "::/96",
            "::ffff:0:0:0/96",
            "64:ff9b:1::/48",
        ),
        *(
            "100::/64",
            "100:0:0:1::/64",
            "2001::/32",
            "2001:2::/48",
            "2001:10::/28",
            "2001:db8::/32",
        ),
        *("2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10"),
        *("ff00::/8", "4000::/3"),
    ],
)
def test_every_special_block_is_refused_from_its_first_address_to_its_last(block: str) -> None:
    network = ip_network(block)
    found = [network[0], network[1], network[-1]]
    assert not any(is_public(str(address)) for address in found)
    if network.version == 4:
        inside = [f"{prefix}{one}" for prefix in ("::ffff:", "64:ff9b::") for one in found]
        assert not any(map(is_public, inside))


@pytest.mark.parametrize(
    "address",
    [
        "93.184.216.34",
        "1.1.1.1",
        "2606:4700::1111",
        "2001:4860:4860::8888",
        "::ffff:1.1.1.1",
        "64:ff9b::101:101",
    ],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "[::1]"])
async def test_this_machine_is_refused_however_it_is_written(host: str) -> None:
    reader = HttpReader(100, 60.0, find_proxy=lambda *_: None)

    with pytest.raises(FetchFailed, match="not on the public internet: it leads to"):
        await reader.get(f"http://{host}:1/")


def test_hosts_are_allowed_by_name_by_port_and_by_domain() -> None:
    allowed = ["Wiki.corp", "localhost:8000", "*.lan"]

    assert is_allowed_host("wiki.corp", 80, allowed)
    assert is_allowed_host("localhost", 8000, allowed)
    assert is_allowed_host("a.b.lan", 443, allowed)
    assert is_allowed_host("anything", 1, ["*"])
    assert is_allowed_host("::1", 8000, ["[::1]:8000"])
    for host, port in [("localhost", 80), ("lan", 80), ("xlan", 80), ("x.wiki.corp", 80)]:
        assert not is_allowed_host(host, port, allowed)


async def test_a_host_without_an_address_is_named() -> None:
    with pytest.raises(FetchFailed, match=r"No address is known for docs\.example\.org"):
        await make_reader(Names([])).get(f"http://{NAME}/")


async def test_a_certificate_is_checked_against_the_name_and_not_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=x"
    named = f"-addext subjectAltName=DNS:{NAME} -keyout {key} -out {certificate}"
    subprocess.run(["openssl", *f"{made} {named}".split()], check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))  # the user's own authority
    secured = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    secured.load_cert_chain(certificate, key)
    names = list[object]()
    secured.sni_callback = lambda _, name, __: names.append(name)
    async with says(context=secured) as server:
        url = name_url(server).replace("http:", "https:")
        found = await make_reader().get(url)
        with pytest.raises(FetchFailed, match="certificate verify failed"):
            await make_reader(allowed=("*",)).get(url.replace(NAME, "other.example.org"))

    assert found.body == b"Hello"
    assert names == [NAME, "other.example.org"]
    assert len(server.asked) == 1


async def test_a_redirect_is_returned_and_not_followed() -> None:
    answered = Answered(302, (), headers={"location": "http://169.254.169.254/"})
    async with HttpServer(lambda asked: answered) as server:
        found = await make_reader().get(name_url(server))

    assert (found.status, found.location) == (302, "http://169.254.169.254/")
    assert len(server.asked) == 1


async def test_a_long_body_is_read_up_to_the_limit() -> None:
    async with says(b"x" * 100_000) as server:
        found = await make_reader().get(name_url(server))

    assert (len(found.body), found.is_cut) == (1_000, True)


async def test_a_body_of_exactly_the_limit_is_all_there_is() -> None:
    async with says(b"x" * 1_000) as server:
        found = await make_reader().get(name_url(server))

    assert (len(found.body), found.is_cut) == (1_000, False)


async def test_an_endless_body_ends_at_the_limit() -> None:
    async with says(b"x", trickle=0.0) as server:
        found = await make_reader().get(name_url(server))

    assert (len(found.body), found.is_cut) == (1_000, True)


async def test_a_compressed_body_is_never_unfolded_beyond_the_limit() -> None:
    bomb = gzip.compress(bytes(50_000_000), 9)
    async with says(bomb, headers={"content-encoding": "gzip"}) as server:
        found = await make_reader().get(name_url(server))
    async with says(gzip.compress(b"Hello"), headers={"content-encoding": "gzip"}) as server:
        small = await make_reader().get(name_url(server))

    assert (len(found.body), found.is_cut) == (1_000, True)
    assert (small.body, small.is_cut) == (b"Hello", False)


@pytest.mark.parametrize(
    ("coding", "words"), [("br", "not known here: br"), ("gzip", "the data are damaged")]
)
async def test_a_body_that_cannot_be_unpacked_is_refused(coding: str, words: str) -> None:
    async with says(b"Hello", headers={"content-encoding": coding}) as server:
        with pytest.raises(FetchFailed, match=words):
            await make_reader().get(name_url(server))


async def test_a_body_that_arrives_too_slowly_is_abandoned() -> None:
    async with says(b"x", trickle=1_000.0) as server:
        with pytest.raises(FetchFailed, match=r"not send the page within 0\.5 seconds"):
            await make_reader(seconds=0.5).get(name_url(server))


async def test_a_connection_that_breaks_is_reported_in_one_sentence() -> None:
    async with says(b"x", cut=True) as server:
        with pytest.raises(FetchFailed, match=r"docs\.example\.org cannot be read"):
            await make_reader().get(name_url(server))


async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    async with says() as server:
        found = await make_reader(Names(["::1", "127.0.0.1"])).get(name_url(server))

    assert found.body == b"Hello"


async def test_a_proxy_is_asked_for_the_page_by_name_after_the_name_was_checked() -> None:
    async with says() as proxy:
        found = await make_reader(proxy=proxy.url).get(f"http://{NAME}/page")
        [asked] = proxy.asked
        with pytest.raises(FetchFailed, match="not on the public internet"):
            await make_reader(allowed=(), proxy=proxy.url).get(f"http://{NAME}/page")

    assert found.body == b"Hello"
    assert asked.path == f"http://{NAME}/page"


async def test_a_name_that_only_the_proxy_may_know_needs_the_users_setting() -> None:
    async with says() as proxy:
        with pytest.raises(FetchFailed, match=r"tools\.fetch\.private_hosts allows it by name"):
            await make_reader(Names([]), (), proxy=proxy.url).get(f"http://{NAME}/")
        found = await make_reader(Names([]), ("*",), proxy=proxy.url).get(f"http://{NAME}/")

    assert found.body == b"Hello"


def test_the_proxy_is_that_of_the_users_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{name}_proxy", raising=False)
        monkeypatch.delenv(f"{name.upper()}_PROXY", raising=False)
    monkeypatch.setenv("https_proxy", "http://proxy.corp:3128")
    monkeypatch.setenv("no_proxy", "wiki.corp")

    assert find_proxy("https", "docs.example.org") == "http://proxy.corp:3128"
    assert find_proxy("https", "wiki.corp") is None
    assert find_proxy("http", "docs.example.org") is None
