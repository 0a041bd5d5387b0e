"""Projects: small trees of code on a real disk, and what a store knows of them."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from ragforge.adapters.stores.holders import this_process
from ragforge.brain.ingestion.ingest import Ingester, make_place, make_project_id
from ragforge.brain.project import Brain
from ragforge.brain.status import FirstReading
from ragforge.domain.code import Directory, File, Relation, Scope
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.vectors import MeaningWeights, Vector
from ragforge.errors import ModelError
from ragforge.ports.models import Embedder
from ragforge.ports.store import Store
from ragforge.search.words.tokenise import WORDS
from tests.fakes.code import count_missing, list_directories, list_files, list_scopes, relations_of
from tests.fakes.copying import records

LONG_AGO = 1_600_000_000
"""A time of files that is old enough to be relied on."""

SHOP = {
    "shop/__init__.py": '"""A shop."""\n\nfrom shop.cart import Cart\n',
    "shop/cart.py": (
        '"""What a customer wants."""\n\n'
        "from shop.prices import price_of\n\n\n"
        "class Cart:\n"
        '    """Holds items until they are paid."""\n\n'
        "    def __init__(self):\n"
        "        self.items = []\n\n"
        "    def add(self, item):\n"
        "        self.items.append(item)\n\n"
        "    def total(self):\n"
        "        return sum(price_of(item) for item in self.items)\n"
    ),
    "shop/prices.py": (
        "def price_of(item):\n"
        '    """Look a price up in the list."""\n'
        "    return round_up(item.price)\n\n\n"
        "def round_up(amount):\n"
        "    return int(amount + 0.5)\n"
    ),
    "web/client.ts": (
        "export function fetchCart(id: string) {\n  return fetch('/carts/' + id);\n}\n"
    ),
    "web/page.ts": (
        "import { fetchCart } from './client';\n\n"
        "export function showCart(id: string) {\n"
        "  return fetchCart(id);\n"
        "}\n"
    ),
    "docs/guide.md": "# Guide\n\nHow to buy.\n\n## Paying\n\nPay at the end.\n",
}
"""A project whose files use each other."""


class ToyEmbedder:
    """Counts words into a few numbers; remembers what it was asked, and fails when told to."""

    dimension = 16
    max_chars = 10_000
    history_threshold = 0.5
    code_threshold = 0.5
    weights = MeaningWeights()
    multilingual = False

    def __init__(self, name: str = "toy-1") -> None:
        self.name = name
        self.texts: list[str] = []
        self.fails = False

    async def prepare(self) -> None:
        """Nothing is loaded."""

    async def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        if self.fails:
            raise ModelError("The toy is broken.")
        self.texts += texts
        return [self._vector(text) for text in texts]

    async def embed_query(self, text: str) -> Vector | None:
        if self.fails:
            raise ModelError("The toy is broken.")
        return self._vector(text)

    async def close(self) -> None:
        """Nothing is held open."""

    def _vector(self, text: str) -> Vector:
        values = [1.0] + [0.0] * (self.dimension - 1)
        for word in WORDS.document(text).split():
            values[zlib.crc32(word.encode()) % self.dimension] += 1
        return Vector.of(self.name, values)


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files, with an old time: it is the same only for the same content."""
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        place.write_bytes(data)
        set_time(place, LONG_AGO + zlib.crc32(data) % 1_000_000)


def set_time(place: Path, seconds: int) -> None:
    os.utime(place, (seconds, seconds))


def brain_of(
    store: Store,
    root: Path,
    embedder: Embedder | None = None,
    place: ProjectPlace | None = None,
) -> Brain:
    """Return the brain of a project, which is known by its path unless a place is given."""
    ingester, place = Ingester(store, this_process()), place or make_place(root.resolve())
    return Brain(root, ingester, place, FirstReading(root, place.checkout_id, ingester), embedder)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a store knows of one project; times are left out."""

    files: list[File] = field(default_factory=list)
    directories: list[Directory] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    vectors: list[dict[str, object]] = field(default_factory=list)
    unembedded: int = 0

    @property
    def ids(self) -> dict[str, set[str]]:
        """The ids of the scopes of each file."""
        return {
            file.path: {scope.uuid for scope in self.scopes if scope.file == file.path}
            for file in self.files
        }


async def snapshot(store: Store, root: Path, model: str = "toy-1") -> Snapshot:
    """Ask a store for everything about a project, and for all vectors and relations it has."""
    stored = [one["uuid"] for one in await records(store, "project") if one["path"] == str(root)]
    uuid = str(stored[0]) if stored else make_project_id(root)
    files = await list_files(store, uuid)
    scopes = [scope for file in files for scope in await list_scopes(store, uuid, file.path)]
    nodes = [file.uuid for file in files] + [scope.uuid for scope in scopes]
    relations = [relation for node in nodes for relation in await relations_of(store, node, "out")]
    unembedded, count = await count_missing(store, uuid, model)
    assert count == len(scopes)
    assert await store.archive.count("relation") == len(relations)
    assert await store.archive.count("scope") == len(scopes)
    vectors = await records(store, "vector")
    # A scope's hash is of its lines only, but its text has more in it: its head, which a
    # syntax error elsewhere may change, and the heads of methods that are elsewhere. So
    # only the vectors of whole files are sure to be of the present text.
    whole = {scope.uuid for scope in scopes if scope.type == "module" and not scope.signature}
    for vector in vectors:
        if vector["owner_id"] not in whole:
            del vector["data"]
    return Snapshot(
        files=[replace(file, mtime=None) for file in files],
        directories=await list_directories(store, uuid),
        scopes=scopes,
        relations=relations,
        vectors=sorted(vectors, key=repr),
        unembedded=unembedded,
    )


async def relate(store: Store, project_id: str, relations: Sequence[Relation]) -> None:
    """Add relations to those that are there."""
    await store.archive.write(
        {"relation": [{**asdict(one), "project_id": project_id} for one in relations]}
    )


def differences(one: Snapshot, other: Snapshot) -> list[str]:
    """Return in words what is in only one snapshot: easier to read than both of them."""
    names = {scope.uuid: f"{scope.file}:{scope.qualified_name}" for scope in one.scopes}
    names |= {scope.uuid: f"{scope.file}:{scope.qualified_name}" for scope in other.scopes}
    names |= {file.uuid: file.path for file in (*one.files, *other.files)}

    def told(thing: object) -> str:
        if isinstance(thing, Relation):
            ends = (names.get(end, end) for end in (thing.source, thing.target))
            return f"{thing.kind} " + " -> ".join(ends)
        return repr(thing)

    found = []
    for part in ("files", "directories", "scopes", "relations", "vectors"):
        mine, yours = getattr(one, part), getattr(other, part)
        found += [f"only first: {told(thing)}" for thing in mine if thing not in yours]
        found += [f"only second: {told(thing)}" for thing in yours if thing not in mine]
    if not found and one != other:
        found.append("the same things in another order or number")
    return found
