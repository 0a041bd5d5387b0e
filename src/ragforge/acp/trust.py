"""Trust: an editor's user is asked about a folder before what it brings is followed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from acp import text_block, tool_content
from acp.interfaces import Client
from acp.schema import AllowedOutcome, PermissionOption, ToolCallUpdate

from ragforge.acp.texts import clean
from ragforge.app import App
from ragforge.app.trust import TrustQuestion, examine_folder
from ragforge.domain.text import new_id
from ragforge.records import dataclass
from ragforge.show.trust import TRUST_QUESTION, format_ignored, format_question

YES = "yes"
NO = "no"


@dataclass(frozen=True, slots=True)
class FolderQuestions:
    """Puts what is open about a folder to the user of an editor, in one session."""

    client: Client
    session_id: str
    say: Callable[[str], None]  # for what is left out

    async def settle(self, app: App) -> bool:
        """Ask what is open; return whether the folder is trusted since now.

        An answer is remembered; to close a question leaves it open, and the folder's files
        ignored.
        """
        question = await asyncio.to_thread(examine_folder, app.settings, app.cwd)
        is_trusted = False
        if question.is_open:
            is_trusted = await self._ask_about_files(question, app)
        elif not app.trust.reads and not app.trust.was_refused:
            what = "more than a project" if app.trust.is_too_wide else "not a project"
            text = f"{app.trust.root} is {what}. May all its files be read and remembered?"
            if (yes := await self._ask("Read this folder?", [text], "Read its files")) is not None:
                app.trust.answer_reading(yes)
        if not app.trust.reads:
            self.say(app.trust.describe_unread())
        return is_trusted

    async def _ask_about_files(self, question: TrustQuestion, app: App) -> bool:
        lines = [*format_question(question), TRUST_QUESTION]
        yes = await self._ask("Trust this folder?", lines, "Trust this folder")
        if yes is None:
            file = () if question.file is None else (question.file.name,)
            self.say(format_ignored(" and ".join((*file, *question.ignored)), question.root))
            return False
        question.answer(app.settings, yes)
        return yes

    async def _ask(self, title: str, lines: Sequence[str], yes: str) -> bool | None:
        """Return the user's answer; None if the question is closed without one.

        There is no "once": an editor that is set to allow every call chooses that by itself.
        """
        answer = await self.client.request_permission(
            self.session_id,
            ToolCallUpdate(
                tool_call_id=new_id(),
                title=title,
                kind="other",
                status="pending",
                content=[tool_content(text_block(clean("\n".join(lines))))],
            ),
            [
                PermissionOption(option_id=YES, name=yes, kind="allow_always"),
                PermissionOption(option_id=NO, name="No", kind="reject_always"),
            ],
        )
        outcome = answer.outcome
        chosen = outcome.option_id if isinstance(outcome, AllowedOutcome) else None
        return {YES: True, NO: False}.get(chosen or "")
