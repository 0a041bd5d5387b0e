"""What the tools for other agents find and refuse, asked without a process in between."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragforge.app import open_app
from ragforge.config import Settings, load_settings
from ragforge.domain.conversations import ToolCall, ToolResult
from ragforge.mcp.catalog import RagForgeCatalog
from ragforge.mcp.projects import Projects
from ragforge.mcp.protocol import Content, Dispatcher
from tests.fakes.builders import assistant, user
from tests.fakes.remembered_shop import ANSWERED, RememberedShop, add_document, remember_shop


class Agent:
    """A client of today's revision, whose user may say yes."""

    def __init__(
        self, shop: RememberedShop, chosen: Path | None, here: Path, roots: Sequence[Path] = ()
    ) -> None:
        def load(root: Path) -> Settings:
            return load_settings(root, {"llm.model": "none"}, environ=shop.environ).settings

        self.roots = roots
        self.projects = Projects(chosen, here, load)
        self.dispatcher = Dispatcher(RagForgeCatalog(self.projects), "ragforge", "1")

    async def call(self, name: str, /, **given: object) -> Any:
        """Return what a tool found, or the sentence of its error."""
        listed = {"roots": {"roots": [{"uri": root.as_uri()} for root in self.roots]}}
        result = await self.ask(name, listed, given)
        if result.get("isError"):
            return result["content"][0]["text"]
        assert len(result["content"][0]["text"]) <= given.get("budget", 8_000)
        return result["structuredContent"]["result"]

    async def ask(self, name: str, answers: Content, given: Content) -> Content:
        roots = {"roots": {}} if self.roots else {}
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}, **roots},
        }
        params = {"name": name, "arguments": given, "inputResponses": answers, "_meta": meta}
        return await self.dispatcher.answer("tools/call", params, self)

    def report(self, doing: str) -> None:
        pass

    async def request(self, method: str, params: Content) -> Content:
        raise AssertionError("today's revision sends no requests to a client")


@pytest.fixture
async def shop(tmp_path: Path) -> RememberedShop:
    return await remember_shop(tmp_path)


@pytest.fixture
async def agent(shop: RememberedShop) -> AsyncIterator[Agent]:
    opened = Agent(shop, None, shop.root)
    yield opened
    await opened.projects.close()


async def test_whatever_has_an_id_is_opened_in_full(agent: Agent, shop: RememberedShop) -> None:
    assert ANSWERED in (await agent.call("open", id=shop.turn))["text"]
    assert "one place" in (await agent.call("open", id=shop.note))["text"]
    assert "The password check" in (await agent.call("open", id=shop.session[:8]))["text"]
    assert "has the id 'nothing'" in await agent.call("open", id="nothing")
    assert "There is no page 9" in await agent.call("open", id=shop.turn, page=9)


@pytest.mark.parametrize("given", [{}, {"query": ""}, {"query": "x", "limit": 99}, {"q": "x"}])
async def test_wrong_arguments_are_an_error_that_the_model_sees(
    agent: Agent, given: dict[str, object]
) -> None:
    result = await agent.ask("recall", {}, given)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("Invalid arguments for recall: ")


async def test_recall_is_limited_to_a_file_an_agent_and_days(agent: Agent) -> None:
    async def find(**limits: str) -> list[str]:
        found = await agent.call("recall", query="password hashes compared", **limits)
        return [one["type"] for one in found]

    assert await find(file="src/login.py") == ["turn"]
    assert await find(agent="codex") == ["turn"]
    assert await find(agent="claude-code") == []
    assert await find(until="2026-01-06") == ["turn"]
    assert "turn" not in await find(since="2026-01-06")
    assert "is not a day" in await agent.call("recall", query="x", since="yesterday")


async def remember_long_turns(shop: RememberedShop, count: int) -> list[str]:
    """Store turns as agents have them: long, with edits and commands; return their ids."""
    settings = load_settings(shop.root, {"llm.model": "none"}, environ=shop.environ).settings
    ids = []
    async with open_app(settings, shop.root, work=False) as app:
        session = await app.sessions.create("Invoices")
        for number in range(count):
            asked = user(
                f"Round the totals of invoice kind {number}. " + "Please be careful. " * 30
            )
            changed = [
                {"file": str(shop.root / f"src/{name}_{number}.py"), "diff": "+total = round(x)\n"}
                for name in ("invoices", "totals", "vat", "pdf", "mail", "letters")
            ]
            edit = ToolCall("edit", {}, ToolResult(True, {"changes": changed}))
            said = [
                assistant(f"I look at step {step}. " + "Nothing here. " * 40) for step in range(9)
            ]
            said[4:5] = [assistant(f'Totals of "kind {number}" are rounded half-even.', edit)]
            await app.store.timeline.append(session.uuid, [asked, *said])
            ids.append(asked.uuid)
    return ids


