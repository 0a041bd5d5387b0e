"""Permission: ask the user before anything is changed, and what a server asks the user."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text

from ragforge.domain.json_schema import find_problems
from ragforge.domain.mcp_client import QuestionField, ServerAnswer, ServerQuestion
from ragforge.domain.text import Json
from ragforge.permissions import PermissionRequest, Verdict
from ragforge.records import dataclass
from ragforge.show.diffs import format_diff
from ragforge.show.hunks import is_new_file
from ragforge.show.screen import Screen, Signs
from ragforge.show.turn_view import TurnView
from ragforge.show.visible import fold, make_visible, style_visible
from ragforge.tui.keyboard import forget_typed
from ragforge.tui.picker import ENTER, NO, Choice, ChoicePrompt, ask_for_text

SHOW_ALL = "v"
SHOW_MORE = (ENTER, "m", SHOW_ALL)
EARLY = "The answer counts only after all rows were shown: answer again."
USAGE = "Press y, a, n or the number of an answer."
REASON = "No. A reason for the model, then Enter (none: only Enter):"
INTERRUPTED = "The user interrupted."
QUESTION = "Allow? [y/a/n]"
UNDER_A_PAGE = 4
"""Rows that a page leaves free: for what is hidden, for a hint, for the answer and its meaning."""
MIN_ROWS = 3
"""Minimum for a page, even in a tiny terminal."""
KEY_CELLS = 5
LEAD_CELLS = 2
_QUESTIONS = {
    "edit_file": "Change {}?",
    "run_command": "Run a command?",
    "mcp": "Call {}?",
    "fetch_url": "Read a page of {}?",
    "web_search": "Search the web with {}?",
    "tool": "Use {}?",
}


class RequestRows:
    """The rows of a request, and how many of them the user has seen."""

    def __init__(self, rows: list[Text]) -> None:
        self.rows = rows
        self.shown = 0

    @property
    def hidden(self) -> int:
        return len(self.rows) - self.shown

    def take(self, limit: int | None = None) -> list[Text]:
        """Return the next rows, or all without a limit; they count as seen."""
        start = self.shown
        self.shown = len(self.rows) if limit is None else min(len(self.rows), start + limit)
        return self.rows[start : self.shown]


@dataclass(frozen=True, slots=True)
class Permission:
    """Puts requests to the user, one at a time.

    A request that is longer than the terminal is shown page by page. A yes counts when all of
    it was shown: the user cannot agree to rows that were never visible.
    """

    screen: Screen
    view: TurnView
    interrupt: Callable[[], None]
    call_user: Callable[[str], None] = lambda text: None

    async def approve(self, request: PermissionRequest) -> Verdict:
        """Return the user's answer. Ctrl-C denies, and interrupts the turn."""
        await self.view.wait_for_quiet()
        with self.view.pause():
            rows = lay_out_request(request, self.screen)
            answers = self._list_answers(request, rows)
            self._show_next(rows, answers)
            self.call_user("RagForge asks for your permission.")
            self.view.mark_seen(request.preview)
            verdict = await self._answer(request, rows, answers)
            self.screen.say(_describe(verdict), "green" if verdict.answer != "deny" else "red")
            return verdict

    def _list_answers(self, request: PermissionRequest, rows: RequestRows) -> list[Choice]:
        """Return the answers that fit below a page; longer ones become rows of the request.

        So do all for a screen reader: a list that is drawn again would be read again.
        """
        out = self.screen.out
        signs = self.screen.signs
        answers = list_answers(request, out.width - 1, signs)
        if not signs.is_plain and _count_rows(answers) <= out.height - UNDER_A_PAGE - MIN_ROWS:
            return answers
        rows.rows += [Text(f"  {row}", style="dim") for one in answers for row in one.rows]
        return []

    def _show_next(
        self, rows: RequestRows, answers: list[Choice], everything: bool = False
    ) -> None:
        free = UNDER_A_PAGE + _count_rows(answers)
        page = max(MIN_ROWS, self.screen.out.height - free)
        for row in rows.take(None if everything else page):
            self.screen.out.print(row, no_wrap=True, overflow="ignore", crop=False)
        if rows.hidden:
            self.screen.say(
                f"{rows.hidden:,} more rows are hidden. Enter shows the next, v shows all.",
                "bold red",
            )

    async def _answer(
        self, request: PermissionRequest, rows: RequestRows, answers: list[Choice]
    ) -> Verdict:
        forget_typed()
        verdicts = list_verdicts(request)
        try:
            while True:
                shown = [] if rows.hidden else answers
                keys = [*verdicts, *(SHOW_MORE if rows.hidden else ())]
                key = await ChoicePrompt(QUESTION, shown, self.screen.signs, keys).ask()
                key, _, reason = key.partition(" ")
                key = key.lower()
                verdict = Verdict("deny") if key == NO else verdicts.get(key)
                if rows.hidden and (key in SHOW_MORE or (verdict and verdict.answer != "deny")):
                    self._show_next(rows, answers, everything=key == SHOW_ALL)
                    if key not in SHOW_MORE:
                        self.screen.note(EARLY)
                elif verdict is not None and verdict.answer == "deny" and key != NO:
                    return Verdict("deny", reason=reason.strip() or await self._ask_reason())
                elif verdict is not None:
                    return verdict
                else:
                    self.screen.note(USAGE)
        except KeyboardInterrupt:
            self.interrupt()
            return Verdict("deny", reason=INTERRUPTED)
        except EOFError:
            return Verdict("deny")

    async def _ask_reason(self) -> str:
        return await ask_for_text(REASON, erase=self.screen.can_redraw)


