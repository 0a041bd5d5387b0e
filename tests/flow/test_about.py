"""Which conversations were about some code: by its path or name, from any directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.domain.code import TouchKind
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.schema import CONVERSATION, MESSAGE, PROJECT, SUMMARY
from ragforge.errors import InputError
from ragforge.memory.code.about import find_conversations_about, resolve_subject
from ragforge.ports.store import Store
from tests.fakes.builders import at, conversation, mention, parsed, project, reference, scope, user
from tests.fakes.builders import summary as make_summary


def place(root: Path) -> ProjectPlace:
    return ProjectPlace.at(str(root))


@pytest.fixture
async def root(store: Store, tmp_path: Path) -> Path:
    """A known project with two conversations about it, and one of another project."""
    root = tmp_path.resolve() / "shop"
    (root / "src" / "web").mkdir(parents=True)
    await store.records.put(PROJECT, project(str(root), uuid="p"))
    auth = scope("AuthService", uuid="id-auth")
    await store.code.replace_files(
        "p",
        [
            parsed("src/auth.py", auth),
            parsed("src/cart.py"),
            parsed("src/web/cart.py"),
            parsed("docs/only.md"),
        ],
    )
    for name, cwd in (("one", root), ("two", root), ("else", tmp_path)):
        await store.records.put(CONVERSATION, conversation(str(cwd), uuid=name))
        await store.timeline.append(name, [user(uuid=f"{name}-0")])
    service = reference("id-auth", "src/auth.py", "AuthService")
    await store.timeline.link(MESSAGE, "one-0", [service])
    await store.timeline.link(MESSAGE, "else-0", [service])
    await store.timeline.save_summary(make_summary("two", uuid="s"))
    await store.timeline.link(SUMMARY, "s", [], [mention("src/web/cart.py")])
    await store.timeline.link(MESSAGE, "two-0", [reference("gone", "src/old.py", "Old.thing")])
    return root


async def about(
    store: Store, root: Path, text: str, cwd: Path | None = None, everywhere: bool = False
) -> list[str]:
    found = await find_conversations_about(
        store, text, cwd or root, place(root), everywhere=everywhere
    )
    return sorted(one.conversation.uuid for one in found)


async def test_a_scope_is_found_by_its_name(store: Store, root: Path) -> None:
    assert await about(store, root, "AuthService") == ["one"]
    assert await about(store, root, "AuthService", everywhere=True) == ["else", "one"]
    assert await about(store, root, "Auth") == []


async def test_what_is_gone_is_found_by_the_name_it_had(store: Store, root: Path) -> None:
    assert await about(store, root, "Old.thing") == ["two"]
    assert await about(store, root, "thing") == ["two"]
    assert await about(store, root, "src/old.py") == ["two"]


@pytest.mark.both_engines
async def test_a_session_that_edited_a_file_comes_before_one_that_read_it_later(
    store: Store, root: Path
) -> None:
    done: list[tuple[str, TouchKind]] = [("editor", "edited"), ("reader", "read")]
    for minute, (name, how) in enumerate(done, 1):
        await store.records.put(CONVERSATION, conversation(str(root), uuid=name))
        said = user(uuid=f"{name}-0", timestamp=at(minute))
        await store.timeline.append(name, [said])
        found = reference("id-auth", "src/auth.py", "AuthService", how=how)
        await store.timeline.link(MESSAGE, said.uuid, [found])
    ordered = await find_conversations_about(store, "src/auth.py", root, place(root))
    assert [one.conversation.uuid for one in ordered] == ["editor", "reader", "one"]


async def test_a_file_is_found_from_any_working_directory(store: Store, root: Path) -> None:
    for text, cwd in (
        ("src/auth.py", root),
        ("./src/../src/auth.py", root),
        ("auth.py", root / "src"),
        ("../auth.py", root / "src" / "web"),
        ("src/auth.py", root / "src" / "web"),  # as the project names it
        (str(root / "src" / "auth.py"), root.parent),
        ("auth.py", root),  # the only one of its name
    ):
        assert await about(store, root, text, cwd) == ["one"], text


async def test_the_file_that_is_meant_is_the_one_here(store: Store, root: Path) -> None:
    assert await about(store, root, "cart.py", root / "src" / "web") == ["two"]
    assert await about(store, root, "cart.py", root / "src") == []


async def test_a_name_of_several_files_is_asked_back(store: Store, root: Path) -> None:
    with pytest.raises(InputError, match=r"several files: src/cart\.py, src/web/cart\.py"):
        await about(store, root, "cart.py")


async def test_a_directory_means_all_files_in_it(store: Store, root: Path) -> None:
    assert await about(store, root, "src/web/") == ["two"]
    assert await about(store, root, "src") == ["one", "two"]
    assert await about(store, root, ".") == ["one", "two"]
    assert await about(store, root, "docs") == []


async def test_a_project_that_is_not_known_still_has_its_memory(store: Store, root: Path) -> None:
    await store.records.delete(PROJECT, "p")
    assert await about(store, root, "AuthService") == ["one"]
    assert await about(store, root, "auth.py", root / "src") == ["one"]


@pytest.mark.parametrize("text", ["/etc/passwd", "../../x", "\x00", "~nobody-here/x", "a" * 5000])
async def test_odd_texts_name_nothing(store: Store, root: Path, text: str) -> None:
    assert await about(store, root, text) == []


async def test_nothing_at_all_is_refused(store: Store, root: Path) -> None:
    with pytest.raises(InputError, match="Name a file"):
        await resolve_subject(store, " ", root, place(root))
