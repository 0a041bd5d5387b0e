"""C#: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_csharp_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("Users.cs")
    assert found.outline.language == "csharp"
    assert not found.outline.damaged
    assert found.table == [
        "module Users 1-54",
        "namespace Acme.Web 6-54",
        "  interface Acme.Web.IFinder 8-12",
        "    method Acme.Web.IFinder.Find 11-11",
        "  class Acme.Web.UsersController 14-40",
        "    constant Acme.Web.UsersController.MAX_PAGE 17-17",
        "    method Acme.Web.UsersController.UsersController 20-20",
        "    method Acme.Web.UsersController.Count 22-26",
        "    method Acme.Web.UsersController.Find 28-35",
        "    method Acme.Web.UsersController.Dispose 37-37",
        "  class Acme.Web.Page 42-42",
        "  struct Acme.Web.Point 44-44",
        "  enum Acme.Web.Role 46-46",
        "    variant Acme.Web.Role.Admin 46-46",
        "    variant Acme.Web.Role.Guest 46-46",
        "  type Acme.Web.Notify 48-48",
        "  class Acme.Web.Extensions 50-53",
        "    method Acme.Web.Extensions.Short 52-52",
    ]


def test_the_csharp_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("Users.cs").imports == [
        "1: System *",
        "2: System.Linq *",
        "3: System.Math *",
        "4: Newtonsoft.Json.JsonConvert as Json",
    ]


def test_the_csharp_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("Users.cs")
    assert found.bases == {
        "Acme.Web.IFinder": "IDisposable",
        "Acme.Web.UsersController": "ControllerBase IFinder",
        "Acme.Web.Page": "Base",
    }
    assert found.decorators == {
        "Acme.Web.UsersController": "ApiController Route",
        "Acme.Web.UsersController.Find": "HttpGet",
    }


def test_the_csharp_sample_uses_these_names(sample: Sample) -> None:
    found = sample("Users.cs")
    assert (
        found.calls("Acme.Web.UsersController.Find")
        == "_store.LoadAsync NotFoundException nameof Max Json.Convert"
    )
    assert found.uses("Acme.Web.UsersController.Find") == "Task User Func"
    assert found.calls("Acme.Web.UsersController.Count") == "_store.Count"
    assert found.uses("Acme.Web.UsersController.Count") == ""


def test_the_csharp_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("Users.cs")
    assert (
        found.signature("Acme.Web.UsersController")
        == "public sealed class UsersController : ControllerBase, IFinder<User>"
    )
    assert (
        found.signature("Acme.Web.UsersController.Find") == "public async Task<User> Find(int id)"
    )
    assert found.docstrings == {
        "Acme.Web.IFinder": "<summary>Finds users.</summary>",
        "Acme.Web.UsersController.Count": "<summary>How many there are.</summary>",
    }
