"""Hook command: run one hook, with JSON on its stdin, and return what it said."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, suppress

from ragforge.domain.text import Json
from ragforge.processes import get_exit_code, hide_process, open_process
from ragforge.records import dataclass
from ragforge.tools.command.approved import GRACE, ApprovedCommands
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


async def run_hook(
    confined: ApprovedCommands,
    command: str,
    seconds: float,
    variables: Mapping[str, str] | None,
    payload: Json,
) -> HookOutput:
    """Run a command in a project to its end or time limit; all that it started ends with it.

    `variables` are its environment; without them, it runs in the sandbox.
    """
    out, err, warnings = KeptOutput(OUTPUT_BYTES), KeptOutput(OUTPUT_BYTES), list[str]()
    given = json.dumps(payload, ensure_ascii=False, default=str).encode(errors="replace")
    opening = (
        confined.open(command, confined.root, stdin=PIPE, on_warning=warnings.append)
        if variables is None
        else _open(command, confined.root, variables)
    )
    try:
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
    command: str, root: str, variables: Mapping[str, str]
) -> AbstractAsyncContextManager[Process]:
    hide_process()
    return open_process(
        command, GRACE, cwd=root, env=variables, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )


async def _feed(process: Process, given: bytes) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError, ConnectionResetError):  # it need not read
        process.stdin.write(given)
        await process.stdin.drain()
    process.stdin.close()
