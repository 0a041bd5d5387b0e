"""Hook command: run one hook, with JSON on its stdin, and return what it said."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress

from ragforge.domain.text import Json
from ragforge.processes import get_exit_code, hide_process, open_process
from ragforge.records import dataclass
from ragforge.tools.command.approved import GRACE, ApprovedCommands, OnOutput
from ragforge.tools.command.background import KeptOutput
from ragforge.tools.command.plan import NotAllowed

OUTPUT_BYTES = 20_000


@dataclass(frozen=True, slots=True)
class HookOutput:
    """How a hook ended; `problem` says why it did not."""

    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    problem: str = ""
    warning: str = ""  # that it changed what git runs


@dataclass(frozen=True, slots=True)
class HookCommands:
    """Runs hooks in the root of a project, with or without a sandbox."""

    confined: ApprovedCommands
    variables: Callable[[], Mapping[str, str]]  # of hooks without a sandbox

    async def run(self, command: str, seconds: float, sandbox: bool, payload: Json) -> HookOutput:
        """Run a command to its end or to its time limit; what it started ends with it."""
        out, err, warnings = KeptOutput(OUTPUT_BYTES), KeptOutput(OUTPUT_BYTES), list[str]()
        given = json.dumps(payload, ensure_ascii=False, default=str).encode(errors="replace")
        try:
            opening = self._open(command, sandbox, warnings.append)
            async with asyncio.timeout(seconds), opening as process:
                await asyncio.gather(
                    _feed(process, given),
                    out.read_from(process.stdout),
                    err.read_from(process.stderr),
                )
                code = get_exit_code(await process.wait())
        except TimeoutError:
            return HookOutput(problem=f"it was ended after {seconds:g} seconds")
        except NotAllowed:
            return HookOutput(problem="it needs a sandbox, and none works on this machine")
        except (OSError, ValueError) as error:
            return HookOutput(problem=f"it could not be started: {error}")
        return HookOutput(code, out.text(), err.text(), warning="".join(warnings).strip())

    def _open(
        self, command: str, sandbox: bool, on_warning: OnOutput
    ) -> AbstractAsyncContextManager[Process]:
        root = self.confined.root
        if sandbox:
            return self.confined.open(command, root, stdin=PIPE, on_warning=on_warning)
        hide_process()
        return open_process(
            command, GRACE, cwd=root, env=self.variables(), stdin=PIPE, stdout=PIPE, stderr=PIPE
        )


async def _feed(process: Process, given: bytes) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError, ConnectionResetError):  # it need not read
        process.stdin.write(given)
        await process.stdin.drain()
    process.stdin.close()
