"""The terminal: one user at work in a directory, in one session at a time."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from rich.text import Text

from ragforge.domain.instants import now
from ragforge.domain.modes import next_mode
from ragforge.show.console import fit_line, sanitise
from ragforge.show.screen import Screen
from ragforge.tui.keyboard import Interruptible
from ragforge.tui.live_input import LiveInput

if TYPE_CHECKING:
    from datetime import datetime

    from ragforge.app import App
    from ragforge.app.features.user_commands import PromptFile
    from ragforge.config.settings import TerminalSettings
    from ragforge.domain.chat import Usage
    from ragforge.domain.conversations import Conversation
    from ragforge.domain.modes import Mode
    from ragforge.domain.receipts import Receipt
    from ragforge.domain.turns import Answer
    from ragforge.events import OnEvent, ToolFinished
    from ragforge.permissions import Approve

    Begin: TypeAlias = Callable[[OnEvent, Approve, Callable[[], str]], Awaitable[Answer]]

BELL = "\a"
DESKTOP = "\x1b]9;{}\a"
"""What iTerm2, Ghostty, WezTerm, kitty and ConEmu show as a message; other terminals ignore it."""
NOTICE_CHARS = 100
PLANNED = (
    "Nothing was changed. /accept carries out this plan; /accept edits does so without asking "
    "before edits. Or say what to change in it."
)


class Terminal:
    """The state of the open terminal. Commands work with it."""

    def __init__(
        self, app: App, screen: Screen, *, verbose: bool = False, mode: Mode = "ask"
    ) -> None:
        self.app = app
        self.screen = screen
        self.verbose = verbose
        self.mode = mode  # of the next turn
        self.session: Conversation | None = None  # None: the first message begins one
        # One key resumes each of these, before anything is typed.
        self.offered: tuple[Conversation, ...] = ()
        self.turn_began: datetime | None = None  # the last turn of this terminal
        self.calls: list[ToolFinished] = []  # of this terminal, the oldest first
        self.receipt: Receipt | None = None
        self.window_share: float | None = None  # of the model's window, by the last request
        self.jobs = 0  # that are still to be done
        self.is_unread = False  # the project is read for the first time
        self.is_leaving = False
        self.own_commands: Sequence[PromptFile] = ()  # that the user or the project wrote
        self.draft = ""  # text of the next prompt, to be sent or changed
        self.work = Interruptible()
        self.typing = LiveInput(screen, app.settings.terminal.while_working, self.work.interrupt)

    def change_mode(self) -> None:
        """Switch to the next mode: Shift-Tab."""
        may_follow = self.mode == "accept-edits"  # to try a sandbox takes a moment
        self.mode = next_mode(self.mode, may_follow and not self.app.explain_no_auto())

    @property
    def usage(self) -> Usage:
        """What models used since the terminal was opened, in the background too."""
        return self.app.meter.total

    async def ask(self, question: str) -> None:
        """Take a turn; the first one begins the session."""
        if self.session is None:
            self.session = await self.app.sessions.create()
        uuid = self.session.uuid
        if self.is_unread:
            self.is_unread = await self.app.code.automatic_reading.begin() is not None
        mode = self.mode
        await self._turn(
            lambda on_event, approve, steer: self.app.ask(
                question, uuid, on_event=on_event, approve=approve, mode=mode, steer=steer
            )
        )

    async def retry(self, session: Conversation) -> None:
        """Resume the last turn of a session."""
        await self._turn(
            lambda on_event, approve, steer: self.app.retry(
                session.uuid, on_event=on_event, approve=approve, mode=self.mode, steer=steer
            )
        )

    async def _turn(self, begin: Begin) -> None:
        from ragforge.show.turn_view import TurnView  # loaded while the first question is typed
        from ragforge.tui.permission import Permission, ServerForm

        self.turn_began = now()
        view = TurnView(self.screen, verbose=self.verbose, typed=self.typing)
        notices = Notices(self.app.settings.terminal, self.screen)
        permission = Permission(self.screen, view, self.work.interrupt, notices.tell)
        form = ServerForm(self.screen, view, self.work.interrupt, notices.tell)
        try:
            with self.app.servers.asking(form.answer):
                async with view:
                    with self.typing.listen(view.refresh, can_steer=self.app.model is not None):
                        answer = await begin(view.on_event, permission.approve, self._steer)
        finally:
            self.calls += view.calls
            self.receipt = view.receipt or self.receipt
            self.window_share = view.window_share
        self._show_end(answer)
        notices.tell("RagForge: the answer is ready." if answer.problem is None else answer.problem)

    def _steer(self) -> str:
        """Return what the user sent for the next step, and show it where the model gets it."""
        if text := self.typing.take_steering():
            self.screen.say()
            self.show_sent(text)
        return self.typing.pastes.expand(text)

    def show_sent(self, text: str) -> None:
        """Print what the user sent during a turn, as if it came from the prompt."""
        shown = Text(f"{self.screen.signs.prompt} ", "bold cyan")
        self.screen.out.print(shown.append(sanitise(text).replace("\n", "\n  "), ""))

    def _show_end(self, answer: Answer) -> None:
        """Show what was found where there is no model, or why the model stopped."""
        if answer.problem is not None:
            problem = answer.problem.rstrip()
            end = "" if problem.endswith((".", "!", "?")) else "."  # others wrote a part of it
            self.screen.problem(f"{problem}{end} /retry resumes it.")
        if answer.model is None:
            from ragforge.show.answers import show_found

            show_found(answer)
        elif answer.receipt.notices:
            self.screen.problem(answer.receipt.notices)
        if self.mode == "plan" and answer.model is not None and answer.is_complete:
            self.screen.note(PLANNED)
        self.screen.say()


class Notices:
    """Notifies the user of the end of a long turn, or of a question in it."""

    def __init__(self, settings: TerminalSettings, screen: Screen) -> None:
        self._settings = settings
        self._screen = screen
        self._began = time.monotonic()

    def tell(self, text: str) -> None:
        """Ring the bell or show a desktop message, if the turn has taken long enough."""
        took = time.monotonic() - self._began
        if took < self._settings.notify_seconds or not self._screen.can_ring:
            return
        signs = {"bell": BELL, "desktop": DESKTOP.format(fit_line(text, NOTICE_CHARS))}
        out = self._screen.out.file
        out.write(signs.get(self._settings.notify, ""))
        out.flush()
