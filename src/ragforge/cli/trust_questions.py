"""Trust questions: ask about a folder in a terminal; without one, say what is ignored."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ragforge.cli.guard import FAILED
from ragforge.errors import InputError
from ragforge.show.console import print_note

if TYPE_CHECKING:
    from ragforge.app.wiring.trust import FolderTrust
    from ragforge.config import Loaded, Settings


def can_ask() -> bool:
    """Tell whether there is a terminal to ask the user in."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_about_folder(settings: Settings, cwd: Path) -> bool:
    """Ask whether to trust a folder if it brings something new; return whether it was asked."""
    from ragforge.app.wiring.trust import examine_folder

    question = examine_folder(settings, cwd)
    if not question.is_open:
        return False
    from ragforge.show.settings import TRUST_QUESTION, format_question

    for line in format_question(question):
        print_note(line)
    question.answer(settings, ask_yes_or_no(TRUST_QUESTION))
    return True


def note_ignored(loaded: Loaded, cwd: Path, instructions: bool) -> None:
    """Say in one line which files of a folder are ignored because it is not trusted yet."""
    from ragforge.show.settings import format_ignored

    file = loaded.project
    if file is not None and file.state in ("not trusted", "changed"):
        print_note(format_ignored(file.path.name, file.path.parent))
    elif instructions:
        from ragforge.app.wiring.trust import examine_folder

        question = examine_folder(loaded.settings, cwd)
        if question.is_open:
            print_note(format_ignored(" and ".join(question.ignored), question.root))


def settle_reading(settings: Settings, folder: Path) -> bool:
    """Return whether a folder's files may be read; ask the user if that is not decided."""
    from ragforge.app.wiring.trust import FolderTrust

    trust = FolderTrust.around(settings, folder)
    if trust.reads:
        return True
    if can_ask() and not trust.was_refused:
        return _ask_about_reading(trust)
    print_note(trust.describe_unread())
    return False


def require_reading(settings: Settings, folder: Path, named: bool, yes: bool = False) -> None:
    """Raise InputError unless a folder's files may be read.

    They may if the folder is `named`, with `yes`, or if the user agrees.
    """
    from ragforge.app.wiring.trust import FolderTrust

    trust = FolderTrust.around(settings, folder)
    if trust.reads:
        return
    if yes:
        trust.answer_reading(True)
    elif named and not trust.is_too_wide:
        trust.allow_by_name()
    elif not can_ask():
        raise InputError(f"{trust.describe_unread()} So does `ragforge ingest --yes {trust.root}`.")
    elif not _ask_about_reading(trust):
        raise InputError(trust.describe_unread())


def _ask_about_reading(trust: FolderTrust) -> bool:
    what = "more than a project" if trust.is_too_wide else "not a project"
    print_note(f"{trust.root} is {what}.")
    yes = ask_yes_or_no("May all its files be read and remembered?")
    trust.answer_reading(yes)
    return yes


def ask_yes_or_no(question: str) -> bool:
    """Return the user's answer. Raises SystemExit if there is none."""
    import typer  # most folders need no question

    try:
        with interrupt_at_once():
            return typer.confirm(question, err=True)
    except typer.Abort:
        print_note("Aborted!")
        raise SystemExit(FAILED) from None


@contextmanager
def interrupt_at_once() -> Iterator[None]:
    """Let Ctrl-C end a question: the handler of an event loop would wait for the answer."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
