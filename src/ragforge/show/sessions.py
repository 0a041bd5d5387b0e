"""Sessions, their turns, and those that touched some code, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from ragforge.domain import conversations
from ragforge.domain.code import TOUCH_KINDS
from ragforge.domain.conversations import AGENT, SHORT_ID, name_other_agent
from ragforge.domain.text import to_text
from ragforge.errors import ConversationNotFound
from ragforge.show.console import (
    Fields,
    fit_line,
    open_console,
    print_note,
    print_table,
    round_score,
    sanitise,
)

if TYPE_CHECKING:
    from rich.console import Console

    from ragforge.app import App
    from ragforge.app.features.sessions import (
        ConversationAbout,
        SessionDetail,
        SessionLine,
        SimilarConversation,
        TouchedCode,
        TurnState,
    )
    from ragforge.domain.code import Touch
    from ragforge.domain.conversations import Conversation, ToolCall
    from ragforge.domain.hits import HistoryHit
    from ragforge.domain.summaries import Summary
    from ragforge.domain.turns import Turn

NO_TITLE = "(no title)"
DAYS = 30
WIDEST = 100


async def load_sessions(app: App, hits: Iterable[HistoryHit]) -> dict[str, Conversation]:
    """Return the sessions of hits by their ids; deleted ones are left out."""
    found = {}
    for uuid in dict.fromkeys(hit.conversation_id for hit in hits if hit.conversation_id):
        with suppress(ConversationNotFound):  # a note outlives its session
            found[uuid] = await app.sessions.load(uuid)
    return found


def shorten_id(uuid: str) -> str:
    """Return as much of an id as is shown."""
    return uuid[:SHORT_ID]


def name_session(conversation: Conversation) -> str:
    """Return a session's short id and title, for a sentence."""
    title = fit_line(conversation.title or "", 60)
    return f"{shorten_id(conversation.uuid)} ({title})" if title else shorten_id(conversation.uuid)


def count_turns(conversation: Conversation) -> str:
    """Return how many turns a session has, in words."""
    return "1 turn" if conversation.turn_count == 1 else f"{conversation.turn_count} turns"


def format_age(moment: datetime, today: datetime) -> str:
    """Return how long ago something was, in one or two words; after a month, the date."""
    minutes = int((today - moment).total_seconds()) // 60
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes} min ago"
    if minutes < 24 * 60:
        return f"{minutes // 60} h ago"
    days = minutes // (24 * 60)
    if days > DAYS:
        return f"{moment:%Y-%m-%d}"
    return "1 day ago" if days == 1 else f"{days} days ago"


def describe_session(conversation: Conversation, width: int) -> str:
    """Return a session's title, and after it what the session was about, on one line."""
    title = fit_line(conversation.title or NO_TITLE, 60)
    summary = conversation.summary or ""
    return fit_line(f"{title}: {summary}" if summary.strip() else title, width)


def name_other(author: str | None, viewer: str | None) -> str:
    """Return the name of an author, empty if it is the viewer, who is given by the key."""
    return fit_line(conversations.name_other(author, viewer), 40)


def show_sessions(
    lines: Sequence[SessionLine], with_directory: bool, viewer: str | None = None
) -> None:
    """Show sessions as a table, with their directory or the time they began, and who else's."""
    second = "Directory" if with_directory else "Started"
    texts = ["Title", "About", "Last message"]
    with_summary = any(line.conversation.summary for line in lines)
    if not with_summary:
        texts.remove("About")
    rows = [_make_row(line, with_directory, with_summary) for line in lines]
    columns = ["Session", second, "Last active", "Turns", *texts]
    others = [name_other(line.conversation.author, viewer) for line in lines]
    if any(others):
        columns.insert(1, "Author")
        for row, author in zip(rows, others, strict=True):
            row.insert(1, author)
    agents = [name_other_agent(line.conversation.agent) for line in lines]
    if any(agents):
        columns.insert(1, "Agent")
        for row, agent in zip(rows, agents, strict=True):
            row.insert(1, fit_line(agent, 40))
    print_table(columns, rows, one_line_each=texts)


