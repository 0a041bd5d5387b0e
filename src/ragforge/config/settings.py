"""Settings: every key RagForge knows, its default and its bounds."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ragforge.config.agent_settings import AgentSettings, Section, number, setting
from ragforge.config.services import SERVICES
from ragforge.folders import find_user_folder

WEB_ADDRESS = r"^https?://[^\s@]+$"


def find_default_store() -> str:
    """Return the path of the store that is used when none is configured."""
    return str(find_user_folder("data") / "ragforge.db")


class StoreSettings(Section):
    """Where memory is kept."""

    url: str = setting(
        find_default_store,
        "A file's path, sqlite:///path, or the URL of a Neo4j server.",
        min_length=1,
    )
    neo4j_database: str | None = setting(
        None, "The database on the server; none: its default.", min_length=1
    )
    visibility: Literal["private", "shared"] | None = setting(
        None,
        "Who sees new sessions; none: only you on a server, all users of a file.",
        form="private or shared",
        user_only=True,
    )


class EmbeddingSettings(Section):
    """The embedding model."""

    model: str = setting(
        "bundled",
        "The embedding model; none: search only by words.",
        form="bundled, none, local, openai:MODEL or google:MODEL",
        pattern=r"^(bundled|none|local|(openai|google):\S+)$",
    )
    base_url: str | None = setting(
        None,
        "A different server with the provider's API.",
        form="an address that starts with http",
        pattern=WEB_ADDRESS,
        user_only=True,
    )
    dimensions: int | None = number(
        None, 1, 100_000, "Number of dimensions, if the model can shorten its vectors."
    )


class LlmSettings(Section):
    """The model that answers."""

    model: str = setting(
        "none",
        "The chat model; none: answers are the best passages found.",
        form=f"none, or MODEL after one of {':, '.join(SERVICES)}:",
        pattern=rf"^(none|({'|'.join(SERVICES)}):\S+)$",
    )
    base_url: str | None = setting(
        None,
        "A different server with the provider's API: Ollama, vLLM, llama.cpp, a proxy.",
        form="an address that starts with http",
        pattern=WEB_ADDRESS,
        user_only=True,
    )
    tools: Literal["native", "schema"] = setting(
        "native", "How tools are called; schema: for models without tool calls."
    )
    thinking: Literal["default", "off", "low", "medium", "high"] = setting(
        "default", "How much the model reasons, if it can."
    )
    timeout_seconds: int = number(120, 1, 3_600, "How long a remote provider may send nothing.")
    request_seconds: int = number(900, 1, 86_400, "How long one answer may take from start to end.")
    window_tokens: int | None = number(
        None,
        1_024,
        100_000_000,
        "The model's context window; unset: the known one, or what its server reports.",
    )
    max_output_tokens: int | None = number(None, 1, 1_000_000, "Maximum length of an answer.")
    max_spend_usd: float | None = number(
        None, 0, 1_000_000, "Spend limit of one run; no request is made beyond it.", user_only=True
    )


class BrainSettings(Section):
    """The index of the project's code."""

    ingest_automatically: bool = setting(
        True, "Keep the project's code indexed while you work in it."
    )
    first_reading_seconds: int = number(
        2, 0, 3_600, "How long the first question in a project waits for its code to be indexed."
    )
    max_file_bytes: int = number(
        1_000_000, 1, 100_000_000, "Maximum file size; larger files are skipped."
    )
    max_files: int = number(200_000, 1, 10_000_000, "Maximum number of files; the rest is skipped.")


class FetchSettings(Section):
    """How web pages are read."""

    private_hosts: str = setting(
        "",
        "Hosts outside the public internet that may be read.",
        form="hosts separated by spaces, such as wiki.corp *.lan localhost:8000",
        pattern=r"^\s*((\*|(\*\.)?[\w.:\[\]-]+)(\s+|$))*$",
        user_only=True,
    )
    max_bytes: int = number(
        2_000_000, 1, 100_000_000, "Maximum size of a page; the rest is cut off."
    )
    seconds: int = number(20, 1, 600, "How long one request for a page may take.")


