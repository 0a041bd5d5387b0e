"""Documents and configuration: what a search for code lists after the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragforge.adapters.embedders.bundled import BundledEmbedder
from ragforge.brain.project import Brain
from ragforge.brain.search.documents import is_aside, is_configuration
from ragforge.ports.store import Store
from ragforge.tools.search_code import make_code_tool
from tests.fakes.projects import brain_of, write

WORKFLOW = "name: Release\non:\n  push:\n    tags: ['v*']\njobs:\n  publish:\n    steps: []\n"
SERVICE = {
    "src/sessions.py": (
        "def expire_session(session, now):\n"
        '    """Expire a session that was idle for too long."""\n'
        "    return now - session.seen > session.lifetime\n"
    ),
    "src/release.py": "def publish_release(tag):\n    return upload(tag)\n",
    "README.md": "# Sessions\n\nA service.\n\n## Install\n\nRun the installer.\n",
    "docs/sessions.md": (
        "# Sessions\n\n## Expiry\n\nA session expires after thirty idle minutes. "
        "Set its lifetime in settings.toml.\n\n## Storage\n\nSessions are kept in Redis.\n"
    ),
    "settings.toml": "[sessions]\nlifetime = 1800\nidle = true\n",
    ".github/workflows/release.yml": WORKFLOW,
    ".gitignore": "*.log\ncoverage/\n",
    "CODEOWNERS": "docs/ @ann\n",
    "Makefile": "release: test\n\tpython -m src.release\n",
    "go.mod": "module example.org/sessions\n\ngo 1.25\n",
    "copies/sessions.md": "# Sessions\n\n## Storage\n\nSessions are kept in Redis.\n",
    "web/page.css": "/* sessions */\n.session { idle: 1 }\n",
}


@pytest.fixture
async def service(store: Store, tmp_path: Path) -> Brain:
    root = tmp_path / "service"
    write(root, SERVICE)
    brain = brain_of(store, root, BundledEmbedder())
    await brain.ingest()
    return brain


async def list_files(brain: Brain, query: str) -> list[str]:
    return [hit.file for hit in await brain.search_docs_and_config(query)]


async def test_documents_and_configuration_are_found_by_words_and_names(service: Brain) -> None:
    assert "docs/sessions.md" in await list_files(service, "when does an idle session expire")
    assert "settings.toml" in await list_files(service, "where is the lifetime of a session set")
    assert (await list_files(service, "change the release workflow"))[0].endswith("release.yml")
    assert (await list_files(service, "bump go to 1.26 in go.mod"))[0] == "go.mod"
    assert (await list_files(service, "add the lock file to .gitignore"))[0] == ".gitignore"
    assert (await list_files(service, "who is in CODEOWNERS for the docs?"))[0] == "CODEOWNERS"


async def test_each_hit_has_its_place_its_heading_and_the_passage_that_fits(service: Brain) -> None:
    [hit, *_] = await service.search_docs_and_config("after how many idle minutes does it expire")

    assert hit.place == "docs/sessions.md:3-5 Sessions > Expiry"
    assert hit.excerpt.startswith("A session expires after thirty idle minutes.")


async def test_code_and_what_is_shown_already_is_not_listed(service: Brain) -> None:
    code = await service.search("idle session lifetime")
    shown = [hit.scope.uuid for hit in code]
    found = await service.search_docs_and_config("idle session lifetime", shown=shown)

    assert found
    assert not {hit.file for hit in found} & {hit.scope.file for hit in code}
    assert "web/page.css" not in [hit.file for hit in found]


async def test_the_same_text_in_two_files_is_listed_once(service: Brain) -> None:
    found = await list_files(service, "are sessions kept in Redis")

    assert len([file for file in found if file.endswith("sessions.md")]) == 1


@pytest.mark.parametrize("query", ["thanks!", "what is the capital of Mongolia?", "hasta luego"])
async def test_a_query_about_other_things_gets_none(service: Brain, query: str) -> None:
    assert await service.search_docs_and_config(query) == []


async def test_only_what_is_below_a_directory_is_listed(service: Brain) -> None:
    found = await service.search_docs_and_config("when does a session expire", "docs")

    assert {hit.file for hit in found} == {"docs/sessions.md"}


async def test_a_model_gets_documents_after_the_code(service: Brain) -> None:
    found = await make_code_tool(service).run({"query": "when does a session expire"})

    assert found["code"][0]["file"] == "src/sessions.py"
    assert found["documents"][0]["place"].startswith("docs/sessions.md:")


@pytest.mark.parametrize(
    ("path", "is_config"),
    [
        ("pyproject.toml", True),
        (".github/workflows/ci.yml", True),
        ("Dockerfile.dev", True),
        (".editorconfig", True),
        ("bin/deploy", True),
        (".env.example", True),
        ("go.mod", True),
        ("style.css", False),
        ("schema.sql", False),
        ("solver.f90", False),
        ("table.csv", False),
    ],
)
def test_configuration_is_known_by_its_name(path: str, is_config: bool) -> None:
    assert is_configuration(path) is is_config


@pytest.mark.parametrize(
    ("path", "aside"),
    [
        (".claude/agents/reviewer.md", True),
        ("web/.cursor/rules/style.md", True),
        ("CHANGELOG.md", True),
        ("CODE_OF_CONDUCT.md", True),
        (".claude/settings.json", False),
        (".github/workflows/ci.yml", False),
        ("docs/api.md", False),
        (".gitignore", False),
    ],
)
def test_texts_in_hidden_folders_count_less(path: str, aside: bool) -> None:
    assert is_aside(path) is aside
