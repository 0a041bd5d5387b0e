"""Web pages in the terminal: asked for by their host, with the whole address in sight."""

from __future__ import annotations

import pytest

from tests.fakes.http_server import Answered, HttpServer
from tests.fakes.terminal import ENTER
from tests.fakes.wires import Call, Says
from tests.screens.conftest import Open, model

pytestmark = pytest.mark.long

PAGE = Answered(chunks=(b"<h1>Leases</h1><p>They end at noon.</p>",), content_type="text/html")


async def test_a_page_is_asked_for_read_and_allowed_always_for_its_host(ragforge: Open) -> None:
    async with HttpServer(lambda asked: PAGE) as site:
        url, host = f"{site.url}/guide?v=2", site.url.removeprefix("http://")
        call = Call("fetch_url", {"url": url})
        script = (Says(calls=(call,)), Says("At noon."), Says(calls=(call,)), Says("Still noon."))
        variables = {"RAGFORGE_TOOLS__FETCH__PRIVATE_HOSTS": host, "NO_PROXY": "*"}
        async with model(*script) as server, ragforge(server=server, **variables) as terminal:
            await terminal.prompt()
            terminal.type(f"When do leases end?{ENTER}")
            await terminal.prompt(r"Allow\? \[y/a/n\]")
            assert site.asked == []
            whole = "\n".join(terminal.scrollback)
            assert f"Read a page of {host}?\n│ GET {url}\n  1 y  yes, this once\n" in whole
            terminal.type(f"a{ENTER}")
            await terminal.see("At noon.")
            await terminal.prompt()
            terminal.type(f"And now?{ENTER}")
            await terminal.see("Still noon.")
            await terminal.prompt()
            whole = "\n".join(terminal.scrollback)
            assert f"✓ fetch_url {url}  3 lines" in whole
            assert whole.count("Read a page of") == 1
            terminal.type(f"/permissions{ENTER}")
            await terminal.see(f"allow  fetch_url({host})  (pages of this host)")
            assert "They end at noon." in server.asked_in_turns[1].text
    assert len(site.asked) == 2
