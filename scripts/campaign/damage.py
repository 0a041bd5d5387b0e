"""Damage: copies of a store with broken bytes, which every reading command meets.

A command may fail with a sentence, or answer as if nothing were wrong where its own data are
intact. It may neither end with a traceback nor present a wrong answer as right. SQLite keeps
no checksums: a byte that changes inside a text is not noticed, and counted separately.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ragforge.adapters.stores.sqlite.store import open_sqlite
from ragforge.domain.schema import CONVERSATION, NOTE
from ragforge.memory.secrets.redactor import REDACTOR
from ragforge.search.words.tokenise import WORDS
from scripts.campaign.report import Counts, Report
from scripts.campaign.workplace import Running, environ_of, make_project, run_rounds
from tests.fakes.builders import conversation, note
from tests.fakes.copying import records
from tests.fakes.remembering import turn_of
from tests.faults.checks import find_damage, read_everything

PAGE = 4096
TURNS = 60
TALK = "11111111-talk"
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("doctor", "--json"),
    ("store", "info", "--json"),
    ("sessions", "list", "--json"),
    ("sessions", "show", TALK, "--json", "--full", "--turns", "1000"),
    ("sessions", "export", TALK),
    ("sessions", "about", "shop/cart.py", "--json"),
    ("search", "cart", "--json"),
    ("search", "what is wrong with the invoice", "--in", "memory", "--json"),
    ("context", "what is wrong with the login", "--json"),
    ("memory", "notes", "--json"),
    ("memory", "summaries", "--json"),
    ("status", "--json"),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """How a command ended."""

    code: int
    printed: str
    errors: str

    @property
    def notices(self) -> bool:
        """Whether it says that something is wrong."""
        return bool(self.code or self.errors.strip()) or _names_problems(self.printed)


async def damage_copies(folder: Path, copies: int, chance: random.Random, report: Report) -> None:
    """Damage copies of one store, each in a random way, and run every reading command on each."""
    store = await _Store.prepare(folder / "origin")
    rounds = [
        partial(store.play_round, folder / str(number), random.Random(chance.random()))
        for number in range(copies)
    ]
    report.add("damage", await run_rounds(rounds))


class _Store:
    """A sound store, what it holds, and what the commands say of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = make_project(folder)
        self.place = folder / "store.db"
        self.answers: dict[tuple[str, ...], Answer] = {}
        self.holds: Mapping[str, object] = {}
        self.messages: set[str] = set()
        self.can_repair = False

    @classmethod
    async def prepare(cls, folder: Path) -> _Store:
        made = cls(folder)
        await made._fill()
        again = {}
        for name in ("one", "two"):
            home = folder.parent / name
            shutil.copytree(folder, home, ignore=shutil.ignore_patterns("shop"))
            again[name] = await made._ask_all(home)
        made.answers = {
            words: answer
            for words, answer in again["one"].items()
            # The doctor also speaks of the machine, whose free space changes.
            if words[0] != "doctor" and answer == again["two"][words]
        }
        after = await read_everything(folder.parent / "one" / "store.db")
        # Reading commands may record what they did: that is not damage.
        made.holds = {kind: some for kind, some in made.holds.items() if after[kind] == some}
        asked = Running(["ragforge", "store", "repair", "--help"], made.project, environ_of(folder))
        made.can_repair = await asked.end() == 0
        return made

    async def _fill(self) -> None:
        env, chance = environ_of(self.folder), random.Random(1)
        await Running(["ragforge", "ingest"], self.project, env).end()
        store = await open_sqlite(self.place, WORDS, REDACTOR)
        for name in (TALK, "22222222-talk"):
            await store.records.put(CONVERSATION, conversation(str(self.project), uuid=name))
            for number in range(TURNS):
                await store.timeline.append(name, turn_of(chance, number))
        await store.records.put(NOTE, note("We deploy on Fridays.", str(self.project)))
        await store.close()
        await Running(["ragforge", "memory", "rebuild"], self.project, env).end()
        self.holds = await read_everything(self.place)
        self.messages = await _message_ids(self.place)

    async def _ask_all(self, home: Path) -> dict[tuple[str, ...], Answer]:
        return {words: await self._ask(home, words) for words in COMMANDS}

    async def _ask(self, home: Path, words: tuple[str, ...]) -> Answer:
        running = Running(["ragforge", *words], self.project, environ_of(home))
        code = await running.end(seconds=120)
        return Answer(code, running.printed.replace(str(home), "~"), running.errors)

    async def play_round(self, home: Path, chance: random.Random) -> Counts:
        """Damage one copy, ask everything of it, and judge the answers."""
        counts = Counts(damaged=1)
        environ_of(home)
        place = home / "store.db"
        shutil.copy(self.place, place)
        kind = chance.choice(KINDS)
        what = f"{home.name} ({kind.__name__} {kind(place, chance)})"
        broken = find_damage(place, "integrity_check")
        silent_and_wrong, noticed = [], False
        for words in COMMANDS:
            answer, sound = await self._ask(home, words), self.answers.get(words)
            line = f"{what}: {' '.join(words[:2])}"
            counts.note_errors(answer.printed + answer.errors, line)
            if answer.code < 0:
                counts.problems.append(f"{line}: ended by signal {-answer.code}")
            if answer.code and not (answer.printed + answer.errors).strip():
                counts.problems.append(f"{line}: failed without a sentence")
            noticed = noticed or answer.notices
            if words[0] == "doctor" and broken and not answer.notices:
                counts.problems.append(f"{line} finds nothing, SQLite does: {broken[0]}")
            if sound and not answer.notices and answer.printed != sound.printed:
                silent_and_wrong.append(line)
        if broken:
            counts.wrong_answers += len(silent_and_wrong)
            counts.problems += [f"{line}: a wrong answer" for line in silent_and_wrong]
        if noticed:
            counts.noticed = 1
        elif silent_and_wrong or await self._differs(place):
            counts.unnoticed_and_wrong = 1
            wrong = silent_and_wrong or "the records"
            counts.remarks.append(f"{what}: {wrong}; SQLite finds {broken or 'nothing'}")
        else:
            counts.unnoticed_but_intact = 1
        if self.can_repair and noticed:
            await self._repair(home, what, counts)
        return counts

    async def _differs(self, place: Path) -> bool:
        found = await read_everything(place)
        return any(found[kind] != some for kind, some in self.holds.items())

    async def _repair(self, home: Path, what: str, counts: Counts) -> None:
        """Save what can be saved, and count the messages of the original that came through."""
        saved = home / "saved.db"
        answer = await self._ask(home, ("store", "repair", "--to", str(saved), "--json"))
        counts.note_errors(answer.printed + answer.errors, f"{what}: repair")
        counts.to_save += len(self.messages)
        if saved.exists():
            counts.problems += find_damage(saved)
            counts.saved += len(self.messages & await _message_ids(saved))