def _make_row(line: SessionLine, with_directory: bool, with_summary: bool) -> list[str]:
    about = line.conversation
    marks = ["(archived)"] if about.status == "archived" else []
    marks += ["(private)"] if about.visibility == "private" else []
    marks += [f"#{tag}" for tag in about.tags]
    return [
        shorten_id(about.uuid),
        about.cwd if with_directory else f"{about.created_at:%Y-%m-%d %H:%M}",
        f"{about.updated_at:%Y-%m-%d %H:%M}",
        str(about.turn_count),
        fit_line(" ".join([about.title or "", *marks]), 60),
        *([fit_line(about.summary or "", 80)] if with_summary else []),
        fit_line(line.last_message, 60),
    ]


session_to_json = Fields(
    "conversation_id=uuid title summary status cwd project_path tags turn_count created_at"
    " updated_at author agent agent_version agent_session git_branch parent_id visibility"
)
_SIMILARITY = Fields(
    "score found_by turn_index=turn.user.turn_index question=turn.user.content", score=round_score
)


def line_to_json(line: SessionLine) -> dict[str, object]:
    return {**session_to_json(line.conversation), "last_message": line.last_message}


def similar_to_json(one: SimilarConversation) -> dict[str, object]:
    return session_to_json(one.conversation) | _SIMILARITY(one)


def show_similar(
    found: Sequence[SimilarConversation], everywhere: bool, viewer: str | None = None
) -> None:
    """Show sessions that were about the same thing, and the turn that says most."""
    from rich.text import Text

    if not found:
        print_note("Nothing found." if everywhere else "Nothing found. Try --all.")
        return
    out = open_console()
    for one in found:
        about = one.conversation
        head = Text(shorten_id(about.uuid), style="cyan")
        head.append(f"  {one.score:.2f}  {', '.join(one.found_by)}", style="dim")
        head.append(f"  {about.updated_at:%Y-%m-%d %H:%M}", style="dim")
        if everywhere:
            head.append(f"  {sanitise(about.cwd)}", style="dim")
        if other := name_other(about.author, viewer):
            head.append(f"  {other}", style="magenta")
        if agent := name_other_agent(about.agent):
            head.append(f"  {fit_line(agent, 40)}", style="magenta")
        head.append(f"  {fit_line(about.title or NO_TITLE, WIDEST)}", style="bold")
        out.print(head)
        if about.summary:
            out.print(f"  {fit_line(about.summary, WIDEST)}")
        if one.turn is not None:
            out.print(f"  turn {one.turn.user.turn_index}: ", style="dim", end="")
            out.print(fit_line(one.turn.user.content, WIDEST))


TEXT_CHARS = 1_000
CALL_CHARS = 100


def detail_to_json(found: SessionDetail) -> dict[str, object]:
    return {
        **session_to_json(found.conversation),
        "branch_of": found.branch_of,
        "branches": list(found.branches),
        "turns": [turn_to_json(turn, found.states.turns.get(turn.uuid)) for turn in found.turns],
        "summaries": [
            _SUMMARY_PLACE(one) | {"covers": list(covers)} | _SUMMARY(one)
            for one, covers in found.summaries
        ],
        "failed_jobs": [_FAILED_JOB(job) for job in found.states.failed_jobs],
    }


def turn_to_json(turn: Turn, state: TurnState | None = None) -> dict[str, object]:
    return {
        **_TURN(turn),
        "messages": [_MESSAGE(said) for said in (turn.user, *turn.replies)],
        "tool_calls": [_CALL(call) for call in turn.tool_calls],
        "states": list(state.names) if state else ["stored"],
        "error": state.error if state else None,
    }


_TURN = Fields(
    "turn_index=user.turn_index turn_id=uuid timestamp=user.timestamp author=user.author"
    " question=user.content answer"
)
_MESSAGE = Fields("message_id=uuid role content reasoning model token_count usd")
_CALL = Fields("tool_name arguments success duration_ms result=result.result error=result.error")
_SUMMARY_PLACE = Fields("summary_id=uuid level start_turn_index end_turn_index")
_SUMMARY = Fields(
    "parent_summaries conversation_summary actions_summary key_findings files_mentioned made_by"
)
_FAILED_JOB = Fields("key kind error")