async def test_recall_gives_five_short_entries_with_the_passage_that_matters(
    agent: Agent, shop: RememberedShop
) -> None:
    ids = await remember_long_turns(shop, 9)

    given = {"query": "why are invoice totals rounded half-even"}
    result = await agent.ask("recall", {}, given)

    found = result["structuredContent"]["result"]
    text = result["content"][0]["text"]
    assert len(found) == 5
    assert len(text) <= 2_500
    assert json.loads(text) == result["structuredContent"]
    assert {one["id"] for one in found} <= set(ids)
    words = {*"Please be careful. Nothing here. I look at step Totals of".split()}  # noqa: SIM905
    words |= {'"kind', "are", "rounded", "half-even.", *(f"{n}." for n in range(9))}
    words |= {f'{n}"' for n in range(9)}
    for one in found:
        number = ids.index(one["id"])
        assert one["asked"].startswith(f"Round the totals of invoice kind {number}.")
        assert one["asked"].endswith(("Please …", "be …", "careful. …"))
        assert one["done"].startswith(f"edited: src/invoices_{number}.py, src/totals_{number}.py")
        assert one["done"].endswith(" more")
        assert f'Totals of "kind {number}" are rounded half-even.' in one["passage"]
        assert set(one["passage"].split()) <= words | {"…"}

    opened = await agent.call("open", id=found[0]["id"])
    assert opened["pages"] > 1
    pages = [
        await agent.call("open", id=found[0]["id"], page=n + 1) for n in range(opened["pages"])
    ]
    whole = json.loads("".join(page["text"] for page in pages))
    assert len(whole["messages"]) == 10
    assert (await agent.call("open", id=found[0]["session"]))["pages"] > 1


async def test_recall_gives_longer_passages_or_fewer_entries_by_its_budget(
    agent: Agent, shop: RememberedShop
) -> None:
    await remember_long_turns(shop, 9)
    query = "why are invoice totals rounded half-even"

    short = await agent.call("recall", query=query, budget=1_000)
    usual = await agent.call("recall", query=query)
    long = await agent.call("recall", query=query, budget=8_000)
    many = await agent.call("recall", query=query, limit=9)

    assert (len(short), len(usual), len(long), len(many)) == (2, 5, 5, 9)
    lengths = [len(some[0]["passage"]) for some in (short, usual, long)]
    assert lengths == sorted(lengths)
    assert lengths[2] > 1_000


async def test_documents_and_configuration_are_listed_after_the_code(
    agent: Agent, shop: RememberedShop
) -> None:
    await add_document(shop)

    found = await agent.call("search_code", query="where are passwords checked")

    assert found["code"][0]["file"] == "src/login.py"
    assert found["documents"] == [
        {
            "place": "docs/login.md:3-5 Login > Passwords",
            "excerpt": "A password is checked in one place. It is never logged.",
        }
    ]
    assert "documents" not in await agent.call("search_code", query="capital of Mongolia")


async def test_a_relation_of_a_name_is_answered_without_its_sessions(agent: Agent) -> None:
    callees = await agent.call("related", name="login", relation="callees")
    assert callees["code"]["callees"] == ["src/login.py: check_password:4"]
    assert "sessions" not in callees
    members = await agent.call("related", name="src/login.py", relation="members")
    assert members["code"]["members"] == ["src/login.py: check_password:4, login:9"]

    unknown = await agent.call("related", name="check_pasword")
    assert unknown["problem"] == "No code is called 'check_pasword'. Similar names: check_password."
    wrong = await agent.call("related", name="login", relation="friends")
    assert "relation is none of callers, callees" in wrong
    assert "is not from 1 to 5" in await agent.call("related", name="login", depth=9)


async def test_every_result_keeps_to_a_small_budget(agent: Agent, shop: RememberedShop) -> None:
    for name, given in (
        ("recall", {"query": "password hashes compared"}),
        ("search_code", {"query": "password"}),
        ("context", {"task": "change check_password"}),
        ("open", {"id": shop.session}),
        ("related", {"name": "src/login.py:5"}),
        ("related", {"name": "login", "relation": "users"}),
        ("sessions", {}),
    ):
        assert await agent.call(name, budget=1_000, **given), name


async def test_forgetting_needs_a_yes_to_that_very_thing(
    agent: Agent, shop: RememberedShop
) -> None:
    asked = await agent.ask("forget", {}, {"id": shop.session})
    [key] = asked["inputRequests"]
    yes = {"action": "accept", "content": {"forget": True}}
    other = await agent.ask("forget", {key: yes}, {"id": shop.note})
    assert other["resultType"] == "input_required"
    no = await agent.ask("forget", {key: {**yes, "content": {}}}, {"id": shop.session})
    assert no["content"][0]["text"] == "The user said no. Nothing was forgotten."
    assert await agent.call("sessions")
    done = await agent.ask("forget", {key: yes}, {"id": shop.session})
    assert "The password check" in done["structuredContent"]["result"]["forgotten"]
    assert await agent.call("sessions") == []


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another folder of the same user, of which nothing is remembered."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "other"
    folder.mkdir()
    return folder


