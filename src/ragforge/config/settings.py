"""Settings: every key RagForge knows, its default and its bounds."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ragforge.config.agent_settings import AgentSettings, Section
from ragforge.config.services import SERVICES
from ragforge.folders import find_user_folder

WEB_ADDRESS = r"^https?://[^\s@]+$"


def find_default_store() -> str:
    """Return the path of the store that is used when none is configured."""
    return str(find_user_folder("data") / "ragforge.db")


class StoreSettings(Section):
    """Where memory is kept."""

    url: str = Field(
        default_factory=find_default_store,
        min_length=1,
        description="A file's path, sqlite:///path, or the URL of a Neo4j server.",
    )
    neo4j_database: str | None = Field(
        default=None, min_length=1, description="The database on the server; none: its default."
    )
    visibility: Literal["private", "shared"] | None = Field(
        default=None,
        description="Who sees new sessions; none: only you on a server, all users of a file.",
        json_schema_extra={"form": "private or shared", "user_only": True},
    )


class EmbeddingSettings(Section):
    """The embedding model."""

    model: str = Field(
        default="bundled",
        pattern=r"^(bundled|none|local|(openai|google):\S+)$",
        description="The embedding model; none: search only by words.",
        json_schema_extra={"form": "bundled, none, local, openai:MODEL or google:MODEL"},
    )
    base_url: str | None = Field(
        default=None,
        pattern=WEB_ADDRESS,
        description="A different server with the provider's API.",
        json_schema_extra={"form": "an address that starts with http", "user_only": True},
    )
    dimensions: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="Number of dimensions, if the model can shorten its vectors.",
    )


class LlmSettings(Section):
    """The model that answers."""

    model: str = Field(
        default="none",
        pattern=rf"^(none|({'|'.join(SERVICES)}):\S+)$",
        description="The chat model; none: answers are the best passages found.",
        json_schema_extra={"form": f"none, or MODEL after one of {':, '.join(SERVICES)}:"},
    )
    base_url: str | None = Field(
        default=None,
        pattern=WEB_ADDRESS,
        description="A different server with the provider's API: Ollama, vLLM, llama.cpp, a proxy.",
        json_schema_extra={"form": "an address that starts with http", "user_only": True},
    )
    tools: Literal["native", "schema"] = Field(
        default="native", description="How tools are called; schema: for models without tool calls."
    )
    thinking: Literal["default", "off", "low", "medium", "high"] = Field(
        default="default", description="How much the model reasons, if it can."
    )
    timeout_seconds: int = Field(
        default=120, ge=1, le=3_600, description="How long a remote provider may send nothing."
    )
    request_seconds: int = Field(
        default=900, ge=1, le=86_400, description="How long one answer may take from start to end."
    )
    window_tokens: int | None = Field(
        default=None,
        ge=1_024,
        le=100_000_000,
        description="The model's context window; unset: the known one, or what its server reports.",
    )
    max_output_tokens: int | None = Field(
        default=None, ge=1, le=1_000_000, description="Maximum length of an answer."
    )
    max_spend_usd: float | None = Field(
        default=None,
        ge=0,
        le=1_000_000,
        description="Spend limit of one run; no request is made beyond it.",
        json_schema_extra={"user_only": True},
    )


class BrainSettings(Section):
    """The index of the project's code."""

    ingest_automatically: bool = Field(
        default=True, description="Keep the project's code indexed while you work in it."
    )
    first_reading_seconds: int = Field(
        default=2,
        ge=0,
        le=3_600,
        description="How long the first question in a project waits for its code to be indexed.",
    )
    max_file_bytes: int = Field(
        default=1_000_000,
        ge=1,
        le=100_000_000,
        description="Maximum file size; larger files are skipped.",
    )
    max_files: int = Field(
        default=200_000,
        ge=1,
        le=10_000_000,
        description="Maximum number of files; the rest is skipped.",
    )


class FetchSettings(Section):
    """How web pages are read."""

    private_hosts: str = Field(
        default="",
        pattern=r"^\s*((\*|(\*\.)?[\w.:\[\]-]+)(\s+|$))*$",
        description="Hosts outside the public internet that may be read.",
        json_schema_extra={
            "form": "hosts separated by spaces, such as wiki.corp *.lan localhost:8000",
            "user_only": True,
        },
    )
    max_bytes: int = Field(
        default=2_000_000,
        ge=1,
        le=100_000_000,
        description="Maximum size of a page; the rest is cut off.",
    )
    seconds: int = Field(
        default=20, ge=1, le=600, description="How long one request for a page may take."
    )


class WebSearchSettings(Section):
    """Which service searches the web."""

    service: Literal["off", "brave", "tavily", "searxng"] = Field(
        default="off",
        description="The service that searches the web for the model; off: no search.",
        json_schema_extra={"user_only": True},
    )
    url: str | None = Field(
        default=None,
        pattern=WEB_ADDRESS,
        description="The address of your SearXNG, or of a server with the API of the service.",
        json_schema_extra={"form": "an address that starts with http", "user_only": True},
    )


class ToolSettings(Section):
    """How approved commands run."""

    sandbox: Literal["auto", "off", "required"] = Field(
        default="auto",
        description="Run commands in the system's sandbox; required: refuse to run without one.",
        json_schema_extra={"user_only": True},
    )
    environment: str = Field(
        default="",
        pattern=r"^\s*([A-Za-z_]\w*\s*)*$",
        description="Additional variables for approved commands, separated by spaces.",
        json_schema_extra={"form": "names of variables separated by spaces", "user_only": True},
    )
    fetch: FetchSettings = Field(default_factory=FetchSettings)
    web_search: WebSearchSettings = Field(default_factory=WebSearchSettings)