async def _message_ids(place: Path) -> set[str]:
    store = await open_sqlite(place, WORDS, REDACTOR)
    try:
        return {str(one["uuid"]) for one in await records(store, "message")}
    finally:
        await store.close()


def _names_problems(printed: str) -> bool:
    try:
        said = json.loads(printed)
    except ValueError:
        return False
    return isinstance(said, dict) and bool(said.get("problems"))


def flipped_bytes(place: Path, chance: random.Random) -> str:
    data = bytearray(place.read_bytes())
    spots = sorted(chance.randrange(100, len(data)) for _ in range(chance.randint(1, 30)))
    for spot in spots:
        data[spot] ^= chance.randint(1, 255)
    place.write_bytes(data)
    return f"at {spots}"


def zeroed_pages(place: Path, chance: random.Random) -> str:
    data = bytearray(place.read_bytes())
    pages = sorted(chance.sample(range(1, len(data) // PAGE), chance.randint(1, 5)))
    for page in pages:
        data[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    place.write_bytes(data)
    return f"at {pages}"


def truncation(place: Path, chance: random.Random) -> str:
    length = chance.randrange(0, place.stat().st_size)
    place.write_bytes(place.read_bytes()[:length])
    return f"to {length}"


def garbage_wal(place: Path, chance: random.Random) -> str:
    """Write a journal of rubbish, at times with the first bytes of a real one."""
    start = chance.choice([b"", bytes.fromhex("377f0682002de218"), bytes.fromhex("377f0683")])
    size = chance.randint(1, 40_000)
    place.with_name(place.name + "-wal").write_bytes(start + chance.randbytes(size))
    return f"of {size} bytes after {start.hex() or 'nothing'}"


KINDS: tuple[Callable[[Path, random.Random], str], ...] = (
    flipped_bytes,
    zeroed_pages,
    truncation,
    garbage_wal,
)
