"""Methods are found by the type of what they are called on, where the source says it."""

from __future__ import annotations

import pytest

from ragforge.brain.graph.values import read_return
from ragforge.brain.parse.names import read_type, read_value
from tests.unit.brain.graph.test_edges import Project

PYTHON = """
    class Base:
        def drop(self): ...
    class Repo(Base):
        def save(self): ...
        def load(self): ...
        def copy(self) -> "Repo": ...
    def make() -> Repo: ...
    """


def list_python_uses(body: str) -> set[str]:
    """Return what a function `f` with this code uses of another file."""
    project = Project({"a.py": f"from b import Repo, make\n{body}", "b.py": PYTHON})
    return {name for name in project.uses("a.py", "f") if "." in name.partition(":")[2]}


@pytest.mark.parametrize(
    "body",
    [
        "def f(q: Repo):\n    q.save()\n",
        "def f(q: 'Repo | None' = None):\n    q.save()\n",
        "def f():\n    q = Repo(1)\n    q.save()\n",
        "async def f():\n    q = await make()\n    q.save()\n",
        "def f():\n    make().save()\n",
        "def f():\n    make().copy().save()\n",
        "STORE = Repo()\ndef f():\n    STORE.save()\n",
    ],
)
def test_python_says_the_type_by_annotation_construction_or_return(body: str) -> None:
    assert "b.py:Repo.save" in list_python_uses(body)


@pytest.mark.parametrize(
    "body",
    [
        "def f(q):\n    q.save()\n",
        "def f(q: Repo | int):\n    q.save()\n",
        "def f(q: list[Repo]):\n    q.save()\n",
        "def f(many):\n    q = Repo()\n    for q in many:\n        q.save()\n",
        "def f(other):\n    q = Repo()\n    q = other\n    q.save()\n",
        "q = Repo()\ndef f(q):\n    q.save()\n",
        "def f():\n    f().save()\n",
    ],
)
def test_what_may_be_of_several_types_makes_no_edge(body: str) -> None:
    assert list_python_uses(body) == set()


def test_fields_have_the_type_of_what_is_assigned_to_them() -> None:
    code = """
        from b import Repo, make
        class Service:
            spare: Repo
            def __init__(self, repo: Repo):
                self.repo = repo
                self.made = make()
            def run(self):
                self.repo.save()
                self.made.load()
                self.spare.drop()
        def use(service: Service):
            service.repo.copy().load()
        """
    project = Project({"a.py": code, "b.py": PYTHON})
    assert project.uses("a.py", "Service.run") == {
        *("b.py:Repo.save", "b.py:Repo.load", "b.py:Base.drop")
    }
    assert project.uses("a.py", "use") == {"Service", "b.py:Repo.copy", "b.py:Repo.load"}


def test_go_knows_parameters_results_literals_and_fields() -> None:
    code = """
        package shop
        type Service struct { repo *Repo }
        func (s *Service) Run(given *Repo) {
            made := NewRepo(1)
            made.Save()
            opened, err := Open()
            opened.Load()
            literal := &Repo{Size: 1}
            literal.Drop()
            s.repo.Close()
            given.Flush()
        }
        """
    methods = ("Save", "Load", "Drop", "Close", "Flush")
    repo = "".join(f"func (r *Repo) {name}() {{}}\n" for name in methods)
    makers = "func NewRepo(size int) *Repo { return nil }\n"
    makers += "func Open() (*Repo, error) { return nil, nil }\n"
    project = Project(
        {"a.go": code, "b.go": f"package shop\ntype Repo struct {{ Size int }}\n{makers}{repo}"},
        {"go.mod": "module shop"},
    )
    assert {f"b.go:Repo.{name}" for name in methods} <= project.uses("a.go", "Service.Run")


def test_rust_follows_constructors_fields_and_chains() -> None:
    code = """
        pub struct Repo { size: u8 }
        impl Repo {
            pub fn new() -> Self { Repo { size: 1 } }
            pub fn save(&self) -> &Self { self }
            pub fn load(&self) {}
            pub fn drop(&self) {}
        }
        pub struct Service { repo: std::sync::Arc<Repo> }
        impl Service {
            fn run(&self, given: &mut Repo) { self.repo.save(); given.load(); }
            fn chain(&self) { Repo::new().save().drop(); }
        }
        """
    project = Project({"src/lib.rs": code}, {"Cargo.toml": "[package]\nname='shop'"})
    assert {"Repo.save", "Repo.load"} <= project.uses("src/lib.rs", "Service.run")
    assert project.uses("src/lib.rs", "Service.chain") == {"Repo.new", "Repo.save", "Repo.drop"}


