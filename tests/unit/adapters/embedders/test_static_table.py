"""The table: vectors of texts that are exact sums, however many are requested at once."""

from __future__ import annotations

import random
import subprocess
import sys
from array import array
from pathlib import Path

import numpy as np
import pytest

from ragforge.adapters.embedders.bundled import StaticTable

ROWS, DIMENSION = 300, 16
PROGRAM = """
import sys
from pathlib import Path
from ragforge.adapters.embedders.bundled import StaticTable
table = StaticTable(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
for text in sys.argv[4:]:
    [unit] = table.units([bytes.fromhex(text)])
    print(unit.hex() if unit else "-")
assert "numpy" not in sys.modules
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("table")
    chance = np.random.default_rng(7)
    rows = chance.integers(-127, 128, (ROWS, DIMENSION), np.int8)
    rows[1] = -rows[0]
    scales = chance.integers(1, 2**15, ROWS, np.uint16)
    scales[1] = scales[0]
    np.save(folder / "vectors.npy", rows)
    np.save(folder / "scales.npy", scales)
    return folder / "vectors.npy", folder / "scales.npy"


@pytest.fixture
def table(files: tuple[Path, Path]) -> StaticTable:
    return StaticTable(*files, DIMENSION)


def some_texts(amount: int) -> list[bytes]:
    chance = random.Random(3)
    lengths = [1, 2, 511, 512, 513, 3_000, *(chance.randrange(1, 200) for _ in range(amount))]
    texts = [[chance.randrange(ROWS) for _ in range(length)] for length in lengths]
    return [array("H", text).tobytes() for text in texts]


def test_a_text_is_the_sum_of_rows_times_scales_at_length_one(
    table: StaticTable, files: tuple[Path, Path]
) -> None:
    rows, scales = (np.load(file).astype(float) for file in files)
    total = 2 * rows[5] * scales[5] + rows[9] * scales[9]
    expected = total / np.linalg.norm(total)

    [unit] = table.units([array("H", [5, 9, 5]).tobytes()])

    assert unit is not None
    half_a_step = np.abs(expected).max() / 127 / 2
    assert np.frombuffer(unit, "<f4") == pytest.approx(expected, rel=0, abs=1.01 * half_a_step)


def test_a_text_has_the_same_bits_by_itself_among_others_and_backwards(table: StaticTable) -> None:
    texts = some_texts(100)

    together = list(table.units(texts))
    alone = [unit for text in texts for unit in table.units([text])]
    backwards = list(table.units([array("H", array("H", text)[::-1]).tobytes() for text in texts]))

    assert together == alone == backwards


def test_without_numpy_a_text_has_the_same_bits(
    table: StaticTable, files: tuple[Path, Path]
) -> None:
    texts = some_texts(100)
    given = [*map(str, files), str(DIMENSION), *(text.hex() for text in texts)]

    shown = subprocess.run(
        [sys.executable, "-c", PROGRAM, *given], capture_output=True, text=True, check=True
    )

    assert shown.stdout.split() == [unit.hex() for unit in table.units(texts) if unit]


def test_a_text_without_pieces_or_without_a_direction_has_no_vector(table: StaticTable) -> None:
    opposites, one = array("H", [0, 1]).tobytes(), array("H", [4]).tobytes()

    units = list(table.units([b"", opposites, one]))

    assert [unit is None for unit in units] == [True, True, False]


def test_the_largest_sums_do_not_overflow(tmp_path: Path) -> None:
    np.save(tmp_path / "vectors.npy", np.full((1, DIMENSION), 127, np.int8))
    np.save(tmp_path / "scales.npy", np.full(1, 2**15 - 1, np.uint16))
    table = StaticTable(tmp_path / "vectors.npy", tmp_path / "scales.npy", DIMENSION)

    for length in (1, 512, 513, 16_000):
        [unit] = table.units([array("H", [0] * length).tobytes()])

        assert unit is not None
        assert np.frombuffer(unit, "<f4") == pytest.approx([DIMENSION**-0.5] * DIMENSION, rel=1e-3)
