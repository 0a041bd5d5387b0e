"""Which unread files a question points at, and what is taken from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragforge.brain.files.walk import FoundFile
from ragforge.brain.search.unread import POINTED_BYTES, Unread
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.ports.search_index import WordCounts
from ragforge.search.words.tokenise import WORDS
from tests.fakes.projects import write

KEY = "AKIAIOSFODNN7EXAMPLQ"


async def count(files: Sequence[str], words: Sequence[str]) -> WordCounts:
    return {"src/shop.py": {"card": 3}, "lib/pay.py": {"card": 1}}


def make_unread(root: Path, *read: str, size: int = 10) -> Unread:
    paths = ("src/shop.py", "lib/pay.py", "src/cards.py", "docs/card.md")
    files = tuple(FoundFile(path, size, 1) for path in paths)
    return Unread(root, "p", files, frozenset(read), count, REDACTOR)


async def point(unread: Unread, under: str | None = None) -> list[str]:
    counts, worth = await unread.count_words(["card"])
    return unread.point("card", counts, worth, (), WORDS, under)


async def test_words_and_paths_point_at_files_of_code(tmp_path: Path) -> None:
    assert set(await point(make_unread(tmp_path))) == {"src/shop.py", "lib/pay.py", "src/cards.py"}


async def test_what_is_stored_or_elsewhere_is_left_out(tmp_path: Path) -> None:
    unread = make_unread(tmp_path, "src/shop.py")
    assert await point(unread, "src") == ["src/cards.py"]
    assert str(unread.reading) == "still reading: 1 of 4 files"


def test_secrets_in_unread_files_are_redacted(tmp_path: Path) -> None:
    write(tmp_path, {"src/shop.py": f'def send():\n    return "{KEY}"\n'})
    scopes = make_unread(tmp_path).parse(["src/shop.py"])
    assert [scope.name for scope in scopes if scope.type == "function"] == ["send"]
    assert KEY not in "".join(scope.source for scope in scopes)


def test_files_that_are_gone_or_too_large_give_nothing(tmp_path: Path) -> None:
    assert make_unread(tmp_path).parse(["src/shop.py"]) == []
    write(tmp_path, {"src/shop.py": "def send(): ...\n"})
    assert make_unread(tmp_path, size=POINTED_BYTES + 1).parse(["src/shop.py"]) == []