def test_typescript_knows_fields_of_the_constructor() -> None:
    code = """
        import { Repo, make } from './b'
        export class Service {
            private repo: Repo
            constructor(private readonly db: Repo) { this.made = new Repo() }
            run(given: Repo) {
                const local = new Repo()
                local.save(); this.db.load(); this.made.drop(); make().close(); given.flush()
            }
        }
        """
    methods = ("save", "load", "drop", "close", "flush")
    body = " ".join(f"{name}() {{}}" for name in methods)
    other = (
        f"export class Repo {{ {body} }}\nexport function make(): Repo {{ return new Repo() }}\n"
    )
    project = Project({"a.ts": code, "b.ts": other})
    assert {f"b.ts:Repo.{name}" for name in methods} <= project.uses("a.ts", "Service.run")


def test_java_knows_fields_variables_and_results() -> None:
    code = """
        package shop;
        class Service {
            private final Repo repo = new Repo();
            void run(Repo given) { repo.save(); var made = new Repo(); made.load(); make().drop(); }
            Repo make() { return null; }
        }
        """
    other = "package shop;\nclass Repo { void save() {} void load() {} void drop() {} }\n"
    project = Project({"Service.java": code, "Repo.java": other})
    methods = {f"Repo.java:Repo.{name}" for name in ("save", "load", "drop")}
    assert methods <= project.uses("Service.java", "Service.run")


def test_a_constant_is_used_where_its_member_is() -> None:
    code = "package shop;\nclass Service { static final Repo REPO = new Repo();\n"
    code += "  void run() { REPO.save(); }\n}\nclass Repo { void save() {} }\n"
    uses = Project({"Service.java": code}).uses("Service.java", "Service.run")
    assert uses == {"Service.REPO", "Repo.save"}


def test_ruby_knows_what_new_makes() -> None:
    code = """
        class Service
          def initialize
            @repo = Repo.new(1)
          end
          def run
            @repo.save
            made = Repo.new
            made.load
            Repo.new(2).drop
          end
        end
        class Repo
          def save; end
          def load; end
          def drop; end
        end
        """
    project = Project({"a.rb": code})
    assert project.uses("a.rb", "Service.run") == {"Repo", "Repo.save", "Repo.load", "Repo.drop"}


@pytest.mark.parametrize(
    ("written", "origin"),
    [
        (": Repo", ":Repo"),
        ("Repo | None", ":Repo"),
        ("Optional[Repo]", ":Repo"),
        ("&mut Repo", ":Repo"),
        ("Arc<Repo>", ":Repo"),
        ("*store.Repo", ":store.Repo"),
        ("?Repo", ":Repo"),
        ("Repo<User>", ":Repo"),
        ("string | number", ""),
        ("map[string]Repo", ""),
        ("[]Repo", ""),
        ("var", ""),
    ],
)
def test_a_written_type_names_one_type_or_none(written: str, origin: str) -> None:
    assert read_type(written) == origin


@pytest.mark.parametrize(
    ("value", "origin"),
    [
        ("&Repo{Size: 1}", "Repo()"),
        ("await make()", "make()"),
        ("Repo::new(1)?", "Repo.new()"),
        ("new Box<Repo>(1)", "Box()"),
        ('Builder::new().arg("x").build()', "Builder.new().arg().build()"),
        ("self.repo", "self.repo"),
        ("left + right", ""),
        ("one if two else three", ""),
        ("many[0]", ""),
        ("make(1)(2)", ""),
        ("a < b", ""),
    ],
)
def test_a_value_is_names_and_calls_or_unknown(value: str, origin: str) -> None:
    assert read_value(value) == origin


@pytest.mark.parametrize(
    ("signature", "family", "origin"),
    [
        ("def make(x: int) -> Repo", "python", ":Repo"),
        ("make(x: number): Promise<Repo>", "ecmascript", ":Repo"),
        ("func make(x int) *Repo", "go", ":Repo"),
        ("func make(x func() int) (*Repo, error)", "go", ":Repo"),
        ("func (s *Service) make()", "go", ""),
        ("pub fn make() -> Result<Repo, Error>", "rust", ":Result"),
        ("public static Repo make(int x)", "jvm", ":Repo"),
        ("void make()", "jvm", ""),
    ],
)
def test_a_signature_says_what_a_function_returns(signature: str, family: str, origin: str) -> None:
    assert read_return(signature, "make", family) == origin
