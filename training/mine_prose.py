"""Mine pairs of texts from translations and conversations.

    python -m training.mine_prose --mirrors FOLDER --pairs FOLDER

- translation: a message or a paragraph in another language, and the same in English, from
  catalogues of messages and from Python's manual;
- reply: a turn of a conversation, and the ones before it;
- query: a question about a meeting, and what was said there;
- request: two ways to ask for the same everyday thing.

Which repositories, at which commit and under which licence: `table_sources.json`.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from training.mine_code import SEED, Pair

MAX_A_LANGUAGE = 12_000
WINDOW_CHARS, SPAN_CHARS = 400, 800

_PSEUDO = str.maketrans(
    "æßçÐðëïñøþ§µ×ÿýÇËÏÑØÞÝßåäöüáéíóúÅÄÖÜÂâêîôû£¥Æ", "abcDdeinopSuxyyCEINOPYBaaouaeiouAAOUAaeiouLYA"
)
"""The letters of a test language in which every English message is written with marks."""
_LANGUAGES = {
    "cs": "cs", "de": "de", "es": "es", "fr": "fr", "it": "it", "ja": "ja", "ko": "ko", "pl": "pl",
    "pt-BR": "pt", "ru": "ru", "tr": "tr", "zh-hans": "zh", "zh-hant": "zh",
}  # fmt: skip
_CATALOGUES = {
    "fr",
    "de",
    "es",
    "it",
    "pt_BR",
    "nl",
    "pl",
    "ru",
    "zh_CN",
    "zh_TW",
    "ja",
    "ko",
    "cs",
    "tr",
    "uk",
    "sv",
}
_OF_GITEA = frozenset(
    ["cs", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "sk", "sv", "tr", "uk", "zh"]
)
_ENTRY = re.compile(r'^msgid ((?:".*"\n)+)msgstr ((?:".*"\n?)+)', re.M)
_MARKS = re.compile(r":\w+:|[`*&]|%[-\d.]*l*[a-z]|\\n|\{\d+\}|</?\w+[^>]*>")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--mirrors", type=Path, required=True, help="OWNER+NAME/repo, bare clones")
    parser.add_argument("--pairs", type=Path, required=True)
    chosen = parser.parse_args()
    chosen.pairs.mkdir(parents=True, exist_ok=True)
    chance = random.Random(SEED)
    for name, found in (
        ("translations", find_translations(chosen.mirrors, chance)),
        ("conversations", find_conversations(chosen.mirrors, chance)),
    ):
        pairs = list(found)
        lines = (json.dumps(pair._asdict(), ensure_ascii=False) for pair in pairs)
        (chosen.pairs / f"{name}.jsonl").write_text("\n".join(lines), "utf-8")
        print(name, len(pairs), flush=True)


def find_translations(mirrors: Path, chance: random.Random) -> Iterator[Pair]:
    """Yield texts in other languages, each with the English one."""
    languages: dict[str, set[tuple[str, str]]] = {}
    for language, foreign, english in [
        *_read_vscode(mirrors / "microsoft+vscode-loc" / "repo"),
        *_read_gitea(mirrors / "go-gitea+gitea" / "repo"),
        *_read_catalogues(mirrors / "postgres+postgres" / "repo", "HEAD"),
        *_read_catalogues(mirrors / "encode+django-rest-framework" / "repo", "HEAD"),
        *_read_catalogues(mirrors / "python+python-docs-fr" / "repo", "3.12", "fr"),
    ]:
        one, other = clean(foreign), clean(english)
        if len(other.split()) >= 2 and one.lower() != other.lower() and len(one) > 3:
            languages.setdefault(language, set()).add((one[:1_000], other[:1_000]))
    for language, pairs in sorted(languages.items()):
        some = sorted(pairs)
        most = 3 * MAX_A_LANGUAGE if language == "fr" else MAX_A_LANGUAGE
        some = chance.sample(some, min(most, len(some)))
        print(language, len(some), flush=True)
        for one, other in some:
            yield Pair(f"translation {language}", one, other)


def clean(text: str) -> str:
    """Return a message without its markup and placeholders."""
    return " ".join(_MARKS.sub(" ", text).split())


def read_pseudo(text: str) -> str:
    """Return the English of a message in the test language, whose letters have marks."""
    return text.translate(_PSEUDO).strip("[]")


def _show(mirror: Path, name: str) -> str:
    command = ["git", "-C", str(mirror), "show", name]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode(
        "utf-8", "replace"
    )


def _list_files(mirror: Path, revision: str) -> list[str]:
    command = ["git", "-C", str(mirror), "ls-tree", "-r", "--name-only", revision]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def _read_vscode(mirror: Path) -> Iterator[tuple[str, str, str]]:
    files = [name for name in _list_files(mirror, "HEAD") if name.endswith(".i18n.json")]
    english: dict[tuple[str, str, str], str] = {}
    for pack, wanted in (("qps-ploc", True), *((name, False) for name in _LANGUAGES)):
        folder = f"i18n/vscode-language-pack-{pack}/translations/"
        for path in files:
            if not path.startswith(folder):
                continue
            contents = json.loads(_show(mirror, f"HEAD:{path}"))["contents"]
            for module, messages in contents.items():
                for key, text in messages.items():
                    place = path.removeprefix(folder), module, key
                    if wanted:
                        english[place] = read_pseudo(text)
                    elif place in english:
                        yield _LANGUAGES[pack], text, english[place]


def _read_gitea(mirror: Path) -> Iterator[tuple[str, str, str]]:
    english = json.loads(_show(mirror, "HEAD:options/locale/locale_en-US.json"))
    for path in _list_files(mirror, "HEAD"):
        match = re.fullmatch(r"options/locale/locale_(\w\w)-\w\w\.json", path)
        if match is None or match[1] not in _OF_GITEA:
            continue
        for key, text in json.loads(_show(mirror, f"HEAD:{path}")).items():
            if isinstance(text, str) and isinstance(english.get(key), str):
                yield match[1], text, english[key]


def _read_catalogues(
    mirror: Path, revision: str, language: str = ""
) -> Iterator[tuple[str, str, str]]:
    for path in _list_files(mirror, revision):
        code = re.sub(r".*/locale/(\w+)/.*", r"\1", path) if "/locale/" in path else Path(path).stem
        if path.endswith(".po") and (language or code in _CATALOGUES):
            for foreign, english in read_catalogue(_show(mirror, f"{revision}:{path}")):
                yield language or code[:2], foreign, english


def read_catalogue(text: str) -> Iterator[tuple[str, str]]:
    """Yield the translated messages of a catalogue in gettext's form: the translation first."""
    for match in _ENTRY.finditer(text):
        before = text[max(match.start() - 200, 0) : match.start()].rsplit("\n\n", 1)[-1]
        english, foreign = map(_unquote, match.groups())
        if english and foreign and "fuzzy" not in before:
            yield foreign, english


