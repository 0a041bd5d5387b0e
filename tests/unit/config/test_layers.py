"""Layers: which value wins, and where it came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.config import Settings
from ragforge.config.dotted_keys import format_variable, get_value, list_keys
from ragforge.errors import SettingsError
from tests.fakes.trust import load_trusted_settings as load_settings


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_without_any_file_everything_is_a_default(project: Path) -> None:
    loaded = load_settings(project, environ={})
    assert loaded.settings == Settings()
    assert set(loaded.origins.values()) == {"default"}
    assert loaded.files == ()


def test_the_defaults_are_those_of_the_specification(home: Path) -> None:
    settings = Settings()
    assert settings.store.url == str(home / "data" / "ragforge.db")
    assert settings.agent.memory.max_context_chars == 100_000
    assert settings.agent.memory.recent_turns_percent == 10
    assert settings.jobs.lease_seconds == 60
    assert settings.jobs.max_attempts == 5


def test_every_layer_beats_the_one_before(home: Path, project: Path) -> None:
    user = home / "config" / "config.yaml"
    local = project / "ragforge.config.yaml"
    layers: list[tuple[str, str]] = []

    def now(environ: dict[str, str], options: dict[str, object] | None = None) -> None:
        loaded = load_settings(project, options, environ)
        layers.append((Path(loaded.settings.store.url).name, loaded.origins["store.url"]))

    now({})
    write(user, "store: {url: user.db}")
    now({})
    write(local, "store: {url: project.db}")
    now({})
    now({"RAGFORGE_STORE": "variable.db"})
    now({"RAGFORGE_STORE": "variable.db"}, {"store.url": "option.db"})
    assert layers == [
        ("ragforge.db", "default"),
        ("user.db", str(user)),
        ("project.db", str(local)),
        ("variable.db", "RAGFORGE_STORE"),
        ("option.db", "--store"),
    ]


def test_layers_mix_key_by_key(home: Path, project: Path) -> None:
    write(home / "config" / "config.yaml", "jobs: {lease_seconds: 7, max_attempts: 8}")
    write(project / "ragforge.config.yaml", "jobs: {max_attempts: 9}")
    loaded = load_settings(project, environ={})
    assert loaded.settings.jobs.lease_seconds == 7
    assert loaded.settings.jobs.max_attempts == 9
    assert loaded.files == (
        home / "config" / "config.yaml",
        project / "ragforge.config.yaml",
    )


def test_an_option_that_was_not_given_changes_nothing(project: Path) -> None:
    loaded = load_settings(project, {"store.url": None}, {})
    assert loaded.origins["store.url"] == "default"


def test_the_nearest_project_file_is_found_from_a_subdirectory(project: Path) -> None:
    write(project / "ragforge.config.yaml", "jobs: {max_attempts: 1}")
    near = write(project / "a" / "ragforge.config.yaml", "jobs: {max_attempts: 2}")
    (project / "a" / "b").mkdir()
    assert load_settings(project / "a" / "b", environ={}).files == (near,)


def test_the_search_for_a_project_file_ends_at_the_git_root(project: Path) -> None:
    write(project.parent / "ragforge.config.yaml", "jobs: {max_attempts: 1}")
    (project / "src").mkdir()
    assert load_settings(project / "src", environ={}).files == ()


def test_a_git_work_tree_whose_git_is_a_file_is_a_root_too(home: Path) -> None:
    write(home / "ragforge.config.yaml", "jobs: {max_attempts: 1}")
    write(home / "tree" / ".git", "gitdir: elsewhere")
    assert load_settings(home / "tree", environ={}).files == ()


def test_the_search_for_a_project_file_ends_at_home(home: Path) -> None:
    write(home.parent / "ragforge.config.yaml", "jobs: {max_attempts: 1}")
    (home / "plain").mkdir()
    assert load_settings(home / "plain", environ={}).files == ()


def test_a_relative_store_in_a_file_starts_at_the_file(project: Path) -> None:
    write(project / "ragforge.config.yaml", "store: {url: memory.db}")
    (project / "deep").mkdir()
    settings = load_settings(project / "deep", environ={}).settings
    assert settings.store.url == str(project / "memory.db")


def test_a_relative_store_in_a_variable_starts_at_the_working_directory(project: Path) -> None:
    settings = load_settings(project, environ={"RAGFORGE_STORE": "memory.db"}).settings
    assert settings.store.url == str(project / "memory.db")


def test_ragforge_config_names_the_user_file(project: Path) -> None:
    path = write(project / "mine.yaml", "jobs: {max_attempts: 3}")
    loaded = load_settings(project, environ={"RAGFORGE_CONFIG": "mine.yaml"})
    assert loaded.origins["jobs.max_attempts"] == str(path)


def test_a_user_file_that_was_named_must_exist(project: Path) -> None:
    with pytest.raises(SettingsError, match=r"RAGFORGE_CONFIG: there is no file '.*gone\.yaml'"):
        load_settings(project, environ={"RAGFORGE_CONFIG": "gone.yaml"})


TEXTS = {
    "store.visibility": "private",
    "embeddings.model": "none",
    "embeddings.base_url": "http://localhost:11434/v1",
    "llm.model": "openai:gpt-5-mini",
    "llm.base_url": "http://localhost:11434/v1",
    "llm.tools": "schema",
    "llm.window_tokens": "4096",
    "agent.sub_agents.max_tokens": "4096",
    "terminal.theme": "light",
    "terminal.notify": "desktop",
    "terminal.notify_seconds": "5.0",
    "terminal.editing": "vi",
    "terminal.while_working": "queue",
    "llm.thinking": "high",
    "llm.max_spend_usd": "0.5",
    "agent.turn.max_spend_usd": "0.5",
    "brain.ingest_automatically": "false",
    "jobs.detach": "false",
    "originals.keep": "false",
    "tools.sandbox": "required",
    "tools.web_search.service": "brave",
    "tools.web_search.url": "http://localhost:8888",
    "mcp.servers": "{}",
    "agent.hooks": "{}",
    "mcp.wait_seconds": "42.0",
    "mcp.connect_seconds": "42.0",
    "mcp.call_seconds": "42.0",
    "tools.environment": "ssh_auth_sock my_name",
    "agent.memory.subdirectory_only": "true",
    "agent.memory.enabled": "false",
    "agent.memory.write_by": "rules",
    "agent.memory.summarization.enabled": "false",
    "agent.memory.summarization.imported_by_model": "true",
    "agent.memory.embeddings.enabled": "false",
    "agent.memory.persistence.type": "sqlite",
    "agent.memory.persistence.auto_save": "true",
    "terminal.plain": "true",
    "agent.context.plan_by": "rules",
    "agent.context.plan_seconds": "4.2",
    "agent.context.search_seconds": "4.2",
}


@pytest.mark.parametrize("key", [key for key in list_keys() if key != "store.url"])
def test_every_key_has_a_variable(project: Path, key: str) -> None:
    text = TEXTS.get(key, "42")
    loaded = load_settings(project, environ={format_variable(key): text})
    assert str(get_value(loaded.settings, key)).lower() == text
    assert loaded.origins[key] == format_variable(key)


def test_an_empty_variable_counts_as_unset(project: Path) -> None:
    environ = {"RAGFORGE_STORE": "", "RAGFORGE_JOBS__LEASE_SECONDS": "", "RAGFORGE_CONFIG": ""}
    assert set(load_settings(project, environ=environ).origins.values()) == {"default"}


def test_other_variables_of_the_project_are_left_alone(project: Path) -> None:
    environ = {
        "RAGFORGE_NEO4J_USER": "neo4j",
        "RAGFORGE_NEO4J_PASSWORD": "x",
        "RAGFORGE_NEO4J_JARS": "/jars",
        "RAGFORGE_TEST_NEO4J__URL": "bolt://localhost",
        "RAGFORGE_DEBUG": "1",
        "RAGFORGE_SOMETHING_ELSE": "1",
        "PATH": "/bin",
    }
    assert set(load_settings(project, environ=environ).origins.values()) == {"default"}


def test_one_setting_under_two_names_is_an_error(project: Path) -> None:
    environ = {"RAGFORGE_STORE": "a.db", "RAGFORGE_STORE__URL": "b.db"}
    with pytest.raises(SettingsError, match="RAGFORGE_STORE and RAGFORGE_STORE__URL both set"):
        load_settings(project, environ=environ)


def test_an_empty_section_changes_nothing(project: Path) -> None:
    write(project / "ragforge.config.yaml", "store:\nagent:\n  memory:\n")
    assert load_settings(project, environ={}).settings == Settings()


def test_settings_cannot_be_changed(home: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().jobs.lease_seconds = 1


@pytest.mark.parametrize(
    "setting",
    [
        "llm: {base_url: 'http://evil.example'}",
        "embeddings: {base_url: 'http://evil.example'}",
        "llm: {max_spend_usd: 1000}",
    ],
)
def test_a_projects_file_cannot_lead_a_key_elsewhere_or_spend(project: Path, setting: str) -> None:
    write(project / "ragforge.config.yaml", setting)

    with pytest.raises(SettingsError, match="is for you to decide"):
        load_settings(project, environ={})


def test_the_users_file_may_name_another_server(project: Path) -> None:
    path = write(project / "mine.yaml", "llm: {base_url: 'http://localhost:8080/v1'}")
    loaded = load_settings(project, environ={"RAGFORGE_CONFIG": str(path)})
    assert loaded.settings.llm.base_url == "http://localhost:8080/v1"
