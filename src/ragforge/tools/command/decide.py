"""Decide: may this line run without permission?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragforge.errors import InputError
from ragforge.tools.command.git.check import plan_git
from ragforge.tools.command.paths import (
    WorkingDirectory,
    as_path,
    check_path,
    expand_pattern,
    quote_short,
    resolve_directory,
)
from ragforge.tools.command.plan import (
    Allowed,
    Decision,
    ErrorsTo,
    Joint,
    Loop,
    NotAllowed,
    Pipeline,
    PipelineStep,
    Refused,
    SimpleCommand,
    Stage,
    Word,
    mark_bare,
    mark_quoted,
)
from ragforge.tools.command.programs import VERSIONS, load_programs
from ragforge.tools.command.shell import parse
from ragforge.tools.command.xargs import read_xargs, split_exec
from ragforge.tools.confine import Root

MAX_LOOP_STEPS = 200
"""A loop is written out; it may become this many pipelines."""


def decide(line: str, project_root: str, cwd: str | None = None) -> Decision:
    """Return what the line would run, or why it is refused. Nothing is executed.

    `cwd` is relative to the project's root, or absolute and inside it.
    """
    try:
        place = _find_directory(project_root, cwd)
        return Allowed(tuple(_plan_steps(place, parse(line))))
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
    place: WorkingDirectory, parts: tuple[Pipeline | Loop, ...]
) -> Iterator[PipelineStep]:
    """Yield the steps; `cd` at the start only changes where the rest of the line runs."""
    at_start = True
    for position, part in enumerate(parts):
        if isinstance(part, Loop):
            if part.joint != ";" and not at_start:
                raise NotAllowed("a loop must be the whole line, or follow cd DIR &&")
            yield from _plan_loop(place, part)
            at_start = False
            continue
        if part.commands[0].words[0].text == "cd":
            follows = parts[position + 1].joint if position + 1 < len(parts) else "&&"
            if not at_start or follows == "||" or len(part.commands) != 1:
                raise NotAllowed("cd is only allowed at the start of the line, as in cd DIR && …")
            place = _change_directory(place, part.commands[0])
            continue
        yield _plan_pipeline(place, part, ";" if at_start else part.joint)
        at_start = False
    if at_start:
        yield PipelineStep(";", (Stage("pwd", (), place.cwd, silent=True),))


def _plan_loop(place: WorkingDirectory, loop: Loop) -> Iterator[PipelineStep]:
    """Yield the steps of a loop, written out."""
    values = [
        as_path(name) if word.glob is not None else name
        for word in loop.values
        for name in expand_pattern(place, word)
    ]
    if len(values) * len(loop.body) > MAX_LOOP_STEPS:
        raise NotAllowed(f"the loop would run more than {MAX_LOOP_STEPS} pipelines")
    for value in values:
        for pipeline in loop.body:
            commands = tuple(
                _fill_variable(command, loop.variable, value) for command in pipeline.commands
            )
            yield _plan_pipeline(place, Pipeline(pipeline.joint, commands), pipeline.joint)
    if not values:
        yield PipelineStep(";", (Stage("true", (), place.cwd),))


def _fill_variable(command: SimpleCommand, variable: str, value: str) -> SimpleCommand:
    """Return a command with a value in place of the variable."""

    def fill(word: Word) -> Word:
        quoted, bare = mark_quoted(variable), mark_bare(variable)
        if quoted not in word.text and bare not in word.text:
            return word
        if word.glob is not None:
            raise NotAllowed("a word has both a variable and a pattern")
        if bare in word.text and re.search(r"[\s*?\[\]\\]", value):
            raise NotAllowed(
                f"a shell would split or expand {quote_short(value)}; quote the variable"
            )
        return Word(word.text.replace(quoted, value).replace(bare, value), plain=False)

    source = None if command.input is None else fill(command.input)
    return replace(command, words=tuple(map(fill, command.words)), input=source)


def _plan_pipeline(place: WorkingDirectory, pipeline: Pipeline, joint: Joint) -> PipelineStep:
    stages: list[Stage] = []
    for command in pipeline.commands:
        planned = _plan_stages(place, command)
        has_input = bool(stages) or command.input is not None
        if planned[0].each is not None and not has_input:
            raise NotAllowed("xargs needs names from a pipe or a file")
        stages += planned
    return PipelineStep(joint, tuple(stages))


def _change_directory(place: WorkingDirectory, command: SimpleCommand) -> WorkingDirectory:
    words = [word.text for word in command.words[1:]]
    if words[:1] == ["--"]:
        del words[0]
    if len(words) != 1 or words[0].startswith("-") or not words[0] or command.input:
        raise NotAllowed("cd needs one directory")
    return replace(place, cwd=resolve_directory(place, words[0]))


def plan_one(place: WorkingDirectory, words: Sequence[Word]) -> Stage:
    """Return the program that words run, if it is one program. Raises NotAllowed."""
    stages = _plan_words(place, words)
    if len(stages) != 1 or stages[0].each is not None:
        raise NotAllowed(f"{quote_short(words[0].text)} is more than one program")
    return stages[0]


def _plan_stages(place: WorkingDirectory, command: SimpleCommand) -> list[Stage]:
    first, *others = _plan_words(place, command.words)
    if command.input is not None:
        first = replace(first, input=_check_input(place, command.input))
    *before, last = [first, *others]
    inner: ErrorsTo = "nowhere" if command.errors_to == "nowhere" else "stderr"
    before = [replace(stage, errors_to=inner) for stage in before]
    return [*before, replace(last, errors_to=command.errors_to, silent=command.silent)]


def _check_input(place: WorkingDirectory, word: Word) -> str | None:
    """Return the file that is read as input, relative to the project; None for no input."""
    names = expand_pattern(place, word)
    if len(names) != 1:
        raise NotAllowed("it redirects its input from a pattern")
    if names[0] == "/dev/null":
        return None
    check_path(place, names[0])
    return place.root.inside(os.path.join(place.cwd, names[0])) or "."


def _plan_words(place: WorkingDirectory, words: Sequence[Word]) -> list[Stage]:
    name, *rest = words
    if not name.plain or name.glob is not None:
        raise NotAllowed("the program's name is quoted or a pattern")
    if "/" in name.text:
        raise NotAllowed(f"the program {quote_short(name.text)} is given by its path; use its name")
    if name.text == "xargs":
        each = read_xargs(place, rest, plan_one)
        return [Stage("xargs", each.words, place.cwd, each=each)]
    if name.text == "find" and (found := split_exec(place, rest, plan_one)):
        arguments = load_programs()["find"].arguments(place, found[0]).words
        each = found[1]
        return [
            Stage("find", arguments, place.cwd),
            Stage("xargs", each.words, place.cwd, each=each),
        ]
    if name.text == "git":
        return plan_git(place, rest)
    if (program := load_programs().get(name.text)) is None:
        raise NotAllowed(f"the program {quote_short(name.text)} is not on the list")
    run_as = program.run_as or (name.text,)
    given = program.arguments(place, rest)
    arguments = (*run_as[1:], *given.words)
    apart = name.text in VERSIONS
    return [Stage(run_as[0], arguments, place.cwd, apart=apart, walk=given.walk)]
