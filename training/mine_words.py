"""Propose words of another language for the English words of code, from public catalogues.

    python -m training.mine_words --mirrors FOLDER --language zh [--limit 7]

For each English word of the lexicons it prints what occurs in the translations of messages with
this word and hardly elsewhere (Dice coefficient; short messages count more). A person reads the
proposals and writes `search/words/lexicons/`: a catalogue says "restart to update" wherever
English says "update". Chinese and Japanese are cut into all stretches of up to four characters.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from Stemmer import Stemmer

from ragforge.search.words.lexicon import _FOLDER, _read_entries
from training.mine_prose import _read_catalogues, _read_vscode, clean

MAX_CHARS = 160
"""Longer messages say too much at once."""
MIN_SCORE = 0.06
_UNSPACED = {"zh", "ja"}
_IDEOGRAPHS = re.compile("[\u4e00-\u9fff]+")
_KATAKANA = re.compile("[\u30a1-\u30fc]{2,}")
_VERB = re.compile("[\u4e00-\u9fff]{1,2}[\u3041-\u3096]{1,2}")
_stem = Stemmer("english").stemWord


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--mirrors", type=Path, required=True, help="OWNER+NAME/repo, bare clones")
    parser.add_argument("--language", required=True, help="as in catalogues: es, zh, ja")
    parser.add_argument("--limit", type=int, default=7, help="proposals a word")
    chosen = parser.parse_args()
    files = sorted(_FOLDER.glob("*.txt"))
    entries = (entry for file in files for entry in _read_entries(file.stem))
    wanted = list(dict.fromkeys(word for _, english in entries for word in english))
    pairs = list(read_pairs(chosen.mirrors, chosen.language))
    found = propose(pairs, {_stem(word) for word in wanted}, chosen.language, chosen.limit)
    for word in wanted:
        if proposals := found.get(_stem(word)):
            print(word, *(f"{term}:{score:.2f}" for term, score in proposals.items()))


def read_pairs(mirrors: Path, language: str) -> Iterator[tuple[str, str]]:
    """Yield the translated messages and the English ones."""
    for code, foreign, english in [
        *_read_vscode(mirrors / "microsoft+vscode-loc" / "repo"),
        *_read_catalogues(mirrors / "django+django" / "repo", "HEAD"),
        *_read_catalogues(mirrors / "encode+django-rest-framework" / "repo", "HEAD"),
    ]:
        if code == language:
            yield clean(foreign).lower(), clean(english)


def propose(
    pairs: list[tuple[str, str]], wanted: set[str], language: str, limit: int
) -> Mapping[str, Mapping[str, float]]:
    """Return for each English stem the terms that go with it, the surest first."""
    english: Counter[str] = Counter()
    terms: Counter[str] = Counter()
    both: dict[str, Counter[str]] = defaultdict(Counter)
    for translated, message in pairs:
        stems = {_stem(word) for word in re.findall("[a-z]{2,}", message.lower())}
        weight = 1 / (1 + len(stems) / 4)
        if len(message) > MAX_CHARS:
            continue
        here = dict.fromkeys(list_terms(translated, language), weight)
        terms.update(here)
        for stem in stems & wanted:
            english[stem] += weight  # type: ignore[assignment]
            both[stem].update(here)
    found = {}
    for stem, together in both.items():
        scores = {
            term: 2 * count / (english[stem] + terms[term]) for term, count in together.items()
        }
        best = sorted(scores, key=lambda term: (-scores[term], term))
        found[stem] = {term: scores[term] for term in best[:limit] if scores[term] >= MIN_SCORE}
    return found


def list_terms(text: str, language: str) -> set[str]:
    """Return what may be a word in a text."""
    if language not in _UNSPACED:
        return set(re.findall(r"[^\W\d_]{2,}", text))
    runs = _IDEOGRAPHS.findall(text)
    stretches = {
        run[start : start + size]
        for run in runs
        for size in (1, 2, 3, 4)
        for start in range(len(run) - size + 1)
    }
    return stretches.union(_KATAKANA.findall(text), _VERB.findall(text))


if __name__ == "__main__":
    main()
