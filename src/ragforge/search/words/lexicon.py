"""Lexicon: the English meanings of programmers' words in other languages.

`lexicons/` has one file for each language, read when a text in that language comes.
Words are looked up as written, then by their stem. Phrases have meanings of their own. In languages
that join words into one, the parts are looked up too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import TypeAlias, TypeVar

from ragforge.domain.text import split_ascii_runs
from ragforge.records import dataclass
from ragforge.search.words.foreign import ENGLISH, MARK, may_be_foreign
from ragforge.search.words.language import detect_language, get_stop_words, stem_word
from ragforge.search.words.scripts import fold, split_runs
from ragforge.search.words.unspaced import UNSPACED, Segmenter, detect_unspaced

GERMAN, DUTCH = "german", "dutch"
_ENDINGS = {GERMAN: ("test", "ten", "te", "et", "t"), DUTCH: ("den", "ten", "de", "te", "d", "t")}
_BETWEEN = {GERMAN: ("ge", "zu"), DUTCH: ("ge", "te")}
_SEPARABLE = {
    GERMAN: """herunter zurück heraus hinaus hinzu weiter zusammen wieder fort hoch nach neu vor
    fest weg los mit auf aus ein her hin ab an um zu""".split(),  # noqa: SIM905
    DUTCH: """samen terug toe aan uit weg door vast over voor bij op af in om na""".split(),  # noqa: SIM905
}
_MIN_STEM_CHARS = 3

INDEXED_MEANINGS = 2
"""How many English words are indexed for each word: the likeliest."""
FOREIGN_LINE = 0.4
"""The score from which a line of an English text counts as another language."""
MAX_CHARS = 100_000
"""Text beyond this is the output of programs."""
MAX_WORD_CHARS = 64


def guess_infinitives(form: str, language: str) -> Iterator[str]:
    """Yield the possible infinitives of a form in lower case: `hochzuladen`, `gelöscht`."""
    if language not in _ENDINGS:
        return
    for whole in _strip_participle(form, language):
        if whole != form and whole.endswith("n"):
            yield whole
        for ending in _ENDINGS[language]:
            base = whole.removesuffix(ending)
            if base != whole and len(base) >= _MIN_STEM_CHARS:
                yield f"{base}en"
                yield f"{base}n"
    for prefix in _SEPARABLE[language]:  # the lexicon may lack the verb with this prefix
        if form.startswith(prefix) and form.endswith("n"):
            yield form.removeprefix(prefix)


def _strip_participle(form: str, language: str) -> Iterator[str]:
    """Yield a form as it is, and without the `ge` or `zu` of a participle or infinitive."""
    yield form
    for between in _BETWEEN[language]:
        for prefix in ("", *_SEPARABLE[language]):
            rest = form.removeprefix(f"{prefix}{between}")
            if rest != form and len(rest) >= _MIN_STEM_CHARS:
                yield prefix + rest


MEANINGS = 3
"""The most English words for one word."""
PHRASE = 3
"""The most words of a phrase."""
JOINING = frozenset((GERMAN, DUTCH))
JOINTS = ("", "s", "es", "n", "en", "er", "e")
"""What may come between the parts of a joined word."""
MIN_PART = 3
MIN_KNOWN_PART = 5
"""For a joined word whose other part is not in the lexicon; that part may be English."""
_REMEMBERED = 1 << 14
_SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_FOLDER = Path(__file__).with_name("lexicons")

EnglishWords: TypeAlias = tuple[str, ...]
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class PhraseMeaning:
    """Words of a text, by their positions, and the English words for them."""

    start: int
    end: int
    english: EnglishWords


class Lexicon:
    """The words of one language."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._stop = get_stop_words(language)
        entries = list(_read_entries(language))
        self._misleading = {word[:-1] for word, _ in entries if word.endswith("*")}
        plain = [(word.rstrip("*"), english) for word, english in entries if "_" not in word]
        self._written = _gather((self._spell(word), english) for word, english in plain)
        self._stems = _gather(
            (stem, english) for word, english in plain for stem in stem_word(word, language)
        )
        phrases = [(word.split("_"), english) for word, english in entries if "_" in word]
        self._phrases = _gather(
            (key, english) for words, english in phrases for key in self._make_keys(words)
        )
        self._firsts = {key[0] for key in self._phrases}
        self._in_english = {meaning for _, english in entries for meaning in english}
        self._parts_known = lru_cache(_REMEMBERED)(self._look_up_parts)
        self._segmenter: Segmenter | None = None
        if language in UNSPACED:
            self._segmenter = Segmenter({*self._stop, *(word for word, _ in plain)}, language)

    def split(self, text: str) -> list[str]:
        """Return the words of a text in this language."""
        said = split_runs(text)
        return said if self._segmenter is None else self._segmenter.split(said)

    def find_meanings(self, said: Sequence[str]) -> Iterator[PhraseMeaning]:
        """Yield the meanings of a text's words that are in the lexicon."""
        place = 0
        while place < len(said):
            word = said[place].lower()
            if (phrase := self._match_phrase(said, place)) is not None:
                yield phrase
                place = phrase.end
                continue
            if word not in self._stop and not self._is_english(word):
                yield from (
                    PhraseMeaning(place, place + 1, some) for some in self._parts_known(word)
                )
            place += 1

    def is_foreign(self, word: str) -> bool:
        """Tell whether a word belongs to this language and not to English."""
        return word not in self._in_english and bool(
            self._look_up(word) or self._look_up_verb(word)
        )

    def _is_english(self, word: str) -> bool:
        """Tell whether a word equals its English meaning, except for the ending."""
        if word in self._misleading:
            return False
        likeliest = self._look_up(word)[:1]
        return any(stem_word(word, ENGLISH)[-1] == stem_word(one, ENGLISH)[-1] for one in likeliest)

    def _match_phrase(self, said: Sequence[str], place: int) -> PhraseMeaning | None:
        """Return the meaning of the phrase that begins at a place, if there is one.

        Function words inside it may be part of it or not.
        """
        if self._firsts.isdisjoint(stem_word(said[place], self._language)):
            return None
        near = range(place, min(place + 2 * PHRASE - 1, len(said)))
        telling = [n for n in near if n == place or said[n].lower() not in self._stop]
        for size in range(PHRASE, 1, -1):
            for chosen in (list(near[:size]), telling[:size]):
                for key in product(*(stem_word(said[n], self._language) for n in chosen)):
                    if english := self._phrases.get(key):
                        return PhraseMeaning(place, chosen[-1] + 1, english)
        return None

    def _make_keys(self, words: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Yield the stems of a phrase: without function words, if at least two words are left."""
        telling = [word for word in words if word not in self._stop]
        chosen = telling if len(telling) > 1 else words
        yield from product(*(stem_word(word, self._language) for word in chosen))

    def _look_up_parts(self, word: str) -> list[EnglishWords]:
        """Return the English words for a word, or for each part of a joined word."""
        if found := self._look_up(word) or self._look_up_verb(word):
            return [found]
        if self._language not in JOINING:
            return []
        cuts = range(MIN_PART, len(word) - MIN_PART + 1)
        for cut in cuts:
            head, tail = self._look_up_head(word[:cut]), self._look_up(word[cut:])
            if head and tail:
                return [head, tail]
        for cut in cuts:
            if len(word) - cut >= MIN_KNOWN_PART and (tail := self._look_up(word[cut:])):
                return [*self._translate_part(word[:cut]), tail]
        for cut in reversed(cuts):
            if cut >= MIN_KNOWN_PART and (head := self._look_up_head(word[:cut])):
                return [head, *self._translate_part(word[cut:])]
        return []

    def _translate_part(self, part: str) -> list[EnglishWords]:
        """Return the English words for an unknown part: itself, if it is short."""
        joined = self._parts_known(part) if len(part) > 2 * MIN_KNOWN_PART else []
        return joined or [(part,)]

    def _look_up_head(self, part: str) -> EnglishWords:
        """Return the English words for the first part of a joined word."""
        for joint in JOINTS:
            bare = part.removesuffix(joint)
            if part.endswith(joint) and len(bare) >= MIN_PART:
                # A verb loses its ending.
                verb = f"{bare}n" if bare.endswith("e") else f"{bare}en"
                for word in (bare, verb) if not joint else (bare,):
                    if found := self._written.get(self._spell(word)):
                        return found
        return ()

    def _look_up_verb(self, form: str) -> EnglishWords:
        """Return the English words for an inflected verb; some change a vowel: `lädt`."""
        forms = dict.fromkeys((form, fold(form)))
        verbs = (verb for one in forms for verb in guess_infinitives(one, self._language))
        return next(filter(None, (self._written.get(self._spell(verb)) for verb in verbs)), ())

    def _spell(self, word: str) -> str:
        """Return a word without accents; German spells them out, as `ae`."""
        return fold(word.translate(_SPELT_OUT) if self._language == GERMAN else word)

    def _look_up(self, word: str) -> EnglishWords:
        if found := self._written.get(self._spell(word)):
            return found
        known = (self._stems.get(stem) for stem in stem_word(word, self._language))
        return next(filter(None, known), ())


@cache
def load_lexicon(language: str) -> Lexicon:
    """Return the lexicon of a language; it is empty for a language without a file."""
    return Lexicon(language)


def _read_entries(language: str) -> Iterator[tuple[str, EnglishWords]]:
    """Yield the words of a language in lower case, each with its English words."""
    file = _FOLDER / f"{language}.txt"
    for line in file.read_text("utf-8").lower().splitlines() if file.exists() else ():
        english, equals, words = line.partition("=")
        if equals and not line.startswith("#"):
            meant = tuple(english.split())
            yield from ((word, meant) for word in words.split())


def _gather(pairs: Iterable[tuple[Key, EnglishWords]]) -> Mapping[Key, EnglishWords]:
    """Collect the meanings of each key; the first is the likeliest."""
    found: dict[Key, EnglishWords] = {}
    for key, english in pairs:
        known = found.get(key)
        found[key] = english if known is None else tuple(dict.fromkeys(known + english))[:MEANINGS]
    return found


def list_extra_words(text: str, english: Callable[[str], list[str]]) -> Iterator[str]:
    """Yield additional index words for a text that is not, or not only, English.

    Each line has its own language: people ask in theirs about output that is English.
    """
    mostly = detect_language(text)
    min_score = FOREIGN_LINE if mostly == ENGLISH else 0.0
    for line in text[:MAX_CHARS].splitlines():
        if (
            mostly == ENGLISH
            and not may_be_foreign(split_ascii_runs(line) if line.isascii() else split_runs(line))
            and detect_unspaced(line) is None
        ):
            continue
        language = detect_language(line, mostly, min_score)
        if language != ENGLISH:
            lexicon = load_lexicon(language)
            said = lexicon.split(line)
            yield from mark_stems(said, language)
            for meaning in lexicon.find_meanings(said):
                for word in meaning.english[:INDEXED_MEANINGS]:
                    yield from english(word)


def mark_stems(said: Sequence[str], language: str) -> Iterator[str]:
    """Yield the marked stems of the words, without function words and identifiers.

    Languages without spaces have none: their words are indexed as pairs of characters.
    """
    if language in UNSPACED:
        return
    for word in drop_function_words(said, get_stop_words(language)):
        if is_plain(word):
            yield from (f"{MARK}{stem}"[:MAX_WORD_CHARS] for stem in stem_word(word, language))


def drop_function_words(said: Iterable[str], stop: frozenset[str]) -> list[str]:
    """Return the words that are not function words; all of them if there are no others."""
    words = list(said)
    return [word for word in words if word.lower() not in stop] or words


def is_plain(word: str) -> bool:
    """Tell whether a word is plain, unlike identifiers such as `parse_url` or `maxSize`."""
    if not word.isalpha() and any(sign.isdigit() or sign == "_" for sign in word):
        return False
    return word[1:] == word[1:].lower() or word.isupper()
