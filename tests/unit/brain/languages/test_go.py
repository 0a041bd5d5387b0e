"""Go: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_go_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("queue.go")
    assert found.outline.language == "go"
    assert not found.outline.damaged
    assert found.table == [
        "module queue 1-72",
        "constant MAX_JOBS 17-17",
        "constant Waiting 19-22",
        "type State 26-27",
        "struct Queue 29-37",
        "interface Runner 40-44",
        "  method Runner.Run 43-43",
        "type Job 45-45",
        "  method Queue.Push 48-60",
        "method Result.String 62-64",
        "function New 66-72",
    ]


def test_the_go_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("queue.go").imports == [
        "7: context as context",
        "8: fmt as fmt",
        "10: github.com/acme/logging/v2 as log",
        "11: github.com/lib/pq",
        "12: math *",
        "15: gopkg.in/yaml.v3 as yaml",
    ]


def test_the_go_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("queue.go")
    assert found.bases == {"Queue": "sync.Mutex store.Base", "Runner": "fmt.Stringer"}
    assert found.decorators == {}


def test_the_go_sample_uses_these_names(sample: Sample) -> None:
    found = sample("queue.go")
    assert found.calls("Queue.Push") == "q.Lock q.Unlock len fmt.Errorf append notify"
    assert found.uses("Queue.Push") == "Queue T context.Context Job error q.jobs MAX_JOBS ErrFull"
    assert found.calls("New") == "string make log.Print Queue log.Default"
    assert found.uses("New") == "int Queue Job job.Name"


def test_the_go_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("queue.go")
    assert found.signature("Queue") == "type Queue[T any] struct"
    assert (
        found.signature("Queue.Push")
        == "func (q *Queue[T]) Push(ctx context.Context, job Job) (err error)"
    )
    assert found.docstrings == {
        "queue": "Package queue holds jobs until a worker takes them.",
        "State": "State of a job.",
        "Queue": "Queue is a list of jobs.\n\nIt is safe for concurrent use.",
        "Runner": "Runner runs jobs.",
        "Queue.Push": "Push adds a job.",
    }
