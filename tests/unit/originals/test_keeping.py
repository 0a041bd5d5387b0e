"""Keeping transcripts: whole, once, without secrets, only for their owner."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from ragforge.originals import files as original_files
from ragforge.originals import keep as keeping
from ragforge.originals.files import Original, OriginalFiles
from ragforge.originals.keep import is_there, keep, redact_line
from tests.fakes.further_secrets import GAPS
from tests.fakes.secrets import NAMED, Sample
from tests.fakes.transcripts.claude_code import Claude

TALK = ("talk",)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "CHUNK_BYTES", 100)


@pytest.fixture
def files(tmp_path: Path) -> OriginalFiles:
    return OriginalFiles(tmp_path / "originals")


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def say(number: int) -> str:
    return json.dumps({"n": number, "text": f"The okapi eats {number} leaves."})


def read(files: OriginalFiles, path: Path) -> bytes:
    found = files.find("codex", str(path))
    assert found is not None
    return b"".join(files.read(found))


def list_chunks(files: OriginalFiles) -> dict[str, int]:
    places = (files.folder / "chunks").glob("*/*")
    return {place.name: place.stat().st_mtime_ns for place in places}


def test_what_is_kept_is_the_file_byte_for_byte(files: OriginalFiles, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *map(say, range(20)), '{"odd" : 1.50, "ü": "\\u00fc"}', "x")
    assert keep(files, "codex", path, TALK)
    assert read(files, path) == path.read_bytes()
    assert not keep(files, "codex", path, TALK)


def test_a_file_that_grows_adds_to_what_is_kept(files: OriginalFiles, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *map(say, range(20)))
    keep(files, "codex", path, TALK)
    before = list_chunks(files)
    assert before

    with path.open("a") as file:
        file.write(say(20) + "\n" + '{"half a line')
    assert keep(files, "codex", path, ["twig"])

    after = list_chunks(files)
    assert before.items() <= after.items()  # none was written again
    assert read(files, path) == path.read_bytes().removesuffix(b'{"half a line')
    assert [one.conversations for one in files.find_all()] == [("talk", "twig")]


def test_two_files_with_the_same_lines_share_them(files: OriginalFiles, tmp_path: Path) -> None:
    one = write(tmp_path / "a.jsonl", *map(say, range(20)))
    other = write(tmp_path / "b.jsonl", *map(say, range(20)), say(99))
    keep(files, "codex", one, TALK)
    before = list_chunks(files)
    keep(files, "codex", other, ["other"])
    assert len(list_chunks(files)) <= len(before) + 1
    files.forget(["talk"])
    assert read(files, other) == other.read_bytes()


def test_a_file_that_is_rewritten_does_not_replace_what_was_kept(
    files: OriginalFiles, tmp_path: Path
) -> None:
    for first in (3, 20):  # with and without a chunk
        path = write(tmp_path / f"{first}.jsonl", *map(say, range(first)))
        keep(files, "codex", path, TALK)
        old = path.read_bytes()
        write(path, say(50))
        keep(files, "codex", path, TALK)
        versions = [one for one in files.find_all() if one.path == str(path)]
        assert sorted(b"".join(files.read(one)) for one in versions) == sorted(
            (old, path.read_bytes())
        )


def test_a_document_is_kept_as_it_was_last(files: OriginalFiles, tmp_path: Path) -> None:
    path = tmp_path / "session-1.json"
    for text in ("one", "two"):
        path.write_text(json.dumps({"messages": [text]}, indent=2))
        keep(files, "codex", path, TALK)
    assert read(files, path) == path.read_bytes()
    assert len(files.find_all()) == 1


def test_others_cannot_read_what_is_kept(files: OriginalFiles, tmp_path: Path) -> None:
    keep(files, "codex", write(tmp_path / "a.jsonl", *map(say, range(20))), TALK)
    for place in (files.folder, *files.folder.rglob("*")):
        wanted = 0o700 if place.is_dir() else 0o600
        assert stat.S_IMODE(place.stat().st_mode) == wanted, place


@pytest.mark.parametrize("sample", [*NAMED, *GAPS], ids=lambda one: one.what)
def test_secrets_are_redacted_and_lines_stay_json(sample: Sample) -> None:
    said = {"type": "user", "message": {"content": [{"type": "text", "text": sample.text}]}}
    nested = {"payload": {"arguments": json.dumps({"command": sample.text}), "call_id": "c"}}
    for line in (said, nested):
        kept = redact_line(json.dumps(line).encode())
        assert json.dumps(sample.secret)[1:-1].encode() not in kept
        assert json.loads(kept).keys() == line.keys()


def test_the_lines_around_a_secret_stay_as_they_are(
    files: OriginalFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "CHUNK_BYTES", 1_000_000)
    lines = [*map(say, range(300)), "not JSON"]
    hidden = json.dumps({"command": f"login\n{NAMED[0].text}"})
    lines[150] = json.dumps({"text": NAMED[0].text})
    lines[220] = json.dumps({"arguments": hidden})
    path = write(tmp_path / "a.jsonl", *lines)
    keep(files, "codex", path, TALK)
    kept = read(files, path).decode().splitlines()
    assert len(kept) == len(lines)
    assert [n for n, line in enumerate(kept) if line != lines[n]] == [150, 220]
    assert all(NAMED[0].secret not in kept[n] for n in (150, 220))


def test_a_line_without_secrets_stays_as_it_is() -> None:
    line = b'{ "uuid":"0c7c8d2e-6b0f-4a63-9d3c-0f1de0c4a8b1", "tokens" : 12, "t": "\\u00fc/" }'
    assert redact_line(line) == line
    for session in Claude().fork("s2").lines:
        data = json.dumps(session).encode()
        assert redact_line(data) == data


def test_what_is_forgotten_is_gone_and_not_kept_again(files: OriginalFiles, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *map(say, range(20)))
    keep(files, "codex", path, TALK)

    assert files.forget(["other"]) == 0
    assert files.forget(["talk"]) == 1

    assert files.find_all() == []
    assert list_chunks(files) == {}
    with path.open("a") as file:
        file.write(say(20) + "\n")
    assert not keep(files, "codex", path, TALK)
    names = [str(place) for place in files.folder.rglob("*")]
    assert not any("a.jsonl" in name for name in names)


def test_the_oldest_are_removed_when_there_is_no_room(files: OriginalFiles, tmp_path: Path) -> None:
    for number, name in enumerate(("first", "second", "third")):
        path = write(tmp_path / f"{name}.jsonl", *(say(100 * number + n) for n in range(30)))
        keep(files, "codex", path, [name])
        head = next((files.folder / "transcripts").glob(f"{_name(path)}-*"))
        os.utime(head, (number, number))
    size = files.measure()

    files.shrink(size - 1)
    assert [one.conversations for one in files.find_all()] == [("second",), ("third",)]
    files.shrink(0)
    assert files.find_all() == []
    assert list_chunks(files) == {}


def test_what_a_killed_process_left_is_removed_after_a_while(
    files: OriginalFiles, tmp_path: Path
) -> None:
    keep(files, "codex", write(tmp_path / "a.jsonl", *map(say, range(20))), TALK)
    before = list_chunks(files)
    lost = files.put_chunk(b"lost")
    files.shrink(10**9)
    assert list_chunks(files).keys() == {*before, lost}  # it may be being written
    os.utime(files.folder / "chunks" / lost[:2] / lost, (0, 0))
    files.shrink(10**9)
    assert list_chunks(files).keys() == before.keys()
    assert not files.is_check_due()


def _name(path: Path) -> str:
    return original_files.name_path("codex", str(path))


@pytest.mark.parametrize("broken", range(4))
def test_a_kill_leaves_the_old_version_or_the_new_one(
    files: OriginalFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: int
) -> None:
    path = write(tmp_path / "a.jsonl", *map(say, range(5)))
    keep(files, "codex", path, TALK)
    before = path.read_bytes()
    write(path, *map(say, range(20)))
    writes = 0

    def replace_file(place: str, data: bytes) -> None:
        nonlocal writes
        writes += 1
        if writes > broken:  # the draft is there, its name is not
            Path(place).with_name(".ragforge-1-0abcdef0").write_bytes(data[: len(data) // 2])
            raise KeyboardInterrupt
        real(place, data)

    real = original_files.replace_file
    with monkeypatch.context() as patch:
        patch.setattr(original_files, "replace_file", replace_file)
        with pytest.raises(KeyboardInterrupt):
            keep(files, "codex", path, TALK)

    assert read(files, path) == before
    keep(files, "codex", path, TALK)
    assert read(files, path) == path.read_bytes()


def test_a_damaged_file_counts_as_not_kept(files: OriginalFiles, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *map(say, range(5)))
    keep(files, "codex", path, TALK)
    [head] = (files.folder / "transcripts").iterdir()
    head.write_bytes(head.read_bytes()[:20])
    assert files.find_all() == []
    assert keep(files, "codex", path, TALK)
    assert read(files, path) == path.read_bytes()


def test_it_is_known_whether_the_agents_file_has_what_was_kept(
    files: OriginalFiles, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", *map(say, range(20)))
    keep(files, "codex", path, TALK)
    kept = files.find("codex", str(path))
    assert isinstance(kept, Original)
    assert is_there(kept)
    with path.open("a") as file:
        file.write(say(20) + "\n")
    assert is_there(kept)
    write(path, say(50))
    assert not is_there(kept)
    path.unlink()
    assert not is_there(kept)