def _unquote(lines: str) -> str:
    try:
        return "".join(ast.literal_eval(line) for line in lines.splitlines() if line)
    except (SyntaxError, ValueError):
        return ""


def find_conversations(mirrors: Path, chance: random.Random) -> Iterator[Pair]:
    yield from _read_chats(mirrors / "alexa+Topical-Chat" / "repo", chance)
    yield from _read_meetings(mirrors / "Yale-LILY+QMSum" / "repo")
    yield from _read_requests(mirrors / "clinc+oos-eval" / "repo", chance)


def _read_chats(mirror: Path, chance: random.Random) -> Iterator[Pair]:
    for part in ("valid_freq", "valid_rare", "test_freq", "test_rare"):
        chats = json.loads(_show(mirror, f"HEAD:conversations/{part}.json"))
        for chat in chats.values():
            said = [" ".join(turn["message"].split()) for turn in chat["content"]]
            for place in range(2, len(said)):
                if len(said[place].split()) >= 5 and chance.random() < 0.8:
                    before = "\n".join(said[max(place - 3, 0) : place])
                    yield Pair("reply", said[place], before[-WINDOW_CHARS:])


def _read_meetings(mirror: Path) -> Iterator[Pair]:
    for path in _list_files(mirror, "HEAD"):
        if not re.fullmatch(r"data/ALL/(train|val|test)/\w+\.json", path):
            continue
        meeting = json.loads(_show(mirror, f"HEAD:{path}"))
        said = [f"{one['speaker']}: {one['content']}" for one in meeting["meeting_transcripts"]]
        for query in meeting["specific_query_list"]:
            for first, last in query["relevant_text_span"]:
                turns = said[int(first) : int(last) + 1]
                if not turns:
                    continue
                middle = re.sub(r"\{\w+\}", "", "\n".join(turns))
                yield Pair("query", query["query"], middle[: 2 * SPAN_CHARS])
                yield Pair("query", query["answer"][:600], middle[: 2 * SPAN_CHARS])
            yield Pair("query", query["query"], query["answer"][:SPAN_CHARS])


def _read_requests(mirror: Path, chance: random.Random) -> Iterator[Pair]:
    rows = json.loads(_show(mirror, "HEAD:data/data_full.json"))
    intents: dict[str, list[str]] = {}
    for part in ("train", "val", "test"):
        for text, intent in rows[part]:
            intents.setdefault(intent, []).append(text)
    for _, texts in sorted(intents.items()):
        for text in chance.sample(texts, min(60, len(texts))):
            yield Pair("request", text, chance.choice(texts))


if __name__ == "__main__":
    main()
