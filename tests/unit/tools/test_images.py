"""Pictures that a question names."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.tools.images import MAX_BYTES, MAX_IMAGES, find_image_names, read_named_images

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is wrong in @shot.png?", ["shot.png"]),
        ("Compare @a.PNG, @b.jpeg and @~/c.webp.", ["a.PNG", "b.jpeg", "~/c.webp"]),
        ('See @"my screen.png" and @other\\ one.gif', ["my screen.png", "other one.gif"]),
        ("Mail me@shot.png about @cart.py", []),
    ],
)
def test_names_are_found_in_a_question(question: str, names: list[str]) -> None:
    assert list(find_image_names(question)) == names


def test_a_picture_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(PNG)
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0 pixels")
    (tmp_path / "moving.webp").write_bytes(b"RIFF1234WEBP")
    (tmp_path / "text.png").write_text("no picture")

    found = read_named_images("@shot.png @photo.jpg @moving.webp @text.png @gone.png", tmp_path)

    types = [image.media_type for image in found.images]
    assert types == ["image/png", "image/jpeg", "image/webp"]
    assert found.images[0].data == PNG
    assert found.problems == (
        "text.png is not sent: it is not a PNG, JPEG, GIF or WebP.",
        "gone.png is not sent: No such file or directory.",
    )


def test_too_many_and_too_large_ones_are_left_out(tmp_path: Path) -> None:
    for number in range(MAX_IMAGES + 1):
        (tmp_path / f"{number}.png").write_bytes(PNG)
    (tmp_path / "large.png").write_bytes(PNG + b"x" * MAX_BYTES)
    (tmp_path / "folder.png").mkdir()
    names = " ".join(f"@{number}.png" for number in range(MAX_IMAGES + 1))

    found = read_named_images(f"@large.png @folder.png {names}", tmp_path)

    assert len(found.images) == MAX_IMAGES
    assert found.problems[0] == "large.png is not sent: it is larger than 5 MB."
    assert "folder.png is not sent" in found.problems[1]
    assert found.problems[2] == "5.png is left out: a question may have 5 images."