def show_detail(found: SessionDetail, wanted: int, full: bool) -> None:
    """Show a session with its latest turns and its summaries; long texts are cut unless `full`."""
    out = open_console()
    _show_head(out, found)
    turns = found.turns
    shown = turns[len(turns) - wanted :] if wanted < len(turns) else turns
    if len(shown) < len(turns):
        verb = "is" if len(shown) == 1 else "are"
        print_note(
            f"{len(shown)} of {len(turns)} turns {verb} shown. --turns {len(turns)} shows all."
        )
    for turn in shown:
        _show_turn(out, turn, found.states.turns.get(turn.uuid), full)
    for summary, covers in found.summaries:
        _show_summary(out, summary, covers, full)
    for job in found.states.failed_jobs:
        print_note(f"A job failed permanently: {job.kind}: {job.error}")


def _show_head(out: Console, found: SessionDetail) -> None:
    about = found.conversation
    out.print(fit_line(about.title or NO_TITLE, 200), style="bold")
    facts = [
        ("session", about.uuid),
        ("directory", about.cwd),
        ("author", about.author or ""),
        ("agent", "" if about.agent == AGENT else about.agent),
        ("visible to", "only you" if about.visibility == "private" else "all users of the store"),
        ("status", about.status),
        ("tags", ", ".join(about.tags)),
        ("started", f"{about.created_at:%Y-%m-%d %H:%M}"),
        ("last active", f"{about.updated_at:%Y-%m-%d %H:%M}"),
        ("turns", str(about.turn_count)),
        ("branch of", shorten_id(found.branch_of) if found.branch_of else ""),
        ("branches", ", ".join(map(shorten_id, found.branches))),
        ("about", fit_line(about.summary or "", 500)),
    ]
    for name, value in facts:
        if value:
            out.print(f"  {name:<12}", style="dim", end="")
            out.print(sanitise(value))


def _show_turn(out: Console, turn: Turn, state: TurnState | None, full: bool) -> None:
    from rich.text import Text

    names = state.names if state else ("stored",)
    out.print()
    head = Text(f"Turn {turn.user.turn_index}", style="cyan")
    head.append(f"  {turn.user.timestamp:%Y-%m-%d %H:%M}", style="cyan")
    head.append(f"  {shorten_id(turn.uuid)}", style="dim")
    head.append(f"  {', '.join(names)}", style="bold red" if "failed" in names else "dim")
    out.print(head)
    if state is not None and state.error is not None:
        out.print(f"  {fit_line(state.error, 200)}", style="red")
    _show_text(out, turn.user.content, full, style="bold")
    for said in turn.replies:
        for call in said.tool_calls:
            out.print(f"  {_format_call(call)}", style="dim")
        if said.content.strip():
            _show_text(out, said.content, full)


def _format_call(call: ToolCall) -> str:
    given = fit_line(to_text(call.arguments), CALL_CHARS)
    line = f"→ {sanitise(call.tool_name)} {given}"
    if call.result is None:
        return f"{line}: interrupted"
    gave = call.result.error if call.result.error else to_text(call.result.result)
    how = "" if call.success else "failed, "
    return f"{line}: {how}{call.duration_ms} ms, {fit_line(gave, CALL_CHARS)}"


def _show_summary(out: Console, summary: Summary, covers: Sequence[int], full: bool) -> None:
    from rich.text import Text

    out.print()
    head = Text(f"Summary L{summary.level}", style="magenta")
    head.append(f"  {_describe_coverage(summary, covers)}", style="magenta")
    head.append(f"  {shorten_id(summary.uuid)}  by {sanitise(summary.made_by)}", style="dim")
    out.print(head)
    _show_text(out, summary.conversation_summary, full)
    for text in (summary.actions_summary, *summary.key_findings):
        if text.strip():
            _show_text(out, text, full, style="dim")


