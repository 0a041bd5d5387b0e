"""Authors: which names are one person, and who sees what."""

from __future__ import annotations

import pytest

from ragforge.domain.conversations import make_author_key, make_private_key, name_author
from ragforge.errors import InputError


@pytest.mark.parametrize(
    ("author", "key"),
    [
        ("Ann <Ann@Example.ORG>", "ann@example.org"),
        ("A. Miller  < ann@example.org >", "ann@example.org"),
        ("<ann@example.org>", "ann@example.org"),
        ("  Ann   Miller ", "ann miller"),
        ("ann@example.org", "ann@example.org"),
        ("", None),
        (None, None),
    ],
)
def test_authors_are_compared_by_their_mail_address(author: str | None, key: str | None) -> None:
    assert make_author_key(author) == key


def test_an_author_is_named_without_the_address() -> None:
    assert name_author("Ann Miller <ann@example.org>") == "Ann Miller"
    assert name_author("<ann@example.org>") == "ann@example.org"


def test_what_is_private_has_an_author() -> None:
    assert make_private_key("Ann", "private") == "ann"
    assert make_private_key("Ann", "shared") is None
    with pytest.raises(InputError, match="has an author"):
        make_private_key(None, "private")
