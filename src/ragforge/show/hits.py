"""Hits in code and memory, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragforge.domain.conversations import AGENT
from ragforge.domain.hits import MIN_RELEVANCE
from ragforge.domain.instants import format_instant
from ragforge.domain.receipts import describe_absent
from ragforge.domain.text import Json, to_text
from ragforge.show.console import (
    Fields,
    fit_line,
    get_theme,
    open_console,
    print_note,
    round_score,
    sanitise,
)
from ragforge.show.notes import note_to_json
from ragforge.show.sessions import name_other
from ragforge.show.snippets import choose_lines, choose_text, compile_words, cut_snippet

if TYPE_CHECKING:
    from ragforge.app.features.code import CodeHit, DocumentHit
    from ragforge.app.features.memory import StaleCode
    from ragforge.domain.code import Scope
    from ragforge.domain.hits import HistoryHit

WIDEST = 100
SNIPPET_LINES = 4


_SCOPE = Fields(
    "file=scope.file start_line=scope.start_line end_line=scope.end_line"
    " name=scope.qualified_name type=scope.type language=scope.language score=relevance signals"
    " signature=scope.signature source=scope.source",
    score=round_score,
)
document_to_json = Fields("place excerpt")
_FOUND = Fields("timestamp score=relevance confidence found_by", score=round_score)
_TURN = Fields(
    "turn_id=turn.uuid turn_index=turn.user.turn_index author=turn.user.author"
    " question=turn.user.content answer=turn.answer"
)
_SUMMARY = Fields(
    "summary_id=uuid start_turn_index end_turn_index summary=conversation_summary"
    " actions=actions_summary findings=key_findings files=files_mentioned topics made_by"
)


def code_to_json(hit: CodeHit) -> dict[str, object]:
    dated = {} if hit.fetched_at is None else {"fetched_at": format_instant(hit.fetched_at)}
    return _SCOPE(hit) | dated


def show_code(found: Sequence[CodeHit], query: str, unknown: Sequence[str] = ()) -> None:
    """Show places, names and the best lines, with the colours of their language.

    Words of the query that occur nowhere in the project, `unknown`, are named first.
    """
    from rich.syntax import Syntax
    from rich.text import Text

    if unknown:
        print_note(describe_absent(unknown))
    if not found:
        print_note("Nothing found. `ragforge status` shows what is indexed of this project.")
        return
    if found[0].relevance < MIN_RELEVANCE:
        print_note("Nothing fits well; this is the nearest:")
    out = open_console()
    for hit in found:
        scope = hit.scope
        head = Text(f"{sanitise(scope.file)}:{scope.start_line}-{scope.end_line}", style="cyan")
        head.append(f"  {sanitise(scope.qualified_name)}", style="bold")
        if hit.fetched_at is not None:
            head.append(f"  fetched {hit.fetched_at:%Y-%m-%d}", style="magenta")
        head.append(f"  {hit.relevance:.2f}  {', '.join(hit.signals)}", style="dim")
        out.print(head, soft_wrap=True)
        lines = [sanitise(line) for line in list_lines(scope, query)]
        if out.is_terminal and out.color_system:
            shown = Syntax("\n".join(lines), scope.language or "text", theme=get_theme().code)
            out.print(shown)
        else:
            for line in lines:
                out.print(f"  {line}", highlight=False, soft_wrap=True)


def show_documents(found: Sequence[DocumentHit]) -> None:
    """Show documents and configuration files after code: a place and a passage of each."""
    from rich.text import Text

    if not found:
        return
    out = open_console()
    out.print(Text("\nDocuments and configuration", style="bold"))
    width = max(min(out.width - 2, WIDEST), 20)
    for hit in found:
        head = Text(f"{sanitise(hit.file)}:{hit.start_line}-{hit.end_line}", style="cyan")
        if hit.heading:
            head.append(f"  {sanitise(hit.heading)}", style="bold")
        out.print(head, soft_wrap=True)
        for line in cut_snippet(sanitise(hit.excerpt), None, width):
            out.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)


def list_lines(scope: Scope, query: str) -> list[str]:
    """Return a few lines of a scope: the one with its name, and those with most of the words."""
    lines = [line.rstrip() for line in scope.source.split("\n")]
    naming = min(scope.name_line - scope.start_line, len(lines) - 1)
    places = choose_lines(lines, compile_words(query), SNIPPET_LINES, naming)
    shown = [lines[place] for place in places if lines[place].strip()]
    margin = min((len(line) - len(line.lstrip()) for line in shown), default=0)
    return [line[margin : margin + WIDEST] for line in shown]


def memory_to_json(
    hit: HistoryHit, aged: Sequence[StaleCode], agents: Mapping[str, str] | None = None
) -> dict[str, object]:
    facts: dict[str, object] = {
        "type": hit.type,
        "level": hit.level,
        "conversation_id": hit.conversation_id,
        "agent": (agents or {}).get(hit.conversation_id or "", AGENT),
        **_FOUND(hit),
        "aged": [str(one) for one in aged],
    }
    if hit.type == "turn":
        return facts | _TURN(hit)
    return facts | (note_to_json(hit.note) if hit.type == "note" else _SUMMARY(hit.summary))


def show_memory(
    found: Sequence[tuple[HistoryHit, Sequence[StaleCode]]],
    query: str,
    everywhere: bool,
    viewer: str | None = None,
    agents: Mapping[str, str] | None = None,
) -> None:
    """Show when and where something was said, how it was found, and the words that match.

    Authors are named unless they are the viewer; so are agents, given by conversation.
    """
    from rich.text import Text

    if not found:
        print_note("Nothing found." if everywhere else "Nothing found. Try --all.")
        return
    out = open_console()
    width = max(min(out.width - 4, WIDEST), 20)
    pattern = compile_words(query)
    for hit, aged in found:
        head = Text(f"{hit.timestamp:%Y-%m-%d %H:%M}", style="cyan")
        head.append(f"  {sanitise(hit.conversation_id)[:8]}", style="dim")
        head.append(f"  {sanitise(_describe_place(hit))}", style="bold")
        author = hit.turn.user.author if hit.type == "turn" else None
        author = hit.note.author if hit.type == "note" else author
        if other := name_other(author, viewer):
            head.append(f"  {other}", style="magenta")
        if agent := (agents or {}).get(hit.conversation_id or ""):
            head.append(f"  {fit_line(agent, 40)}", style="magenta")
        head.append(f"  {hit.relevance:.2f}  {', '.join(hit.found_by)}", style="dim")
        out.print(head, soft_wrap=True)
        title, texts = list_texts(hit)
        lines = cut_snippet(sanitise(choose_text(texts, pattern)), pattern, width)
        shown = [Text(f"  {fit_line(title, width)}", style="bold")] if title else []
        for line in (*shown, *(Text(f"    {line}") for line in lines)):
            if pattern is not None:
                line.highlight_regex(pattern, style="yellow")
            out.print(line)
        for one in aged:
            out.print(Text(f"    {fit_line(str(one), width)}", style="magenta"))


def _describe_place(hit: HistoryHit) -> str:
    if hit.type == "note":
        return f"note {hit.note.uuid[:8]}"
    first, last = hit.turn_range
    if hit.type == "turn":
        return f"turn {first}"
    turns = f"turn {first}" if first == last else f"turns {first}-{last}"
    return f"summary {hit.level} of {turns}"


def list_texts(hit: HistoryHit) -> tuple[str, list[str]]:
    """Return the title of a hit, and the texts that may show why it was found."""
    if hit.type == "turn":
        turn = hit.turn
        results = [to_text(call.result.result) for call in turn.tool_calls if call.result]
        said = [m.content for m in turn.replies if m.role == "assistant"]
        return turn.user.content, [turn.answer, *said, *results]
    if hit.type == "note":
        return "", [hit.note.text]
    summary = hit.summary
    return "", [summary.conversation_summary, summary.actions_summary, *summary.key_findings]


_FACTS = {"type", "also", "signature", "source", "name"}


def show_explored(found: Mapping[str, Json]) -> None:
    """Show one answer, or those of several things with one name."""
    answers = found.get("answers")
    for answer in answers if isinstance(answers, list) else [found]:
        if isinstance(answer, dict):
            _show_answer(answer)
    others = found.get("others")
    if isinstance(others, list):
        _show_places("others of this name", others)


def _show_answer(answer: Mapping[str, Json]) -> None:
    from rich.text import Text

    out = open_console()
    place = answer.get("place") or answer.get("file")
    if place is not None:
        head = Text(sanitise(str(place)), style="bold")
        out.print(head.append(f"  {answer.get('type', '')}", style="dim"), soft_wrap=True)
    also = answer.get("also")
    if isinstance(also, list):
        _show_places("also in", also)
    for fact in ("signature", "source"):
        if answer.get(fact):
            text = sanitise(str(answer[fact]))
            out.print(text, highlight=False, markup=False, soft_wrap=True)
    for heading, places in answer.items():
        if heading in {"place", "file", *_FACTS}:
            continue
        if isinstance(places, list) and places:
            _show_places(heading if heading != "several" else "several have this name", places)
    if answer.get("more"):
        print_note(f"{answer['more']} more are not listed: use --limit.")
    if isinstance(note := answer.get("note"), str):
        out.print(Text(f"  {note}", style="dim"), soft_wrap=True)
    if isinstance(likely := answer.get("most_likely"), dict):
        print_note("The most likely one:")
        _show_answer(likely)


def _show_places(heading: str, places: Sequence[Json]) -> None:
    from rich.text import Text

    out = open_console()
    out.print(Text(f"  {heading.replace('_', ' ')}", style="cyan"), soft_wrap=True)
    for place in places:
        text = f"    {sanitise(str(place))}"
        out.print(text, highlight=False, markup=False, soft_wrap=True)
