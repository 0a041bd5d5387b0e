"""Language: the texts of the page in English and French, chosen by the browser's languages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from ragforge.resources import read_resource


@cache
def load_texts(language: str) -> Mapping[str, str]:
    """Return the texts of the page in a language by the English ones; English has no file."""
    texts: Mapping[str, str] = json.loads(read_resource(f"web/languages/{language}.json"))
    return texts


def choose_language(header: str) -> str:
    """Return `fr` or `en`, whichever an Accept-Language header prefers."""
    best, weight = "en", 0.0
    for part in header.lower().split(",")[:20]:
        name, _, quality = part.strip().partition(";q=")
        language = name.partition("-")[0]
        try:
            value = float(quality) if quality else 1.0
        except ValueError:
            continue
        if language in ("en", "fr") and value > weight:
            best, weight = language, value
    return best


def translate(text: str, language: str) -> str:
    """Return a text of the page in a language."""
    return load_texts("fr").get(text, text) if language == "fr" else text


def translate_age(age: str, language: str) -> str:
    """Return how long ago something was, such as `3 days ago`, in a language."""
    if language != "fr" or not age.endswith(" ago"):
        return translate(age, language)
    return f"il y a {age.removesuffix(' ago').replace('day', 'jour')}"