def _describe_coverage(summary: Summary, covers: Sequence[int]) -> str:
    first, last = summary.start_turn_index, summary.end_turn_index
    if summary.level == 2:
        made_of = ", ".join(shorten_id(parent) for parent in summary.parent_summaries)
        return f"turns {first} to {last}, made of {made_of}"
    if list(covers) == list(range(first, last + 1)):
        return f"turns {first} to {last}"
    return f"turns {', '.join(map(str, covers)) or 'none any more'}"


def _show_text(out: Console, text: str, full: bool, style: str = "") -> None:
    shown_text = text if full or len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS].rstrip()} …"
    for line in sanitise(shown_text).rstrip().split("\n"):
        out.print(f"  {line}".rstrip(), style=style)


TURNS = 10
THINGS = 5
COMMITS = 5


def about_to_json(one: ConversationAbout) -> dict[str, object]:
    touched = [_TOUCH(code) | {"since": _since_to_json(code)} for code in one.touched]
    return {**session_to_json(one.conversation), "touched": touched}


_TOUCH = Fields(
    "turn_index=touch.first_turn last_turn_index=touch.last_turn by_summary=touch.by_summary"
    " timestamp=touch.when how=touch.how file=touch.file name=touch.name"
)
_STATE = Fields("same_content=is_same commits", commits=Fields("id date=when author subject"))


def _since_to_json(code: TouchedCode) -> dict[str, object]:
    since = code.since
    first, last = since.lines or (None, None)
    return {
        "state": since.state,
        "text": since.describe(code.touch),
        "file": since.file,
        "name": since.name,
        "start_line": first,
        "end_line": last,
        **_STATE(since),
    }


def show_about(found: Sequence[ConversationAbout], with_directory: bool) -> None:
    """Show each session, the turns in which it touched the code, and what became of that."""
    from rich.text import Text

    out = open_console()
    for one in found:
        about = one.conversation
        head = Text(shorten_id(about.uuid), style="cyan")
        head.append(f"  {about.updated_at:%Y-%m-%d %H:%M}", style="dim")
        if with_directory:
            head.append(f"  {sanitise(about.cwd)}", style="dim")
        if agent := name_other_agent(about.agent):
            head.append(f"  {fit_line(agent, 40)}", style="magenta")
        head.append(f"  {fit_line(about.title or NO_TITLE, WIDEST)}", style="bold")
        out.print(head)
        groups = groupby(one.touched, lambda code: _format_turns(code.touch))
        turns = [list(group) for _, group in groups]
        for touched in turns[:TURNS]:
            _show_touched(touched)
        if len(turns) > TURNS:
            out.print(Text(f"  and {len(turns) - TURNS} more turns", style="dim"))


def _show_touched(touched: Sequence[TouchedCode]) -> None:
    from rich.text import Text

    out = open_console()
    strongest_first = sorted(touched, key=lambda one: TOUCH_KINDS.index(one.touch.how))
    for one in strongest_first[:THINGS]:
        touch, since = one.touch, one.since
        line = Text(f"  {_format_turns(touch)}  {touch.when:%Y-%m-%d %H:%M}", style="dim")
        line.append(f"  {touch.how}", style="bold")
        line.append(f"  {fit_line(touch.name or touch.file, WIDEST)}")
        if touch.name is not None:
            line.append(f"  {fit_line(touch.file, WIDEST)}", style="dim")
        out.print(line, soft_wrap=True)
        out.print(Text(f"    {fit_line(since.describe(touch), WIDEST)}", style="magenta"))
        for commit in (since.commits or ())[:COMMITS]:
            said = f"{commit.id} {commit.when:%Y-%m-%d} {commit.author}: {commit.subject}"
            out.print(Text(f"    {fit_line(said, WIDEST)}"), soft_wrap=True)
        if len(since.commits or ()) > COMMITS:
            more = len(since.commits or ()) - COMMITS
            out.print(Text(f"    and {more} more commits", style="dim"))
    if len(touched) > THINGS:
        out.print(Text(f"    and {len(touched) - THINGS} more", style="dim"))


def _format_turns(touch: Touch) -> str:
    if touch.first_turn == touch.last_turn:
        return f"turn {touch.first_turn}"
    return f"turns {touch.first_turn}-{touch.last_turn}"
