"""A real browser: Chromium without a window, driven over its debugging pipe."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE = 60.0
"""Seconds; only a browser that hangs takes as long."""
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # it shows the test's own pages, and tests may run as root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
)
_KEYS = {"ArrowDown": 40, "ArrowUp": 38, "Enter": 13, "Escape": 27, "F1": 112}


@dataclass
class Tab:
    """One page of the browser."""

    browser: _Connection
    session: str
    requested: list[str] = field(default_factory=list)  # every address it asked for

    async def call(self, method: str, **given: Any) -> Any:
        return await self.browser.call(method, given, self.session)

    async def open(self, address: str) -> None:
        """Go to an address and wait until it is there."""
        await self.call("Page.navigate", url=address)
        await self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    async def run(self, script: str) -> Any:
        """Return the value of a script in the page."""
        given = {"expression": script, "returnByValue": True, "awaitPromise": True}
        said = await self.call("Runtime.evaluate", **given)
        if "exceptionDetails" in said:
            raise AssertionError(said["exceptionDetails"])
        return said["result"].get("value")

    async def add_script(self, source: str) -> None:
        """Run a script in every page that is opened from now on."""
        await self.call("Page.addScriptToEvaluateOnNewDocument", source=source)

    async def until(self, script: str) -> Any:
        """Wait until a script in the page says something; return it."""
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    if value := await self.run(script):
                        return value
                except (AssertionError, RuntimeError):  # the page is just being left
                    pass
                await asyncio.sleep(0.05)

    async def press(self, key: str) -> None:
        """Press a key, a name such as Enter or a letter."""
        code = _KEYS.get(key, ord(key[0].upper()))
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        given = {"key": key, "windowsVirtualKeyCode": code}
        given |= {"code": key} if key in _KEYS else {}
        await self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **given)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **given)

    async def type(self, text: str) -> None:
        for letter in text:
            await self.press(letter)

    async def resize(self, width: int, height: int) -> None:
        given = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        await self.call("Emulation.setDeviceMetricsOverride", **given)

    async def use_scheme(self, scheme: str) -> None:
        """Prefer `dark` or `light`."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        await self.call("Emulation.setEmulatedMedia", features=features)

    async def picture(self, file: Path) -> None:
        """Save what is seen as a WebP."""
        said = await self.call("Page.captureScreenshot", format="webp", quality=85)
        file.write_bytes(base64.b64decode(said["data"]))


class _Connection:
    """Messages to the browser and its answers, each ended by a zero byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: int) -> None:
        self.reader, self.writer = reader, writer
        self.numbers = itertools.count(1)
        self.waiting: dict[int, asyncio.Future[Any]] = {}
        self.tabs: dict[str, Tab] = {}

    async def call(self, method: str, given: dict[str, Any], session: str | None = None) -> Any:
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": given}
        if session is not None:
            message["sessionId"] = session
        self.waiting[number] = asyncio.get_running_loop().create_future()
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        async with asyncio.timeout(PATIENCE):
            return await self.waiting[number]

    async def listen(self) -> None:
        while True:
            message = json.loads((await self.reader.readuntil(b"\0"))[:-1])
            if (number := message.get("id")) is not None:
                future = self.waiting.pop(number)
                if "error" in message:
                    future.set_exception(RuntimeError(message["error"]["message"]))
                else:
                    future.set_result(message["result"])
            elif message["method"] == "Network.requestWillBeSent":
                tab = self.tabs.get(message.get("sessionId", ""))
                if tab is not None:
                    tab.requested.append(message["params"]["request"]["url"])


@asynccontextmanager
async def open_tab(path: str, folder: Path) -> AsyncIterator[Tab]:
    """Start the browser with an empty profile in a folder, and open a tab."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    script = f'exec "$@" 3<&{to_read} 4>&{from_write}'
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", script, "bash", path, *_OPTIONS, f"--user-data-dir={folder}"),
        pass_fds=(to_read, from_write),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    os.close(to_read)
    os.close(from_write)
    reader = asyncio.StreamReader(limit=64 * 2**20)
    loop = asyncio.get_running_loop()
    with os.fdopen(from_read, "rb") as stream:
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), stream
        )
        connection = _Connection(reader, to_write)
        listening = asyncio.create_task(connection.listen())
        try:
            made = await connection.call("Target.createTarget", {"url": "about:blank"})
            given = {"targetId": made["targetId"], "flatten": True}
            session = (await connection.call("Target.attachToTarget", given))["sessionId"]
            tab = connection.tabs[session] = Tab(connection, session)
            await tab.call("Page.enable")
            await tab.call("Network.enable")
            yield tab
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            transport.close()
            os.close(to_write)
            process.terminate()
            await process.wait()
