"""Code names: find names, paths and other code in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragforge.patterns import compile_on_use
from ragforge.search.words.foreign import ENGLISH
from ragforge.search.words.tokenise import WORDS

MAX_NAMES = 40
"""The most names that are returned for one text."""

_NAME = r"[^\W\d]\w*"
_JOINT = compile_on_use(r"\.|::|#|->")
_WRITTEN_AS_NAME = compile_on_use(
    rf"`({_NAME}(?:(?:\.|::|\#){_NAME})*)(?:\(\))?`"  # in backticks
    rf"|\b({_NAME}(?:(?:\.|::|\#){_NAME})*)(?=\()"  # called
    rf"|\b({_NAME}(?:(?:\.|::){_NAME})+)\b"  # qualified
    rf"|\b([^\W\d_]+_\w+|[^\W\d_]*[a-z][A-Z]\w*)\b"  # spelt like code
)
_IDENTIFIER = compile_on_use(r"[A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)*")
_LIKE_CODE = compile_on_use(r"[a-z][A-Z]|_|\.|::|#|->|[A-Z]{2,}[a-z]")

_EXTENSIONS = """bash bat c cc cfg clj cpp cs css csv cue dart dockerfile el env erl ex exs fs gd go
    gradle graphql groovy h hcl hpp hs html ini ipynb java jl js json jsx kt kts less lock lua m md
    mdx mjs ml mm nix php pl po proto ps1 py pyi r rb rs rst sass sbt scala scss sh sql svelte swift
    tf toml ts tsx txt vim vue xml yaml yml zig zsh"""
_STEP = r"[\w@+~-][\w@+~.-]*"
_PATH = compile_on_use(
    rf"""(?<![\w/.\\:@-])                       # not within a word, an address or a URL
    (?:[A-Za-z]:[\\/]|~/|\.{{0,2}}/)?           # where it begins, if that is said
    (?:{_STEP}[/\\])*                           # folders
    (?:{_STEP})?\.(?:{"|".join(_EXTENSIONS.split())})
    (?![\w/\\-]|\.\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_BARE_FILES = compile_on_use(r"(?<![\w/.-])(?:[\w.-]+/)*(?:Makefile|Dockerfile|Rakefile|Gemfile)\b")
_FILE_NAME = compile_on_use(r"[\w-]+\.\w{1,5}\b")
# Names, calls, paths, options, traces: prose does not look like this.
_CODE = compile_on_use(
    r"`[^`\n]+`|\w\(\)|\w::\w|->\w|[a-z0-9]_[a-z0-9]|[a-z]{2}[A-Z][a-z]"
    r"|(?<![\w/:])[\w.-]*/[\w./-]+\.[a-z]{1,5}\b"
    r"|\b[\w-]+\.(?:c|cc|cpp|cs|css|ex|go|h|hs|html|ipynb|java|js|json|jsx|kt|lua|md|php|py|rb|rs|rst"
    r"|scala|sh|sql|swift|toml|tsx?|txt|xml|ya?ml|zig)\b"
    r"|\b[A-Z]\w*(?:Error|Exception)\b|\bline \d+, in\b|(?<![\w-])--[a-z][\w-]+"
)

_ENGLISH = frozenset(
    """function method class module file struct interface enum trait macro decorator procedure
    variable constant""".split()  # noqa: SIM905
)
_KINDS = _ENGLISH | frozenset(
    """fonction méthode methode classe fichier décorateur decorateur procédure procedure constante
    funktion klasse modul datei schnittstelle dekorator prozedur konstante
    función funcion método metodo clase módulo modulo archivo fichero interfaz decorador
    funzione interfaccia decoratore variabile costante
    função funcao arquivo ficheiro variável variavel functie bestand variabele
    функция функции функцию функцией метод метода методе класс класса классе модуль модуля
    файл файла файле""".split()  # noqa: SIM905
)
_BEFORE = frozenset(("the", "this", "that", "our", "my"))
_CALLED = frozenset(
    """called named appelé appelée appelee nommé nommée nommee namens genannt llamado llamada
    chiamato chiamata chamado chamada genaamd""".split()  # noqa: SIM905
)
_QUOTES = frozenset("\"'`«»“”„‘’")
_NO_NAMES = frozenset(
    """a about accept accepts access after all an and any are argument arguments as assumes at
    attribute attributes based be because before belong between body but by call calls can
    change changes code constant constants contain contains content contents could create deals
    declaration decorator decorators defined definition definitions depend depends description
    descriptor descriptors did do docs documentation does download downloads exist exists expect
    expects export expression expressions extend extension extensions fail fails field fields
    file files for format from function functions get gets give gives had handle handler
    handlers handles has have header headers hierarchy how if implement import imports in
    inherit inheritance input instance instances interface into is it its itself know layout
    level library like list live loader location lock locks look lookup made make makes mean
    means member members method methods mode module modules must name names need needs not
    object objects of on once only open or order output overload override parameter parameters
    path paths permission permissions pointer pointers properties property provides raise raises
    read reads resolution result return returns run runs scope search set should signature size
    so some storage structure supports syntax system take takes test tests than that the then
    there these they this those throw throws to tree type types under upload uploads use used
    uses value values variable variables was were what when where which while who why will with
    within without work works would write writes you""".split()  # noqa: SIM905
)
_MAY_FOLLOW = frozenset(
    """and are but can did do does exist exists fail fails from get gets handle handles has have if
    in is live lives look looks mean means or raise raises return returns should so take takes that
    to use uses was were when where which while will with work works would""".split()  # noqa: SIM905
)
_TOKEN = compile_on_use(r"\w+|[^\w\s]")


def find_names(text: str) -> list[str]:
    """Return the words of a text that are certainly meant as names of code, each once."""
    paths = {name for path in find_paths(text) for name in (path, re.split(r"[/\\]", path)[-1])}
    hits = (next(filter(None, hit.groups())) for hit in _WRITTEN_AS_NAME.finditer(text))
    names = dict.fromkeys((*hits, *find_named_code(text)))
    return [name for name in names if name not in paths][:MAX_NAMES]


def find_identifiers(question: str) -> list[str]:
    """Return what in a question may be a name in an index, its parts joined by dots.

    More than `find_names`: looking up one that does not exist costs little. A question of one
    word is one.
    """
    found = _IDENTIFIER.findall(question)
    is_single = len(question.split()) == 1
    written = [".".join(split_name(name)) for name in found if is_single or _LIKE_CODE.search(name)]
    return list(dict.fromkeys((*written, *find_named_code(question))))


def split_name(name: str) -> list[str]:
    """Return the parts of a qualified name: `Cart::add` has two."""
    return _JOINT.split(name)


def find_paths(text: str) -> list[str]:
    """Return what reads like the path of a file, in order, each once."""
    hits = [*_PATH.finditer(text), *_BARE_FILES.finditer(text)]
    return list(dict.fromkeys(hit[0] for hit in sorted(hits, key=lambda hit: hit.start())))


def find_file_names(text: str) -> set[str]:
    """Return what may be the name of a file, whatever its extension."""
    return set(_FILE_NAME.findall(text))


def contains_code(text: str) -> bool:
    """Tell whether something in a text is written as code: a name, a path, an option."""
    return _CODE.search(text) is not None


def find_named_code(text: str) -> Iterator[str]:
    """Yield plain words that name code, in any language: "la fonction authenticate".

    Any other word may follow too ("the function that parses"). So in English, words that often
    follow are not names, "the" must come before and a verb or nothing after; in other languages
    a name must not be a word of the language.
    """
    tokens = _TOKEN.findall(text)
    lowered = [token.lower() for token in tokens]
    if _KINDS.isdisjoint(lowered):
        return
    for place, kind in enumerate(lowered):
        if kind in _KINDS:
            start = place + 1
            while lowered[start : start + 1] and lowered[start] in _QUOTES | _CALLED:
                start += 1
            name = tokens[start] if start < len(tokens) else ""
            if len(name) > 1 and name.isascii() and name.isidentifier():
                named = start > place + 1 and name.lower() not in _NO_NAMES
                if named or _is_name(text, lowered, place, name):
                    yield name


def _is_name(text: str, lowered: Sequence[str], place: int, name: str) -> bool:
    """Tell whether the word after a kind of scope, which is at a place, is a name."""
    if lowered[place] not in _ENGLISH or WORDS.detect_language(text) != ENGLISH:
        return not _is_word_of(text, name.lower())
    if name.lower() in _NO_NAMES or name.lower().endswith(("ing", "ed", "ly")):
        return False
    if not name[0].isupper() and _BEFORE.isdisjoint(lowered[max(place - 1, 0) : place]):
        return False
    after = lowered[place + 2 : place + 3]
    return not after or not after[0].isalnum() or after[0] in _MAY_FOLLOW


def _is_word_of(text: str, name: str) -> bool:
    """Tell whether a name is a word of the text's language, or an English filler."""
    from ragforge.search.words.language import detect_language
    from ragforge.search.words.lexicon import load_lexicon

    language = detect_language(text)
    if name in WORDS.get_fillers(ENGLISH) or name in WORDS.get_fillers(language):
        return True
    return load_lexicon(language).is_foreign(name)
