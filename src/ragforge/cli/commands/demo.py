"""`ragforge demo`: memory at work, in a project that is made for it and removed afterwards."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from ragforge.child_python import python_command
from ragforge.cli.demo_project import read_demo, write_project
from ragforge.cli.guard import BY_SIGNAL, FAILED
from ragforge.cli.options import YesOption, flag
from ragforge.cli.outputs import is_terminal
from ragforge.errors import RagForgeError
from ragforge.records import dataclass
from ragforge.show.console import open_console, print_note, sanitise

OF_THE_SYSTEM = (
    *("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TERM"),
    *("COLORTERM", "NO_COLOR", "TZ", "DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "PYTHONPATH"),
)
"""Variables that the commands of the demo get; the user's settings, keys and folders stay out."""
PREPARE = (("ingest",), ("memory", "work"))


def demo(
    *,
    yes: YesOption = False,
    web: bool = flag("--web", "Show the web page at the end, until Ctrl-C."),
    keep: bool = flag("--keep", "Keep the project, and say where it is."),
) -> None:
    """Show what memory gives, in a project that removes itself.

    It has its own store, settings and home: yours are neither read nor changed.
    """
    waits = is_terminal() and not yes
    with _make_folder(keep) as folder:
        demonstration = Demonstration.prepare(folder, waits)
        demonstration.run_steps()
        if web or (waits and typer.confirm("Look at it in your browser, too?", err=True)):
            demonstration.serve_page()
        if keep:
            demonstration.say_where()
    if not keep:
        print_note(read_demo("steps")["goodbye"])


@contextmanager
def _make_folder(keep: bool) -> Iterator[Path]:
    """Make a folder that only the user can read, and remove it however the demo ends."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):  # an exception, as Ctrl-C is one
            signal.signal(getattr(signal, name), _end)
    folder = Path(tempfile.mkdtemp(prefix="ragforge-demo-")).resolve()
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _end(number: int, _: object) -> None:
    raise SystemExit(BY_SIGNAL + number)


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A project with a history, and the environment in which commands see nothing else."""

    project: Path
    environ: Mapping[str, str]
    waits: bool

    @classmethod
    def prepare(cls, folder: Path, waits: bool) -> Demonstration:
        """Write the project and the transcripts of its agents."""
        home, own = folder / "home", folder / "ragforge"
        for made in (home, own):
            made.mkdir()
        (own / "config.yaml").touch()
        environ = {name: os.environ[name] for name in OF_THE_SYSTEM if name in os.environ}
        environ |= {name: str(home) for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA")}
        environ |= {
            "RAGFORGE_STORE": str(own / "memory.db"),
            "RAGFORGE_CONFIG": str(own / "config.yaml"),
            "RAGFORGE_AGENT__STATE_DIR": str(own / "state"),
            "RAGFORGE_AGENT__PROMPTS_DIR": str(own / "prompts"),
            "RAGFORGE_AUTHOR": "Ann Lind <ann@till.example>",
            "RAGFORGE_LLM__MODEL": "none",
            "RAGFORGE_JOBS__DETACH": "false",
            "RAGFORGE_AGENT__CONTEXT__SEARCH_SECONDS": "60",  # a slow machine shows the same
        }
        return cls(write_project(home, environ), environ, waits)

    def run_steps(self) -> None:
        """Run the commands one after the other, each with what it shows."""
        steps = read_demo("steps")
        self._say(steps["welcome"])
        for number, step in enumerate(steps["step"]):
            if number and self.waits:
                print_note("\nEnter continues, Ctrl-C ends the demo.")
                sys.stdin.readline()
            self._show(step)
            if step["run"] == ["import"]:  # what a project that is used has done already
                for command in PREPARE:
                    self._call(command)

    def _show(self, step: Mapping[str, Any]) -> None:
        self._say(step["say"])
        open_console().print(f"$ ragforge {shlex.join(step['run'])}", style="bold")
        lines = self._call(step["run"]).splitlines()
        limit = step.get("lines", len(lines))
        shown = lines[:limit]
        if len(lines) > limit:
            shown.append(f"… {len(lines) - limit} more lines")
        sys.stdout.write("\n".join(shown) + "\n")

    def _say(self, text: str) -> None:
        out = open_console(soft_wrap=False)
        out.print()
        out.print(sanitise(text.strip()), style="cyan")

    def _call(self, words: Sequence[str]) -> str:
        """Run a command and return its output, in colours if the demo is shown in them."""
        out = open_console()
        colours = {"FORCE_COLOR": "1"} if out.is_terminal and out.color_system else {}
        done = subprocess.run(
            python_command("ragforge", *words),
            cwd=self.project,
            env={**self.environ, **colours, "COLUMNS": str(out.width), "PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if done.returncode:
            raise RagForgeError(f"ragforge {shlex.join(words)} failed: {done.stderr.strip()}")
        return done.stdout

    def serve_page(self) -> None:
        """Show the web page until Ctrl-C."""
        print_note("Ctrl-C ends the page and the demo.")
        command = python_command("ragforge", "web", "--no-open")
        page = subprocess.Popen(
            command, cwd=self.project, env=self.environ, stdout=subprocess.PIPE, text=True
        )
        try:
            address = page.stdout.readline().strip() if page.stdout else ""
            if not address:  # it has said why
                raise typer.Exit(FAILED)
            typer.echo(address)
            if self.waits:
                webbrowser.open(address)  # in the user's environment, with the user's profile
            page.wait()
        except KeyboardInterrupt:
            pass
        finally:
            page.terminate()
            page.wait()

    def say_where(self) -> None:
        """Print how to use the kept project."""
        named = (f"{name}={value}" for name, value in self.environ.items() if "RAGFORGE" in name)
        variables = shlex.join(named)
        print_note(f"The demo is in {self.project.parents[1]}. To continue there:")
        print_note(f"  cd {shlex.quote(str(self.project))} && export {variables}")
