"""For documents: questions about a project itself, which its documents answer and not its code.

How it is installed, under which licence it is, what changed in a version, how to report a bug.
"""

from __future__ import annotations

import re

from ragforge.patterns import compile_on_use

_RECORDS = compile_on_use(
    r"\b(licen[cs](e|es|ed|ing|ia|za)?|lizenz\w*|copyright|change ?logs?|release notes|"
    r"contributors|authors|maintainers)\b"
    r"|\bwhat(?:'s| is| has| was| were)? (?:new|changed)\b.*(?:\b(?:version|release)\b|\d\.\d)",
    re.IGNORECASE,
)
_PROJECT = compile_on_use(
    r"\b(install|installing|installation|installer|installieren|instalar|installare|"
    r"getting started|contribut(?:e|ing))\b"
    r"|\bhow (?:do|can|should|to)\b.*\b(?:set ?up|deploy|upgrade)\b"
    r"|\bhow (?:do|can|should|to)\b.*\b(?:build|compile) (?:it|this|from source|the project)\b"
    r"|\bhow (?:do|can|should|to)\b.*\b(?:add|use) (?:it|this) (?:to|in|with|from)\b"
    r"|\breport\b.*\b(?:bugs?|issues?|security|vulnerabilit(?:y|ies)|problems?)\b"
    r"|\b(?:which|what|minimum|oldest)\b.*\bversions?\b.*\b(?:needs?|requires?|supports?|works?)\b",
    re.IGNORECASE,
)


def is_for_records(question: str) -> bool:
    """Tell whether a question is for a licence, a changelog or authors, seldom meant otherwise."""
    return _RECORDS.search(question) is not None


def is_for_documents(question: str) -> bool:
    """Tell whether a question is about the project itself, so that documents come before code."""
    return is_for_records(question) or _PROJECT.search(question) is not None
