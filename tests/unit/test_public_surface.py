"""The public surface: what `import ragforge` offers."""

from __future__ import annotations

import subprocess
import sys

import ragforge


def test_every_public_name_can_be_imported() -> None:
    assert sorted(ragforge.__all__) == [
        "App",
        "RagForgeError",
        "Settings",
        "__version__",
        "load_settings",
        "open_app",
    ]
    for name in ragforge.__all__:
        assert getattr(ragforge, name) is not None


def test_importing_ragforge_loads_nothing_heavy() -> None:
    heavy = ("numpy", "pydantic", "apsw", "neo4j", "rich", "typer", "asyncio")
    code = f"import ragforge, sys; print([m for m in {heavy!r} if m in sys.modules])"

    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == "[]"


def test_using_the_embedded_store_does_not_load_the_neo4j_driver() -> None:
    modules = "ragforge.app, ragforge.adapters.stores.sqlite.store, sys"
    code = f"import {modules}; print('neo4j' in sys.modules)"

    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == "False"
