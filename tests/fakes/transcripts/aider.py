"""aider's history: Markdown as it writes it, about an invented shop."""

from __future__ import annotations

from pathlib import Path

ANSWER = """The sum skips the first item.

#### Steps
> As the saying goes.

cart.py
```python
<<<<<<< SEARCH
a
=======
b
>>>>>>> REPLACE
```"""


class Aider:
    """Writes the history of a project."""

    def __init__(self) -> None:
        self.text = ""

    def begin(self, at: str = "2026-03-02 09:00:00") -> None:
        self.text += f"\n# aider chat started at {at}\n\n"
        self.note("Aider v0.86.1", "Main model: sonnet with diff edit format", "Git repo: .git")

    def say(self, words: str) -> None:
        lines = [f"#### {line}  \n" for line in words.split("\n")]
        self.text += "\n" + "".join(lines)

    def answer(self, text: str) -> None:
        self.text += f"\n{text}\n\n"
        self.note("Tokens: 2.1k sent, 80 received.")

    def note(self, *lines: str) -> None:
        self.text += "".join(f"> {line}  \n" for line in lines)

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / ".aider.chat.history.md"
        path.write_bytes(self.text.encode())
        return path


def make_rich_history() -> Aider:
    """Return a history with every kind of line and every trap."""
    one = Aider()
    one.begin()
    one.say("/add cart.py")
    one.note("Added cart.py to the chat")
    one.say("Why is the cart wrong?\nIt was fine before.")
    one.answer(ANSWER)
    one.note("Applied edit to cart.py", "Commit f00 fix: count from one")
    one.say("# Fix any errors below, if possible.\ncart.py:1: E1")
    one.answer("Mended.")
    one.begin("2026-03-02 10:00:00")
    one.say("/ask what is left?")
    one.answer("Nothing.")
    one.say("/exit")
    one.note("^C again to exit")
    return one
