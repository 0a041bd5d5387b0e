"""Long questions: the parts of an issue, a trace and a log."""

from __future__ import annotations

import pytest

from ragforge.search.long_question import (
    LONG,
    MAX_FRAMES,
    MAX_NAMES,
    READ_CHARS,
    Frame,
    LongQuestion,
)

FILLING = "and so on " * LONG
ISSUE = """Cart.total ignores vouchers

I call `apply_voucher` before checkout, and nothing changes:

```python
from shop.cart import Cart
cart = Cart()
cart.add(book)
```

Traceback (most recent call last):
  File "/home/ann/try.py", line 3, in <module>
    cart.total()
  File "/usr/lib/python3/site-packages/shop/cart.py", line 42, in total
    return self.sum_lines()
  File "/usr/lib/python3/site-packages/shop/money/amount.py", line 7, in sum_lines
    raise ValueError("no currency")
ValueError: no currency

It must have to do with shop/vouchers/rules.py, where `shop.vouchers.rules.Rule` is defined.
"""


def parse(text: str) -> LongQuestion:
    found = LongQuestion.parse(text)
    assert found is not None
    return found


def test_a_question_in_a_sentence_is_not_long() -> None:
    assert LongQuestion.parse("where is the total of a cart computed, and who rounds it?") is None
    assert LongQuestion.parse("word " * LONG) is None
    assert LongQuestion.parse("") is None


def test_the_first_line_is_the_title() -> None:
    assert parse(ISSUE).title == "Cart.total ignores vouchers"
    assert parse(f"\n\n  {ISSUE}").title == "Cart.total ignores vouchers"


def test_names_are_found_in_prose_in_programs_and_on_the_stack() -> None:
    names = parse(ISSUE).names

    assert {"apply_voucher", "total", "Cart.total", "Cart", "add", "sum_lines", "Rule"} <= {*names}
    assert "nothing" not in names


def test_variables_of_a_letter_are_not_names() -> None:
    assert not {"x", "f"} & {*parse(f"solve(x, f(x)) is wrong\n{FILLING}").names}


def test_no_more_names_are_looked_up_than_a_text_has_to_say() -> None:
    log = " ".join(f"step_{number}()" for number in range(10 * MAX_NAMES))

    assert len(parse(log).names) == MAX_NAMES


def test_the_beginning_and_the_end_of_a_log_are_read() -> None:
    log = f"start_of_it()\n{'working ' * READ_CHARS}\nmiddle_of_it()\n{'working ' * READ_CHARS}"

    names = parse(f"{log}\n{'at it.rb:1 ' * 2 * MAX_FRAMES}\nend_of_it()").names

    assert {"start_of_it", "end_of_it"} <= {*names}
    assert "middle_of_it" not in names


def test_the_last_of_many_calls_are_kept() -> None:
    lines = [f"lib/step.rb:{number}:in `step'" for number in range(1, 3 * MAX_FRAMES)]

    frames = parse("\n".join(["It fails", *lines, FILLING])).frames

    assert [frame.line for frame in frames] == [*range(2 * MAX_FRAMES, 3 * MAX_FRAMES)]


def test_the_calls_of_a_trace_are_found_with_their_files() -> None:
    assert parse(ISSUE).frames[1:] == (
        Frame("/usr/lib/python3/site-packages/shop/cart.py", 42, "total"),
        Frame("/usr/lib/python3/site-packages/shop/money/amount.py", 7, "sum_lines"),
    )


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        ("    at Cart.total (/app/src/cart.js:12:9)", Frame("/app/src/cart.js", 12, "Cart.total")),
        ("\tat shop.Cart.total(Cart.java:42)", Frame("Cart.java", 42, "shop.Cart.total")),
        ("lib/cart.rb:7:in `total'", Frame("lib/cart.rb", 7, "total")),
        ("\t/src/cart/cart.go:31 +0x1d", Frame("/src/cart/cart.go", 31, "")),
        ("  --> src/cart.rs:5:9", Frame("src/cart.rs", 5, "")),
    ],
)
def test_traces_of_other_languages_are_read_too(line: str, frame: Frame) -> None:
    assert frame in parse(f"It fails\n{line}\n{FILLING}").frames


def test_paths_and_dotted_names_say_which_file_is_meant() -> None:
    paths = parse(ISSUE).paths

    assert "shop/vouchers/rules.py" in paths
    assert "shop/vouchers/rules/Rule" in paths


def test_the_subject_is_the_title_and_the_names() -> None:
    words = parse(ISSUE).subject.split()

    assert words[:3] == ["Cart.total", "ignores", "vouchers"]
    assert "apply_voucher" in words
    assert "checkout" not in words


def test_a_title_without_names_takes_the_words_that_follow_it() -> None:
    subject = parse(f"It fails\nthe voucher of a cart is not counted\n{FILLING}").subject

    assert subject.startswith("It fails the voucher of a cart is not counted")


def test_a_long_message_in_one_line_loses_no_word_between_title_and_text() -> None:
    message = " ".join(f"word{number}" for number in range(60))

    words = parse(message).subject.split()

    assert words == [f"word{number}" for number in range(len(words))]
    assert len(words) > 20
