"""`ragforge help`: the pages of the documentation, in the terminal."""

from __future__ import annotations

import difflib
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import typer

import ragforge
from ragforge.cli.main import COMMANDS, build_program
from ragforge.cli.options import JsonOption, argument
from ragforge.resources import read_resource
from ragforge.show.console import is_plain, open_console, print_result, print_table

_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!\w+:)([^)\s]*)\)")
_HTML = re.compile(r"^(?:<[^>]*>|!\[[^\]]*\]\([^)]*\)).*\n", re.MULTILINE)


@cache
def list_topics() -> dict[str, str]:
    """Return the pages that the package contains, and what each is about."""
    return tomllib.loads(read_resource("cli/help_topics.toml"))


def _complete_topic(incomplete: str) -> list[tuple[str, str]]:
    return [one for one in list_topics().items() if one[0].startswith(incomplete)]


def help_(
    topic: str | None = argument(
        "TOPIC", "A topic, or a command.", None, autocompletion=_complete_topic
    ),
    as_json: JsonOption = False,
) -> None:
    """Print a page of the documentation, or list the topics.

    The name of a command that has no page prints the help of the command.
    """
    topics = list_topics()
    if topic is None:
        listed = [{"topic": name, "about": about} for name, about in topics.items()]
        columns = ("topic", "about")
        print_result(as_json, listed, lambda: print_table(columns, [*topics.items()], ("about",)))
    elif topic in topics:
        text = read_page(topic)
        said = {"topic": topic, "about": topics[topic], "text": text}
        print_result(as_json, said, lambda: _show_page(text))
    elif topic in COMMANDS:
        build_program()([topic, "--help"], prog_name="ragforge")
    else:
        near = difflib.get_close_matches(topic, [*topics, *COMMANDS], n=3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else "`ragforge help` lists them."
        raise typer.BadParameter(f"There is no topic {topic!r}. {hint}", param_hint="TOPIC")


def read_page(topic: str) -> str:
    """Return the page of a topic: from the package, or from the repository that it runs in."""
    package = Path(ragforge.__file__).parent
    packaged = package / "help" / f"{topic}.md"
    page = packaged if packaged.is_file() else package.parents[1] / "docs" / f"{topic}.md"
    return page.read_text("utf-8")


def _show_page(text: str) -> None:
    """Print a page as it is in a pipe; else rendered, in the pager if it is long."""
    if is_plain():
        sys.stdout.write(text)
        return
    from ragforge.show.markdown import render_markdown
    from ragforge.show.pager import run_pager

    out = open_console(soft_wrap=False)
    with out.capture() as captured:
        out.print(render_markdown(_prepare(text)))
    page = captured.get()
    if out.is_terminal and page.count("\n") >= out.height:
        run_pager(page, "; `ragforge help TOPIC | cat` prints it")
    else:
        sys.stdout.write(page)


def _prepare(text: str) -> str:
    """Return a page without pictures; links to other pages name their topics at the end."""
    names = (path.partition("#")[0].removesuffix(".md") for _, path in _LINK.findall(text))
    linked = dict.fromkeys(name for name in names if name in list_topics())
    shown = _LINK.sub(r"\1", _HTML.sub("", text))
    return f"{shown}\nSee also: ragforge help {' | '.join(linked)}\n" if linked else shown