def _count_rows(answers: list[Choice]) -> int:
    return sum(len(answer.rows) for answer in answers)


def list_verdicts(request: PermissionRequest) -> dict[str, Verdict]:
    """Return what each key means: the numbers of the listed answers, and y, a and n."""
    lasting = [Verdict("always", pattern) for pattern in request.always]
    verdicts = [Verdict("once"), *lasting, Verdict("deny")]
    keys = {str(number): verdict for number, verdict in enumerate(verdicts, 1)}
    letters = {"y": verdicts[0], "n": verdicts[-1]}
    return keys | letters | ({"a": lasting[0]} if lasting else {})


def _describe(verdict: Verdict) -> str:
    if verdict.answer == "once":
        return "Allowed once."
    if verdict.answer == "always":
        return (
            f"Allowed always: {make_visible(verdict.pattern)}. /permissions lists and removes it."
        )
    return f"Denied: {verdict.reason}" if verdict.reason else "Denied."


def lay_out_request(request: PermissionRequest, screen: Screen) -> RequestRows:
    """Return a request as rows: the question, and what would be done behind a bar.

    Nothing is cut, and each row fits the width: what is counted is what is seen.
    """
    signs, width = screen.signs, screen.out.width - 1
    asked = _QUESTIONS[request.action]
    if request.action == "edit_file" and is_new_file(request.preview):
        asked = "Create {}?"
    subject = style_visible(request.subject, signs.newline).plain
    rows = [Text(), *fold(Text(asked.format(subject), style="bold yellow"), width)]
    preview = _style_preview(request, screen, max(1, width - LEAD_CELLS))
    bar = (f"{signs.bar} ", "yellow")
    return RequestRows([*rows, *(Text.assemble(bar, row) for row in preview)])


def list_answers(request: PermissionRequest, width: int, signs: Signs) -> list[Choice]:
    """Return the answers to a request, each in rows that fit the width with nothing cut."""
    answers = [("y", "yes, this once")]
    for at, text in enumerate(request.always):
        scope = "always" if text == request.subject else "always all of"
        granted = style_visible(text, signs.newline).plain
        answers.append(("" if at else "a", f"{scope}: {request.action}({granted})"))
    answers.append(("n", "no; you can give the model a reason"))
    room = max(1, width - LEAD_CELLS - KEY_CELLS)
    return [
        Choice(str(number), _hang(f"{number} {letter}", fold(Text(text), room)))
        for number, (letter, text) in enumerate(answers, 1)
    ]


def _hang(key: str, rows: list[Text]) -> tuple[str, ...]:
    """Put a key before the first row: no other row of an answer looks like another answer."""
    first, *more = (row.plain for row in rows)
    blank = " " * KEY_CELLS
    return (f"{key:<{KEY_CELLS}}{first}", *(blank + row for row in more))


def _style_preview(request: PermissionRequest, screen: Screen, width: int) -> list[Text]:
    if request.action == "edit_file":
        return format_diff(request.preview, request.subject, screen.out, width)
    newline = screen.signs.newline
    lines = request.preview.split("\n")
    if request.action == "run_command":  # each end of a line is a sign
        lines = [f"{line}\n" for line in lines[:-1]] + lines[-1:]
    return [row for line in lines for row in fold(style_visible(line, newline), width)]


YES, DECLINE = ("y", "yes"), ("n", "no")
_WORDS = {"text": "text", "integer": "a whole number", "number": "a number", "boolean": "y or n"}


