"""Names: dotted, whatever separator a language uses."""

from __future__ import annotations

import pytest

from ragforge.brain.parse.names import parse_bases, parse_name


@pytest.mark.parametrize(
    ("text", "name", "plain"),
    [
        ("helper", "helper", True),
        ("self.save", "self.save", True),
        ("std::vec::Vec", "std.vec.Vec", True),
        ("this?.items", "this.items", True),
        ("item!.name", "item.name", True),
        ("buffer->data", "buffer.data", True),
        ("\\App\\Models\\User", "App.Models.User", True),
        ("M:scale", "M.scale", True),
        ("user&.name", "user.name", True),
        ("a\n  .b\n  .c", "a.b.c", True),
        ("a.b.c.d.e.f", "c.d.e.f", True),
        ("empty?", "empty?", True),
        ("run-tests", "run-tests", True),
        ("Vec::<T>::new", "Vec.new", True),
        ("make(x).save", "save", False),
        ("rows[0].name", "name", False),
        ("(a + b)", "", False),
        ("", "", False),
    ],
)
def test_a_name_has_dots_between_its_last_parts(text: str, name: str, plain: bool) -> None:
    assert parse_name(text) == (name, plain)


@pytest.mark.parametrize(
    ("text", "bases"),
    [
        ("(Base[T], models.Model, metaclass=Meta)", ("Base", "models.Model")),
        ("extends Store<Item> implements A, b.C", ("Store", "A", "b.C")),
        (": public Base<T>, private virtual detail::Timer", ("Base", "detail.Timer")),
        (": Base(id), Source<Post> by Client()", ("Base", "Source")),
        ("Draw + fmt::Debug", ("Draw", "fmt.Debug")),
        ("extends A[Int] with B", ("A", "B")),
        ("extends \\Countable", ("Countable",)),
        ("()", ()),
        ("", ()),
    ],
)
def test_bases_are_named_without_their_arguments(text: str, bases: tuple[str, ...]) -> None:
    assert parse_bases(text) == bases
