"""How a SQLite file holds code: small, and read as it was written."""

from __future__ import annotations

import lzma
import struct
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragforge.adapters.arrays import np
from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.adapters.stores.sqlite.database import connect
from ragforge.adapters.stores.sqlite.packed_vectors import pack, unpack, unpack_all
from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.code import RelationFilter
from ragforge.domain.queries import Query
from ragforge.domain.schema import PROJECT
from ragforge.errors import InputError
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from tests.fakes.code import list_files, list_scopes
from tests.fakes.projects import SHOP, brain_of, write

BEFORE = Path(__file__).parents[2] / "fixtures/stores/schema-25.db.xz"
"""A file whose texts are not compressed, and whose relations are between texts."""

KEPT = {
    "scopes": """SELECT o.uuid, t.source, t.search_text FROM scope o JOIN scope_text t
                 ON t.id = o.id""",
    "relations": "SELECT kind, source, target FROM relation",
    "vectors": """SELECT o.uuid, v.data FROM vector v JOIN scope o
                  ON v.kind = 'scope' AND v.owner = o.id""",
}


async def test_a_migrated_file_holds_the_same_texts_relations_and_vectors(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(lzma.decompress(BEFORE.read_bytes()))
    with closing(apsw.Connection(str(path))) as old:
        before = {name: set(old.execute(query)) for name, query in KEPT.items()}
        [project_id] = (old.execute("SELECT uuid FROM project").get,)

    store = await open_sqlite(path, WORDS, REDACTOR)
    paths = [file.path for file in await list_files(store, project_id)]
    scopes = [scope for path in paths for scope in await list_scopes(store, project_id, path)]
    relations = await store.code.relations(RelationFilter(project_id=project_id, files=paths))
    vectors = [record for _, record in await store.archive.read("vector", None, 1_000)]
    await store.close()

    assert len(scopes) > 5
    assert {(one.uuid, one.source, one.search_text) for one in scopes} == before["scopes"]
    assert {(one.kind, one.source, one.target) for one in relations} == before["relations"]
    assert {
        (one["owner_id"], one["data"]) for one in vectors if one["owner_kind"] == "scope"
    } == before["vectors"]


async def test_the_text_of_a_file_is_stored_once_and_is_right_after_a_change(
    tmp_path: Path,
) -> None:
    root = tmp_path / "project"
    write(root, SHOP)
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    report, _ = await brain_of(store, root).ingest()
    changed = SHOP["shop/cart.py"].replace("Cart", "Trolley").replace("\n\n    def", "\n    def")
    write(root, {"shop/cart.py": changed, "docs/guide.md": ""})

    await brain_of(store, root).ingest()

    lines = changed.split("\n")
    scopes = await list_scopes(store, report.project_id, "shop/cart.py")
    assert len(scopes) == 5
    for scope in scopes:
        assert scope.source == "\n".join(lines[scope.start_line - 1 : scope.end_line])
    with closing(apsw.Connection(str(tmp_path / "store.db"))) as file:
        texts = dict(
            file.execute(
                """SELECT f.path, (SELECT max(source_to) FROM scope WHERE file_id = t.file_id)
                   FROM file_text t JOIN file f ON f.uuid = t.file_id"""
            )
        )
    assert "docs/guide.md" not in texts
    assert texts["shop/cart.py"] <= len(changed)
    await store.close()


async def test_a_project_that_is_forgotten_leaves_no_texts_relations_or_libraries(
    tmp_path: Path,
) -> None:
    root = tmp_path / "project"
    write(root, SHOP | {"shop/paper.py": "import requests\n\nrequests.get('x')\n"})
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)
    report, _ = await brain_of(store, root).ingest()
    count = "SELECT count(*) FROM {}"
    tables = ("file_text", "relation", "library", "scope")
    with closing(connect(tmp_path / "store.db")) as file:
        assert all(file.value(count.format(table)) for table in tables)

        await store.records.delete(PROJECT, report.project_id)

        assert not any(file.value(count.format(table)) for table in tables)
    await store.close()


@pytest.mark.parametrize("call", ["text_within(x'00', 0, 1)", "pack_text('secret')"])
async def test_a_query_may_not_call_what_packs_and_unpacks_texts(tmp_path: Path, call: str) -> None:
    store = await open_sqlite(tmp_path / "store.db", WORDS, REDACTOR)

    with pytest.raises(InputError):
        await store.query(Query(f"SELECT {call}"))

    await store.close()


async def test_bundled_vectors_take_a_byte_a_number_and_lose_nothing() -> None:
    texts = ["parse the header", "def total(self): return 1", "a b c", "x" * 300, "größe Maß"]
    data = [vector.data for vector in await BundledEmbedder().embed(texts) if vector is not None]

    packed = pack(data)

    assert len(data) == len(texts)
    assert {len(one) for one in packed} == {256 + 5}
    assert [unpack(one) for one in packed] == data
    assert np.allclose(unpack_all(packed, 256), unpack_all(data, 256), atol=1e-6)


@given(
    st.integers(1, 12).flatmap(
        lambda size: st.lists(
            st.lists(st.floats(width=32, allow_nan=False), min_size=size, max_size=size), min_size=1
        )
    )
)
def test_vectors_of_other_models_are_read_as_they_were_written(rows: list[list[float]]) -> None:
    data = [struct.pack(f"<{len(row)}f", *row) for row in rows]

    stored = pack(data)

    assert [unpack(one) for one in stored] == data
