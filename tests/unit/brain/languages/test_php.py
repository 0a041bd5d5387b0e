"""PHP: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_php_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("Mailer.php")
    assert found.outline.language == "php"
    assert not found.outline.damaged
    assert found.table == [
        "module Mailer 1-72",
        "namespace App.Mail 9-72",
        "  constant App.Mail.MAX_MAILS 18-18",
        "  interface App.Mail.Sendable 20-26",
        "    method App.Mail.Sendable.send 25-25",
        "  trait App.Mail.Retries 28-36",
        "    method App.Mail.Retries.again 32-35",
        "  enum App.Mail.Priority 38-46",
        "    variant App.Mail.Priority.High 40-40",
        "    method App.Mail.Priority.label 42-45",
        "  class App.Mail.Mailer 48-65",
        "    constant App.Mail.Mailer.LIMIT 53-53",
        "    method App.Mail.Mailer.__construct 55-55",
        "    method App.Mail.Mailer.send 57-64",
        "  function App.Mail.quick_mail 67-70",
    ]


def test_the_php_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("Mailer.php").imports == [
        "11: App\\Models User=User",
        "12: App\\Support Clock=Clock Queue=Jobs",
        "13: App\\Helpers render=render",
        "14: Psr\\Log LoggerInterface=Logger",
        "16: ./bootstrap.php *",
    ]


def test_the_php_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("Mailer.php")
    assert found.bases == {
        "App.Mail.Sendable": "Countable",
        "App.Mail.Priority": "HasLabel",
        "App.Mail.Mailer": "Transport Sendable Contracts.Mailer Retries",
    }
    assert found.decorators == {"App.Mail.Mailer": "Service", "App.Mail.Mailer.send": "Override"}


def test_the_php_sample_uses_these_names(sample: Sample) -> None:
    found = sample("Mailer.php")
    assert (
        found.calls("App.Mail.Mailer.send")
        == "Mail render this.logger.info Clock.now().format Clock.now this.again parent.send "
        "Jobs.push strlen"
    )
    assert found.uses("App.Mail.Mailer.send") == "User self.LIMIT user.name"
    assert found.calls("App.Mail.quick_mail") == ".send Mailer logger User.find"
    assert found.uses("App.Mail.quick_mail") == ""


def test_the_php_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("Mailer.php")
    assert (
        found.signature("App.Mail.Mailer")
        == "final class Mailer extends Transport implements Sendable, Contracts\\Mailer"
    )
    assert found.signature("App.Mail.Mailer.send") == "public function send(User $user): bool"
    assert found.docstrings == {"Mailer": "Sends mail.", "App.Mail.Sendable": "Something to send."}
