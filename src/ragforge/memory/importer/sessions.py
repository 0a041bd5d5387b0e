"""Sessions: what a transcript says of its sessions, and the conversations they become."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ragforge.domain.conversations import Conversation, Identity, ToolCall, estimate_tokens
from ragforge.domain.projects import ProjectPlace
from ragforge.domain.text import Json, to_text
from ragforge.domain.transcripts import (
    CallResult,
    IntakeStep,
    NewConversation,
    NewMessage,
    ReportedUsage,
    SessionUpdate,
)
from ragforge.memory.record import clean_call
from ragforge.memory.sessions import TITLE_CHARS, shorten_to_title, sign
from ragforge.transcripts.record import SessionFacts
from ragforge.transcripts.session_builder import MAX_BRANCHES, Begin, Step

MAX_SESSIONS = 64
"""How many sessions of a transcript are remembered between two readings: the newest."""


@dataclass(slots=True)
class _Session:
    """What is known of a session."""

    facts: SessionFacts
    titles: dict[str, str | None] = field(default_factory=dict)  # conversation → as it was named


@dataclass(slots=True)
class SessionBook:
    """Makes steps for the store of a builder's steps, which know no projects and users."""

    agent: str
    identity: Identity
    max_result_chars: int
    make_id: Callable[..., str]
    places: Mapping[str, ProjectPlace]  # working directory → its project
    folder: str  # the working directory of sessions that name none
    is_excluded: Callable[[str], bool] = lambda _: False  # nothing is imported from such a folder
    _sessions: dict[str, _Session] = field(default_factory=dict)
    _left_out: set[str] = field(default_factory=set)  # ids of conversations and messages
    _unnamed: dict[str, _Session] = field(default_factory=dict)  # conversation → its session

    def save(self) -> Json:
        """Return what has to be stored with the cursor."""
        newest = list(self._sessions.items())[-MAX_SESSIONS:]
        return {name: [_save_facts(one.facts), one.titles] for name, one in newest}

    def load(self, state: Json) -> None:
        """Restore what `save` returned; None starts over."""
        for name, (facts, titles) in (state or {}).items():
            self._sessions[name] = known = _Session(SessionFacts(name, *facts), dict(titles))
            self._unnamed |= {one: known for one, title in titles.items() if title is None}
            if self.is_excluded(self._find_folder(known)):
                self._left_out |= known.titles.keys()

    @property
    def leaves_out(self) -> bool:
        """Whether something was left out because its folder is excluded."""
        return bool(self._left_out)

    def list_folders(self) -> dict[str, str | None]:
        """Return the working directories of the sessions, with the addresses of repositories."""
        known = (one.facts for one in self._sessions.values())
        return {
            facts.cwd: facts.remote
            for facts in known
            if facts.cwd and not self.is_excluded(facts.cwd)
        }

    def translate(self, steps: Iterable[Step]) -> list[IntakeStep]:
        """Return the steps for the store, with texts as they are stored."""
        return [made for step in steps for made in self._translate(step)]

    def _translate(self, step: Step) -> Iterator[IntakeStep]:
        if isinstance(step, SessionFacts):
            yield from self._learn(step)
        elif isinstance(step, Begin):
            yield from self._begin(step)
        elif isinstance(step, NewMessage):
            yield from self._add(step)
        elif isinstance(step, ReportedUsage):
            if step.record.conversation_id not in self._left_out:
                yield step
        elif step.message_id not in self._left_out:
            yield replace(step, call=self._cut(step.call)) if isinstance(step, CallResult) else step

    def _get(self, session: str) -> _Session:
        known = self._sessions.pop(session, None) or _Session(SessionFacts(session))
        self._sessions[session] = known  # as the newest
        return known

    def _learn(self, new: SessionFacts) -> Iterator[SessionUpdate]:
        """Note the facts of a session, and yield what is new of those that may change."""
        known = self._get(new.session)
        before, known.facts = known.facts, _merge(known.facts, new)
        after = known.facts
        if (before.branch, before.version, before.title) == (
            after.branch,
            after.version,
            after.title,
        ):
            return
        for conversation_id, given in known.titles.items():
            title = after.title if after.title != before.title else None
            yield SessionUpdate(conversation_id, after.version, after.branch, title, given)
            known.titles[conversation_id] = title or given

    def _find_folder(self, session: _Session) -> str:
        return session.facts.cwd or self.folder

    def _begin(self, step: Begin) -> Iterator[NewConversation]:
        known = self._get(step.session)
        facts = known.facts
        known.titles[step.conversation_id] = facts.title
        if len(known.titles) > MAX_BRANCHES:
            del known.titles[next(iter(known.titles))]
        if facts.title is None:
            self._unnamed[step.conversation_id] = known
        cwd = self._find_folder(known)
        if self.is_excluded(cwd):
            self._left_out.add(step.conversation_id)
            return
        place = self.places.get(cwd) or ProjectPlace.at(cwd)
        is_child = facts.is_subagent and facts.parent is not None
        conversation = Conversation(
            cwd,
            place.path,
            uuid=step.conversation_id,
            title=facts.title,
            created_at=step.at,
            updated_at=step.at,
            agent=self.agent,
            project_id=place.id,
            agent_version=facts.version,
            agent_session=step.session,
            git_branch=facts.branch,
            parent_id=self.make_id("session", facts.parent) if is_child else None,
        )
        yield NewConversation(sign(conversation, self.identity), step.after)

    def _add(self, step: NewMessage) -> Iterator[IntakeStep]:
        said = step.message
        if step.conversation_id in self._left_out:
            self._left_out.add(said.uuid)
            return
        is_user = said.role == "user"
        message = replace(
            said,
            tool_calls=tuple(self._cut(call) for call in said.tool_calls),
            token_count=estimate_tokens(said) if said.token_count is None else said.token_count,
            author=self.identity.author if is_user else None,
        )
        yield replace(step, message=message)
        if is_user:
            yield from self._name(step.conversation_id, message.content)

    def _cut(self, call: ToolCall) -> ToolCall:
        """Return a call as it is stored: most are small, and transcripts hold valid JSON."""
        result = None if call.result is None else call.result.result
        max_chars = self.max_result_chars
        if len(to_text(call.arguments)) <= max_chars and len(to_text(result)) <= max_chars:
            return call
        if call.result is None or not isinstance(result, dict) or "changes" not in result:
            return clean_call(call, max_chars)
        # Which files were changed must not be lost with the end of a long output.
        output_only = replace(call, result=replace(call.result, result=result.get("output")))
        cut = clean_call(output_only, max_chars)
        assert cut.result is not None
        changes = [
            {name: value for name, value in change.items() if name != "diff"}
            for change in result["changes"]
        ]
        kept = {"output": cut.result.result, "changes": changes}
        return replace(cut, result=replace(cut.result, result=kept))

    def _name(self, conversation_id: str, question: str) -> Iterator[SessionUpdate]:
        """Name a conversation by its first question, until the agent names it."""
        known = self._unnamed.pop(conversation_id, None)
        if known is not None and known.titles.get(conversation_id, "") is None:
            title = shorten_to_title(question, TITLE_CHARS)
            known.titles[conversation_id] = title
            yield SessionUpdate(conversation_id, title=title)


def _merge(before: SessionFacts, new: SessionFacts) -> SessionFacts:
    """Return all that is known of a session: its first directory, and else the newest."""
    return replace(
        new,
        cwd=before.cwd or new.cwd,
        branch=new.branch or before.branch,
        version=new.version or before.version,
        title=new.title or before.title,
        parent=new.parent or before.parent,
        is_subagent=new.is_subagent or before.is_subagent,
        remote=before.remote or new.remote,
    )


def _save_facts(facts: SessionFacts) -> Json:
    """Return the fields of a session but its name, in their order."""
    names = ("cwd", "branch", "version", "title", "parent", "is_subagent", "remote")
    return [getattr(facts, name) for name in names]
