"""`ragforge permissions`, `check-command`, `trust` and `distrust`: what is allowed here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.app.features.permission_rules import Refused, add_rule, check_commands, open_rules
from ragforge.app.wiring.trust import examine_folder, list_trust
from ragforge.cli.loading import get_current_directory, load
from ragforge.cli.options import CommandGroup, JsonOption, YesOption, argument, flag, option
from ragforge.cli.state import confirm
from ragforge.errors import InputError
from ragforge.show.console import (
    fit_line,
    print_json,
    print_note,
    print_result,
    print_table,
    sanitise,
)
from ragforge.show.settings import (
    TRUST_QUESTION,
    decision_to_json,
    format_question,
    question_to_json,
    show_decisions,
)
from ragforge.show.visible import make_visible

if TYPE_CHECKING:
    from ragforge.app.features.permission_rules import (
        Decision,
        Effect,
        PermissionRule,
        PermissionRules,
    )

REFUSED = 1
RuleArgument = Annotated[str, typer.Argument(metavar="RULE", help="Such as 'edit_file(src/**)'.")]
ExactOption = Annotated[
    bool, typer.Option("--exact", help="Treat `*`, `?`, `[` and `{` as plain characters.")
]
FolderArgument = Annotated[
    Path | None, typer.Argument(metavar="PATH", help="The folder; by default this one.")
]


GROUP = CommandGroup(
    help="Show and change what the agent may do without asking.",
    epilog="permissions",
    no_args_is_help=True,
)


@GROUP.command("list", epilog="permissions")
def show(as_json: JsonOption = False) -> None:
    """List the rules of this project."""
    found = _open_rules().all()
    listed = {"rules": [rule_to_json(rule) for rule in found]}
    print_result(as_json, listed, lambda: show_rules(found))


@GROUP.command("allow", epilog="permissions")
def allow(rule: RuleArgument, exact: ExactOption = False) -> None:
    """Always allow something in this project."""
    _add("allow", rule, exact)


@GROUP.command("deny", epilog="permissions")
def deny(rule: RuleArgument, exact: ExactOption = False) -> None:
    """Never allow something in this project."""
    _add("deny", rule, exact)


@GROUP.command("remove", epilog="permissions")
def remove(rule: RuleArgument) -> None:
    """Remove a rule."""
    rules = _open_rules()
    found = [one for one in rules.all() if str(one) == rule.strip()]
    if not found:
        raise InputError(
            f"There is no rule {rule!r} in this project. `ragforge permissions list` lists them."
        )
    for one in found:
        rules.remove(one)
    print_note(f"Removed: {rule.strip()}")


def _add(effect: Effect, text: str, exact: bool) -> None:
    rule = add_rule(_open_rules(), effect, text, exact)
    word = "Allowed" if effect == "allow" else "Forbidden"
    print_note(f"{word} in this project from now on: {rule} ({rule.meaning})")


def _open_rules() -> PermissionRules:
    return open_rules(load().settings, get_current_directory())


def rule_to_json(rule: PermissionRule) -> dict[str, object]:
    return {"effect": rule.effect, "rule": str(rule), "kind": rule.kind}


def show_rules(rules: Sequence[PermissionRule]) -> None:
    """Show rules as a table."""
    if rules:
        rows = [[rule.effect, make_visible(str(rule)), rule.meaning] for rule in rules]
        print_table(["Effect", "Rule", "Meaning"], rows)
    else:
        print_note("This project has no rules: every edit and every other command needs a yes.")


def check_command(
    line: str | None = argument("LINE", "A command line, in quotes.", None),
    *,
    stdin: bool = flag("--stdin", "Read command lines from stdin, one per line."),
    root: Path | None = option("--root DIR", "The project; by default this directory's."),
    as_json: JsonOption = False,
) -> None:
    """Tell whether a command line is read-only, and if not, why.

    Nothing is executed.
    """
    if (line is None) != stdin:
        raise typer.BadParameter("give one LINE, or --stdin", param_hint="LINE")
    here = get_current_directory()
    lines = _read_stdin() if line is None else [line]
    decisions = check_commands(lines, here, None if root is None else here / root)
    if as_json:
        found = [_verdict_to_json(*each) for each in decisions]
        print_json({"commands": found} if stdin else found[0])
    else:
        _show_verdicts(decisions, many=stdin)
    if any(isinstance(decision, Refused) for _, decision in decisions):
        raise typer.Exit(REFUSED)


def _read_stdin() -> list[str]:
    data = sys.stdin.buffer.read().decode(errors="replace")
    return [line for line in data.split("\n") if line.strip()]


def _verdict_to_json(line: str, decision: Decision) -> dict[str, object]:
    if isinstance(decision, Refused):
        return {"command": line, "allowed": False, "reason": decision.reason, "runs": None}
    runs = [[[stage.program, *stage.arguments] for stage in step.stages] for step in decision.steps]
    return {"command": line, "allowed": True, "reason": None, "runs": runs}


def _show_verdicts(decisions: Sequence[tuple[str, Decision]], many: bool) -> None:
    """Show whether each line is allowed; with `many`, below the line itself."""
    for line, decision in decisions:
        verdict = f"refused: {decision.reason}" if isinstance(decision, Refused) else "allowed"
        text = sanitise(f"{fit_line(line, 100)}\n  {verdict}" if many else verdict)
        sys.stdout.write(f"{text}\n")


def trust(
    path: FolderArgument = None,
    *,
    yes: YesOption = False,
    listing: bool = flag("--list", "List the folders that you decided about."),
    as_json: JsonOption = False,
) -> None:
    """Show the settings and instructions of a folder, and trust it."""
    settings = load(quiet=True).settings
    if listing:
        decisions = list_trust(settings)
        listed = {"folders": [decision_to_json(*pair) for pair in decisions.items()]}
        print_result(as_json, listed, lambda: show_decisions(decisions))
        return
    folder = _find_folder(path)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a directory. Name a directory.")
    question = examine_folder(settings, folder)
    if not as_json:
        for line in format_question(question):
            print_note(line)
        if not yes:
            confirm(TRUST_QUESTION)
    if yes or not as_json:
        question = question.answer(settings, True)
    said = f"Trusted from now on: {question.root}"
    print_result(as_json, question_to_json(question), lambda: print_note(said))


def distrust(path: FolderArgument = None) -> None:
    """Stop trusting a folder, and ignore its settings from now on."""
    settings = load(quiet=True).settings
    question = examine_folder(settings, _find_folder(path)).answer(settings, False)
    print_note(f"Not trusted from now on: {question.root}")


def _find_folder(path: Path | None) -> Path:
    here = get_current_directory()
    return here if path is None else here / path.expanduser()
