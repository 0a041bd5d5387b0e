"""Benchmarks: each of them runs at its smallest size, on data of the form that it expects."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as runner
from benchmarks import first_answer, growth, ingest, measure, server, web
from benchmarks.context import SPEED_QUESTIONS
from tests.fakes.projects import SHOP, write
from tests.fakes.transcripts.claude_code import Claude

BENCHMARKS = Path(measure.__file__).parent
LIBRARIES = {"calibration", "code_graph_tool", "hook_stores", "issues", "measure", "server_large"}
LIBRARIES |= {"opening", "peers", "symbol_ids"}
"""Modules that others use, which are no programs."""
PROGRAMS = {path.stem for path in BENCHMARKS.glob("[!_]*.py")} - LIBRARIES
SAID = ("Ann: My sister plays the violin in Lisbon", "Ben: I bought a red canoe for the lake")
ASKED = ("Which instrument does the sister of Ann play?", "What did Ben buy for the lake?")

FEW: Sequence[tuple[Any, str, Any]] = (
    (ingest, "TRIES", 1),
    (growth, "TRIES", 1),
    (first_answer, "RUNS", 1),
    (first_answer, "STOPS", (0, 100)),
    (web, "STARTS", 1),
    (web, "QUERIES", 2),
    (web, "TABS", 2),
    (web, "TYPED", ("login",)),
)
"""How often benchmarks repeat what they measure: here hardly ever."""

Options = Sequence[str]


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of results of a test."""
    monkeypatch.setenv(measure.RESULTS, str(tmp_path / "results"))
    for module, name, few in FEW:
        monkeypatch.setattr(module, name, few)
    return tmp_path / "results"


def run(name: str, *options: str | Path) -> dict[str, Any]:
    """Run a benchmark; return what it saved last."""
    importlib.import_module(f"benchmarks.{name}").main([str(option) for option in options])
    return read_results()


def read_results() -> dict[str, Any]:
    files = sorted(
        Path(os.environ[measure.RESULTS]).glob("*.json"), key=lambda one: one.stat().st_mtime
    )
    return json.loads(files[-1].read_text("utf-8"))


def read_questions(name: str) -> list[dict[str, Any]]:
    return json.loads((BENCHMARKS / "questions" / f"{name}.json").read_text("utf-8"))


@pytest.fixture
def django(tmp_path: Path) -> Path:
    """A project with the files that benchmarks name in Django, each about its questions."""
    files = {
        "django/http/response.py": "class HttpResponse:\n    def process_response(self): ...\n",
        ingest.SELDOM_IMPORTED: "def intcomma(value):\n    return value\n",
        "django/contrib/sessions/middleware.py": (
            "def process_response(self, response):\n    response.set_cookie('session')\n"
        ),
        "django/db/models/query.py": (
            "class QuerySet:\n    def get_queryset(self):\n        self.select_related()\n\n\n"
            "class CharField:\n    def clean(self):\n        raise ValueError(self)\n\n\n"
            "class ImproperlyConfigured(Exception): ...\n"
        ),
    }
    for number, question in enumerate(SPEED_QUESTIONS):
        files[f"django/speed/part{number}.py"] = make_source(f"speed_{number}", question)
    for row in read_questions("django_first"):
        files[row["files"][0]] = make_source("first", row["question"])
    for row in read_questions("django"):
        files[row["files"][0]] = make_source("asked", row["english"], row["french"], row["german"])
    folder = tmp_path / "django"
    write(folder, files)
    (folder / ".git").mkdir()
    return folder


@pytest.fixture
def places(tmp_path: Path) -> Options:
    """A repository with questions about it, and conversations: the options that name them."""
    files: dict[str, str] = {}
    for row in read_questions("code"):
        if row["repository"] == "requests":
            words = [row[language] for language in ("english", "french", "german")]
            files[f"src/{row['files'][0]}"] = make_source("asked", *words)
    for row in read_questions("newcomers"):
        if row["repository"] == "requests" and row["files"]:
            files[row["files"][0]] = make_source("newcomer", row["question"])
    for row in read_questions("documents"):
        if row["repository"] == "requests":
            files[row["files"][0]] = f"# {row['text']}\n\nHere it says: {row['text']}\n"
    files |= {f"shop/{name}.py": make_source(name, text) for name, text in SHOP_ANSWERS.items()}
    write(tmp_path / "repos" / "requests", files)
    (tmp_path / "repos" / "requests" / ".git").mkdir()
    data = tmp_path / "data"
    about = {"name": "requests", "language": "python", "github": "a/b", "revision": "1", "root": ""}
    questions = [
        {"query": text, "relevant": [f"shop/{name}.py"], "secondary": [], "category": "semantic"}
        for name, text in SHOP_ANSWERS.items()
    ]
    write(
        data,
        {
            "code-search/repos.json": json.dumps([about]),
            "code-search/annotations/requests.json": json.dumps(questions),
            "memory/locomo-dev.json": json.dumps([make_talk()]),
        },
    )
    return [f"--repos={tmp_path / 'repos'}", f"--data={data}", f"--django={tmp_path / 'none'}"]


