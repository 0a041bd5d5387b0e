"""The terminal: one user at work in a directory, in one session at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ragforge.show.screen import Screen
from ragforge.tui.keyboard import Interruptible

if TYPE_CHECKING:
    from ragforge.app import App
    from ragforge.app.features.user_commands import PromptFile
    from ragforge.domain.answers import Answer
    from ragforge.domain.chat import Usage
    from ragforge.domain.conversations import Conversation
    from ragforge.domain.modes import Mode
    from ragforge.domain.receipts import Receipt
    from ragforge.events import OnEvent, ToolFinished
    from ragforge.permissions import Approve

    Begin: TypeAlias = Callable[[OnEvent, Approve], Awaitable[Answer]]

PLANNED = (
    "Nothing was changed. /accept carries this plan out, /accept edits without asking before "
    "edits; or say what to change in it."
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
        self.calls: list[ToolFinished] = []  # of this terminal, the oldest first
        self.receipt: Receipt | None = None
        self.window_share: float | None = None  # of the model's window, by the last request
        self.jobs = 0  # that are still to be done
        self.is_unread = False  # the project is read for the first time
        self.is_leaving = False
        self.own_commands: Sequence[PromptFile] = ()  # that the user or the project wrote
        self.draft = ""  # stands in the next prompt, to be sent or changed
        self.work = Interruptible()

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
            lambda on_event, approve: self.app.ask(
                question, uuid, on_event=on_event, approve=approve, mode=mode
            )
        )

    async def retry(self, session: Conversation) -> None:
        """Resume the last turn of a session."""
        await self._turn(
            lambda on_event, approve: self.app.retry(
                session.uuid, on_event=on_event, approve=approve, mode=self.mode
            )
        )

    async def _turn(self, begin: Begin) -> None:
        from ragforge.show.turn_view import TurnView  # loaded while the first question is typed
        from ragforge.tui.notices import Notices
        from ragforge.tui.permission import Permission

        view = TurnView(self.screen, verbose=self.verbose)
        notices = Notices(self.app.settings.terminal, self.screen)
        permission = Permission(self.screen, view, self.work.interrupt, notices.tell)
        try:
            async with view:
                answer = await begin(view.on_event, permission.approve)
        finally:
            self.calls += view.calls
            self.receipt = view.receipt or self.receipt
            self.window_share = view.window_share
        self._show_end(answer)
        notices.tell("RagForge: the answer is there." if answer.problem is None else answer.problem)

    def _show_end(self, answer: Answer) -> None:
        """Show what was found where there is no model, or why the model stopped."""
        if answer.problem is not None:
            self.screen.problem(f"{answer.problem.rstrip()} /retry resumes it.")
        if answer.model is None:
            from ragforge.show.answers import show_found

            show_found(answer)
        elif answer.receipt.notices:
            self.screen.problem(answer.receipt.notices)
        if self.mode == "plan" and answer.model is not None and answer.is_complete:
            self.screen.note(PLANNED)
        self.screen.say()
