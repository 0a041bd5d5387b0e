"""Request rows: all that a permission is asked for, as rows that are shown page by page."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text

from ragforge.permissions import PermissionRequest
from ragforge.show.diffs import format_diff
from ragforge.show.screen import Screen, Signs
from ragforge.show.visible import fold, style_visible
from ragforge.tui.choices import Choice

MIN_ROWS = 3
"""Of a page, in a terminal that is hardly one."""
KEY_CELLS = 3
LEAD_CELLS = 2
_QUESTIONS = {
    "edit_file": "Change {}?",
    "run_command": "Run a command?",
    "mcp": "Call {}?",
    "fetch_url": "Read a page of {}?",
}
_NEW_FILE = "--- /dev/null\n"


@dataclass(slots=True)
class RequestRows:
    """The rows of a request, and how many of them the user has seen."""

    rows: list[Text]
    shown: int = 0

    @property
    def hidden(self) -> int:
        return len(self.rows) - self.shown

    def take(self, most: int | None = None) -> list[Text]:
        """Return the next rows, all of them without a limit; they count as seen."""
        start = self.shown
        self.shown = len(self.rows) if most is None else min(len(self.rows), start + most)
        return self.rows[start : self.shown]


def lay_out_request(request: PermissionRequest, screen: Screen) -> RequestRows:
    """Return a request as rows: the question, and what would be done behind a bar.

    Nothing is cut, and each row fits the width: what is counted is what is seen.
    """
    signs, width = screen.signs, screen.out.width - 1
    asked = _QUESTIONS[request.action]
    if request.action == "edit_file" and request.preview.startswith(_NEW_FILE):
        asked = "Create {}?"
    subject = style_visible(request.subject, signs.newline).plain
    rows = [Text(), *fold(Text(asked.format(subject), style="bold yellow"), width)]
    preview = _style_preview(request, screen, max(1, width - LEAD_CELLS))
    bar = (f"{signs.bar} ", "yellow")
    return RequestRows([*rows, *(Text.assemble(bar, row) for row in preview)])


def list_answers(request: PermissionRequest, width: int, signs: Signs) -> list[Choice]:
    """Return the answers to a request, each in rows that fit the width with nothing cut."""
    answers = [("y", "yes, this once")]
    for number, text in enumerate(request.always, 1):
        scope = "always" if text == request.subject else "always all of"
        granted = style_visible(text, signs.newline).plain
        answers.append(
            ("a" if number == 1 else f"a{number}", f"{scope}: {request.action}({granted})")
        )
    answers.append(("n", "no; the model gets the words after it"))
    room = max(1, width - LEAD_CELLS - KEY_CELLS)
    return [Choice(key, _hang(key, fold(Text(text), room))) for key, text in answers]


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
