"""Logins: what logins to servers returned, in the keyring, or in files only the user can read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from ragforge.brain.files.atomic_write import replace_file
from ragforge.config.services import KEYRING_SERVICE
from ragforge.config.settings import Settings
from ragforge.errors import InputError
from ragforge.private_files import make_private_folder

FOLDER = "logins"


def open_logins(settings: Settings) -> Logins:
    """Return the logins of the user."""
    return Logins(Path(settings.agent.state_dir) / FOLDER)


@dataclass(frozen=True, slots=True)
class Logins:
    """Implements `LoginStore`, with a private file for each server.

    It contains the secret on a machine without a keyring, and is empty on others: the keyring may
    ask the user to unlock it, and is not asked about servers without a login.
    """

    folder: Path

    def read(self, url: str) -> str:
        try:
            kept = self._place(url).read_text("utf-8")
        except (OSError, ValueError):
            return ""
        return kept or _read_keyring(_name_entry(url))

    def write(self, url: str, secret: str) -> None:
        kept = "" if _write_keyring(_name_entry(url), secret) else secret
        try:
            make_private_folder(self.folder)
            replace_file(str(self._place(url)), kept.encode())
        except OSError as error:
            raise InputError(f"{self.folder} cannot be written: {error.strerror}.") from error

    def delete(self, url: str) -> bool:
        was_there = bool(self.read(url))
        _delete_from_keyring(_name_entry(url))
        self._place(url).unlink(missing_ok=True)
        return was_there

    def _place(self, url: str) -> Path:
        return self.folder / f"{_digest(url)}.json"


def _name_entry(url: str) -> str:
    """Return under which name the keyring holds the login to a server.

    It depends on the whole address, so that no other server gets what this one returned.
    """
    return f"mcp@{urlsplit(url).hostname or ''}#{_digest(url)[:16]}"


def _digest(url: str) -> str:
    return sha256(url.encode(errors="replace")).hexdigest()


# Missing library, no keyring on this machine, a locked one: all of them mean "no keyring".


def _read_keyring(name: str) -> str:
    with suppress(Exception):
        import keyring

        return keyring.get_password(KEYRING_SERVICE, name) or ""
    return ""


def _write_keyring(name: str, secret: str) -> bool:
    """Tell whether the keyring took a secret: some take none, or no long ones."""
    with suppress(Exception):
        import keyring

        keyring.set_password(KEYRING_SERVICE, name, secret)
    return _read_keyring(name) == secret


def _delete_from_keyring(name: str) -> None:
    with suppress(Exception):
        import keyring

        keyring.delete_password(KEYRING_SERVICE, name)