SHOP_ANSWERS = {
    "basket": "How is the total of a basket computed with its discount?",
    "parcels": "Where is the weight of a parcel converted to postage?",
}


def make_source(name: str, *words: str) -> str:
    """Return a function that says what it does in these words."""
    text = "\n    ".join(word.replace("\\", "") for word in words)
    return f'def {name}(value):\n    """{text}"""\n    return value\n'


def make_talk() -> dict[str, Any]:
    """Return a conversation of two sessions, as LoCoMo has them."""
    lines = [
        {"speaker": one.split(":")[0], "dia_id": f"D1:{n}", "text": one.split(": ")[1]}
        for n, one in enumerate(SAID, 1)
    ]
    filler = [{"speaker": "Ann", "dia_id": f"D2:{n}", "text": f"Day {n} was long."} for n in (1, 2)]
    said = {
        "session_1": lines,
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_2": filler,
        "session_2_date_time": "1:14 pm on 25 May, 2023",
    }
    asked = [
        {"question": question, "evidence": [f"D1:{n}"], "category": 4}
        for n, question in enumerate(ASKED, 1)
    ]
    return {"sample_id": "talk-1", "conversation": said, "qa": asked}


def test_every_benchmark_is_imported_and_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in sorted(PROGRAMS | {"__main__", "desk.__main__"}):
        module = importlib.import_module(f"benchmarks.{name}")
        with pytest.raises(SystemExit) as ended:
            module.main(["--help"])
        assert ended.value.code == 0
        assert (module.__doc__ or "").splitlines()[0] in capsys.readouterr().out


def test_every_benchmark_is_run_by_a_test() -> None:
    source = Path(__file__).read_text("utf-8")
    run_by = {name for name in PROGRAMS if f'run("{name}"' in source or f'.{name}", *' in source}
    assert sorted(PROGRAMS - run_by) == []


@pytest.mark.long
def test_ingest_asks_the_store_that_the_command_line_has_filled(django: Path) -> None:
    found = run("ingest", "--rounds", "1", "--django", django, "--semble", "/no/python")
    assert found["results"]["query"]["answered"] > 0.9
    assert {row["work"] for row in found["rows"]} >= {"ingest, full", "warm code query, p50"}


