"""Rules: how names are seen in each language."""

from __future__ import annotations

import re
from dataclasses import dataclass

TYPES = frozenset(("class", "interface", "struct", "enum", "trait", "object", "type"))
"""What a value can be of; such a scope may be inherited from."""
CONTAINERS = TYPES | {"impl"}
SPACES = frozenset(("module", "namespace"))
"""What only holds names."""

_NONE: frozenset[str] = frozenset()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Rules:
    """What a name can mean in a language, beyond what stands around it in its file."""

    family: str
    own: frozenset[str] = _NONE  # words for the object itself: `self`
    above: frozenset[str] = _NONE  # words for what its class inherits: `super`
    implicit: bool = False  # members are known without such a word
    package: bool = False  # the files of a package know each other's names
    project: bool = False  # types are known everywhere by their qualified name
    bare: bool = False  # in the files of a package that is not part of qualified names
    continued: bool = False  # a type may be written in several files
    implements: bool = True  # what an implementation defines, its type has
    nests: bool = True  # a name may lack the spaces around its place
    includes: bool = False  # files are included: what they include is known too
    hands_on: bool = False  # what a file imports, others can import from it by a wildcard
    low_types: bool = False  # names of types are often in lower case
    private: str = ""  # how names start that a wildcard does not bring
    separator: str = "."  # in the names of modules
    receiver: re.Pattern[str] | None = None  # what a signature calls the object
    taken: frozenset[str] = _NONE  # names that the language gives to everybody


_JVM_TAKEN = _words(
    """
    Any Array Boolean Byte Char CharSequence Class Collection Comparable Double Enum Error
    Exception Float Function Int Integer Iterable Iterator Lazy List Long Map Nothing Number
    Object Override Pair Result Runnable RuntimeException Sequence Set Short String Thread
    Throwable Triple Unit Void Either Left Right Option Some None Seq Vector Future Try Success
    Failure Nil Ordering Ordered Numeric Product Serializable Some App AnyRef AnyVal Test
    TraversableOnce IterableOnce
    """
)
_RUBY_TAKEN = _words(
    """
    Array BasicObject Class Comparable Complex Date DateTime Dir Encoding Enumerable Enumerator
    Exception File Float Hash IO Integer Kernel Logger Method Module Mutex NilClass Numeric Object
    Pathname Proc Process Range Rational Regexp Set String Struct Symbol Thread Time URI
    ArgumentError StandardError RuntimeError NameError NoMethodError
    """
)
_PHP_TAKEN = _words(
    """
    ArrayAccess ArrayIterator ArrayObject Closure Countable DateInterval DateTime DateTimeImmutable
    DateTimeInterface DateTimeZone Error ErrorException Exception Generator Iterator
    IteratorAggregate JsonSerializable PDO Stringable Throwable Traversable TypeError stdClass
    """
)
_SWIFT_TAKEN = _words(
    """
    Any Array Bool Character Codable Data Date Dictionary Double Equatable Error Float Hashable
    Int Optional Result Sendable Set String Task UUID URL Void Never
    """
)

_SELF = _words("self")
_THIS = _words("this")
_SUPER = _words("super")
_PYTHON = Rules("python", _words("self cls"), _SUPER, hands_on=True, private="_")
_JAVASCRIPT = Rules("javascript", _THIS, _SUPER, hands_on=True)
_C = Rules("c", _THIS, implicit=True, includes=True, low_types=True, separator="::")

_FREE_JVM = Rules(
    "jvm",
    _THIS,
    _SUPER,
    implicit=True,
    package=True,
    project=True,
    bare=True,
    taken=_JVM_TAKEN,
)
_RULES = {
    "bash": Rules("bash"),
    "c": _C,
    "cpp": _C,
    "csharp": Rules("csharp", _THIS, _words("base"), implicit=True, project=True, continued=True),
    "elixir": Rules("elixir", _words("__MODULE__"), project=True, implements=False, nests=False),
    "go": Rules(
        "go", package=True, low_types=True, receiver=re.compile(r"func\s*\(\s*(\w+)\s+[*\w]")
    ),
    "haskell": Rules("haskell", implements=False),
    "java": Rules("jvm", _THIS, _SUPER, implicit=True, package=True, taken=_JVM_TAKEN),
    "javascript": _JAVASCRIPT,
    "kotlin": _FREE_JVM,
    "lua": Rules("lua", _SELF),
    "php": Rules(
        "php",
        _words("this self static"),
        _words("parent"),
        project=True,
        nests=False,
        separator="\\",
        taken=_PHP_TAKEN,
    ),
    "python": _PYTHON,
    "ruby": Rules("ruby", _SELF, implicit=True, project=True, taken=_RUBY_TAKEN),
    "rust": Rules("rust", _words("self Self"), hands_on=True, separator="::"),
    "scala": _FREE_JVM,
    "swift": Rules(
        "swift",
        _words("self Self"),
        _SUPER,
        implicit=True,
        project=True,
        continued=True,
        taken=_SWIFT_TAKEN,
    ),
    "tsx": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "zig": Rules("zig", _words("self")),
}


def rules_of(language: str | None) -> Rules | None:
    """Return the rules of a language, None if its files use no names of others."""
    return _RULES.get(language or "")


def family_of(language: str | None) -> str | None:
    """Return the family of a language: those in one family share their types."""
    rules = rules_of(language)
    return rules.family if rules else None