def allow(shop: RememberedShop, folder: Path) -> None:
    """Say in the user's own configuration that agents may ask about a folder from anywhere."""
    Path(shop.environ["RAGFORGE_CONFIG"]).write_text(f"connect:\n  projects: {folder}\n")


async def test_other_projects_are_named_and_nothing_of_one_is_seen_from_another(
    agent: Agent, shop: RememberedShop, other: Path
) -> None:
    allow(shop, other)
    assert await agent.call("sessions", project=str(other)) == []
    assert "another project" in await agent.call("open", id=shop.session, project=str(other))
    assert "another project" in await agent.call("forget", id=shop.note, project=str(other))
    assert "not a project" in await agent.call("search_code", query="x", project=str(other))
    assert "more than a project" in await agent.call("sessions", project="~")
    assert "is not a folder" in await agent.call("sessions", project="nowhere\0")


@pytest.mark.parametrize("how", ["named", "working directory", "root of the client"])
async def test_a_server_is_fenced_to_the_folder_it_was_started_for(
    shop: RememberedShop, other: Path, tmp_path: Path, how: str
) -> None:
    agent = {
        "named": Agent(shop, other, tmp_path),
        "working directory": Agent(shop, None, other),
        "root of the client": Agent(shop, None, tmp_path, [other]),
    }[how]
    (other / "link").symlink_to(shop.root)
    for folder in (shop.root, shop.root / "src", other / "link", other / ".." / "shop"):
        for tool, given in (("recall", {"query": "hashes"}), ("forget", {"id": shop.note})):
            refused = await agent.call(tool, project=str(folder), **given)
            assert f"{shop.root} is not the project of this server" in refused
            assert "connect.projects" in refused
    (other / "src").mkdir()
    for inside in (other, other / "src"):
        assert await agent.call("sessions", project=str(inside)) == []
    await agent.projects.close()


async def test_a_folder_inside_that_of_the_server_may_be_named(
    shop: RememberedShop, tmp_path: Path
) -> None:
    agent = Agent(shop, shop.root.parent / "shop", tmp_path)
    (shop.root / "vendor" / ".git").mkdir(parents=True)
    assert await agent.call("sessions", project=str(shop.root / "vendor")) == []
    await agent.projects.close()


async def test_a_repository_cannot_open_the_fence_of_the_server(
    shop: RememberedShop, other: Path
) -> None:
    from ragforge.errors import SettingsError

    (other / "ragforge.config.yaml").write_text(f"connect:\n  projects: {shop.root}\n")
    agent = Agent(shop, other, other)
    try:
        refused = await agent.call("sessions", project=str(shop.root))
    except SettingsError as error:
        refused = str(error)
    assert "password check" not in str(refused)
    assert "connect.projects" in refused


async def test_an_ambiguous_id_shows_nothing_of_other_projects(
    shop: RememberedShop, other: Path
) -> None:
    settings = load_settings(shop.root, environ=shop.environ).settings
    async with open_app(settings, shop.root, work=False) as app:
        for n in range(40):  # so that two begin with the same digit
            await app.notes.remember(f"The blue door opens at {n}.")
            await app.sessions.create(f"The blue door {n}")
    agent = Agent(shop, other, other)
    for digit in "0123456789abcdef":
        said = [
            await agent.call("open", id=digit),
            await agent.call("forget", id=digit),
            await agent.call("remember", text="A door.", supersedes=digit),
        ]
        assert "blue door" not in str(said)
    await agent.projects.close()


async def test_an_unnamed_folder_that_is_not_a_project_is_refused(
    shop: RememberedShop, tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    agent = Agent(shop, None, plain)
    assert "is not a project. Name the folder" in await agent.call("sessions")
    assert await Agent(shop, plain, shop.root).call("sessions") == []


async def test_jobs_are_left_to_other_processes(agent: Agent, shop: RememberedShop) -> None:
    await agent.call("remember", text="Deploy on Fridays.")
    app = await agent.projects.open(None, str(shop.root))  # type: ignore[arg-type]
    assert app.chat is None
    assert (await app.jobs.count()).by_status["pending"] > 0


async def test_rules_come_with_whatever_is_recalled(shop: RememberedShop) -> None:
    agent = Agent(shop, shop.root, shop.root)
    rule = await agent.call("remember", text="Never compare hashes with ==.", rule=True)
    found = await agent.call("recall", query="an unrelated question about zebras")
    newer = await agent.call("remember", text="Always compare hashes with ==.")
    context = await agent.call("context", task="Draw a zebra")
    await agent.projects.close()

    assert rule["is_rule"]
    assert (found[0]["type"], found[0]["id"]) == ("rule", rule["id"])
    assert newer["corrects"] == [rule["id"]]
    assert "* Always compare hashes" in context["context"]
    assert "Never compare hashes" not in context["context"]