@pytest.mark.long
def test_ingest_fails_if_searches_find_nothing(
    django: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def find_nothing(*_: Any, **__: Any) -> list[Any]:
        return []

    monkeypatch.setattr("ragforge.brain.project.Brain.search", find_nothing)
    with pytest.raises(SystemExit, match="Only 0% of the warm queries have hits"):
        run("ingest", "--rounds", "1", "--django", django, "--semble", "/no/python")


def test_code_search(places: Options) -> None:
    found = run("code_search", "--no-semble", *places)["results"]["ways"]
    assert found["ragforge"]["ndcg@10"]["hits"] == 1.0


def test_code_search_fails_if_the_wrong_code_was_read(tmp_path: Path, places: Options) -> None:
    (tmp_path / "data/code-search/annotations/requests.json").write_text(
        json.dumps([{"query": "how", "relevant": ["no.py"], "secondary": [], "category": "a"}])
    )
    with pytest.raises(SystemExit, match="hardly anything is found"):
        run("code_search", "--no-semble", *places)


@pytest.mark.long
def test_commands() -> None:
    run("commands", "--rounds", "1", "--django", "/no/django")


@pytest.mark.long
def test_growth() -> None:
    found = run("growth", "--files", "3")["results"]["3"]
    assert all(seconds > 0 for name, seconds in found.items() if name != "watch")


def test_context(django: Path, places: Options) -> None:
    only_speed = ["--no-coverage", "--turns", "0,2", "--rounds", "1", "--django", django]
    assert {row["unit"] for row in run("context", *only_speed)["rows"]} == {"CPU ms", "× p50"}
    covered = run("context", "--no-speed", *places)
    assert covered["results"]["coverage"]["in_context"] == 1.0


def test_memory_scale() -> None:
    run("memory_scale", "--turns", "400", "--queries", "3")


def test_store() -> None:
    run("store", "--engines", "sqlite", "--rows", "1000", "--dimensions", "16")


def test_transcripts() -> None:
    found = run("transcripts", "--megabytes", "0.2")["results"]
    assert found["turns"] > 0
    run("transcripts", "--shape", "talk", "--lines", "80")


@pytest.mark.long
def test_hook(tmp_path: Path) -> None:
    # It becomes the parent of processes that lose theirs: not this process.
    sizes = ("--folder", str(tmp_path), "--long", "20", "--short", "100", "--runs", "1")
    command = [sys.executable, "-m", "benchmarks.hook", *sizes]
    subprocess.run(command, check=True, capture_output=True, cwd=measure.PROJECT)
    assert len(read_results()["rows"]) == 4


@pytest.mark.long
def test_web() -> None:
    run("web", "--turns", "400", "--long", "20")


@pytest.mark.long
def test_mcp() -> None:
    run("mcp", "--turns", "4", "--runs", "1", "--servers", "1")


def test_long_session() -> None:
    run("long_session", "--turns", "20", "--every", "10", "--bucket", "5")


def test_agent(django: Path) -> None:
    found = run("agent", "--turns", "2", "--stored", "2", "--django", django)["results"]
    assert found["session"]["requests"] > 2


def test_tools(django: Path) -> None:
    run("tools", "--runs", "1", "--many", "1", "--django", django)


def test_memory_recall(places: Options) -> None:
    found = run("memory_recall", *places)["results"]["ways"]
    assert found["ragforge"]["recall@10"] == 1.0


def test_beam(tmp_path: Path) -> None:
    said = [
        {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": f"{SAID[0]} ->-> 1"},
        {"role": "assistant", "id": 1, "content": "That is nice."},
    ]
    asked = {"event_ordering": [{"question": ASKED[0], "source_chat_ids": [0]}]}
    write(
        tmp_path / "chats",
        {
            "1/chat.json": json.dumps([{"batch_number": 1, "turns": [said]}]),
            "1/probing_questions/probing_questions.json": json.dumps(asked),
        },
    )
    assert run("beam", tmp_path / "chats")["results"]["messages"]["ragforge"]["recall@10"] == 1.0


def test_languages_answers_and_documents(places: Options) -> None:
    assert run("languages", "--only", "requests", *places)["results"]["code"]
    first, *_ = run("answers", "--only", "requests", *places)["results"]
    assert first["shown"] > 0
    assert run("documents", "--only", "requests", *places)["results"]["among five"] > 0


@pytest.mark.long
def test_first_answer(django: Path, places: Options) -> None:
    rows = run("first_answer", *places, "--django", django)["results"]
    assert {row["percent"] for row in rows} == {0, 100}


def test_relevance_of_messages(places: Options) -> None:
    run("relevance", *places)
    run("memory_relevance", *places)
    run("notes")
    run("contradictions")


def test_arrival(places: Options) -> None:
    found = run("arrival", "--only", "memory,small-talk,long", "--turns", "10", *places)["results"]
    assert found["memory"]["100,000"]["evidence_in_context"] > 0


def test_redaction() -> None:
    run("redaction", "--lines", "1000")


def test_code_graph(tmp_path: Path) -> None:
    name = "fastapi `fastapi.shop`/total()."
    scenarios = [
        {
            "category": "BugFix",
            "query": {"op": "callers", "sym_stable_id": "fastapi `fastapi.prices`/price()."},
            "expected": {"kind": "contains", "required": [name]},
        },
        {
            "category": "Completion",
            "query": {"op": "lookup", "name": "total", "bare_name": True},
            "expected": {"kind": "contains", "required": [name]},
        },
    ]
    write(
        tmp_path,
        {
            "scenarios/scenarios/fastapi.json": json.dumps(scenarios),
            "fastapi/fastapi/prices.py": "def price(item):\n    return item.price\n",
            "fastapi/fastapi/shop.py": (
                "from fastapi.prices import price\n\n\n"
                "def total(items):\n    return sum(price(item) for item in items)\n"
            ),
        },
    )
    assert run("code_graph", tmp_path, "--only", "fastapi")["results"]["weighted"] == 1.0
    tool = run("code_graph", tmp_path, "--only", "fastapi", "--tool")["results"]
    assert tool["all"]["answered"] == 1.0


def test_localise(tmp_path: Path) -> None:
    mirror = tmp_path / "mirrors" / "sphinx-doc+sphinx" / "repo"
    write(mirror, {"shop/prices.py": "def price_of(item):\n    return item.price\n"})
    commit = commit_all(mirror)
    patch = (
        "--- a/shop/prices.py\n+++ b/shop/prices.py\n@@ -2 +2 @@\n-    return item.price\n"
        "+    return item.price or 0\n"
    )
    row = {
        "repo": "sphinx-doc/sphinx",
        "instance_id": "sphinx-1",
        "base_commit": commit,
        "patch": patch,
        "problem_statement": "price_of fails for an item without a price",
    }
    (tmp_path / "issues.jsonl").write_text(json.dumps(row) + "\n")
    options = ["--only=sphinx", f"--issues={tmp_path / 'issues.jsonl'}", "--no-semble"]
    options += [f"--mirrors={tmp_path / 'mirrors'}", f"--work={tmp_path / 'work'}"]
    importlib.import_module("benchmarks.localise").main([*options, "--prepare"])
    found = run("localise", *options)["results"]["ways"]
    assert found["ragforge"]["all"]["file@1"] == 1.0


def test_agents_recall(tmp_path: Path) -> None:
    repository = tmp_path / "shop"
    write(repository, {"prices.py": "def price_of(item):\n    return item.price\n"})
    commit_all(repository)
    session = Claude("s1", cwd=str(repository))
    for number in (1, 2):
        session.say(f"Why is the price in prices.py wrong ({number})?")
        session.answer("It was rounded. I edited prices.py.")
        about = {"session_id": "s1", "created_at": str(number), "files_touched": ["prices.py"]}
        lines = "".join(json.dumps(line) + "\n" for line in session.lines)
        write(
            tmp_path / "samples" / str(number),
            {"full.jsonl": lines, "metadata.json": json.dumps(about)},
        )
    options = ("--samples", tmp_path / "samples", "--repository", repository)
    found = run("agents_recall", *options)["results"]
    assert found["growing snapshots"]["growing, nothing lost"] == 1


def commit_all(folder: Path) -> str:
    """Make a repository of a folder; return its commit."""
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "All")):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    done = subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.mark.neo4j
@pytest.mark.long
@pytest.mark.usefixtures("neo4j_url")  # it starts another one: there is one then
def test_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WARM_COPIES", "WARM_RUNS", "WARM_ROUNDS"):
        monkeypatch.setattr(server, name, 1)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # which it sets
    write(tmp_path / "shop", SHOP)
    options = ("--turns", "300", "--runs", "1", "--project", tmp_path / "shop")
    found = run("server", *options, "--only", "context,list")["results"]
    assert set(found["code search"]) == {"sqlite", "neo4j"}


