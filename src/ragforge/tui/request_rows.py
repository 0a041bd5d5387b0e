"""Request rows: all that a permission is asked for, as rows that are shown page by page."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text

from ragforge.permissions import PermissionRequest
from ragforge.show.call_lines import style_diff_line
from ragforge.show.screen import Signs
from ragforge.show.visible import fold, style_visible

LEAST_ROWS = 3
"""Of a page, in a terminal that is hardly one."""
HANGING = " " * 5
"""Before what an answer has beyond its first row: no row of it looks like another answer."""
_QUESTIONS = {"edit_file": "Change {}?", "run_command": "Run a command?", "mcp": "Call {}?"}


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


def lay_out_request(request: PermissionRequest, width: int, signs: Signs) -> RequestRows:
    """Return a request as rows: the question, what would be done behind a bar, the answers.

    Nothing is cut, and each row fits the width: what is counted is what is seen.
    """
    asked = _QUESTIONS[request.action]
    subject = style_visible(request.subject, signs.newline).plain
    rows = [Text(), *fold(Text(asked.format(subject), style="bold yellow"), width)]
    for line in _style_preview(request, signs):
        folded = fold(line, max(1, width - 2))
        rows += [Text.assemble((f"{signs.bar} ", "yellow"), row) for row in folded]
    for answer in _list_answers(request, signs):
        first, *more = fold(Text(answer, style="dim"), max(1, width - len(HANGING)))
        rows += [first, *(Text.assemble(HANGING, row) for row in more)]
    return RequestRows(rows)


def _style_preview(request: PermissionRequest, signs: Signs) -> list[Text]:
    if request.action == "edit_file":
        lines = request.preview.expandtabs(4).rstrip("\n").split("\n")
        return [style_diff_line(line) for line in lines]
    lines = request.preview.split("\n")
    if request.action == "mcp":  # JSON: an end of a line within the arguments is a \n there
        return [style_visible(line, signs.newline) for line in lines]
    marked = [f"{line}\n" for line in lines[:-1]] + lines[-1:]  # each end of a line is a sign
    return [style_visible(line, signs.newline) for line in marked]


def _list_answers(request: PermissionRequest, signs: Signs) -> list[str]:
    answers = ["  y  yes, this once"]
    for number, text in enumerate(request.always, 1):
        key = "a " if number == 1 else f"a{number}"
        scope = "always" if text == request.subject else "always all of"
        granted = style_visible(text, signs.newline).plain
        answers.append(f"  {key} {scope}: {request.action}({granted})")
    return [*answers, "  n  no; the model gets the words after it"]
