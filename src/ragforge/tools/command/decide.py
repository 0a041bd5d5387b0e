"""Decide: may this line run without permission?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ragforge.errors import InputError
from ragforge.tools.command import shell
from ragforge.tools.command.git.check import check_git
from ragforge.tools.command.paths import WorkingDirectory, quote_short, resolve_directory
from ragforge.tools.command.plan import Allowed, Decision, NotAllowed, PipelineStep, Refused, Stage
from ragforge.tools.command.programs import PROGRAMS
from ragforge.tools.confine import Root


def decide(line: str, project_root: str, cwd: str | None = None) -> Decision:
    """Return what the line would run, or why it is refused. Nothing is executed.

    `cwd` is relative to the project's root, or absolute and inside it.
    """
    try:
        place = _find_directory(project_root, cwd)
        return Allowed(tuple(_plan_steps(place, shell.parse(line))))
    except NotAllowed as refusal:
        return Refused(str(refusal))
    except (RecursionError, ValueError, OSError) as error:
        return Refused(f"it cannot be checked ({type(error).__name__})")


def _find_directory(project_root: str, cwd: str | None) -> WorkingDirectory:
    try:
        root = Root.at(project_root)
    except InputError:
        raise NotAllowed(f"the project {quote_short(project_root)} is not a directory") from None
    return WorkingDirectory(root, resolve_directory(WorkingDirectory(root, root.path), cwd or "."))


def _plan_steps(
    place: WorkingDirectory, pipelines: tuple[shell.Pipeline, ...]
) -> Iterator[PipelineStep]:
    """Yield the steps; `cd` at the start only changes where the rest of the line runs."""
    at_start = True
    for position, pipeline in enumerate(pipelines):
        if pipeline.commands[0].words[0].text == "cd":
            follows = pipelines[position + 1].joint if position + 1 < len(pipelines) else "&&"
            if not at_start or follows == "||" or len(pipeline.commands) != 1:
                raise NotAllowed("cd is only allowed at the start of the line, as in cd DIR && …")
            place = _change_directory(place, pipeline.commands[0])
            continue
        stages = tuple(_plan_stage(place, command) for command in pipeline.commands)
        yield PipelineStep(";" if at_start else pipeline.joint, stages)
        at_start = False
    if at_start:
        yield PipelineStep(";", (Stage("pwd", (), place.cwd, silent=True),))


def _change_directory(place: WorkingDirectory, command: shell.SimpleCommand) -> WorkingDirectory:
    words = [word.text for word in command.words[1:]]
    if words[:1] == ["--"]:
        del words[0]
    if len(words) != 1 or words[0].startswith("-") or not words[0]:
        raise NotAllowed("cd needs one directory")
    return replace(place, cwd=resolve_directory(place, words[0]))


def _plan_stage(place: WorkingDirectory, command: shell.SimpleCommand) -> Stage:
    name, *words = command.words
    if not name.plain or name.glob is not None:
        raise NotAllowed("the program's name is quoted or a pattern")
    if "/" in name.text:
        raise NotAllowed(f"the program {quote_short(name.text)} is given by its path; use its name")
    subcommand = None
    if name.text == "git":
        run_as: tuple[str, ...] = ("git",)
        subcommand, arguments = check_git(place, words)
    elif (program := PROGRAMS.get(name.text)) is not None:
        run_as = program.run_as or (name.text,)
        arguments = program.arguments(place, words)
    else:
        raise NotAllowed(f"the program {quote_short(name.text)} is not on the list")
    return Stage(
        run_as[0],
        (*run_as[1:], *arguments),
        place.cwd,
        errors_to=command.errors_to,
        silent=command.silent,
        git=subcommand,
    )
