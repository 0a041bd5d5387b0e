"""The program: its help, exit codes and error messages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragforge import __version__
from ragforge.cli import main
from ragforge.cli.arguments import (
    arrange,
    clean,
    wants_debug,
)
from ragforge.cli.options import flag, option
from ragforge.errors import ConversationNotFound, InputError
from tests.fakes.trust import trust_folder
from tests.unit.cli.conftest import FakeApp, Ragforge

SESSIONS = [
    "list",
    "show",
    "similar",
    "about",
    "branch",
    "export",
    "import",
    "archive",
    "unarchive",
    "tag",
    "untag",
    "rename",
    "delete",
]
MAX_HELP = 63
"""Characters of a help that a list of commands shows in full."""
COMMANDS = [
    ("ask",),
    ("search",),
    ("sessions",),
    *(("sessions", name) for name in SESSIONS),
    ("config",),
    ("config", "show"),
    ("store",),
    ("store", "info"),
    ("store", "copy"),
    ("doctor",),
]


def test_help_names_every_command(ragforge: Ragforge) -> None:
    shown = ragforge("--help")
    assert shown.code == 0
    for command in ("ask", "search", "sessions", "config", "store", "doctor"):
        assert f"\n  {command} " in shown.out


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_help_of_every_command_has_a_purpose_and_examples(
    ragforge: Ragforge, command: tuple[str, ...]
) -> None:
    shown = ragforge(*command, "--help")
    assert shown.code == 0
    purpose = shown.out.splitlines()[2]
    assert purpose.strip().endswith(".")
    assert "Examples:\n" in shown.out
    assert f"    ragforge {' '.join(command)}" in shown.out


def list_helps(command: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the first paragraph of the help of a command and of all below it."""
    yield path, " ".join(command.help.partition("\n\n")[0].split())
    for name, below in getattr(command, "commands", {}).items():
        yield from list_helps(below, f"{path} {name}")


@pytest.mark.parametrize("name", main.COMMANDS)
def test_no_help_is_so_long_that_a_list_of_commands_would_cut_it(name: str) -> None:
    helps = [(name, main.COMMANDS[name][1]), *list_helps(main.load_command(name), name)]

    assert [path for path, text in helps if len(text) > MAX_HELP or text.endswith("...")] == []


@pytest.mark.parametrize("group", ["config", "memory", "permissions", "sessions", "store"])
def test_a_list_of_commands_is_not_cut(ragforge: Ragforge, group: str) -> None:
    listed = ragforge(group, "--help").out.partition("Commands:")[2].partition("Examples")[0]

    assert listed
    assert "..." not in listed
    assert "…" not in listed


@pytest.mark.parametrize(
    ("command", "old"),
    [
        (("memory", "rebuild"), "--anew"),
        (("search", "x", "--in", "memory"), "--everywhere"),
        (("sessions", "list"), "--everywhere"),
    ],
)
def test_earlier_names_of_options_work_and_are_not_shown(
    ragforge: Ragforge, command: tuple[str, ...], old: str
) -> None:
    shown = ragforge(*command, old, "--help")

    assert shown.code == 0
    assert old not in shown.out


