"""The agent's settings: its memory, what it finds before an answer, and the limits of a turn."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragforge.folders import find_user_folder

Entry = TypeVar("Entry", bound=BaseModel)


class Section(BaseModel):
    """A group of settings: immutable, without unknown keys."""

    # Values stay out of pydantic's messages: a URL may hold a password.
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, hide_input_in_errors=True, validate_default=True
    )


def setting(
    default: object, about: str, *, form: str = "", user_only: bool = False, **checks: Any
) -> Any:
    """Declare a setting by its default, or the function that returns it, and its description.

    `form` says in messages which texts it takes. One that is `user_only` cannot be set by a
    project's file.
    """
    checks["default_factory" if callable(default) else "default"] = default
    shown = {"form": form, "user_only": user_only}
    extra: dict[str, Any] = {name: value for name, value in shown.items() if value}
    return Field(**checks, description=about, json_schema_extra=extra or None)


def number(
    default: float | None, low: float, high: float, about: str, *, user_only: bool = False
) -> Any:
    """Declare a setting that is a number between two bounds."""
    return setting(default, about, user_only=user_only, ge=low, le=high)


def read_section(value: object) -> object:
    """Return what a text says as JSON, as in a variable; anything else as it is."""
    if isinstance(value, str):
        with suppress(ValueError):
            return json.loads(value)
    return value


def read_entry(kind: type[Entry], value: object, lead: str) -> Entry:
    """Return an entry of a section. Raises ValueError with `lead` and what is wrong with it."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, problem["loc"])) or "it"
        raise ValueError(f"{lead}: {where}: {problem['msg']}") from None


class SummarizationSettings(Section):
    """When conversations are summarised in the background."""

    enabled: bool = setting(True, "Summarise in the background; false: only on request.")
    imported_by_model: bool = setting(
        False, "Let the chat model summarise sessions of other agents too; it costs tokens."
    )
    every_n_messages: int | None = number(
        None, 2, 100_000, "Summarise after this many messages, short or not."
    )


class MemoryEmbeddingSettings(Section):
    """Whether conversations are embedded; the model is that of `embeddings`."""

    enabled: bool = setting(
        True, "Embed turns, summaries and notes; false: find them only by words."
    )


class PersistenceSettings(Section):
    """The kind of store; its location is `store.url`."""

    type: Literal["files", "sqlite", "neo4j"] | None = setting(
        None, "What store.url must be: a file, or a Neo4j server.", form="files, sqlite or neo4j"
    )
    auto_save: bool = setting(True, "Always true: a message is stored before it is answered.")


class MemorySettings(Section):
    """How much of the past goes into the context. Percentages are of max_context_chars."""

    enabled: bool = setting(True, "Recall past turns and summaries; false: only store them.")
    write_by: Literal["auto", "model", "rules"] = setting(
        "auto", "Who writes titles and summaries; auto: rules for a small or local model."
    )
    max_context_messages: int | None = number(
        None, 1, 100_000, "Maximum number of recent messages in the context."
    )
    summarization: SummarizationSettings = Field(default_factory=SummarizationSettings)
    embeddings: MemoryEmbeddingSettings = Field(default_factory=MemoryEmbeddingSettings)
    persistence: PersistenceSettings = Field(default_factory=PersistenceSettings)
    max_context_chars: int = number(
        100_000, 1, 100_000_000, "Maximum size of the context, in characters."
    )
    code_search_percent: int = number(
        10, 0, 100, "Budget for code that is relevant to the question."
    )
    code_search_initial_limit: int = number(
        100, 1, 1_000, "Maximum number of code hits before the budget applies."
    )
    subdirectory_only: bool = setting(
        False, "Search code by meaning below the project's root only."
    )
    recent_turns_percent: int = number(10, 0, 100, "Budget for the latest turns, word for word.")
    last_user_queries_percent: int = number(5, 0, 100, "Budget for the latest questions.")
    l1_threshold_percent: int = number(10, 1, 100, "Turns this long get a short-term summary.")
    l2_threshold_percent: int = number(
        10, 1, 100, "Short-term summaries this long get a long-term one."
    )
    trim_l1_after_days: int | None = number(
        None, 1, 36_500, "Age at which short-term summaries are deleted."
    )
    trim_l2_after_days: int | None = number(
        None, 1, 36_500, "Age at which long-term summaries are deleted."
    )
    max_result_chars: int = number(
        200_000, 1, 100_000_000, "Maximum stored size of a tool's result, in characters."
    )

    @property
    def recent_turns(self) -> int | None:
        """The number of turns in `max_context_messages`, a question and an answer each, or None."""
        limit = self.max_context_messages
        return None if limit is None else (limit + 1) // 2

    def share(self, percent: int) -> int:
        """Return a percentage of the context in characters."""
        return self.max_context_chars * percent // 100


