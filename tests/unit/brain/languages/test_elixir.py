"""Elixir: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_elixir_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("worker.ex")
    assert found.outline.language == "elixir"
    assert not found.outline.damaged
    assert found.table == [
        "module worker 1-59",
        "module Jobs.Worker 1-51",
        "  type Jobs.Worker.t 16-16",
        "  function Jobs.Worker.start_link 18-22",
        "  function Jobs.Worker.handle_call 24-31",
        "  function Jobs.Worker.run 33-40",
        "  macro Jobs.Worker.traced 42-46",
        "  module Jobs.Worker.State 48-50",
        "    function Jobs.Worker.State.empty 49-49",
        "interface Jobs.Runnable 53-55",
        "  method Jobs.Runnable.run 54-54",
        "impl Map 57-59",
        "  method Map.run 58-58",
    ]


def test_the_elixir_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("worker.ex").imports == [
        "6: GenServer *",
        "7: Ecto.Query from=from",
        "8: Jobs.Queue as Queue",
        "8: Jobs.Store as Store",
        "9: Jobs.Errors.Failed as Failure",
        "10: Logger as Logger",
    ]


def test_the_elixir_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("worker.ex")
    assert found.bases == {"Map": "Jobs.Runnable"}
    assert found.decorators == {}


def test_the_elixir_sample_uses_these_names(sample: Sample) -> None:
    found = sample("worker.ex")
    assert found.calls("Jobs.Worker.handle_call") == "is_integer Queue.pop Logger.info inspect run"
    assert found.uses("Jobs.Worker.handle_call") == ""
    assert found.calls("Jobs.Worker.run") == "Store.load Enum.map log"
    assert found.uses("Jobs.Worker.run") == "perform error Failure"


def test_the_elixir_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("worker.ex")
    assert found.signature("Jobs.Worker") == "defmodule Jobs.Worker"
    assert found.signature("Jobs.Worker.start_link") == "def start_link(opts \\\\ [])"
    assert found.docstrings == {
        "Jobs.Worker": "Takes jobs from a queue.",
        "Jobs.Worker.start_link": "Starts a worker.",
        "Jobs.Worker.run": "Runs one.",
    }
