"""Permission: ask the user before anything is changed. Question and answer stay visible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prompt_toolkit import PromptSession
from prompt_toolkit.input.typeahead import clear_typeahead

from ragforge.permissions import PermissionRequest, Verdict
from ragforge.show.screen import Screen
from ragforge.show.turn_view import TurnView
from ragforge.show.visible import make_visible
from ragforge.tui.keyboard import forget_typed
from ragforge.tui.request_rows import LEAST_ROWS, RequestRows, lay_out_request

SHOW_ALL = "v"
SHOW_MORE = ("", "m", SHOW_ALL)
INTERRUPTED = "The user interrupted."
UNDER_A_PAGE = 3
"""Rows that a page leaves free: for what is hidden, for the answer, and for what it means."""


@dataclass(frozen=True, slots=True)
class Permission:
    """Puts requests to the user, one at a time.

    A request that is longer than the terminal is shown page by page. A yes counts when all of
    it was shown: what has scrolled away unseen, nobody has agreed to.
    """

    screen: Screen
    view: TurnView
    interrupt: Callable[[], None]

    async def approve(self, request: PermissionRequest) -> Verdict:
        """Return the user's answer. Ctrl-C denies, and interrupts the turn."""
        with self.view.pause():
            rows = lay_out_request(request, self.screen.out.width - 1, self.screen.signs)
            self._show_next(rows)
            self.view.mark_seen(request.preview)
            verdict = await self._answer(request, rows)
            self.screen.say(_describe(verdict), "green" if verdict.answer != "deny" else "red")
            return verdict

    def _show_next(self, rows: RequestRows, everything: bool = False) -> None:
        page = max(LEAST_ROWS, self.screen.out.height - UNDER_A_PAGE)
        for row in rows.take(None if everything else page):
            self.screen.out.print(row, no_wrap=True, overflow="ignore", crop=False)
        if rows.hidden:
            self.screen.say(
                f"{rows.hidden:,} more rows are hidden. Enter shows the next, v shows all.",
                "bold red",
            )

    async def _answer(self, request: PermissionRequest, rows: RequestRows) -> Verdict:
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
            verdict = parse_verdict(text, request)
            word = text.strip().lower()
            if rows.hidden and (word in SHOW_MORE or (verdict and verdict.answer != "deny")):
                self._show_next(rows, everything=word == SHOW_ALL)
                if word not in SHOW_MORE:
                    self.screen.note("It counts when all was shown: answer again.")
                continue
            if verdict is not None:
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
        return (
            f"Allowed always: {make_visible(verdict.pattern)}. /permissions lists and removes it."
        )
    return f"Denied: {verdict.reason}" if verdict.reason else "Denied."