def test_the_version_is_one_line(ragforge: Ragforge) -> None:
    assert ragforge("--version").out == f"ragforge {__version__}\n"


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_load_nothing_heavy(option: str) -> None:
    program = (
        "import sys\n"
        "from ragforge.cli.main import run\n"
        "code = run([sys.argv[1]])\n"
        "heavy = {'pydantic', 'rich', 'yaml', 'asyncio', 'apsw', 'numpy', 'platformdirs'}\n"
        "loaded = heavy & set(sys.modules)\n"
        "sys.exit(f'{loaded} should not be loaded' if loaded else code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, option], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_module_that_is_put_off_is_loaded_when_something_in_it_is_used() -> None:
    program = (
        "import sys\n"
        "from ragforge.cli.start import _put_off\n"
        "_put_off(['colorsys', 'inspect'], ['wave'])\n"
        "import colorsys, dataclasses, ragforge.domain.schema\n"
        "assert 'ast' not in sys.modules, 'inspect is loaded'\n"
        "assert colorsys.rgb_to_hls(0, 0, 0) == (0, 0, 0)\n"
        "from inspect import signature\n"
        "assert sys.modules['colorsys'].__file__ and 'ast' in sys.modules\n"
        "try:\n"
        "    import wave\n"
        "except ImportError:\n"
        "    sys.exit(0)\n"
        "sys.exit('wave is loaded')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_terminal_is_opened_without_what_only_commands_and_answers_need() -> None:
    program = (
        "import sys\n"
        "import ragforge.cli.loading, ragforge.cli.trust_questions, ragforge.tui.start\n"
        "import ragforge.app.opening\n"
        "heavy = {'typer', 'click', 'markdown_it', 'pygments', 'ragforge.llm.executor',\n"
        "    'ragforge.memory.summaries.condense', 'ragforge.memory.secrets.redact', 'numpy',\n"
        "    'ragforge.tui.commands.all', 'ragforge.show.turn_view',\n"
        "    'ragforge.brain.search.code'}\n"
        "loaded = heavy & set(sys.modules)\n"
        "sys.exit(f'{loaded} should not be loaded' if loaded else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_search_in_a_project_that_was_read_loads_no_parsers(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from ragforge.cli.start import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as ended:\n"
        "    heavy = {'tree_sitter', 'ragforge.brain.parse.documents', 'email.message'}\n"
        "    loaded = heavy & set(sys.modules) if 'search' in sys.argv else ''\n"
        "    sys.exit(f'{loaded} should not be loaded' if loaded else ended.code)\n"
    )
    (tmp_path / "user.yaml").touch()
    root = tmp_path / "project"
    root.mkdir(exist_ok=True)
    (root / "carts.py").write_text("def add_to_cart(item):\n    return [item]\n")
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("RAGFORGE_")},
        "RAGFORGE_STORE": str(tmp_path / "store.db"),
        "RAGFORGE_CONFIG": str(tmp_path / "user.yaml"),
    }
    for arguments in (["ingest", "--yes"], ["search", "add to cart"]):
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=root,
            env=environ,
        )
        assert done.returncode == 0, done.stderr
    assert "carts.py" in done.stdout


def test_a_question_without_a_model_loads_no_tools(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from ragforge.cli.main import run\n"
        "code = run(['ask', 'how are sessions found?'])\n"
        "heavy = {'ragforge.tools.toolbox', 'ragforge.tools.command.run', 'rapidfuzz',\n"
        "    'ragforge.agent.rules', 'ragforge.agent.delegate', 'httpx2'}\n"
        "loaded = heavy & set(sys.modules)\n"
        "sys.exit(f'{loaded} should not be loaded' if loaded else code)\n"
    )
    (tmp_path / "user.yaml").touch()
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("RAGFORGE_")},
        "RAGFORGE_STORE": str(tmp_path / "store.db"),
        "RAGFORGE_CONFIG": str(tmp_path / "user.yaml"),
        "RAGFORGE_JOBS__DETACH": "false",
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environ,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("bogus",), ("ask", "--bogus"), ("search",), ("search", "x", "-k", "0"), ("--store",)],
)
def test_misuse_gives_exit_code_2_and_nothing_on_stdout(
    ragforge: Ragforge, arguments: tuple[str, ...]
) -> None:
    shown = ragforge(*arguments)
    assert shown.code == 2
    assert shown.out == ""
    assert "Error: " in shown.err


def test_an_error_of_ragforge_is_one_sentence_and_exit_code_1(
    ragforge: Ragforge, app: FakeApp
) -> None:
    app.fails = ConversationNotFound("abc")
    shown = ragforge("ask", "hello")
    assert (shown.code, shown.out, shown.err) == (1, "", "No conversation 'abc'\n")


def test_a_wrong_setting_is_reported_in_one_sentence_and_exit_code_2(
    ragforge: Ragforge, project: Path
) -> None:
    (project / "ragforge.config.yaml").write_text("store: {ulr: x}")
    trust_folder(project)
    shown = ragforge("config", "show")
    sentence = "ragforge.config.yaml: unknown key 'store.ulr'. Did you mean 'store.url'?\n"
    assert (shown.code, shown.out, shown.err) == (2, "", sentence)


def test_an_unexpected_error_is_one_sentence_that_leads_to_the_traceback(
    ragforge: Ragforge, app: FakeApp
) -> None:
    app.fails = ZeroDivisionError("division\nby zero")
    shown = ragforge("ask", "hello")
    assert shown.code == 1
    assert shown.err == (
        "Something unexpected went wrong: ZeroDivisionError: division by zero. "
        "Run the command again with --debug to see where.\n"
    )


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), InputError("x")])
def test_debug_shows_the_traceback(ragforge: Ragforge, app: FakeApp, error: Exception) -> None:
    app.fails = error
    shown = ragforge("ask", "hello", "--debug")
    assert shown.code == 1
    assert "Traceback (most recent call last)" in shown.err


