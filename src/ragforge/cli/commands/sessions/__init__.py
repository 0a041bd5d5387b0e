"""`ragforge sessions`: everything about past conversations."""

from __future__ import annotations

from collections.abc import Callable

from ragforge.cli.commands.sessions import changing, reading
from ragforge.cli.help_texts import CommandGroup

GROUP = CommandGroup(
    help="Show, find, branch, move and delete sessions.", epilog="sessions", no_args_is_help=True
)
_COMMANDS: dict[str, Callable[..., object]] = {
    "list": reading.list_sessions,
    "show": reading.show,
    "similar": reading.similar,
    "about": reading.about,
    "export": reading.export,
    "branch": changing.branch,
    "import": changing.import_,
    "archive": changing.archive,
    "unarchive": changing.unarchive,
    "tag": changing.tag,
    "untag": changing.untag,
    "rename": changing.rename,
    "share": changing.share,
    "unshare": changing.unshare,
    "delete": changing.delete,
}
for name, command in _COMMANDS.items():
    GROUP.command(name, epilog=f"sessions/{name}")(command)
