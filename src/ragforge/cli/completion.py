"""Completion: the script of each shell, and values that only the store or the settings know."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import typer
from typer._completion_classes import completion_init
from typer.completion import get_completion_script  # type: ignore[attr-defined]

from ragforge.cli.arguments import COMPLETION_VARIABLE
from ragforge.cli.loading import GlobalOptions, get_current_directory, load_with
from ragforge.errors import InputError, RagForgeError

PROGRAM = "ragforge"
MAX_SESSIONS = 100
STORE_SECONDS = 2.0


def prepare() -> None:
    """Make the program answer in the form that the scripts expect."""
    completion_init()


def write_script(shell: str) -> str:
    """Return the script that makes a shell complete the commands of `ragforge`."""
    script: str = get_completion_script(
        prog_name=PROGRAM, complete_var=COMPLETION_VARIABLE, shell=shell
    )
    return script + "\n"


def find_place(shell: str) -> tuple[Path, str]:
    """Return the file that a shell reads its completion from, and what the user may have to do.

    No start-up file of the user's is changed. Raises InputError if the shell has no such file.
    """
    home = Path.home()
    if shell == "bash":
        data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
        place = data / "bash-completion" / "completions" / PROGRAM
        return place, f"Without the package bash-completion, add to ~/.bashrc: source {place}"
    if shell == "zsh":
        line = "fpath+=~/.zfunc; autoload -Uz compinit; compinit"
        return home / ".zfunc" / f"_{PROGRAM}", f"If ~/.zshrc does not have it yet, add: {line}"
    if shell == "fish":
        config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        return config / "fish" / "completions" / f"{PROGRAM}.fish", ""
    raise InputError(
        "PowerShell reads completion from your profile. Add it yourself: "
        "ragforge completion powershell >> $PROFILE"
    )


def write_file(place: Path, text: str) -> None:
    """Write a file for other programs of the user, with its folders. Raises InputError."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror}.") from error


def list_sessions(context: typer.Context, start: str) -> list[tuple[str, str]]:
    """Return the sessions of this project whose id starts so, each with its title.

    Nothing is said about an error: the user is still typing.
    """
    given = context.find_root().params
    try:
        return asyncio.run(_find_sessions(GlobalOptions(store=given.get("store_url")), start))
    except (RagForgeError, OSError, TimeoutError):
        return []


async def _find_sessions(options: GlobalOptions, start: str) -> list[tuple[str, str]]:
    from ragforge.app import open_app
    from ragforge.config.store_url import is_server
    from ragforge.show.sessions import NO_TITLE, shorten_id

    settings = load_with(options, quiet=True).settings
    if not is_server(settings.store.url) and not Path(settings.store.url).exists():
        return []
    async with (
        asyncio.timeout(STORE_SECONDS),
        open_app(settings, get_current_directory(), work=False) as app,
    ):
        found = await app.sessions.find(limit=MAX_SESSIONS)
    return [
        (shorten_id(one.uuid), one.title or NO_TITLE) for one in found if one.uuid.startswith(start)
    ]


def list_settings(start: str) -> list[str]:
    """Return the settings whose name starts so."""
    from ragforge.config.dotted_keys import list_keys

    return [key for key in list_keys() if key.startswith(start)]