def test_a_variable_asks_for_the_traceback_too(
    ragforge: Ragforge, app: FakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.fails = ZeroDivisionError("x")
    monkeypatch.setenv("RAGFORGE_DEBUG", "1")
    assert "Traceback" in ragforge("ask", "hello").err
    monkeypatch.setenv("RAGFORGE_DEBUG", "0")
    assert "Traceback" not in ragforge("ask", "hello").err


def test_an_interrupt_gives_exit_code_130(ragforge: Ragforge, app: FakeApp) -> None:
    app.fails = KeyboardInterrupt()
    shown = ragforge("ask", "hello")
    assert (shown.code, shown.err) == (130, "")


def test_a_directory_that_is_gone_is_reported_in_one_sentence(
    ragforge: Ragforge, project: Path
) -> None:
    (project / ".git").rmdir()
    project.rmdir()
    shown = ragforge("config", "show")
    assert (shown.code, shown.out) == (1, "")
    assert shown.err == "The current directory no longer exists. Change to another.\n"


def test_a_reader_that_goes_away_is_not_an_error(project: Path) -> None:
    # The environment of the test is the child's: no file of the user may be read.
    environ = {**os.environ, "XDG_CONFIG_HOME": str(project), "XDG_DATA_HOME": str(project)}
    command = [sys.executable, "-c", "from ragforge.cli.start import main; main()"]
    with subprocess.Popen(
        [*command, "config", "show"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_bytes_that_cannot_be_decoded_become_replacement_characters(
    ragforge: Ragforge, app: FakeApp
) -> None:
    ragforge("search", "--in", "memory", "caf\udce9")
    assert [call[:2] for call in app.calls] == [("search", "caf\ufffd")]
    assert clean("ok \ud83d") == "ok \ufffd"


def test_global_options_may_be_anywhere(ragforge: Ragforge) -> None:
    for arguments in (
        ("--store", "a.db", "config", "show"),
        ("config", "show", "--store", "a.db"),
        ("config", "--store=a.db", "show"),
    ):
        assert "a.db" in ragforge(*arguments).out


def test_what_follows_two_dashes_is_not_an_option() -> None:
    arguments = ["ask", "--", "--store", "--debug"]
    assert arrange(arguments) == arguments
    assert not wants_debug(arguments)
    assert wants_debug(["ask", "--debug", "--", "x"])


@pytest.mark.parametrize("name", main.COMMANDS)
def test_every_command_is_in_the_module_that_is_named(name: str) -> None:
    assert main.load_command(name).name == name


def test_the_list_of_commands_fits_into_a_narrow_terminal(ragforge: Ragforge) -> None:
    listed = ragforge("--help").out.partition("Commands:")[2].partition("Examples:")[0]

    for name, (_, summary) in main.COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(summary)}$", listed, re.MULTILINE)


@pytest.mark.parametrize(
    ("given", "parsed"),
    [
        (["-r"], ["-r", ""]),
        (["-r", "ab12"], ["-r", "ab12"]),
        (["--resume", "--verbose"], ["--resume", "", "--verbose"]),
        (["-c"], ["-c"]),
        (["-p", "why?"], ["ask", "why?"]),
        (["-c", "-p", "why?", "--json"], ["ask", "-c", "why?", "--json"]),
        (
            ["--store", "x.db", "--debug", "-p", "why?"],
            ["--store", "x.db", "--debug", "ask", "why?"],
        ),
        (["ask", "-p"], ["ask", "-p"]),
        (["search", "x", "-r"], ["search", "x", "-r"]),
        (["--", "-p"], ["--", "-p"]),
        ([], []),
    ],
)
def test_options_of_the_terminal_are_spelled_out(given: list[str], parsed: list[str]) -> None:
    assert arrange(given) == parsed


@pytest.mark.parametrize("option", ["-c", "-r", "--verbose"])
def test_options_of_the_terminal_are_refused_elsewhere(ragforge: Ragforge, option: str) -> None:
    shown = ragforge(option, "doctor") if option != "-r" else ragforge(option, "x", "doctor")
    assert shown.code == 2


def test_without_a_terminal_or_a_command_the_help_is_shown(ragforge: Ragforge) -> None:
    shown = ragforge()
    assert (shown.code, shown.err) == (0, "")
    assert "Exit codes:" in shown.out
    assert ragforge("-c").code == 2


def test_an_option_is_written_as_its_help_names_it() -> None:
    made = option("-o --output FILE", "Where to write it.")
    plain = flag("--full", "Everything.")

    assert (made.param_decls, made.metavar, made.default) == (("-o", "--output"), "FILE", None)
    assert (plain.param_decls, plain.metavar, plain.default) == (("--full",), None, False)
