"""Write the pages of the documentation site that say what the code says: commands, settings, tools.

They exist only there; in a terminal, `ragforge man`, `ragforge config show` and a client of
`ragforge mcp` show the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from ragforge.cli.main import COMMANDS, build_program, load_command
from ragforge.config.dotted_keys import get_section, is_user_only, list_choices
from ragforge.config.settings import Settings
from ragforge.mcp.definitions import INSTRUCTIONS, PROMPTS, TOOLS

FOLDERS = {"store.url", "agent.state_dir", "agent.prompts_dir"}
"""Settings whose defaults are paths of the machine that builds the page."""


def render_reference() -> dict[str, str]:
    """Return the text of each page by its name."""
    return {
        "commands": "\n".join(_render_commands()),
        "settings": "\n".join(_render_settings()),
        "mcp-tools": "\n".join(_render_tools()),
    }


def _render_commands() -> Iterator[str]:
    yield "# Every command and option\n"
    yield "Made from the program's own help. [Commands](../commands.md) explains them by topic.\n"
    program: Any = get_command(build_program())
    with program.make_context("ragforge", [], resilient_parsing=True) as context:
        yield "## Options before a command\n"
        yield from _render_options(program, context)
        for name in COMMANDS:
            yield from _render_command(load_command(name), f"ragforge {name}", context, "##")


def _render_command(command: Any, path: str, parent: Any, level: str) -> Iterator[str]:
    with type(parent)(command, info_name=path.rpartition(" ")[2], parent=parent) as context:
        yield f"{level} `{path}`\n"
        head, *blocks = re.split(r"\n\s*\n", (command.help or "").strip())
        for text in (head, *(block for block in blocks if "\b" not in block)):
            yield f"{_escape(' '.join(text.split()))}\n"
        usage = " ".join(command.collect_usage_pieces(context))
        yield f"```text\n{path} {usage}\n```\n"
        yield from _render_options(command, context)
        below = getattr(command, "commands", {})
        if below:
            for name, one in below.items():
                yield from _render_command(one, f"{path} {name}", context, "###")
        elif command.epilog:
            examples = command.epilog.replace("\b\n", "").strip()
            yield f"```text\n{examples}\n```\n"


def _render_options(command: Any, context: Any) -> Iterator[str]:
    records = (one.get_help_record(context) for one in command.get_params(context))
    rows = [record for record in records if record is not None and "--help" not in record[0]]
    if rows:
        yield "| option | meaning |\n| --- | --- |"
        yield from (f"| {_code(name)} | {_escape(text)} |" for name, text in rows)
        yield ""


def _render_settings() -> Iterator[str]:
    yield "# Every setting\n"
    yield "Made from the declarations. [Configuration](../configuration.md) explains them.\n"
    yield from _render_section(Settings, "")


def _render_section(model: Any, prefix: str) -> Iterator[str]:
    fields = model.model_fields.items()
    values = [(f"{prefix}{name}", field) for name, field in fields if get_section(field) is None]
    if values:
        yield f"## {prefix.rstrip('.') or 'Without a section'}\n"
        if prefix:
            yield f"{' '.join((model.__doc__ or '').split())}\n"
        yield "| key | default | values | meaning |\n| --- | --- | --- | --- |"
        yield from (_render_setting(key, field) for key, field in values)
        yield ""
    for name, field in fields:
        if (section := get_section(field)) is not None:
            yield from _render_section(section, f"{prefix}{name}.")


def _render_setting(key: str, field: Any) -> str:
    default = field.get_default(call_default_factory=True)
    shown = "your data folder" if key in FOLDERS else _code(_dump(default))
    extra = field.json_schema_extra or {}
    values = " ".join(list_choices(field)) or str(extra.get("form", "")) or _show_bounds(field)
    only = " *User only.*" if is_user_only(field) else ""
    return f"| `{key}` | {shown} | {_escape(values)} | {_escape(field.description or '')}{only} |"


def _show_bounds(field: Any) -> str:
    bounds = {type(one).__name__: one for one in field.metadata}
    low, high = getattr(bounds.get("Ge"), "ge", None), getattr(bounds.get("Le"), "le", None)
    return "" if low is None or high is None else f"{low:,} to {high:,}"


def _render_tools() -> Iterator[str]:
    yield "# Tools of the MCP server\n"
    yield "What `ragforge mcp` lists, word for word. [MCP](../mcp.md) explains it.\n"
    yield f"Instructions: *{_escape(INSTRUCTIONS)}*\n"
    for tool in TOOLS:
        schema = tool["inputSchema"]
        yield f"## `{tool['name']}`\n\n{_escape(tool['description'])}\n"
        yield "| argument | type | meaning |\n| --- | --- | --- |"
        for name, about in schema["properties"].items():
            kind = about["type"] + ("" if name in schema.get("required", ()) else ", optional")
            words = [about.get("description", ""), ", ".join(map(str, about.get("enum", ())))]
            yield f"| `{name}` | {kind} | {_escape(': '.join(filter(None, words)))} |"
        yield ""
    yield "## Prompts\n"
    yield from (f"- `{one['name']}`: {_escape(one.get('description', ''))}" for one in PROMPTS)


def _dump(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _code(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return f"<code>{escaped}</code>" if text else ""


def _escape(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
