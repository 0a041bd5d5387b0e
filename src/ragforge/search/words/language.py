"""Language: detect the language of a text by its function words; stop words and stems of each.

The default is English: the words of code are English, and so is most text about it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path

from ragforge.patterns import compile_on_use
from ragforge.records import dataclass
from ragforge.search.words.foreign import ENGLISH
from ragforge.search.words.scripts import MARKS, fold
from ragforge.search.words.unspaced import detect_unspaced

LOOKED_AT = 2_000
"""How many characters of a text are examined."""
LETTER = 0.5
"""How much a letter counts compared with a word."""
_REMEMBERED = 1 << 15
_TOKEN = compile_on_use(rf"(?<![\w'’])[^\W\d_]{{1,7}}['’](?=\w)|[^\W\d_][\w{MARKS}]*")
_LATIN = compile_on_use(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class _FunctionWords:
    """The words of `function_words.txt`."""

    languages: Mapping[str, tuple[str, ...]]  # that use a word, or a letter
    stop_words: Mapping[str, frozenset[str]]


def detect_language(text: str, otherwise: str = ENGLISH, min_score: float = 0.0) -> str:
    """Return the language of a text in lower case, such as `french`; English where in doubt.

    The fewer languages have a word, the more it counts. A text without function words is in the
    `otherwise` language; if its score is not above `least`, it is English.
    """
    text = text[:LOOKED_AT].lower()
    if (unspaced := detect_unspaced(text)) is not None:
        return unspaced
    languages = _load_table().languages
    scores = dict.fromkeys(
        _load_table().stop_words, 0.0
    )  # of equal scores, the first language is the likeliest
    found = [languages.get(token, ()) for token in dict.fromkeys(_tokenise(text))]
    if not any(found):
        return otherwise
    letters = [languages[letter] for letter in sorted(set(text)) if letter in languages]
    for weight, some in ((1.0, found), (LETTER, letters)):
        for shared in some:
            for language in shared:
                scores[language] += weight / len(shared)
    best = max(scores, key=lambda language: round(scores[language], 6))
    return best if scores[best] > max(scores[ENGLISH], min_score) else ENGLISH


@cache
def get_stop_words(language: str) -> frozenset[str]:
    """Return the function words of a language, in lower case, with and without accents."""
    words, _ = _read_words().get(language, ([], []))
    bare = [word.rstrip("'") for word in words]
    return frozenset((*bare, *map(fold, bare)))


@lru_cache(_REMEMBERED)
def stem_word(word: str, language: str) -> tuple[str, ...]:
    """Return the stems of a word, without accents: two if the accents change the stem.

    Stemmers recognise endings by their accents, and many people leave them out.
    """
    word = word.lower()
    stem = _open_stemmer(language)
    with_accents, bare = fold(stem(word)), fold(word)
    if bare == word or not _LATIN.fullmatch(bare):
        return (with_accents,)
    return tuple(dict.fromkeys((with_accents, fold(stem(bare)))))


def _tokenise(text: str) -> Iterator[str]:
    """Yield the words of a text in lower case; elided ones with and without their apostrophe."""
    for token in _TOKEN.findall(text):
        yield (word := token.replace("’", "'"))
        if word.endswith("'") and word not in _load_table().languages:
            yield word[:-1]


@cache
def _open_stemmer(language: str) -> Callable[[str], str]:
    from Stemmer import Stemmer, algorithms

    if language not in algorithms():  # older libraries have fewer
        return str
    stem: Callable[[str], str] = Stemmer(language, 0).stemWord
    return stem


@cache
def _read_words() -> dict[str, tuple[list[str], list[str]]]:
    """Return the function words of each language, and other signs of it."""
    text = Path(__file__).with_name("function_words.txt").read_text("utf-8")
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            language, _, said = line.partition(":")
            function_words, _, others = said.partition("|")
            found[language] = function_words.split(), others.split()
    return found


@cache
def _load_table() -> _FunctionWords:
    languages: dict[str, dict[str, None]] = defaultdict(dict)
    stop = {language: get_stop_words(language) for language in _read_words()}
    for language, (words, others) in _read_words().items():
        for word in (*words, *others):
            for token in word[1:] if word.startswith("+") else [word]:
                bare = fold(token)
                for spelt in {token} if bare in stop[ENGLISH] else {token, bare}:
                    if len(spelt) > 1 or not spelt.isascii():  # else it names a variable
                        languages[spelt][language] = None
    return _FunctionWords({word: tuple(found) for word, found in languages.items()}, stop)