class ServerSettings(Section):
    """A server of the Model Context Protocol, as `.mcp.json` describes one."""

    type: str = ""
    command: str = ""
    args: list[str] = Field(default=[])  # copied; the signature of `list` takes 10 ms to parse
    env: dict[str, str] = Field(default_factory=dict, repr=False)
    cwd: str = ""
    url: str = Field(default="", pattern=r"^((https?://|\$\{)\S+)?$")
    headers: dict[str, str] = Field(default_factory=dict, repr=False)


class McpSettings(Section):
    """Servers whose tools the agent can use."""

    servers: dict[str, ServerSettings] = Field(
        default_factory=dict,
        description="Servers by name: command, args, env, or url, headers, as in .mcp.json.",
        json_schema_extra={"user_only": True},
    )
    wait_seconds: float = Field(
        default=3.0,
        ge=0,
        le=600,
        description="How long the first question waits for servers to start.",
    )
    connect_seconds: float = Field(
        default=30.0, ge=0.1, le=600, description="How long a server may take to start."
    )
    call_seconds: float = Field(
        default=60.0, ge=0.1, le=86_400, description="How long a call of a server's tool may take."
    )


class JobSettings(Section):
    """Background work."""

    lease_seconds: int = Field(
        default=60,
        ge=1,
        le=86_400,
        description="How long a worker keeps a job without a heartbeat.",
    )
    max_attempts: int = Field(
        default=5, ge=1, le=1_000, description="How often a failing job is tried."
    )
    closing_seconds: int = Field(
        default=3,
        ge=0,
        le=3_600,
        description="How long a finished command waits for background jobs.",
    )
    detach: bool = Field(
        default=True, description="Continue unfinished jobs in a background process."
    )


class ConnectSettings(Section):
    """Other agents that are connected to RagForge."""

    exclude: str = Field(
        default="",
        description="Folders in which agents get nothing and nothing is imported.",
        json_schema_extra={"form": "folders, separated as in PATH", "user_only": True},
    )
    projects: str = Field(
        default="",
        description="Folders that agents may ask about from any other folder.",
        json_schema_extra={"form": "folders, separated as in PATH", "user_only": True},
    )


class OriginalSettings(Section):
    """The transcripts of other agents, kept as they were when they were imported."""

    keep: bool = Field(
        default=True,
        description="Keep transcripts, without secrets, so that they can be imported again.",
        json_schema_extra={"user_only": True},
    )
    max_megabytes: int = Field(
        default=1_000,
        ge=0,
        le=1_000_000,
        description="Maximum disk space; the oldest ones are removed first.",
        json_schema_extra={"user_only": True},
    )


class HookSettings(Section):
    """What other agents get when they ask at the start of a session or of a turn."""

    budget: int = Field(
        default=4_000, ge=0, le=1_000_000, description="Characters of context; 0: none."
    )
    deadline_ms: int = Field(
        default=4_000,
        ge=1,
        le=60_000,
        description="Time limit in milliseconds; what was found by then is returned.",
    )


class TerminalSettings(Section):
    """How the terminal looks, and when it calls the user."""

    theme: Literal["auto", "dark", "light"] = Field(
        default="auto",
        description="Colours for a dark or a light background; auto: as the terminal says.",
        json_schema_extra={"user_only": True},
    )
    plain: bool = Field(
        default=False,
        description="For screen readers: words instead of symbols, and nothing is drawn again.",
        json_schema_extra={"user_only": True},
    )
    notify: Literal["off", "bell", "desktop"] = Field(
        default="bell",
        description="How to notify you when a long turn ends or waits for your answer.",
        json_schema_extra={"user_only": True},
    )
    notify_seconds: float = Field(
        default=30,
        ge=0,
        le=86_400,
        description="The duration from which a turn is long.",
        json_schema_extra={"user_only": True},
    )
    editing: Literal["emacs", "vi"] = Field(
        default="emacs",
        description="The keys that edit the input.",
        json_schema_extra={"user_only": True},
    )
    while_working: Literal["steer", "queue"] = Field(
        default="steer",
        description="When what you send during a turn is used: at its next step, or after it.",
        json_schema_extra={"user_only": True},
    )


class Settings(Section):
    """All settings."""

    author: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Your name, such as Ann <ann@example.org>; none: as git knows you.",
        json_schema_extra={"user_only": True},
    )
    store: StoreSettings = Field(default_factory=StoreSettings)
    agent: AgentSettings = Field(default_factory=AgentSettings)
    embeddings: EmbeddingSettings = Field(default_factory=EmbeddingSettings)
    llm: LlmSettings = Field(default_factory=LlmSettings)
    brain: BrainSettings = Field(default_factory=BrainSettings)
    tools: ToolSettings = Field(default_factory=ToolSettings)
    mcp: McpSettings = Field(default_factory=McpSettings)
    jobs: JobSettings = Field(default_factory=JobSettings)
    connect: ConnectSettings = Field(default_factory=ConnectSettings)
    originals: OriginalSettings = Field(default_factory=OriginalSettings)
    hook: HookSettings = Field(default_factory=HookSettings)
    terminal: TerminalSettings = Field(default_factory=TerminalSettings)
