"""Which addresses and which checkouts are one project."""

from __future__ import annotations

import pytest

from ragforge.domain.projects import (
    Checkout,
    RepositoryIdentity,
    choose_remote,
    find_same,
    is_same_checkout,
    keep_both,
    normalise_remote,
    pick_checkout,
    view_project,
)
from tests.fakes.builders import at

FLASK = "github.com/pallets/flask"


@pytest.mark.parametrize(
    "written",
    [
        "https://github.com/pallets/flask",
        "https://GitHub.com/pallets/flask.git",
        "https://ann:secret@github.com:443//pallets/flask.git/",
        "git@github.com:pallets/flask.git",
        "github.com:/pallets/flask",
        "ssh://git@github.com:2222/pallets/flask/",
        "git://github.com/pallets/flask.git",
    ],
)
def test_an_address_is_the_same_however_it_is_written(written: str) -> None:
    assert normalise_remote(written) == FLASK


@pytest.mark.parametrize(
    "folder", ["/srv/git/a.git", "../a", "~/a", "file:///a/b", "C:\\a", "", "x"]
)
def test_a_folder_is_not_an_address(folder: str) -> None:
    assert normalise_remote(folder) is None


def test_the_remote_is_origin_or_the_only_one() -> None:
    mirror = "https://b.org/x"

    assert choose_remote({"b": mirror, "origin": "https://a.org/x"}) == "a.org/x"
    assert choose_remote({"b": mirror}) == "b.org/x"
    assert choose_remote({"b": mirror, "c": "https://c.org/x"}) is None
    assert choose_remote({}) is None


def checkout(project: str, remote: str | None = None, *roots: str, minute: int = 0) -> Checkout:
    return Checkout("/w", project, "", remote, roots, uuid=f"{project}{minute}", seen_at=at(minute))


def test_the_same_remote_is_the_same_project_whatever_the_history() -> None:
    known = [checkout("a", FLASK, "r1"), checkout("b", "other/x", "r2")]

    assert find_same(RepositoryIdentity(FLASK, ("r9",)), known) == ["a"]
    assert find_same(RepositoryIdentity(FLASK), known) == ["a"]  # a shallow clone


def test_the_same_roots_are_one_project_if_one_of_both_has_no_remote() -> None:
    assert find_same(RepositoryIdentity(None, ("r",)), [checkout("a", FLASK, "r")]) == ["a"]
    assert find_same(RepositoryIdentity(FLASK, ("r",)), [checkout("a", None, "r")]) == ["a"]


def test_a_repository_that_gets_the_remote_of_another_project_joins_it() -> None:
    known = [checkout("a", None, "r"), checkout("b", FLASK, "s")]

    assert find_same(RepositoryIdentity(FLASK, ("r",)), known) == ["b", "a"]
    assert pick(RepositoryIdentity(FLASK, ("r",)), known[:1]) == known[0]


def test_a_fork_is_another_project() -> None:
    known = [checkout("a", FLASK, "r"), checkout("a", None, "r", minute=1)]

    assert find_same(RepositoryIdentity("github.com/ann/flask", ("r",)), known) == []


def test_a_clone_without_a_remote_joins_none_of_several_forks() -> None:
    known = [checkout("a", FLASK, "r"), checkout("b", "github.com/ann/flask", "r")]

    assert find_same(RepositoryIdentity(None, ("r",)), known) == []


def pick(identity: RepositoryIdentity, here: list[Checkout]) -> Checkout | None:
    return pick_checkout(identity, find_same(identity, here) if identity else [], here)


def test_the_current_one_of_two_repositories_at_a_path_is_picked() -> None:
    first, second = checkout("a", FLASK, "r"), checkout("b", "other/x", "s", minute=1)

    assert pick(RepositoryIdentity(FLASK, ("r",)), [second, first]) == first
    assert pick(RepositoryIdentity("third/x", ("t",)), [first, second]) is None
    assert pick(RepositoryIdentity(), [first, second]) is None  # a folder without a repository


def test_a_checkout_whose_remote_changes_stays_what_it_was() -> None:
    known, other = checkout("a", FLASK, "r"), checkout("b", "other/x", "s", minute=1)
    moved = RepositoryIdentity("codeberg.org/pallets/flask", ("r",))

    assert pick(moved, [known, other]) == known
    assert pick(RepositoryIdentity(moved.remote, ("t",)), [known, other]) is None
    assert pick(RepositoryIdentity(moved.remote), [known, other]) is None  # its history is unknown
    fork = checkout("c", "github.com/ann/flask", "r", minute=2)
    assert pick(RepositoryIdentity(FLASK, ("r",)), [known, fork]) == known


def test_a_folder_that_becomes_a_repository_stays_what_it_was() -> None:
    folder, other = checkout("a"), checkout("b", "other/x", "s", minute=1)

    assert pick(RepositoryIdentity(FLASK, ("r",)), [folder, other]) == folder
    assert pick(RepositoryIdentity(), [folder, other]) == folder
    assert pick(RepositoryIdentity("other/x", ("s",)), [folder, other]) == other


def test_a_project_has_the_ids_of_all_that_were_joined_with_it() -> None:
    here, there = checkout("a"), Checkout("/x", "a", former_ids=("b", "c"), uuid="there")

    place = view_project(here, [here, there, checkout("z")])

    assert place.ids == ("a", "b", "c")
    assert place.look_from("c", "/else") is place
    assert place.look_from("z", "/else").ids == ("z",)


def test_a_folder_is_the_same_in_two_stores_if_its_machine_and_repository_are() -> None:
    here = Checkout("/a", "p", "vm", "host/shop", ("1",))

    assert is_same_checkout(here, Checkout("/a", "q", "vm", "host/shop"))
    assert is_same_checkout(here, Checkout("/a", "q", "vm", "host/moved", ("1",)))
    assert is_same_checkout(here, Checkout("/a", "q", "vm"))  # it had no commits then
    assert not is_same_checkout(here, Checkout("/a", "q", "vm", "host/other", ("2",)))
    assert not is_same_checkout(here, Checkout("/a", "p", "another", "host/shop", ("1",)))
    assert not is_same_checkout(here, Checkout("/b", "p", "vm", "host/shop", ("1",)))
    assert not is_same_checkout(Checkout("/a", "p"), Checkout("/a", "p"))  # of which machine?


def test_a_checkout_that_is_copied_again_keeps_the_ids_that_its_project_got_meanwhile() -> None:
    known = Checkout("/a", "p", "vm", former_ids=("q",), uuid="k")

    kept = keep_both(known, Checkout("/a", "p", "vm", former_ids=("r",), uuid="k"))

    assert (kept.project_id, set(kept.former_ids)) == ("p", {"q", "r"})