class ContextSettings(Section):
    """How long the searches before an answer may take."""

    plan_by: Literal["auto", "model", "rules"] = setting(
        "auto", "Who chooses the searches of files; auto: rules for a small or local model."
    )
    plan_seconds: float = number(4.0, 0.1, 600, "A model's time to choose searches of the files.")
    search_seconds: float | None = number(
        None,
        0.1,
        600,
        "Time for each search; a late one returns nothing. Unset: 5, on a server 60.",
    )


class TurnSettings(Section):
    """How much one turn may take."""

    max_steps: int = number(
        50, 1, 10_000, "Maximum number of model answers; then it must conclude."
    )
    max_seconds: int = number(1_800, 1, 86_400, "Time limit; what was done by then is kept.")
    max_result_chars: int = number(
        400_000,
        1,
        100_000_000,
        "Characters of tool results in a request; older results are shortened.",
    )
    max_spend_usd: float | None = number(
        None, 0, 1_000_000, "Spend limit; what was done by then is kept.", user_only=True
    )


class SubAgentSettings(Section):
    """How much the sub-agents of one turn may take together."""

    max_calls: int = number(300, 1, 100_000, "Maximum number of their tool calls in a turn.")
    max_tokens: int = number(
        3_000_000,
        1_000,
        1_000_000_000,
        "Maximum number of tokens that their models may use in a turn.",
    )
    max_seconds: int = number(600, 1, 86_400, "How long each of them may wait for its model.")


def find_default_state() -> str:
    return str(find_user_folder("data"))


def find_default_prompts() -> str:
    return str(find_user_folder("config"))


class HookEntry(Section):
    """A command that runs at an event of a turn."""

    event: Literal["session_start", "prompt", "before_tool", "after_tool", "turn_end"]
    command: str = Field(min_length=1, max_length=400)  # the trust question shows all of it
    tools: str = "*"  # names or patterns of tools, separated by spaces
    timeout: float = Field(default=30.0, ge=0.1, le=600)
    sandbox: bool = False  # those of a project always run in one
    by_project: bool = False  # set when the settings are read


class AgentSettings(Section):
    """How the agent works."""

    state_dir: str = setting(
        find_default_state,
        "Where copies for /undo, permissions, the history of input and the log are.",
        min_length=1,
        user_only=True,
    )
    prompts_dir: str = setting(
        find_default_prompts,
        "Where your commands, skills and agents are: in its folders of these names.",
        min_length=1,
        user_only=True,
    )
    hooks: dict[str, HookEntry] = setting(
        dict, "Commands at events of a turn, by name: event, command, tools, timeout."
    )
    turn: TurnSettings = Field(default_factory=TurnSettings)
    sub_agents: SubAgentSettings = Field(default_factory=SubAgentSettings)
    memory: MemorySettings = Field(default_factory=MemorySettings)
    context: ContextSettings = Field(default_factory=ContextSettings)


MAX_HOOKS = 50
_HOOK_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def check_hooks(
    value: object, *, by_project: bool = False, as_text: bool = False
) -> dict[str, HookEntry]:
    """Return the hooks that a section names, or with `as_text` a JSON text.

    Raises ValueError with half a sentence.
    """
    value = read_section(value) if as_text else value
    if not isinstance(value, dict):
        raise ValueError("must be a section of a file, with a name and an event for each hook")
    if len(value) > MAX_HOOKS:
        raise ValueError(f"has more than {MAX_HOOKS} hooks")
    return {
        _check_hook_name(name): _check_hook(name, entry, by_project)
        for name, entry in value.items()
    }


def _check_hook_name(name: object) -> str:
    if not isinstance(name, str) or not _HOOK_NAME.fullmatch(name):
        raise ValueError(
            f"has the hook {str(name)[:60]!r}: a name is lower-case letters, digits, - and _, "
            "40 characters at most"
        )
    return name


def _check_hook(name: str, entry: object, by_project: bool) -> HookEntry:
    if isinstance(entry, HookEntry):  # of a program
        entry = entry.model_dump(exclude={"by_project"})
    if not isinstance(entry, Mapping) or "by_project" in entry:
        raise ValueError(f"has the hook {name!r}, which must be a section with event and command")
    hook = read_entry(HookEntry, {**entry, "by_project": by_project}, f"has the hook {name!r}")
    if not hook.command.isprintable():  # what the user is shown must be what runs
        raise ValueError(
            f"has the hook {name!r}: its command must be one line without invisible characters; "
            "put a longer one into a script"
        )
    return hook


def add_project_hooks(
    hooks: Mapping[str, HookEntry], by_project: Mapping[str, HookEntry]
) -> dict[str, HookEntry]:
    """Return hooks with those of a project, which replace none of the user's."""
    return {**hooks, **{name: hook for name, hook in by_project.items() if name not in hooks}}
