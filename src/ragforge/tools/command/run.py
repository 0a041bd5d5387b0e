"""Run: execute the steps of an allowed line, without a shell, within limits."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, field, replace
from itertools import groupby
from pathlib import Path

from ragforge.domain.text import Json
from ragforge.records import dataclass
from ragforge.tools.command.decide import decide, plan_one
from ragforge.tools.command.environment import GIT_SETTINGS, build_variables, find_program
from ragforge.tools.command.git.content import check_objects, hide_secrets
from ragforge.tools.command.git.repository import RepositoryView, build_view, make_folders
from ragforge.tools.command.paths import WorkingDirectory, leave_out_secrets
from ragforge.tools.command.pipeline import Capture, PipelineProgram, run_pipeline
from ragforge.tools.command.plan import NotAllowed, PipelineStep, Refused, Stage
from ragforge.tools.command.programs.awk import choose_options
from ragforge.tools.command.sandbox.choose import (
    REQUIRED,
    Mode,
    Sandbox,
    allow_reading,
    find_sandbox,
)
from ragforge.tools.command.xargs import plan_commands, split_names
from ragforge.tools.confine import Root

NOT_FOUND = 127
MAX_NOTED = 5
MAX_INNER_BYTES = 8_000_000
"""How much one part of a line may pass to the next through RagForge."""


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """Limits of a read-only command."""

    seconds: float = 30.0  # where the caller does not say
    max_seconds: float = 120.0
    stdout_bytes: int = 200_000
    stderr_bytes: int = 20_000
    memory_bytes: int = 2 * 1024**3  # of each program


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command did; `refused` says why it was not run."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    duration_ms: int = 0
    timed_out: bool = False
    truncated: bool = False
    refused: str | None = None

    def to_json(self) -> Json:
        """Return the result for a model; `refused` only if it was refused."""
        facts: dict[str, Json] = asdict(self)
        if self.refused is None:
            del facts["refused"]
        return facts


@dataclass(frozen=True, slots=True)
class CommandRunner:
    """Runs read-only command lines in one project."""

    root: Path
    limits: CommandLimits = field(default_factory=CommandLimits)
    sandbox: Mode = "auto"  # where the machine has one

    async def run(
        self,
        command: str,
        cwd: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  the model sets it
        modifies_files: bool = False,
    ) -> CommandResult:
        """Run a line and return what it did. A line that is not read-only is refused.

        It raises nothing but CancelledError, which ends the programs too.
        """
        if modifies_files:
            return _refuse(
                "modifies_files is true: it may modify files, and only read-only commands run here"
            )
        if os.name != "posix":
            return _refuse("commands do not run on this operating system")
        start = time.monotonic()
        decision = await asyncio.to_thread(decide, command, str(self.root), cwd)
        if isinstance(decision, Refused):
            return _refuse(decision.reason)
        root = os.path.realpath(self.root)
        sandbox = await asyncio.to_thread(find_sandbox, root, self.sandbox)
        if sandbox is None and self.sandbox == "required":
            return _refuse(REQUIRED)
        seconds = self.limits.seconds if timeout is None else timeout
        deadline = start + min(max(seconds, 0.1), self.limits.max_seconds)
        limits = self.limits
        capture = Capture(limits.stdout_bytes, limits.stderr_bytes, limits.memory_bytes)
        try:
            with make_folders() as (home, folder):
                run = _Run(root, home, folder, sandbox)
                code = await run.run_steps(decision.steps, capture, deadline)
                stdout, stderr = run.reveal_output(capture)
        except NotAllowed as refusal:
            return _refuse(str(refusal))
        except OSError as error:
            return _refuse(f"it cannot be run ({error.strerror or type(error).__name__})")
        return CommandResult(
            stdout,
            stderr,
            exit_code=code,
            duration_ms=round((time.monotonic() - start) * 1000),
            timed_out=capture.timed_out,
            truncated=capture.truncated,
        )


class _Run:
    """One running line."""

    def __init__(self, root: str, home: str, folder: str, sandbox: Sandbox | None) -> None:
        self._root = root
        self._home = home
        self._folder = folder
        self._sandbox = sandbox
        self._view: RepositoryView | None = None

    async def run_steps(
        self, steps: tuple[PipelineStep, ...], capture: Capture, deadline: float
    ) -> int | None:
        """Run the steps as their operators say; return the exit code of the last that ran."""
        code: int | None = 0
        for step in steps:
            if (step.joint == "&&" and code != 0) or (step.joint == "||" and code == 0):
                continue
            code = await self._run_step(step, capture, deadline)
            if capture.timed_out or capture.truncated:
                break
        return code

    async def _run_step(self, step: PipelineStep, capture: Capture, deadline: float) -> int | None:
        """Run a pipeline, cut where a command is run for the names that arrive."""
        arrived: bytes | None = None
        code: int | None = 0
        segments = _cut(step.stages)
        for position, segment in enumerate(segments):
            is_last = position == len(segments) - 1
            into = capture
            if not is_last:
                into = Capture(MAX_INNER_BYTES, capture.stderr_bytes, capture.memory_bytes)
            if segment[0].each is not None:
                code = await self._run_each(segment[0], arrived, into, deadline)
            else:
                code = await self._run_segment(segment, arrived, into, deadline)
            if not is_last:
                capture.stderr += into.stderr[: capture.stderr_bytes - len(capture.stderr)]
                capture.timed_out |= into.timed_out
                capture.truncated |= into.truncated
            if capture.timed_out or capture.truncated or (code == NOT_FOUND and not is_last):
                break
            arrived = bytes(into.stdout)
        return code

    async def _run_each(
        self, stage: Stage, arrived: bytes | None, capture: Capture, deadline: float
    ) -> int | None:
        """Run a command for the names that arrived; each command is decided again."""
        each = stage.each
        assert each is not None
        place = WorkingDirectory(Root(self._root), stage.cwd)
        if stage.input is not None:
            with Root(self._root).open(stage.input) as file:
                arrived = file.read(MAX_INNER_BYTES)
        names = split_names(each, arrived or b"")
        planned, notes = await asyncio.to_thread(plan_commands, place, each, names, plan_one)
        if stage.errors_to != "nowhere":
            text = "".join(f"{note}\n" for note in notes)
            capture.stderr += text.encode(errors="replace")[: capture.stderr_bytes]
        failed = bool(notes)
        for command in planned:
            ready = replace(command, errors_to=stage.errors_to, silent=stage.silent)
            code = await self._run_segment((ready,), None, capture, deadline)
            if capture.timed_out or capture.truncated or code == NOT_FOUND:
                return code
            failed |= code != 0
        return each.failure if failed else 0

    async def _run_segment(
        self, stages: Sequence[Stage], arrived: bytes | None, capture: Capture, deadline: float
    ) -> int | None:
        programs = []
        with ExitStack() as files:
            for position, planned in enumerate(stages):
                stage = planned
                path = find_program(stage.program, self._root, in_path=stage.apart)
                if path is None:
                    note = f"{stage.program}: is not installed on this machine\n"
                    capture.stderr += note.encode()
                    return NOT_FOUND
                seconds = deadline - time.monotonic()
                stage, left_out = await asyncio.to_thread(
                    leave_out_secrets, stage, self._root, seconds
                )
                if left_out and stage.errors_to != "nowhere":
                    capture.stderr += _note_left_out(stage.program, left_out)
                program = await asyncio.to_thread(self._build_program, path, stage, seconds)
                if stage.input is not None:
                    source = files.enter_context(Root(self._root).open(stage.input))
                    program = replace(program, stdin=source.fileno())
                elif position == 0 and arrived is not None:
                    kept = files.enter_context(tempfile.TemporaryFile(dir=self._home, buffering=0))
                    kept.write(arrived)
                    kept.seek(0)
                    program = replace(program, stdin=kept.fileno())
                programs.append(program)
            return await run_pipeline(programs, capture, deadline)

    def _build_program(self, path: str, stage: Stage, seconds: float) -> PipelineProgram:
        own = choose_options(path) if stage.program == "awk" else ()
        words = [stage.program, *own, *stage.arguments]
        cwd = self._home if stage.apart else stage.cwd
        environment = build_variables(self._home)
        readable = [self._root, os.path.dirname(os.path.realpath(path)), os.path.dirname(path)]
        if stage.git is not None and stage.git != "version":
            seen = self._get_view(path)
            _check_git(stage, seen)
            check_objects(stage, seen)
            stage = hide_secrets(stage, seen, seconds)
            words = [stage.program, *GIT_SETTINGS, *stage.arguments]
            environment = seen.build_environment()
            readable += [seen.found.git_dir, seen.found.common_dir, self._folder]
        if self._sandbox:
            policy = allow_reading(readable, self._home, cwd, self._root)
            # bubblewrap looks for the program itself, so that the program goes by its own name.
            places = os.pathsep.join([os.path.dirname(path), environment["PATH"]])
            environment = {**environment, "PATH": places}
            words = self._sandbox.wrap(policy, path, words)
            path = words[0]
        return PipelineProgram(path, tuple(words), cwd, environment, stage.errors_to, stage.silent)

    def _get_view(self, git: str) -> RepositoryView:
        if self._view is None:
            self._view = build_view(git, self._root, self._home, self._folder)
        return self._view

    def reveal_output(self, capture: Capture) -> tuple[str, str]:
        """Return the output as text, with real paths in it."""
        outputs = (bytes(capture.stdout), bytes(capture.stderr))
        if self._view is not None:
            outputs = (self._view.reveal(outputs[0]), self._view.reveal(outputs[1]))
        stdout, stderr = (output.decode(errors="replace") for output in outputs)
        if self._view is not None and "PRIVATE KEY" in stdout:  # of a commit that is long gone
            from ragforge.memory.secrets.redact import redact

            stdout = redact(stdout)
        return stdout, stderr


def _cut(stages: Sequence[Stage]) -> list[tuple[Stage, ...]]:
    """Return the stages in runs; one that runs a command for each name is a run by itself."""
    runs = groupby(stages, lambda stage: stage.each is not None)
    segments: list[tuple[Stage, ...]] = []
    for is_each, group in runs:
        segments += [(stage,) for stage in group] if is_each else [tuple(group)]
    return segments


def _check_git(stage: Stage, seen: RepositoryView) -> None:
    """Refuse what is only safe in repositories without submodules, linked trees or such links."""
    looks_at_files = any(word.startswith(("--dirty", "--broken")) for word in stage.arguments)
    if stage.git == "describe" and looks_at_files and seen.has_submodules():
        raise NotAllowed("git describe --dirty would look into submodules")
    if stage.git == "worktree list" and seen.found.is_linked:
        raise NotAllowed("git worktree list is only answered in the main work tree")
    if stage.git == "grep" and seen.has_files_outside():
        raise NotAllowed("the index names files behind links that lead out of the project")


def _note_left_out(program: str, paths: Sequence[str]) -> bytes:
    """Return a line that says which files a program was not shown."""
    more = f" and {len(paths) - MAX_NOTED} more" if len(paths) > MAX_NOTED else ""
    shown = ", ".join(paths[:MAX_NOTED]) + more
    return f"{program}: files that may hold secrets are left out: {shown}\n".encode(
        errors="replace"
    )


def _refuse(reason: str) -> CommandResult:
    return CommandResult(stderr=f"Refused: {reason}.", refused=reason)
