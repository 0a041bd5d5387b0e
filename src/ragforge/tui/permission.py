"""Permission: ask the user before anything is changed. Question and answer stay visible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prompt_toolkit import PromptSession
from prompt_toolkit.input.typeahead import clear_typeahead
from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from ragforge.permissions import PermissionRequest, Verdict
from ragforge.show.call_lines import format_diff
from ragforge.show.console import fit_line, sanitise
from ragforge.show.screen import Screen
from ragforge.show.turn_view import TurnView
from ragforge.tui.keyboard import forget_typed

MOST_LINES = 1_000  # of a diff
INTERRUPTED = "The user interrupted."
_ASKED = {"edit_file": "Change {}?", "run_command": "Run a command?"}


@dataclass(frozen=True, slots=True)
class Permission:
    """Puts requests to the user, one at a time."""

    screen: Screen
    view: TurnView
    interrupt: Callable[[], None]

    async def approve(self, request: PermissionRequest) -> Verdict:
        """Return the user's answer. Ctrl-C denies, and interrupts the turn."""
        with self.view.pause():
            self._show(request)
            self.view.mark_seen(request.preview)
            verdict = await self._answer(request)
            self.screen.say(_describe(verdict), "green" if verdict.answer != "deny" else "red")
            return verdict

    def _show(self, request: PermissionRequest) -> None:
        out = self.screen.out
        question = _ASKED[request.action].format(fit_line(request.subject, 200))
        out.print(Text(f"\n{question}", style="bold yellow"))
        is_edit = request.action == "edit_file"
        lines = format_diff(request.preview) if is_edit else [Text(sanitise(request.preview))]
        out.print(Padding(Group(*lines[:MOST_LINES]), (0, 0, 0, 2), expand=False))
        if len(lines) > MOST_LINES:
            self.screen.say(f"  {len(lines) - MOST_LINES:,} more lines are not shown.", "red")
        self.screen.note("  y  yes, this once")
        for number, pattern in enumerate(request.always, 1):
            key = "a " if number == 1 else f"a{number}"
            self.screen.note(f"  {key} always: {request.action}({fit_line(pattern, 200)})")
        self.screen.note("  n  no; the model gets the words after it")

    async def _answer(self, request: PermissionRequest) -> Verdict:
        # What was typed before the question was there is no answer to it.
        asking: PromptSession[str] = PromptSession()
        clear_typeahead(asking.app.input)
        forget_typed()
        while True:
            try:
                text = await asking.prompt_async("Allow? [y/a/n] ", handle_sigint=False)
            except KeyboardInterrupt:
                self.interrupt()
                return Verdict("deny", reason=INTERRUPTED)
            except EOFError:
                return Verdict("deny")
            if (verdict := parse_verdict(text, request)) is not None:
                return verdict
            keys = (
                "y, a or n" if len(request.always) < 2 else f"y, a to a{len(request.always)}, or n"
            )
            self.screen.note(f"Type {keys}, then Enter.")


def parse_verdict(text: str, request: PermissionRequest) -> Verdict | None:
    """Return what an answer means, or None if it means nothing."""
    word, _, rest = text.strip().partition(" ")
    word = word.lower()
    if word in ("n", "no"):
        return Verdict("deny", reason=rest.strip())
    if rest.strip() and not (word in ("a", "always") and rest.strip().isdecimal()):
        return None
    if word in ("y", "yes"):
        return Verdict("once")
    number = rest.strip() or word.removeprefix("always").removeprefix("a")
    if word.startswith("a") and (not number or number.isdecimal()):
        at = int(number or 1)
        return Verdict("always", request.always[at - 1]) if 1 <= at <= len(request.always) else None
    return None


def _describe(verdict: Verdict) -> str:
    if verdict.answer == "once":
        return "Allowed once."
    if verdict.answer == "always":
        return f"Allowed always: {verdict.pattern}. /permissions lists and removes it."
    return f"Denied: {verdict.reason}" if verdict.reason else "Denied."
