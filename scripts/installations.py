"""Installations: the wheel, installed by pip, uv and pipx into each Python, used and measured.

`make installations` runs it with the Pythons of pyenv, uv and the PATH, and writes the table of
docs/install.md. It needs a package index. Times are CPU time, the least of several starts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "install.md"
BEGIN, END = "<!-- installations: begin -->\n", "<!-- installations: end -->\n"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
STARTS = 7
CODE = "def total(items):\n    return sum(item.price for item in items)\n"
OTHER_CODE = "function shout(text)\n  return string.upper(text)\nend\n"


@dataclass(frozen=True)
class Row:
    """One installation, as the table shows it."""

    python: str
    program: str
    extra: str
    packages: int
    megabytes: float
    bytecode: float
    start_ms: float

    def format(self) -> str:
        what = f"`{self.extra}`" if self.extra else "none"
        return (
            f"| {self.python} | {self.program} | {what} | {self.packages} | "
            f"{self.megabytes:.0f} MB | {self.bytecode:.0f} MB | {self.start_ms:.0f} ms |"
        )


def find_pythons(named: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield version and path of one interpreter for each version."""
    places = [*named, *map(str, Path.home().glob(".pyenv/versions/3.*/bin/python"))]
    places += filter(None, (shutil.which(f"python{version}") for version in VERSIONS))
    found: dict[str, tuple[str, str]] = {}
    for place in places:
        asked = [place, "-c", "import platform; print(platform.python_version())"]
        answer = subprocess.run(asked, capture_output=True, text=True, check=False)
        full = answer.stdout.strip()
        short = full.rpartition(".")[0]
        if short in VERSIONS:
            found.setdefault(short, (full, place))
    yield from (found[version] for version in VERSIONS if version in found)


def install(program: str, python: str, wheel: str, folder: Path) -> Path:
    """Install the wheel with one program; return the environment."""
    environment = folder / "env"
    if program == "pip":
        call([python, "-m", "venv", "--without-pip", str(environment)])
        inside = str(environment / "bin" / "python")
        call([sys.executable, "-m", "pip", "--python", inside, "install", "--quiet", wheel])
        return environment
    if program == "uv":
        places = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
        call(["uv", "tool", "install", "--quiet", "--python", python, wheel], places)
        return folder / "tools" / "ragforge-agent"
    places = {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin")}
    call(["pipx", "install", "--quiet", "--python", python, wheel], places)
    return folder / "pipx" / "venvs" / "ragforge-agent"


def call(command: Sequence[str], variables: Mapping[str, str] | None = None, text: str = "") -> str:
    """Run a command and return what it prints. Its errors end this program."""
    done = subprocess.run(
        command,
        env={**os.environ, **(variables or {})},
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def use(environment: Path, folder: Path) -> None:
    """Read a small project, ask about it and answer a hook, as a new user would."""
    project = folder / "shop"
    (project / ".git").mkdir(parents=True)
    (project / "cart.py").write_text(CODE)
    (project / "shout.lua").write_text(OTHER_CODE)
    program = str(environment / "bin" / "ragforge")
    places = {"HOME": str(folder / "home"), "RAGFORGE_JOBS__DETACH": "false", "PWD": str(project)}
    read = call([program, "ingest", str(project), "--json"], places)
    grammar = any(environment.glob("lib/python*/site-packages/tree_sitter_lua"))
    assert ('"no grammar": 1' in read) != grammar, read
    answer = call(["env", "-C", str(project), program, "ask", "How is the total computed?"], places)
    assert "cart.py" in answer, answer
    event = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "1",
        "cwd": str(project),
        "prompt": "Where is the total of the items computed?",
    }
    said = call([program, "hook", "--agent", "claude-code"], places, json.dumps(event))
    assert "cart.py" in said, said


def measure(environment: Path) -> tuple[int, float, float, float]:
    """Return packages, megabytes without and of bytecode, and the CPU milliseconds of a start."""
    [place] = environment.glob("lib/python*/site-packages")
    own = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
    sizes = {False: 0, True: 0}
    for file in place.rglob("*"):
        top = file.relative_to(place).parts[0]
        if top.partition("-")[0] not in own and file.is_file() and not file.is_symlink():
            sizes[file.suffix == ".pyc"] += file.stat().st_size
    packages = [one for one in place.glob("*.dist-info") if one.name.partition("-")[0] not in own]
    program = str(environment / "bin" / "ragforge")
    call([program, "--version"])  # writes the bytecode
    least = min(_time_start(program) for _ in range(STARTS))
    return len(packages), sizes[False] / 1e6, sizes[True] / 1e6, 1000 * least


def _time_start(program: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call([program, "--version"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", default=[], help="an interpreter to use")
    parser.add_argument("--programs", default="pip,uv,pipx")
    parser.add_argument("--extras", default=",all", help="separated by commas; '' is none")
    given = parser.parse_args()
    [wheel] = (ROOT / "dist").glob("ragforge_agent-*.whl")
    rows = []
    for version, python in find_pythons(given.python):
        for program in given.programs.split(","):
            for extra in given.extras.split(","):
                if extra and program != "pip":
                    continue  # the same packages, whoever installs them
                with TemporaryDirectory() as name:
                    folder = Path(name)
                    named = f"{wheel}[{extra}]" if extra else str(wheel)
                    environment = install(program, python, named, folder)
                    use(environment, folder)
                    rows.append(Row(version, program, extra, *measure(environment)))
                    print(rows[-1].format(), flush=True)
    head = "| Python | by | extras | packages | size | bytecode | CPU of `--version` |\n"
    table = head + "| --- " * 7 + "|\n" + "".join(f"{row.format()}\n" for row in rows)
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + table + END + rest.partition(END)[2], "utf-8")


if __name__ == "__main__":
    main()
