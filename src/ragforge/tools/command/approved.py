"""Approved: run a command line that the user has allowed, in a shell and in a sandbox."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import field
from functools import partial
from typing import TypeAlias

from ragforge.domain.text import Json
from ragforge.processes import get_exit_code, hide_process, open_process
from ragforge.records import dataclass
from ragforge.tools.command.background import KeptOutput
from ragforge.tools.command.environment import find_program, select_variables
from ragforge.tools.command.git.repository import find_repository
from ragforge.tools.command.git.trigger_files import describe_changes, take_snapshot
from ragforge.tools.command.plan import NotAllowed
from ragforge.tools.command.run import CommandResult
from ragforge.tools.command.sandbox.choose import (
    REQUIRED,
    Mode,
    allow_confined_work,
    allow_work,
    explain_absence,
    explain_no_auto,
    find_sandbox,
)
from ragforge.tools.command.started import may_lose_work
from ragforge.tools.confine import Root

OnOutput: TypeAlias = Callable[[str], None]

SHELL = "/bin/sh"

CONFINED = (
    "\n[RagForge: no one was asked about this command, so it ran without network and could not "
    "write to .git, and perhaps not create or remove files directly in the project's root. If it "
    "failed for that reason, tell the user.]\n"
)
GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""


@dataclass(frozen=True, slots=True)
class ApprovedLimits:
    """Limits of an approved command."""

    seconds: float = 120.0  # where the caller does not say
    max_seconds: float = 1_800.0
    output_bytes: int = 100_000  # of each stream: its beginning and its end


@dataclass(frozen=True, slots=True)
class ApprovedCommands:
    """Runs commands that the user has allowed, in one project."""

    root: str  # a real path
    sandbox: Mode = "auto"
    environment: tuple[str, ...] = ()  # further variables that they receive
    limits: ApprovedLimits = field(default_factory=ApprovedLimits)

    def describe_sandbox(self) -> str:
        """Return what the sandbox does not close, for the user; "" if it closes all."""
        sandbox = find_sandbox(self.root, self.sandbox)
        if sandbox is None:
            return explain_absence(self.sandbox)
        limits = sandbox.list_limits(os.path.lexists(os.path.join(self.root, ".git")))
        return f"the sandbox {', '.join(limits)}" if limits else ""

    def can_confine(self, line: str) -> bool:
        """Tell whether a line may run without a question in auto mode."""
        if os.path.islink(os.path.join(self.root, ".git")):  # a link could be replaced
            return False
        return not explain_no_auto(self.root, self.sandbox) and not may_lose_work(line)

    async def run(
        self,
        line: str,
        cwd: str,
        seconds: float | None = None,
        network: bool = False,
        on_output: OnOutput | None = None,
        *,
        confined: bool = False,
    ) -> CommandResult:
        """Run a line to its end or to its time limit; all processes it started end with it.

        `on_output` receives what it prints as it comes. `confined`: no one was asked about it.
        """
        start = time.monotonic()
        out, err = KeptOutput(self.limits.output_bytes), KeptOutput(self.limits.output_bytes)
        allowed = min(seconds or self.limits.seconds, self.limits.max_seconds)
        timed_out = False

        def warn(text: str) -> None:
            err.add(text.encode())
            if on_output is not None:
                on_output(text)

        try:
            opening = self.open(line, cwd, network, confined=confined, on_warning=warn)
            async with opening as process:
                try:
                    async with asyncio.timeout(allowed):
                        await asyncio.gather(
                            out.read_from(process.stdout, on_output),
                            err.read_from(process.stderr, on_output),
                        )
                        await process.wait()
                except TimeoutError:
                    timed_out = True
        except NotAllowed:
            return CommandResult(stderr=f"Refused: {REQUIRED}.", refused=REQUIRED)
        except (OSError, ValueError) as error:
            return CommandResult(stderr=f"The command could not be started: {error}")
        code = process.returncode or 0
        if confined and code != 0:
            warn(CONFINED)
        return CommandResult(
            stdout=out.text(),
            stderr=err.text(),
            exit_code=None if timed_out else get_exit_code(code),
            duration_ms=round((time.monotonic() - start) * 1000),
            timed_out=timed_out,
            truncated=bool(out.lost or err.lost),
        )

    @asynccontextmanager
    async def open(
        self,
        line: str,
        cwd: str,
        network: bool = False,
        errors: int = PIPE,
        *,
        stdin: int = DEVNULL,
        confined: bool = False,
        on_warning: OnOutput,
    ) -> AsyncIterator[Process]:
        """Start a line; end it with all that it started when the block ends.

        `on_warning` is then told if the line changed what git runs. `confined`: git's folders are
        read-only, there is no network, and it does not run without a sandbox that closes both.
        Raises NotAllowed if a required sandbox is missing, OSError, ValueError.
        """
        sandbox = await asyncio.to_thread(find_sandbox, self.root, self.sandbox)
        if sandbox is None and self.sandbox == "required":
            raise NotAllowed(REQUIRED)
        if confined and (network or sandbox is None or not sandbox.can_confine):
            raise NotAllowed(REQUIRED)
        hide_process()
        variables = select_variables(os.environ, self.environment)
        async with AsyncExitStack() as stack:
            folder = stack.enter_context(_make_temporary())
            repository = await asyncio.to_thread(find_outer_repository, self.root, folder)
            command: str | list[str] = line
            if sandbox:
                place = sandbox.place_temporary(folder)
                variables |= {"TMPDIR": place, "TMP": place, "TEMP": place}
                policy = await asyncio.to_thread(
                    partial(allow_confined_work, repository=repository)
                    if confined
                    else partial(allow_work, network=network, repository=repository),
                    self.root,
                    cwd,
                    folder,
                    environment=variables,
                )
                command = sandbox.wrap(policy, SHELL, [SHELL, "-c", line])
            await stack.enter_async_context(self._watch_git(repository, on_warning))
            opened = open_process(
                command, GRACE, cwd=cwd, env=variables, stdin=stdin, stdout=PIPE, stderr=errors
            )
            yield await stack.enter_async_context(opened)

    @asynccontextmanager
    async def _watch_git(
        self, repository: tuple[str, ...], on_warning: OnOutput
    ) -> AsyncIterator[None]:
        """Warn if what git runs is not as it was before."""
        before = await asyncio.to_thread(take_snapshot, self.root, repository)
        try:
            yield
        finally:
            after = await asyncio.to_thread(take_snapshot, self.root, repository)
            if warning := describe_changes(before, after, self.root):
                on_warning(warning)


def find_outer_repository(root: str, home: str) -> tuple[str, ...]:
    """Return git's directory outside the project, where the project is a linked work tree."""
    git = find_program("git", root)
    if git is None or not os.path.isfile(os.path.join(root, ".git")):
        return ()
    try:
        found = find_repository(git, root, home)
    except NotAllowed:
        return ()
    return () if Root(root).holds(found.common_dir) else (found.common_dir,)


@contextmanager
def _make_temporary() -> Iterator[str]:
    """Make a directory for temporary files, and remove it with all that is in it."""
    with tempfile.TemporaryDirectory(prefix="ragforge-", ignore_cleanup_errors=True) as place:
        yield os.path.realpath(place)


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
                _feed(process, given), out.read_from(process.stdout), err.read_from(process.stderr)
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
