"""Kept outlines: the names in files, from one run to the next."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ragforge.brain.ingestion.ingestion_run import KeptOutlines
from ragforge.brain.parse.read_source import ReadFile, read_file
from ragforge.domain.code import File
from ragforge.memory.secrets.redactor import REDACTOR

SAMPLES = Path(__file__).parents[1] / "samples"
KEY = "AKIAIOSFODNN7EXAMPLQ"


@pytest.fixture
def kept(tmp_path: Path) -> KeptOutlines:
    return KeptOutlines(tmp_path / "state" / "project.outlines", REDACTOR)


def read(folder: Path, *names: str) -> list[ReadFile]:
    return [read_file(str(folder), "p", name, 0) for name in names]


def list_stored(files: list[ReadFile]) -> dict[str, File]:
    return {file.path: file.parsed.file for file in files if file.parsed is not None}


def test_every_language_is_kept_with_all_that_relating_needs(kept: KeptOutlines) -> None:
    files = read(SAMPLES, *sorted(path.name for path in SAMPLES.iterdir() if path.is_file()))

    kept.add(files[:2])
    kept.add(files[2:])
    found = kept.load("p", list_stored(files))

    assert len(found) > 10
    for file in files:
        if (outline := file.outline) is not None and file.path in found:
            definitions = (replace(one, docstring="", text=None) for one in outline.definitions)
            expected = replace(outline, definitions=tuple(definitions), damaged=False, reduced=None)
            assert found[file.path].outline == expected
            assert found[file.path].ids == file.ids


def test_a_secret_in_a_signature_is_not_written_to_the_disk(
    kept: KeptOutlines, tmp_path: Path
) -> None:
    (tmp_path / "cloud.py").write_text(f'def connect(key="{KEY}"):\n    pass\n')
    (tmp_path / "plain.py").write_text("def connect(key=None):\n    pass\n")
    files = read(tmp_path, "cloud.py", "plain.py")

    kept.add(files)

    assert KEY not in kept.place.read_text()
    assert list(kept.load("p", list_stored(files))) == ["plain.py"]


def test_only_whole_lines_about_the_same_content_count(kept: KeptOutlines, tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(f"def of_{name[0]}():\n    pass\n")
    files = read(tmp_path, "a.py", "b.py", "c.py")
    stored = list_stored(files)
    kept.add(files)
    first, second, third = kept.place.read_text().splitlines()
    odd = [json.dumps(None), json.dumps([]), json.dumps(["a.py", stored["a.py"].hash, 1, 2, 3])]
    kept.place.write_text("\n".join([*odd, first, second, third[:-9]]))

    stored["b.py"] = replace(stored["b.py"], hash="another")

    assert list(kept.load("p", stored)) == ["a.py"]
    kept.drop()
    kept.drop()
    assert kept.load("p", stored) == {}
