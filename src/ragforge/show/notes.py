"""Notes, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragforge.show.console import Fields, fit_line, open_console, print_note, print_table, sanitise
from ragforge.show.sessions import name_other, shorten_id

if TYPE_CHECKING:
    from ragforge.app.features.notes import Correction, Rule
    from ragforge.domain.notes import Note
    from ragforge.domain.summaries import Summary

WIDEST = 120


note_to_json = Fields(
    "note_id=uuid text tags supersedes is_rule corrects conversation_id project_path created_at"
    " author visibility"
)


rule_to_json = Fields(
    "id text when author source replaced_by=replaced_by.id", source=lambda name: name or "note"
)


correction_to_json = Fields("id newer older is_linked", newer=rule_to_json, older=rule_to_json)


def show_rules(rules: Sequence[Rule]) -> None:
    """Show rules as a table, with where they come from and what replaced them."""
    if not rules:
        print_note('There are no rules. `ragforge remember --rule "…"` adds one.')
        return
    rows = [
        [
            shorten_id(rule.id),
            f"{rule.when:%Y-%m-%d %H:%M}",
            fit_line(rule.text, WIDEST),
            fit_line(rule.source or "note", WIDEST),
            "" if rule.replaced_by is None else _name_replacing(rule.replaced_by),
        ]
        for rule in rules
    ]
    print_table(["Rule", "Kept", "Text", "Source", "State"], rows, one_line_each=("Text",))


def show_corrections(found: Sequence[Correction]) -> None:
    """Show pairs of which the newer replaces the older, or may."""
    for one in found:
        print_note(format_correction(one))


def format_correction(one: Correction) -> str:
    """Return a pair in three lines: its id, the newer statement, the older one."""
    may = "replaces" if one.is_linked else "may replace"
    lines = [f"{one.id}: the newer {may} the older"]
    for name, rule in (("newer", one.newer), ("older", one.older)):
        source = fit_line(name_source(rule), WIDEST)
        lines.append(f"  {name}: {fit_line(rule.text, WIDEST)} ({source}, {rule.when:%Y-%m-%d})")
    return "\n".join(lines)


def format_kept(
    note: Note, linked: Sequence[Correction], doubtful: Sequence[Correction]
) -> list[str]:
    """Return what was kept, what it replaces, and whether it may replace more."""
    what = " as a rule" if note.is_rule else ""
    lines = [f"Remembered{what} as {shorten_id(note.uuid)}."]
    lines += [
        f"{format_correction(one)}\n  undo: ragforge memory review --no {one.id}"
        for one in linked
        if not one.is_by_user
    ]
    if doubtful:
        lines.append("It may replace an older note. To decide, run: ragforge memory review")
    return lines


def name_source(rule: Rule) -> str:
    """Return where a rule comes from: the agent and the session, or the note."""
    return rule.source or f"note {shorten_id(rule.id)}"


def _name_replacing(rule: Rule) -> str:
    return f"replaced by {shorten_id(rule.id)}, {rule.when:%Y-%m-%d}"


def show_notes(
    found: Sequence[Note],
    *,
    with_project: bool,
    viewer: str | None,
    replaced: Mapping[str, Note] | None = None,
) -> None:
    """Show notes as a table, with their projects if wanted and authors who are not the viewer.

    `replaced` are the notes that replace others, by the ids of those.
    """
    replaced = replaced or {}
    if not found:
        print_note('No notes found. `ragforge memory remember "…"` adds one.')
        return
    authors = [name_other(note.author, viewer) for note in found]
    with_author = any(authors)
    last = [*(["Author"] if with_author else []), *(["Project"] if with_project else [])]
    rows = [
        [
            shorten_id(note.uuid),
            f"{note.created_at:%Y-%m-%d %H:%M}",
            fit_line(note.text, WIDEST),
            " ".join(_list_marks(note, replaced.get(note.uuid))),
            *([author] if with_author else []),
            *([note.project_path] if with_project else []),
        ]
        for note, author in zip(found, authors, strict=True)
    ]
    print_table(["Note", "Kept", "Text", "Tags", *last], rows, one_line_each=("Text",))


def _list_marks(note: Note, newer: Note | None) -> Iterator[str]:
    if note.is_rule:
        yield "rule"
    yield from (f"#{tag}" for tag in note.tags)
    if newer is not None:
        yield f"(replaced by {shorten_id(newer.uuid)}, {newer.created_at:%Y-%m-%d})"


def show_summaries(found: Sequence[Summary]) -> None:
    """Show summaries with their findings and files."""
    if not found:
        print_note("There are no summaries yet. Long conversations are summarised.")
        return
    out = open_console()
    for summary in found:
        place = f"session {summary.conversation_id[:8]}, turns {summary.start_turn_index}"
        place += f" to {summary.end_turn_index}"
        made = f"{summary.created_at:%Y-%m-%d %H:%M} by {summary.made_by}"
        out.print(f"L{summary.level}  {place}", style="bold", end="")
        out.print(f"  {made}", style="dim")
        out.print(sanitise(summary.conversation_summary))
        for finding in summary.key_findings:
            out.print(f"  - {sanitise(finding)}")
        if summary.files_mentioned:
            out.print(f"  Files: {sanitise(', '.join(summary.files_mentioned))}", style="dim")
        out.print()


summary_to_json = Fields(
    "summary_id=uuid conversation_id level turns=start_turn_index,end_turn_index"
    " chars=char_range_start,char_range_end conversation_summary actions_summary key_findings"
    " files_mentioned tools_used topics made_by created_at"
)
