"""`ragforge permissions`: what the agent may do in this project without asking, and what never."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ragforge.cli.help_texts import CommandGroup
from ragforge.cli.loading import get_current_directory
from ragforge.cli.state import JsonOption, load
from ragforge.show.console import print_note, print_table
from ragforge.show.visible import make_visible

if TYPE_CHECKING:
    from ragforge.app.features.permission_rules import Effect, PermissionRule, PermissionRules

RuleArgument = Annotated[str, typer.Argument(metavar="RULE", help="Such as 'edit_file(src/**)'.")]
ExactOption = Annotated[
    bool, typer.Option("--exact", help="`*`, `?`, `[` and `{` are characters, not wildcards.")
]


def register(app: typer.Typer) -> None:
    group = CommandGroup(
        help="What the agent may do in this project without asking.",
        epilog="permissions",
        no_args_is_help=True,
    )
    for name, command in (("list", show), ("allow", allow), ("deny", deny), ("remove", remove)):
        group.command(name, epilog="permissions")(command)
    app.add_typer(group, name="permissions")


def show(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the rules of this project."""
    from ragforge.show.console import print_json

    found = _open_rules(context).all()
    if as_json:
        print_json({"rules": [rule_to_json(rule) for rule in found]})
    else:
        show_rules(found)


def allow(context: typer.Context, rule: RuleArgument, exact: ExactOption = False) -> None:
    """Allow something for good."""
    _add(context, "allow", rule, exact)


def deny(context: typer.Context, rule: RuleArgument, exact: ExactOption = False) -> None:
    """Forbid something for good."""
    _add(context, "deny", rule, exact)


def remove(context: typer.Context, rule: RuleArgument) -> None:
    """Forget a rule."""
    from ragforge.errors import InputError
    from ragforge.show.console import print_note

    rules = _open_rules(context)
    found = [one for one in rules.all() if str(one) == rule.strip()]
    if not found:
        raise InputError(f"There is no rule {rule!r} here. `ragforge permissions list` has them.")
    for one in found:
        rules.remove(one)
    print_note(f"Forgotten: {rule.strip()}")


def _add(context: typer.Context, effect: Effect, text: str, exact: bool) -> None:
    from ragforge.app.features.permission_rules import add_rule
    from ragforge.show.console import print_note

    rule = add_rule(_open_rules(context), effect, text, exact)
    word = "Allowed" if effect == "allow" else "Forbidden"
    print_note(f"{word} here from now on: {rule} ({rule.meaning})")


def _open_rules(context: typer.Context) -> PermissionRules:
    from ragforge.app.features.permission_rules import open_rules

    return open_rules(load(context).settings, get_current_directory())


def rule_to_json(rule: PermissionRule) -> dict[str, object]:
    return {"effect": rule.effect, "rule": str(rule), "kind": rule.kind}


def show_rules(rules: Sequence[PermissionRule]) -> None:
    """Show rules as a table."""
    if rules:
        rows = [[rule.effect, make_visible(str(rule)), rule.meaning] for rule in rules]
        print_table(["Effect", "PermissionRule", "Meaning"], rows)
    else:
        print_note("There are no rules here: every edit and every other command is asked for.")