class WebSearchSettings(Section):
    """Which service searches the web."""

    service: Literal["off", "brave", "tavily", "searxng"] = setting(
        "off", "The service that searches the web for the model; off: no search.", user_only=True
    )
    url: str | None = setting(
        None,
        "The address of your SearXNG, or of a server with the API of the service.",
        form="an address that starts with http",
        pattern=WEB_ADDRESS,
        user_only=True,
    )


class ToolSettings(Section):
    """How approved commands run."""

    sandbox: Literal["auto", "off", "required"] = setting(
        "auto",
        "Run commands in the system's sandbox; required: refuse to run without one.",
        user_only=True,
    )
    environment: str = setting(
        "",
        "Additional variables for approved commands, separated by spaces.",
        form="names of variables separated by spaces",
        pattern=r"^\s*([A-Za-z_]\w*\s*)*$",
        user_only=True,
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

    servers: dict[str, ServerSettings] = setting(
        dict,
        "Servers by name: command, args, env, or url, headers, as in .mcp.json.",
        user_only=True,
    )
    wait_seconds: float = number(
        3.0, 0, 600, "How long the first question waits for servers to start."
    )
    connect_seconds: float = number(30.0, 0.1, 600, "How long a server may take to start.")
    call_seconds: float = number(60.0, 0.1, 86_400, "How long a call of a server's tool may take.")


class JobSettings(Section):
    """Background work."""

    lease_seconds: int = number(60, 1, 86_400, "How long a worker keeps a job without a heartbeat.")
    max_attempts: int = number(5, 1, 1_000, "How often a failing job is tried.")
    closing_seconds: int = number(
        3, 0, 3_600, "How long a finished command waits for background jobs."
    )
    detach: bool = setting(True, "Continue unfinished jobs in a background process.")


class ConnectSettings(Section):
    """Other agents that are connected to RagForge."""

    exclude: str = setting(
        "",
        "Folders in which agents get nothing and nothing is imported.",
        form="folders, separated as in PATH",
        user_only=True,
    )
    projects: str = setting(
        "",
        "Folders that agents may ask about from any other folder.",
        form="folders, separated as in PATH",
        user_only=True,
    )


class OriginalSettings(Section):
    """The transcripts of other agents, kept as they were when they were imported."""

    keep: bool = setting(
        True,
        "Keep transcripts, without secrets, so that they can be imported again.",
        user_only=True,
    )
    max_megabytes: int = number(
        1_000,
        0,
        1_000_000,
        "Maximum disk space; the oldest ones are removed first.",
        user_only=True,
    )


class HookSettings(Section):
    """What other agents get when they ask at the start of a session or of a turn."""

    budget: int = number(4_000, 0, 1_000_000, "Characters of context; 0: none.")
    deadline_ms: int = number(
        4_000, 1, 60_000, "Time limit in milliseconds; what was found by then is returned."
    )


class TerminalSettings(Section):
    """How the terminal looks, and when it calls the user."""

    theme: Literal["auto", "dark", "light"] = setting(
        "auto",
        "Colours for a dark or a light background; auto: as the terminal says.",
        user_only=True,
    )
    plain: bool = setting(
        False,
        "For screen readers: words instead of symbols, and nothing is drawn again.",
        user_only=True,
    )
    notify: Literal["off", "bell", "desktop"] = setting(
        "bell", "How to notify you when a long turn ends or waits for your answer.", user_only=True
    )
    notify_seconds: float = number(
        30, 0, 86_400, "The duration from which a turn is long.", user_only=True
    )
    editing: Literal["emacs", "vi"] = setting(
        "emacs", "The keys that edit the input.", user_only=True
    )
    while_working: Literal["steer", "queue"] = setting(
        "steer",
        "When what you send during a turn is used: at its next step, or after it.",
        user_only=True,
    )


class Settings(Section):
    """All settings."""

    author: str | None = setting(
        None,
        "Your name, such as Ann <ann@example.org>; none: as git knows you.",
        min_length=1,
        max_length=200,
        user_only=True,
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
