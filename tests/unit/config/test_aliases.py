"""Other names for settings: those of the plans, in YAML and in programs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragforge.config.dotted_keys import ALIASES, list_keys, resolve_key
from ragforge.errors import SettingsError
from tests.fakes.trust import load_trusted_settings as load_settings

DOCS = Path(__file__).parents[3] / "docs" / "configuration.md"
PLANNED = """\
agent:
  memory:
    enabled: true
    max_context_messages: 20
    summarization:
      enabled: true
      every_n_messages: 10
    embeddings:
      enabled: true
      model: text-embedding-004
      dimension: 768
    persistence:
      type: neo4j
      auto_save: true
"""
SERVER = {"RAGFORGE_STORE": "neo4j://localhost:7687"}


def write(project: Path, text: str) -> Path:
    (project / "ragforge.config.yaml").write_text(text)
    return project


def refusal(project: Path, text: str = "", **options: object) -> str:
    write(project, text)
    with pytest.raises(SettingsError) as caught:
        load_settings(project, options, environ={})
    return str(caught.value)


def test_the_file_of_the_plans_is_understood(project: Path) -> None:
    loaded = load_settings(write(project, PLANNED), environ=SERVER)

    memory = loaded.settings.agent.memory
    assert memory.enabled
    assert (memory.max_context_messages, memory.recent_turns) == (20, 10)
    assert memory.summarization.enabled
    assert memory.summarization.every_n_messages == 10
    assert memory.embeddings.enabled
    assert memory.persistence.type == "neo4j"
    embeddings = loaded.settings.embeddings
    assert (embeddings.model, embeddings.dimensions) == ("google:text-embedding-004", 768)
    assert loaded.origins["embeddings.model"].endswith("ragforge.config.yaml")


def test_the_configuration_of_the_plans_code_is_understood(project: Path) -> None:
    config = {
        "maxContextMessages": 20,
        "enableSummarization": False,
        "summarizeEvery": 10,
        "embedMessages": False,
        "maxContextChars": 50_000,
        "l1ThresholdPercent": 5,
        "l2ThresholdPercent": 15,
        "lastUserQueriesPercent": 6,
        "codeSearchPercent": 20,
        "codeSearchInitialLimit": 50,
    }
    in_yaml = "".join(f"    {name}: {str(value).lower()}\n" for name, value in config.items())
    from_file = load_settings(write(project, f"agent:\n  memory:\n{in_yaml}"), environ={})
    write(project, "")
    nested = {"agent": {"memory": config}}
    for options in (config, nested, {f"agent.memory.{name}": config[name] for name in config}):
        assert load_settings(project, options, environ={}).settings == from_file.settings

    memory = from_file.settings.agent.memory
    assert memory.max_context_messages == 20
    assert not memory.summarization.enabled
    assert memory.summarization.every_n_messages == 10
    assert not memory.embeddings.enabled
    assert (memory.max_context_chars, memory.l1_threshold_percent) == (50_000, 5)
    assert (memory.code_search_percent, memory.code_search_initial_limit) == (20, 50)


def test_every_section_takes_camel_case(project: Path) -> None:
    text = "jobs:\n  leaseSeconds: 30\nbrain: {maxFileBytes: 7}\n"
    settings = load_settings(write(project, text), environ={}).settings
    assert (settings.jobs.lease_seconds, settings.brain.max_file_bytes) == (30, 7)


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        (
            "agent: {memory: {max_context_messages: 3, maxContextMessages: 4}}",
            "agent.memory.max_context_messages",
            "agent.memory.maxContextMessages",
        ),
        (
            "embeddings: {model: none}\nagent: {memory: {embeddings: {model: none}}}",
            "embeddings.model",
            "agent.memory.embeddings.model",
        ),
        (
            "agent: {memory: {summarizeEvery: 5, summarization: {every_n_messages: 5}}}",
            "agent.memory.summarizeEvery",
            "agent.memory.summarization.every_n_messages",
        ),
    ],
)
def test_a_setting_under_two_names_in_one_place_is_an_error_that_names_both(
    project: Path, text: str, one: str, other: str
) -> None:
    message = refusal(project, text)
    assert f"ragforge.config.yaml: {one!r} and {other!r} are the same setting: keep one." == message


def test_two_names_in_one_call_or_environment_are_an_error_too(project: Path) -> None:
    message = refusal(project, **{"maxContextChars": 5, "agent.memory.max_context_chars": 6})
    assert "'maxContextChars' and 'agent.memory.max_context_chars' are the same setting" in message
    environ = {
        "RAGFORGE_EMBEDDINGS__MODEL": "none",
        "RAGFORGE_AGENT__MEMORY__EMBEDDINGS__MODEL": "none",
    }
    with pytest.raises(SettingsError, match=r"both set 'embeddings\.model'"):
        load_settings(project, environ=environ)


def test_a_later_layer_beats_an_earlier_one_under_whatever_name(project: Path) -> None:
    write(project, "agent: {memory: {embeddings: {dimension: 768}, maxContextChars: 5}}")
    environ = {"RAGFORGE_EMBEDDINGS__DIMENSIONS": "512"}
    loaded = load_settings(project, {"max_context_chars": 9}, environ=environ)
    assert loaded.settings.embeddings.dimensions == 512
    assert loaded.settings.agent.memory.max_context_chars == 9
    assert loaded.origins["agent.memory.max_context_chars"] == "--max_context_chars"


def test_a_bad_value_is_reported_under_the_name_that_was_written(project: Path) -> None:
    message = refusal(project, "agent: {memory: {maxContextMessages: many}}")
    assert message.startswith("ragforge.config.yaml: 'agent.memory.maxContextMessages' is 'many'")
    assert "unknown key 'agent.memory.maxContextMesages'" in refusal(
        project, "agent: {memory: {maxContextMesages: 3}}"
    )
    assert "unknown key 'maxContext'" in refusal(project, maxContext=3)


@pytest.mark.parametrize(
    ("kind", "url", "message"),
    [
        ("neo4j", None, "persistence.type' is 'neo4j', but 'store.url' is a file, by default."),
        ("files", "neo4j://host", "but 'store.url' is a server, by RAGFORGE_STORE. Set store.url"),
        ("sqlite", "bolt://host", "but 'store.url' is a server"),
    ],
)
def test_a_kind_of_store_that_the_store_is_not_names_both_keys(
    project: Path, kind: str, url: str | None, message: str
) -> None:
    write(project, f"agent: {{memory: {{persistence: {{type: {kind}}}}}}}")
    with pytest.raises(SettingsError) as caught:
        load_settings(project, environ={"RAGFORGE_STORE": url} if url else {})
    assert message in str(caught.value)


def test_what_is_said_is_always_saved(project: Path) -> None:
    message = refusal(project, "agent: {memory: {persistence: {auto_save: false}}}")
    assert "'agent.memory.persistence.auto_save' is false, but what is said is always" in message


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("text-embedding-004", "google:text-embedding-004"),
        ("models/gemini-embedding-001", "google:gemini-embedding-001"),
        ("text-embedding-3-small", "openai:text-embedding-3-small"),
        ("bundled", "bundled"),
    ],
)
def test_a_model_known_by_its_name_needs_no_provider(project: Path, name: str, model: str) -> None:
    settings = load_settings(project, {"embeddings.model": name}, environ={}).settings
    assert settings.embeddings.model == model


def test_every_key_and_every_other_name_is_documented() -> None:
    text = DOCS.read_text("utf-8")
    documented = set(re.findall(r"^\| `([\w.]+)` \|", text, re.MULTILINE))
    assert documented >= set(list_keys())
    assert documented - set(list_keys()) == set(ALIASES)
    assert all(resolve_key(alias) in list_keys() for alias in ALIASES)
