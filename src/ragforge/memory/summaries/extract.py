"""Extract: summaries without a model. The same turns always give the same summary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ragforge.domain.summaries import Summary
from ragforge.domain.text import shorten_words
from ragforge.domain.turns import Turn
from ragforge.memory.summaries import material
from ragforge.memory.summaries.material import Draft
from ragforge.search.words.foreign import ENGLISH
from ragforge.search.words.tokenise import WORDS

LEVEL_1_CHARS = 1_500
LEVEL_2_CHARS = 3_000
LINE_CHARS = 300
MIN_LINE_CHARS = 60
ACTION_CHARS = 600
FINDINGS = 6
LASTING_FINDINGS = 12
TOPICS = 6

_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_TELLING = re.compile(
    r"""\b(?:because|caused?|root\ cause|reason|turned\ out|fix(?:ed|es)?|solved|bug|error|fails?
    |failed|decided|decision|agreed|must|never|always|instead|prefer|remember|works?|broken
    |parce\ que|cause|corrigée?s?|résolue?s?|erreurs?|échoue|échec|décidée?|il\ faut|toujours|jamais
    |weil|ursache|behoben|gelöst|fehler|scheitert|entschieden|beschlossen|muss|immer|niemals|stattdessen
    |porque|causa|corregid[oa]|resuelt[oa]|errores|falla|decidido|decidimos|debe|nunca|siempre
    |perché|corretto|risolto|errore|errori|fallisce|deciso|deve|sempre|mai
    |corrigid[oa]|resolvid[oa]|erros?|falha|omdat|oorzaak|opgelost|fout|mislukt|besloten|moet|altijd|nooit
    |потому|причина|исправ\w+|ошибк\w+|решили|решено|нужно|всегда|никогда)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_][\w-]{2,}")


def summarise_turns(turns: Sequence[Turn]) -> Draft:
    """Return a summary of turns made of their sentences."""
    weights = _count_words(turns)
    share = max(MIN_LINE_CHARS, LEVEL_1_CHARS // max(1, len(turns)))
    lines = [_write_line(turn, weights, min(share, LINE_CHARS)) for turn in turns]
    return Draft(
        conversation_summary=_fit_lines(filter(None, lines), LEVEL_1_CHARS) or "Nothing was said.",
        actions_summary=_list_actions(turns),
        key_findings=_pick_findings(turns, weights),
        topics=_pick_topics(turns),
    )


def summarise_summaries(summaries: Sequence[Summary]) -> Draft:
    """Return a summary of summaries: their beginnings and their findings."""
    share = max(MIN_LINE_CHARS, LEVEL_2_CHARS // max(1, len(summaries)))
    heads = [shorten_words(summary.conversation_summary, share) for summary in summaries]
    actions = [summary.actions_summary for summary in summaries if summary.actions_summary]
    topics = Counter(topic for summary in summaries for topic in summary.topics)
    return Draft(
        conversation_summary=_fit_lines(heads, LEVEL_2_CHARS),
        actions_summary=_fit_lines(actions, 2 * ACTION_CHARS),
        key_findings=pick_lasting_findings(summaries),
        topics=[topic for topic, _ in topics.most_common(TOPICS)],
    )


def pick_lasting_findings(summaries: Sequence[Summary]) -> list[str]:
    """Return the newest findings, each once."""
    kept: dict[frozenset[str], str] = {}
    for summary in summaries:
        for finding in summary.key_findings:
            words = frozenset(WORDS.query(finding))
            kept.pop(words, None)
            kept[words] = finding
    return list(kept.values())[-LASTING_FINDINGS:]


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, without blocks of code."""
    parts = _SENTENCE_END.split(_CODE_BLOCK.sub("\n", text))
    return [line for part in parts if (line := " ".join(part.split()).strip("#*-> "))]


def _count_words(turns: Sequence[Turn]) -> Counter[str]:
    """Return in how many turns each word occurs."""
    said = [f"{turn.user.content} {turn.answer}" for turn in turns]
    return Counter(word for text in said for word in set(WORDS.query(text)))


def _write_line(turn: Turn, weights: Counter[str], chars: int) -> str:
    """Return a turn as one line: the question, and the sentence that answers it best."""
    asked = " ".join(split_sentences(turn.user.content)[:2]) or " ".join(turn.user.content.split())
    answers = split_sentences(turn.answer)
    if not answers:
        return shorten_words(asked, chars)
    wanted = set(WORDS.query(turn.user.content))
    best = max(answers, key=lambda line: _score_sentence(line, weights, wanted))
    half = max(chars // 2, chars - len(best) - 4)
    asked = shorten_words(asked, half)
    return f"{asked} → {shorten_words(best, max(MIN_LINE_CHARS // 2, chars - len(asked) - 3))}"


def _score_sentence(sentence: str, weights: Counter[str], wanted: set[str]) -> float:
    """Score a sentence by the words that the conversation repeats and the question contains."""
    words = WORDS.query(sentence)
    if not words:
        return 0.0
    weight = sum(weights[word] + 2 * (word in wanted) for word in words)
    telling = 1.5 if _TELLING.search(sentence) else 1.0
    return float(weight * telling / (4 + len(words)))


def _pick_findings(turns: Sequence[Turn], weights: Counter[str]) -> list[str]:
    telling = [
        line for turn in turns for line in split_sentences(turn.answer) if _TELLING.search(line)
    ]
    ranked = sorted(
        set(telling), key=lambda line: (-_score_sentence(line, weights, set()), telling.index(line))
    )
    chosen = set(ranked[:FINDINGS])
    return [shorten_words(line, LINE_CHARS) for line in dict.fromkeys(telling) if line in chosen]


def _list_actions(turns: Sequence[Turn]) -> str:
    calls = [call for turn in turns for call in turn.tool_calls]
    lines = []
    for name, count in material.count_tools(turns).items():
        of_tool = [call for call in calls if call.tool_name == name]
        failed = sum(not call.success for call in of_tool)
        given = dict.fromkeys(material.format_call(call) for call in of_tool)
        some = "; ".join(line.removeprefix(name).strip() for line in list(given)[:3])
        lines.append(f"{name} ×{count}{f', {failed} failed' if failed else ''}: {some}")
    return _fit_lines(lines, ACTION_CHARS)


def _pick_topics(turns: Sequence[Turn]) -> list[str]:
    """Return the most frequent words, in their commonest spelling."""
    spellings: dict[str, Counter[str]] = {}
    for turn in turns:
        text = _CODE_BLOCK.sub(" ", f"{turn.user.content} {turn.answer}")
        language = WORDS.detect_language(text)
        fillers = WORDS.get_fillers(language) | WORDS.get_fillers(ENGLISH)
        for word in _WORD.findall(text):
            if word.lower() not in fillers:
                spellings.setdefault(WORDS.stem(word, language), Counter())[word] += 1
    ranked = sorted(spellings.items(), key=lambda pair: (-pair[1].total(), pair[0]))
    return [spelt.most_common(1)[0][0] for _, spelt in ranked[:TOPICS]]


def _fit_lines(lines: Iterable[str], chars: int) -> str:
    """Return lines as one text; if it is too long, each line is cut to its share."""
    lines = list(lines)
    whole = "\n".join(lines)
    if len(whole) <= chars:
        return whole
    share = max(1, chars // len(lines) - 1)
    return "\n".join(shorten_words(line, share) for line in lines)[:chars]
