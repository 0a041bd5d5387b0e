"""A Chromium for tests: found, installed by root with apt, or said to be missing."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from scripts import chromium


class Machine:
    """A machine with some programs, on which apt may work."""

    def __init__(self, *programs: str, works: bool = True) -> None:
        self.programs = set(programs)
        self.works = works
        self.commands: list[str] = []

    def find(self, name: str) -> str | None:
        return f"/usr/bin/{name}" if name in self.programs else None

    def run(self, command: Sequence[str], **_: object) -> None:
        self.commands.append(command[2])
        if not self.works:
            raise subprocess.CalledProcessError(100, list(command))
        if "install" in command:
            self.programs.add("chromium")


Use: TypeAlias = Callable[..., Machine]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Use:
    def apply(machine: Machine, user: int = 0) -> Machine:
        monkeypatch.setattr(chromium, "CACHE", tmp_path)
        monkeypatch.setattr("shutil.which", machine.find)
        monkeypatch.setattr("subprocess.run", machine.run)
        monkeypatch.setattr("os.geteuid", lambda: user)
        return machine

    return apply


def test_one_that_is_there_is_used(use: Use) -> None:
    machine = use(Machine("google-chrome", "apt-get"))

    assert chromium.ensure_chromium() == "/usr/bin/google-chrome"
    assert machine.commands == []


def test_root_gets_that_of_debian(use: Use) -> None:
    machine = use(Machine("apt-get"))

    assert chromium.ensure_chromium() == "/usr/bin/chromium"
    assert machine.commands == ["update", "install"]


@pytest.mark.parametrize(("machine", "user"), [(Machine(), 0), (Machine("apt-get"), 1000)])
def test_others_read_what_is_missing_and_nothing_is_run(
    use: Use, machine: Machine, user: int
) -> None:
    use(machine, user)

    with pytest.raises(chromium.ChromiumUnavailable, match="no Chromium here"):
        chromium.ensure_chromium()
    assert machine.commands == []


def test_what_apt_could_not_do_is_not_tried_again_by_every_process(use: Use) -> None:
    machine = use(Machine("apt-get", works=False))

    for _ in range(2):
        with pytest.raises(chromium.ChromiumUnavailable, match="apt cannot install it"):
            chromium.ensure_chromium()
    assert machine.commands == ["update"]
