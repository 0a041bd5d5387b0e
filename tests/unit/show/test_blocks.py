"""Blocks: Markdown is cut where it will not change any more, and nothing of it is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragforge.show.turn_view import Blocks

LINES = st.sampled_from(
    [
        "",
        "word",
        "# Head",
        "```python",
        "```",
        "~~~",
        "- item",
        "  more",
        "> said",
        "a | b",
        "  ```",
    ]
)


def split(text: str, size: int = 3) -> list[str]:
    blocks = Blocks()
    found: list[str] = []
    for start in range(0, len(text), size):
        found += blocks.feed(text[start : start + size])
    return found + blocks.close()


def test_paragraphs_end_at_blank_lines() -> None:
    assert split("one\ntwo\n\n\nthree") == ["one\ntwo", "three"]


def test_a_heading_and_a_fence_are_separate_blocks() -> None:
    text = "see:\n# Head\ntext\n```python\na = 1\n\nb = 2\n```\nafter"
    fence = "```python\na = 1\n\nb = 2\n```"
    assert split(text) == ["see:", "# Head", "text", fence, "after"]


def test_a_fence_is_closed_only_by_a_matching_fence() -> None:
    text = "````\n```\nnot yet\n~~~~~\n`````\nafter"
    assert split(text) == ["````\n```\nnot yet\n~~~~~\n`````", "after"]


def test_what_is_indented_belongs_to_the_item_above() -> None:
    text = "- one\n\n  more of one\n\n  ```\n  code\n  ```\n- two\n\nafter"
    assert split(text)[-1] == "after"
    assert split(text)[0].startswith("- one\n\n  more of one")


def test_a_block_is_returned_as_soon_as_it_is_finished() -> None:
    blocks = Blocks()
    assert blocks.feed("one\n\ntw") == []
    assert blocks.feed("o\n") == ["one"]
    assert blocks.tail(5).strip() == "two"
    assert blocks.close() == ["two"]
    assert blocks.close() == []


def test_the_tail_of_a_fence_keeps_its_language() -> None:
    blocks = Blocks()
    blocks.feed("```python\n" + "".join(f"line {number}\n" for number in range(100)))
    assert blocks.tail(2) == "```python\nline 98\nline 99\n"


def test_a_fence_that_is_never_closed_is_given_at_the_end() -> None:
    assert split("```\na\n\nb") == ["```\na\n\nb"]


@given(st.lists(LINES, max_size=30), st.integers(1, 7))
def test_no_line_is_lost_and_the_pieces_do_not_matter(lines: list[str], size: int) -> None:
    text = "\n".join(lines)
    blocks = split(text, size)
    assert blocks == split(text, 1000)
    told = [line for block in blocks for line in block.split("\n") if line]
    assert told == [line for line in lines if line]
