"""The agent's settings: its memory, what it finds before an answer, and the limits of a turn."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ragforge.folders import find_user_folder


class Section(BaseModel):
    """A group of settings: immutable, without unknown keys."""

    # Values stay out of pydantic's messages: a URL may hold a password.
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, hide_input_in_errors=True, validate_default=True
    )


class SummarizationSettings(Section):
    """When conversations are summarised in the background."""

    enabled: bool = Field(
        default=True, description="Summarise in the background; false: only on request."
    )
    imported_by_model: bool = Field(
        default=False,
        description="Let the chat model summarise sessions of other agents too; it costs tokens.",
    )
    every_n_messages: int | None = Field(
        default=None,
        ge=2,
        le=100_000,
        description="Summarise after this many messages, short or not.",
    )


class MemoryEmbeddingSettings(Section):
    """Whether conversations are embedded; the model is that of `embeddings`."""

    enabled: bool = Field(
        default=True,
        description="Embed turns, summaries and notes; false: find them only by words.",
    )


class PersistenceSettings(Section):
    """The kind of store; its location is `store.url`."""

    type: Literal["files", "sqlite", "neo4j"] | None = Field(
        default=None,
        description="What store.url must be: a file, or a Neo4j server.",
        json_schema_extra={"form": "files, sqlite or neo4j"},
    )
    auto_save: bool = Field(
        default=True, description="Always true: a message is stored before it is answered."
    )


class MemorySettings(Section):
    """How much of the past goes into the context. Percentages are of max_context_chars."""

    enabled: bool = Field(
        default=True, description="Recall past turns and summaries; false: only store them."
    )
    write_by: Literal["auto", "model", "rules"] = Field(
        default="auto",
        description="Who writes titles and summaries; auto: rules for a small or local model.",
    )
    max_context_messages: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="Maximum number of recent messages in the context.",
    )
    summarization: SummarizationSettings = Field(default_factory=SummarizationSettings)
    embeddings: MemoryEmbeddingSettings = Field(default_factory=MemoryEmbeddingSettings)
    persistence: PersistenceSettings = Field(default_factory=PersistenceSettings)
    max_context_chars: int = Field(
        default=100_000,
        ge=1,
        le=100_000_000,
        description="Maximum size of the context, in characters.",
    )
    code_search_percent: int = Field(
        default=10, ge=0, le=100, description="Budget for code that is relevant to the question."
    )
    code_search_initial_limit: int = Field(
        default=100,
        ge=1,
        le=1_000,
        description="Maximum number of code hits before the budget applies.",
    )
    subdirectory_only: bool = Field(
        default=False, description="Search code by meaning below the project's root only."
    )
    recent_turns_percent: int = Field(
        default=10, ge=0, le=100, description="Budget for the latest turns, word for word."
    )
    last_user_queries_percent: int = Field(
        default=5, ge=0, le=100, description="Budget for the latest questions."
    )
    l1_threshold_percent: int = Field(
        default=10, ge=1, le=100, description="Turns this long get a short-term summary."
    )
    l2_threshold_percent: int = Field(
        default=10, ge=1, le=100, description="Short-term summaries this long get a long-term one."
    )
    trim_l1_after_days: int | None = Field(
        default=None, ge=1, le=36_500, description="Age at which short-term summaries are deleted."
    )
    trim_l2_after_days: int | None = Field(
        default=None, ge=1, le=36_500, description="Age at which long-term summaries are deleted."
    )
    max_result_chars: int = Field(
        default=200_000,
        ge=1,
        le=100_000_000,
        description="Maximum stored size of a tool's result, in characters.",
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

    plan_by: Literal["auto", "model", "rules"] = Field(
        default="auto",
        description="Who chooses the searches of files; auto: rules for a small or local model.",
    )
    plan_seconds: float = Field(
        default=4.0, ge=0.1, le=600, description="A model's time to choose searches of the files."
    )
    search_seconds: float | None = Field(
        default=None,
        ge=0.1,
        le=600,
        description="Time for each search; a late one returns nothing. Unset: 5, on a server 60.",
    )


class TurnSettings(Section):
    """How much one turn may take."""

    max_steps: int = Field(
        default=50,
        ge=1,
        le=10_000,
        description="Maximum number of model answers; then it must conclude.",
    )
    max_seconds: int = Field(
        default=1_800, ge=1, le=86_400, description="Time limit; what was done by then is kept."
    )
    max_result_chars: int = Field(
        default=400_000,
        ge=1,
        le=100_000_000,
        description="Characters of tool results in a request; older results are shortened.",
    )
    max_spend_usd: float | None = Field(
        default=None,
        ge=0,
        le=1_000_000,
        description="Spend limit; what was done by then is kept.",
        json_schema_extra={"user_only": True},
    )


class SubAgentSettings(Section):
    """How much the sub-agents of one turn may take together."""

    max_calls: int = Field(
        default=300, ge=1, le=100_000, description="Maximum number of their tool calls in a turn."
    )
    max_tokens: int = Field(
        default=3_000_000,
        ge=1_000,
        le=1_000_000_000,
        description="Maximum number of tokens that their models may use in a turn.",
    )
    max_seconds: int = Field(
        default=600,
        ge=1,
        le=86_400,
        description="How long each of them may wait for its model.",
    )


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

    state_dir: str = Field(
        default_factory=find_default_state,
        min_length=1,
        description="Where copies for /undo, permissions, the history of input and the log are.",
        json_schema_extra={"user_only": True},
    )
    prompts_dir: str = Field(
        default_factory=find_default_prompts,
        min_length=1,
        description="Where your commands, skills and agents are: in its folders of these names.",
        json_schema_extra={"user_only": True},
    )
    hooks: dict[str, HookEntry] = Field(
        default_factory=dict,
        description="Commands at events of a turn, by name: event, command, tools, timeout.",
    )
    turn: TurnSettings = Field(default_factory=TurnSettings)
    sub_agents: SubAgentSettings = Field(default_factory=SubAgentSettings)
    memory: MemorySettings = Field(default_factory=MemorySettings)
    context: ContextSettings = Field(default_factory=ContextSettings)
