"""Server question: what an MCP server asks the user while it runs a tool, field by field."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text

from ragforge.domain.json_schema import find_problems
from ragforge.domain.mcp_client import QuestionField, ServerAnswer, ServerQuestion
from ragforge.domain.text import Json
from ragforge.records import dataclass
from ragforge.show.screen import Screen
from ragforge.show.turn_view import TurnView
from ragforge.show.visible import fold, make_visible, style_visible
from ragforge.tui.choices import Choice, ChoicePrompt, ask_for_text
from ragforge.tui.keyboard import forget_typed

YES, NO = ("y", "yes"), ("n", "no")
LEAD_CELLS = 2
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
        return word in YES if word in (*YES, *NO) else typed
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
