"""Inflect: the possible infinitives of a German or Dutch verb form.

Stemmers give `gelöscht`, `löscht` and `löschen` different stems.
"""

from __future__ import annotations

from collections.abc import Iterator

GERMAN, DUTCH = "german", "dutch"
_ENDINGS = {GERMAN: ("test", "ten", "te", "et", "t"), DUTCH: ("den", "ten", "de", "te", "d", "t")}
_BETWEEN = {GERMAN: ("ge", "zu"), DUTCH: ("ge", "te")}
_SEPARABLE = {
    GERMAN: """herunter zurück heraus hinaus hinzu weiter zusammen wieder fort hoch nach neu vor
    fest weg los mit auf aus ein her hin ab an um zu""".split(),  # noqa: SIM905
    DUTCH: """samen terug toe aan uit weg door vast over voor bij op af in om na""".split(),  # noqa: SIM905
}
_LEAST = 3


def guess_infinitives(form: str, language: str) -> Iterator[str]:
    """Yield the possible infinitives of a form in lower case: `hochzuladen`, `gelöscht`."""
    if language not in _ENDINGS:
        return
    for whole in _strip_participle(form, language):
        if whole != form and whole.endswith("n"):
            yield whole
        for ending in _ENDINGS[language]:
            base = whole.removesuffix(ending)
            if base != whole and len(base) >= _LEAST:
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
            if rest != form and len(rest) >= _LEAST:
                yield prefix + rest