def test_a_page_has_every_part_also_those_that_fail_or_lack_their_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = runner.Part("no_such_benchmark", 60, "", "")
    endless = runner.Part("growth", 0, "", "")
    parts = {name: runner.PARTS[name] for name in ("tools", "contradictions")}
    monkeypatch.setattr(runner, "PARTS", {**parts, "broken": broken, "endless": endless})
    page = tmp_path / "page.md"
    assert runner.main(["--page", str(page), "--django", "/no/django"]) == 1
    text = page.read_text("utf-8")
    assert "not measured: needs a checkout of Django" in text
    assert "No module named benchmarks.no_such_benchmark" in text
    assert "failed: took more than 0 s" in text
    assert "precision | 1 | ≥ 0.97 | recall 0.829, 77 pairs | holds |" in text
    assert runner.main(["--page", str(page), "--only", "contradictions"]) == 0
    assert "failed: took more than 0 s" in page.read_text("utf-8")  # as it was measured before


def test_a_row_says_whether_its_bar_holds() -> None:
    row = measure.Row
    assert row("a", 0.4, "s", 0.5).verdict == "holds"
    assert row("a", 0.6, "s", 0.5).verdict == "does not hold"
    assert row("a", 0.6, "", 0.5, is_minimum=True).verdict == "holds"
    assert row("a", 0.6, "s").verdict == "–"