@dataclass(frozen=True, slots=True)
class ServerForm:
    """Puts questions of servers to the user, who may decline each of them."""

    screen: Screen
    view: TurnView
    interrupt: Callable[[], None]
    call_user: Callable[[str], None] = lambda text: None

    async def answer(self, question: ServerQuestion) -> ServerAnswer:
        """Return the user's answer. Ctrl-D declines; Ctrl-C also interrupts the turn."""
        await self.view.wait_for_quiet()
        with self.view.pause():
            self._show(question)
            self.call_user("An MCP server asks you something.")
            forget_typed()
            try:
                answer = await self._ask(question)
            except EOFError:
                answer = ServerAnswer("decline")
            except KeyboardInterrupt:
                self.interrupt()
                answer = ServerAnswer("cancel")
            said = "Answered." if answer.action == "accept" else "Declined."
            self.screen.say(said, "green" if answer.action == "accept" else "red")
            return answer

    def _show(self, question: ServerQuestion) -> None:
        signs, width = self.screen.signs, self.screen.out.width - 1
        asks = f"The MCP server {make_visible(question.server)} asks:"
        rows = [Text(), *fold(Text(asks, style="bold yellow"), width)]
        told = [*question.message.split("\n"), *([question.url] if question.url else [])]
        for line in told:
            folded = fold(style_visible(line, signs.newline), max(1, width - LEAD_CELLS))
            rows += [Text.assemble((f"{signs.bar} ", "yellow"), row) for row in folded]
        for row in rows:
            self.screen.out.print(row, no_wrap=True, overflow="ignore", crop=False)

    async def _ask(self, question: ServerQuestion) -> ServerAnswer:
        if not await self._agrees(question):
            return ServerAnswer("decline")
        values: dict[str, Json] = {}
        for field in question.fields:
            value = await self._read(field)
            if value is not None:
                values[field.name] = value
        return ServerAnswer("accept", values)

    async def _agrees(self, question: ServerQuestion) -> bool:
        """Ask whether to answer at all; a page is opened by the user, never from here."""
        many = len(question.fields)
        yes = "yes"
        if question.url:
            yes = "yes: I opened this page myself and am done"
        elif many:
            yes = f"yes, and type {'a value' if many == 1 else f'{many} values'}"
        choices = [Choice("y", (f"y  {yes}",)), Choice("n", ("n  no, decline",))]
        answer = await ChoicePrompt("Answer? [y/n]", choices, self.screen.signs).ask()
        return answer.lower() in YES

    async def _read(self, field: QuestionField) -> Json:
        """Return a value that fits, or None for an optional one that is left out."""
        if field.description:
            self.screen.note(make_visible(field.description))
        for number, (_, shown) in enumerate(field.choices, 1):
            self.screen.say(f"  {number}  {make_visible(shown)}")
        rest = "" if field.is_required else "; Enter leaves it out"
        prompt = f"{make_visible(field.label)} ({self._name_kind(field)}{rest}):"
        while True:
            typed = await ask_for_text(prompt)
            if not typed and not field.is_required:
                return None
            value = parse_value(field, typed)
            problems = find_problems(value, field.schema)
            if not problems:
                return value
            self.screen.note(f"{problems[0].replace('the answer', 'The value')}.")

    def _name_kind(self, field: QuestionField) -> str:
        if field.kind == "choice":
            return "a number or a value of the list"
        if field.kind == "choices":
            return "numbers or values of the list, with commas between them"
        return _WORDS[field.kind]


def parse_value(field: QuestionField, typed: str) -> Json:
    """Return what was typed as a value of the field's kind; the text itself if it is none."""
    if field.kind == "choice":
        return _choose(field, typed)
    if field.kind == "choices":
        return [_choose(field, part.strip()) for part in typed.split(",") if part.strip()]
    if field.kind == "boolean":
        word = typed.lower()
        return word in YES if word in (*YES, *DECLINE) else typed
    if field.kind in ("integer", "number"):
        try:
            return int(typed) if field.kind == "integer" else float(typed)
        except ValueError:
            return typed
    return typed


def _choose(field: QuestionField, typed: str) -> str:
    """Return the value of a choice that is named by its number, its value or its title."""
    if typed.isdecimal() and 1 <= int(typed) <= len(field.choices):
        return field.choices[int(typed) - 1][0]
    titles = {shown.lower(): value for value, shown in field.choices}
    return titles.get(typed.lower(), typed)
