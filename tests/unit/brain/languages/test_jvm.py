"""Java, Kotlin and Scala: a sample file in, its exact outline out."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.brain.conftest import Reading

Sample = Callable[[str], Reading]


def test_the_java_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("Account.java")
    assert found.outline.language == "java"
    assert not found.outline.damaged
    assert found.table == [
        "module Account 1-58",
        "class Account 11-58",
        "  constant Account.MAX_NAME 18-18",
        "  method Account.Account 21-24",
        "  method Account.book 26-33",
        "  method Account.balance 35-35",
        "  enum Account.State 37-43",
        "    variant Account.State.OPEN 38-38",
        "    variant Account.State.CLOSED 38-38",
        "    method Account.State.next 40-42",
        "  interface Account.Listener 45-47",
        "    method Account.Listener.booked 46-46",
        "  class Account.Entry 49-53",
        "    method Account.Entry.empty 50-52",
        "  interface Account.Audited 55-57",
        "    method Account.Audited.value 56-56",
    ]


def test_the_java_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("Account.java").imports == [
        "6: java.util List=List",
        "7: java.util.concurrent *",
        "8: java.util.Objects requireNonNull=requireNonNull",
        "9: com.acme.Money *",
    ]


def test_the_java_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("Account.java")
    assert found.bases == {
        "Account": "Base Comparable Named.Thing",
        "Account.State": "Coded",
        "Account.Listener": "EventListener",
        "Account.Entry": "Line",
    }
    assert found.decorators == {"Account": "Entity Table", "Account.book": "Override"}


def test_the_java_sample_uses_these_names(sample: Sample) -> None:
    found = sample("Account.java")
    assert (
        found.calls("Account.book")
        == "Entry entries.add listeners.forEach listener.booked Audit.log this.owner.name"
    )
    assert found.uses("Account.book") == "String BankException Entry"
    assert found.calls("Account") == "ArrayList"
    assert found.uses("Account") == "Names.ACCOUNTS Owner Account List Entry"


def test_the_java_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("Account.java")
    assert found.signature("Account.State") == "enum State implements Coded"
    assert (
        found.signature("Account.book")
        == "public void book(long amount, String text) throws BankException"
    )
    assert found.docstrings == {
        "Account": "An account that holds money.",
        "Account.book": "Books an amount.",
    }


def test_the_kotlin_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("Feed.kt")
    assert found.outline.language == "kotlin"
    assert not found.outline.damaged
    assert found.table == [
        "module Feed 1-50",
        "constant MAX_POSTS 7-7",
        "type Posts 9-9",
        "class Post 11-20",
        "  method Post.compareTo 13-13",
        "  constant Post.EMPTY 16-16",
        "  method Post.empty 18-18",
        "interface Source 22-24",
        "  method Source.load 23-23",
        "enum State 26-26",
        "  variant State.OPEN 26-26",
        "  variant State.CLOSED 26-26",
        "object Registry 28-36",
        "  method Registry.register 31-35",
        "function String.short 38-39",
        "class Feed 41-50",
        "  method Feed.posts 42-45",
        "  class Feed.Result 47-49",
        "    object Feed.Result.Empty 48-48",
    ]


def test_the_kotlin_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("Feed.kt").imports == [
        "3: com.acme.net Client=Client",
        "4: com.acme.util *",
        "5: kotlin.math max=biggest",
    ]


def test_the_kotlin_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("Feed.kt")
    assert found.bases == {
        "Post": "Item Comparable",
        "Source": "Closeable",
        "Registry": "Source",
        "Feed.Result.Empty": "Result",
    }
    assert found.decorators == {"Registry.register": "Synchronized"}


def test_the_kotlin_sample_uses_these_names(sample: Sample) -> None:
    found = sample("Feed.kt")
    assert found.calls("Feed.posts") == "client.fetch .map found.filter it.text.isNotEmpty parse"
    assert found.uses("Feed.posts") == "Posts MAX_POSTS"
    assert found.calls("Registry.register") == "Log.info describe"
    assert found.uses("Registry.register") == "String Source Post sources"


def test_the_kotlin_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("Feed.kt")
    assert (
        found.signature("Post")
        == "data class Post(val id: Long, val text: String) : Item(id), Comparable<Post>"
    )
    assert found.signature("String.short") == "fun String.short(length: Int = 10): String"
    assert found.docstrings == {"Post": "A post.", "String.short": "Shortens a text."}


def test_the_scala_sample_has_exactly_these_definitions(sample: Sample) -> None:
    found = sample("Stack.scala")
    assert found.outline.language == "scala"
    assert not found.outline.damaged
    assert found.table == [
        "module Stack 1-43",
        "trait Stack 7-12",
        "  method Stack.push 9-9",
        "  method Stack.peek 11-11",
        "class Node 14-14",
        "object Stack 16-21",
        "  constant Stack.MAX_SIZE 17-17",
        "  type Stack.Items 18-18",
        "  method Stack.empty 20-20",
        "class LinkedStack 23-37",
        "  method LinkedStack.push 27-32",
        "  object LinkedStack.Tools 34-36",
        "    method LinkedStack.Tools.size 35-35",
        "enum Color 39-41",
        "function main 43-43",
    ]


def test_the_scala_sample_has_exactly_these_imports(sample: Sample) -> None:
    assert sample("Stack.scala").imports == [
        "3: scala.collection mutable=mutable",
        "4: scala.util Failure=Failure Success=Good",
        "5: com.acme.util *",
    ]


def test_the_scala_sample_has_exactly_these_bases_and_decorators(sample: Sample) -> None:
    found = sample("Stack.scala")
    assert found.bases == {
        "Stack": "Iterable Serializable",
        "Node": "Base",
        "LinkedStack": "AbstractStack Stack",
    }
    assert found.decorators == {"LinkedStack": "deprecated"}


def test_the_scala_sample_uses_these_names(sample: Sample) -> None:
    found = sample("Stack.scala")
    assert found.calls("LinkedStack.push") == "log.info items.map convert LinkedStack"
    assert found.uses("LinkedStack.push") == "A Stack"
    assert found.calls("main") == "println Stack.empty"
    assert found.uses("main") == "Array String Unit Int"


def test_the_scala_sample_is_signed_and_documented(sample: Sample) -> None:
    found = sample("Stack.scala")
    assert (
        found.signature("LinkedStack")
        == "class LinkedStack[A](items: List[A]) extends AbstractStack[A] with Stack[A]"
    )
    assert found.signature("LinkedStack.push") == "override def push(item: A): Stack[A]"
    assert found.docstrings == {
        "Stack": "A last-in-first-out list.",
        "LinkedStack.push": "Adds one.",
    }
