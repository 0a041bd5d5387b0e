"""Narrowing: a change concerns the files that mention its names."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from ragforge.brain.files.compare import RELATED
from ragforge.brain.graph.changes import ChangedNames, find_affected, find_changed_names
from ragforge.brain.graph.name_index import Modules
from ragforge.brain.parse.read_source import ReadFile, read_file
from ragforge.domain.code import File, Scope

BEFORE = "def keep(): ...\n\n\nclass Cart:\n    def add(self): ...\n"


class Tree:
    """A project on disk, as it was and as it is."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, File] = {}
        self.scopes: dict[str, tuple[Scope, ...]] = {}

    def write(self, path: str, text: str) -> ReadFile:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return read_file(str(self.root), "p", path, 0)

    def know(self, path: str, text: str) -> None:
        parsed = self.write(path, text).parsed
        assert parsed is not None
        file = parsed.file
        self.files[path] = File(
            path, file.hash, file.uuid, language=file.language, state=RELATED, imports=file.imports
        )
        self.scopes[path] = parsed.scopes

    async def concerned(self, path: str, text: str) -> set[str] | None:
        """Return the files that a new text of a file concerns; None if names cannot decide that."""
        changed = self.changed(path, text)
        if changed.get(path, "nothing") is None:
            return None
        return await find_affected(changed, self.files, Modules(list(self.files)), self.mention)

    async def mention(self, names: Collection[str]) -> set[str]:
        texts = {path: " ".join(s.source for s in known) for path, known in self.scopes.items()}
        return {path for path, text in texts.items() if any(name in text for name in names)}

    def changed(self, path: str, text: str) -> dict[str, ChangedNames | None]:
        return find_changed_names([self.write(path, text)], self.files, self.scopes.get(path, ()))


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path)
    tree.know("shop/__init__.py", "")
    tree.know("shop/cart.py", BEFORE)
    tree.know("shop/pay.py", "from shop.cart import keep\n\ndef pay():\n    keep()\n    total()\n")
    tree.know("shop/mail.py", "from shop.pay import pay\n\ndef send():\n    pay()\n")
    tree.know("shop/other.py", "def other():\n    total()\n")
    return tree


async def test_an_unused_name_concerns_only_its_file(tree: Tree) -> None:
    assert await tree.concerned("shop/cart.py", BEFORE + "\n\ndef brand_new(): ...\n") == {
        "shop/cart.py"
    }


async def test_a_new_name_concerns_importers_that_speak_of_it(tree: Tree) -> None:
    found = await tree.concerned("shop/cart.py", BEFORE + "\n\ndef total(): ...\n")

    assert found == {"shop/cart.py", "shop/pay.py"}


async def test_a_name_that_goes_concerns_those_who_used_it(tree: Tree) -> None:
    found = await tree.concerned("shop/cart.py", BEFORE.replace("keep", "hold"))

    assert found == {"shop/cart.py", "shop/pay.py"}


async def test_a_name_that_was_passed_on_under_another_is_followed(tree: Tree) -> None:
    tree.know("shop/api.py", "from shop.cart import total as sum_up\n")
    tree.know("shop/web.py", "from shop.api import sum_up\n\ndef web():\n    sum_up()\n")

    found = await tree.concerned("shop/cart.py", BEFORE + "\n\ndef total(): ...\n")

    assert found is not None
    assert {"shop/api.py", "shop/web.py"} <= found


async def test_a_type_that_is_spoken_of_concerns_all_that_may_inherit_from_it(tree: Tree) -> None:
    tree.know("shop/big.py", "from shop.cart import Cart\n\nclass Big(Cart): ...\n")
    tree.know("shop/use.py", "from shop.big import Big\n\nclass Mine(Big): ...\n")

    found = await tree.concerned("shop/cart.py", BEFORE.replace("Cart", "Cart(dict)"))

    assert found is not None
    assert {"shop/big.py", "shop/use.py"} <= found


def test_another_body_changes_no_name(tree: Tree) -> None:
    assert tree.changed("shop/cart.py", BEFORE.replace("keep(): ...", "keep(): return 1")) == {}


@pytest.mark.parametrize("state", ["parsed", "skipped"])
async def test_a_file_that_was_left_half_done_cannot_be_narrowed_by_names(
    tree: Tree, state: str
) -> None:
    path = "shop/cart.py"
    old = tree.files[path]
    tree.files[path] = File(path, old.hash, old.uuid, imports=old.imports, state=state)

    assert await tree.concerned(path, BEFORE) is None


async def test_other_imports_cannot_be_narrowed_by_names(tree: Tree) -> None:
    assert await tree.concerned("shop/cart.py", f"import os\n{BEFORE}") is None


async def test_a_default_export_may_be_known_by_any_name(tree: Tree) -> None:
    tree.know("a.ts", "export default function open() {}\n")

    assert await tree.concerned("a.ts", "export default function close() {}\n") is None


async def test_more_names_than_can_be_looked_for_concern_all_importers(tree: Tree) -> None:
    many = "".join(f"\n\ndef made_{n}(): ...\n" for n in range(40))

    found = await tree.concerned("shop/cart.py", BEFORE + many)

    assert found is not None
    assert {"shop/pay.py", "shop/mail.py"} <= found


async def test_a_method_concerns_the_file_of_its_type_which_may_implement_more_now(
    tree: Tree,
) -> None:
    tree.know("store/disk.go", "package store\n\ntype Disk struct{ n int }\n")
    tree.know("store/api.go", "package store\n\ntype Api interface{ Close() }\n")
    tree.know("store/close.go", "package store\n")
    tree.know("other/disk.go", "package other\n\ntype Disk struct{ n int }\n")
    new = "package store\n\nfunc (d *Disk) Close() {}\n"
    assert await tree.concerned("store/close.go", new) == {
        *("store/close.go", "store/disk.go", "store/api.go"),
    }


async def test_an_interface_concerns_the_packages_that_have_its_methods(tree: Tree) -> None:
    tree.know("api/api.go", "package api\n\ntype Api interface{ Open() }\n")
    tree.know("store/disk.go", "package store\n\ntype Disk struct{ n int }\n")
    tree.know("store/close.go", "package store\n\nfunc (d *Disk) Close() {}\n")
    tree.know("other/other.go", "package other\n\ntype Other struct{ n int }\n")
    new = "package api\n\ntype Api interface{ Close() }\n"
    assert await tree.concerned("api/api.go", new) == {
        *("api/api.go", "store/disk.go", "store/close.go"),
    }
