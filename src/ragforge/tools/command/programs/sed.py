"""sed: scripts that only print; each is read to its end before it is allowed."""

from __future__ import annotations

import re

from ragforge.tools.command.options import Parsed, check_paths
from ragforge.tools.command.paths import WorkingDirectory, quote_short
from ragforge.tools.command.plan import NotAllowed, Word

_DELIMITERS = frozenset("/|#,:@%_;+~=!")
_SPACES = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"[ \t\n;]*")
_LINE = re.compile(r"\d{1,9}(~\d{1,9})?|\$")
_RANGE_END = re.compile(r"[+~]\d{1,9}")
# No labels, no branches, and no D: they could loop for ever.
_PLAIN_COMMANDS = frozenset("=dgGhHnNpPxzF")
_FLAGS = re.compile(r"[gpiIm0-9M]*")
# Quantifiers inside brackets are possessive: in [^] and [] the bracket is still open for sed.
_CLEAR_REGEX = re.compile(r"(?:\\.|[^\\\[\n]|\[\^?+\]?+(?:\[:\w+:\]|\\[^\[\]\n]|[^\[\]\\\n])*+\])*")
_MAX_DEPTH = 20


def check_script(script: str) -> None:
    """Raise NotAllowed unless every command of the script only changes what is printed."""
    _Script(script).read()


class _Script:
    def __init__(self, script: str) -> None:
        self._script = script
        self._at = 0

    def read(self) -> None:
        depth = 0
        while True:
            self._skip(_BETWEEN)
            if self._at == len(self._script):
                break
            if self._take("}"):
                depth -= 1
                if depth < 0:
                    raise self._unclear()
                self._end()
                continue
            self._address()
            if self._take("{"):
                depth += 1
                if depth > _MAX_DEPTH:
                    raise self._unclear()
                continue
            self._command()
        if depth:
            raise self._unclear()

    def _address(self) -> None:
        if self._one_address():
            self._skip(_SPACES)
            if self._take(","):
                self._skip(_SPACES)
                if not self._skip(_RANGE_END) and not self._one_address():
                    raise self._unclear()
        self._skip(_SPACES)
        while self._take("!"):
            self._skip(_SPACES)

    def _one_address(self) -> bool:
        if self._skip(_LINE):
            return True
        if self._take("/"):
            self._regex("/")
        elif self._take("\\"):
            self._regex(self._delimiter())
        else:
            return False
        while self._peek() in ("I", "M"):
            self._at += 1
        return True

    def _command(self) -> None:
        name = self._peek()
        self._at += 1
        if name == "s":
            delimiter = self._delimiter()
            self._regex(delimiter)
            self._until(delimiter)
            self._skip(_FLAGS)
        elif name == "y":
            delimiter = self._delimiter()
            if "[" in self._until(delimiter) + self._until(delimiter):  # a bracket to some seds
                raise self._unclear()
        elif name in ("q", "Q", "l"):
            self._skip(_SPACES)
            self._skip(re.compile(r"\d{0,3}"))
        elif name not in _PLAIN_COMMANDS or not name:
            raise NotAllowed(f"of sed, the command {quote_short(name)} is not on the list")
        self._end()

    def _end(self) -> None:
        """Nothing but the end of a command may stand here."""
        self._skip(_SPACES)
        if self._peek() not in ("", ";", "\n", "}"):
            raise self._unclear()

    def _delimiter(self) -> str:
        delimiter = self._peek()
        if delimiter not in _DELIMITERS or not delimiter:
            raise self._unclear()
        self._at += 1
        return delimiter

    def _regex(self, delimiter: str) -> None:
        """Read a regular expression.

        Implementations differ on a delimiter inside brackets, so brackets must be closed
        before it.
        """
        if not _CLEAR_REGEX.fullmatch(self._until(delimiter)):
            raise self._unclear()

    def _until(self, delimiter: str) -> str:
        start = self._at
        while self._at < len(self._script):
            character = self._script[self._at]
            if character == "\n":
                raise self._unclear()
            if character == "\\":
                if self._script[self._at + 1 : self._at + 2] in ("", "\n"):
                    raise self._unclear()
                self._at += 2
                continue
            self._at += 1
            if character == delimiter:
                return self._script[start : self._at - 1]
        raise self._unclear()

    def _peek(self) -> str:
        return self._script[self._at : self._at + 1]

    def _take(self, character: str) -> bool:
        if self._peek() != character:
            return False
        self._at += 1
        return True

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self._script, self._at)
        self._at = found.end() if found else self._at
        return bool(found and found[0])

    def _unclear(self) -> NotAllowed:
        return NotAllowed(f"the sed script {quote_short(self._script)} is not understood")


def _check_word(place: WorkingDirectory, word: Word) -> str:
    check_script(word.text)
    return word.text


def _take_operands(place: WorkingDirectory, parsed: Parsed) -> list[str]:
    words = parsed.operands
    if parsed.has("-e", "--expression"):
        return check_paths(place, words)
    if not words:
        raise NotAllowed("a sed script is missing")
    return [_check_word(place, words[0]), *check_paths(place, words[1:])]


KINDS = {"sed_script": _check_word}
OPERANDS = {"sed": _take_operands}
