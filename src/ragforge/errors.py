"""Every error RagForge raises.

RagForgeError
├── SettingsError                 a configuration file, variable or option is wrong
├── InputError                    the caller's input cannot be stored or used
│   ├── InvalidText               a lone surrogate: not encodable as UTF-8
│   ├── InvalidId                 empty or too long
│   ├── InvalidTime               a timestamp without a time zone
│   ├── InvalidJson               not representable as JSON
│   ├── ImportRefused             an exported conversation that cannot be read
│   ├── TranscriptUnreadable      another agent's transcript that cannot be understood at all
│   ├── AmbiguousId               several ids start with the given text
│   ├── NotAuthor                 another author's session or note, which can only be read
│   ├── OutsideProject            a path that leads out of the project
│   ├── BadPattern                a regular expression or glob that cannot be used
│   └── InvalidVector             empty, zero, NaN or infinite
│       └── DimensionMismatch     not the length of its model's vectors
├── Declined                      the user, or a rule of the user, refused permission
├── JobRefused                    a job that may never be done here
├── FetchFailed                   a web page cannot be read, or may not be
├── ServerError                   a server of tools does not answer, or says that it cannot
│   └── ServerGone                its connection has ended
├── ModelError                    a model cannot do its task
│   ├── ModelMissing              none is configured, or its library is not installed
│   ├── KeyRejected               the provider's key is missing or wrong
│   ├── RequestRefused            the provider does not accept this request, now or later
│   │   ├── ToolsUnsupported      this model cannot call tools
│   │   └── ContextOverflow       the request is longer than the model's window
│   ├── ModelUnavailable          the provider fails; a retry may help
│   │   ├── ModelUnreachable      nothing answers at the provider's address
│   │   └── ModelBusy             too many requests; it may say how long to wait
│   ├── AnswerInterrupted         an answer stopped in the middle
│   ├── BadAnswer                 the answer cannot be read, or does not fit its schema
│   ├── SpendCapReached           the next request could cost more than is allowed
│   ├── SubAgentLimit             the sub-agents of a turn have used what they may use
│   └── EmbedderUnavailable       the embedding model cannot be loaded
└── StoreError
    ├── NotFound
    │   ├── ConversationNotFound
    │   ├── MessageNotFound
    │   ├── TurnNotFound
    │   ├── SummaryNotFound
    │   ├── NoteNotFound
    │   ├── PassageNotFound
    │   ├── ProjectNotFound
    │   ├── FileNotKnown
    │   ├── ScopeNotFound
    │   └── JobNotFound
    ├── DuplicateId               the id is already in use
    ├── LeaseLost                 another process has taken the job or the lock
    ├── CopyIncomplete            a copy lacks records of its source
    └── StoreUnavailable          it cannot be used at all, or not now
        ├── StoreBusy             another process held it for too long
        ├── StoreCorrupt
        ├── StoreReadOnly
        │   └── SchemaTooOld      opened only for reading, it cannot be upgraded
        ├── StoreFull
        └── SchemaTooNew          written by a newer RagForge
"""

from __future__ import annotations

from collections.abc import Sequence


class RagForgeError(Exception):
    """The root of all errors. Its message is shown to the user, who can act on it."""


class SettingsError(RagForgeError):
    """A setting is unknown or has a bad value; the message names key and origin."""


class InputError(RagForgeError):
    """The caller's input cannot be stored or used; nothing was changed."""


class InvalidText(InputError):
    """The text holds a lone surrogate."""

    def __init__(self, field: str, position: int) -> None:
        super().__init__(
            f"{field} holds a lone surrogate at character {position}: it is not valid Unicode. "
            "Decode the text again, replacing what cannot be decoded."
        )
        self.position = position


class InvalidId(InputError):
    """An id is empty or too long."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field} {reason}")


class InvalidTime(InputError):
    """A timestamp has no time zone."""

    def __init__(self, field: str, value: object) -> None:
        super().__init__(f"{field} is {value!r}: it needs a date, a time and a time zone offset")


class InvalidJson(InputError):
    """A value is not representable as JSON."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field} is not representable as JSON: {reason}")


class ImportRefused(InputError):
    """A document is not a valid exported conversation; nothing was changed."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"This cannot be imported: {reason}. Nothing was changed.")
        self.reason = reason


class TranscriptUnreadable(InputError):
    """A transcript of another agent cannot be understood at all; others still can be."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"{path} cannot be read: {reason}")
        self.reason = reason


class AmbiguousId(InputError):
    """Several ids start with the given text."""

    def __init__(self, kind: str, prefix: str, candidates: Sequence[str]) -> None:
        found = "; ".join(candidates)
        super().__init__(f"Several {kind}s start with {prefix!r}: {found}. Give more of the id.")
        self.prefix = prefix
        self.candidates = tuple(candidates)


class NotAuthor(InputError):
    """Another author's session or note may be read, and not changed."""

    def __init__(self, kind: str, uuid: str, author: str) -> None:
        hint = " Branch from it to continue it." if kind == "session" else ""
        super().__init__(
            f"The {kind} {uuid[:8]} belongs to {author}, and only they may change it.{hint}"
        )


class OutsideProject(InputError):
    """A path leads out of the project."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path!r} is outside of the project.")
        self.path = path


class BadPattern(InputError):
    """A regular expression or a glob cannot be used."""

    def __init__(self, kind: str, pattern: str, reason: str) -> None:
        super().__init__(f"The {kind} {pattern!r} cannot be used: {reason}.")
        self.pattern = pattern
        self.reason = reason


class InvalidVector(InputError):
    """A vector cannot be compared with others."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The embedding is unusable: {reason}")


class DimensionMismatch(InvalidVector):
    """A vector does not have the length of its model's vectors."""

    def __init__(self, model: str, expected: int, actual: int) -> None:
        super().__init__(f"vectors of {model!r} have {expected} dimensions, this one has {actual}")
        self.model = model
        self.expected = expected
        self.actual = actual


class Declined(RagForgeError):
    """A tool may not do what it wanted to do; the message is for the model."""


class JobRefused(RagForgeError):
    """A job names something that this process may not touch; trying again would not help."""


class FetchFailed(RagForgeError):
    """A web page cannot be read, or may not be; the message is for the model and the user."""


class ServerError(RagForgeError):
    """A server of tools does not answer, or says that it cannot."""

    def __init__(self, server: str, problem: str) -> None:
        super().__init__(f"MCP server {server}: {problem}")
        self.server = server
        self.problem = problem


class ServerGone(ServerError):
    """The connection to a server has ended."""


class ModelError(RagForgeError):
    """A model cannot do its task."""


class ModelMissing(ModelError):
    """No model is configured, or its library is not installed."""


class KeyRejected(ModelError):
    """The provider's key is missing or wrong."""


class RequestRefused(ModelError):
    """The provider does not accept this request, now or later."""


class ToolsUnsupported(RequestRefused):
    """This model cannot call tools."""


class ContextOverflow(RequestRefused):
    """The request is longer than the model's window; a shorter one may be accepted."""

    def __init__(self, message: str, window: int | None = None) -> None:
        super().__init__(message)
        self.window = window  # in tokens, where the provider said so


class ModelUnavailable(ModelError):
    """The provider fails; a retry may help."""


class ModelUnreachable(ModelUnavailable):
    """Nothing answers at the provider's address."""


class ModelBusy(ModelUnavailable):
    """The provider accepts no more requests for a while."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after  # seconds, where the provider said so


class AnswerInterrupted(ModelError):
    """An answer stopped in the middle, after some of it was shown."""


class BadAnswer(ModelError):
    """A model's answer cannot be read, or does not fit its schema."""


class SpendCapReached(ModelError):
    """No further request is made: the next one could exceed the spend cap."""

    def __init__(self, spent: float, cap: float) -> None:
        super().__init__(
            f"The spend cap of {cap:.2f} USD is reached ({spent:.4f} USD are spent). "
            "Raise it with the setting llm.max_spend_usd."
        )


class SubAgentLimit(ModelError):
    """The sub-agents of a turn have used what they may use together."""


class EmbedderUnavailable(ModelError):
    """The embedding model cannot be loaded."""


class StoreError(RagForgeError):
    """The store cannot do its task."""


class NotFound(StoreError):
    """Nothing has this id."""

    kind = "item"

    def __init__(self, wanted: str) -> None:
        super().__init__(f"No {self.kind} {wanted!r}")
        self.wanted = wanted


class ConversationNotFound(NotFound):
    kind = "conversation"


class MessageNotFound(NotFound):
    kind = "message"


class TurnNotFound(NotFound):
    kind = "turn"


class SummaryNotFound(NotFound):
    kind = "summary"


class NoteNotFound(NotFound):
    kind = "note"


class PassageNotFound(NotFound):
    kind = "passage"


class ProjectNotFound(NotFound):
    kind = "project"


class FileNotKnown(NotFound):
    kind = "file"


class ScopeNotFound(NotFound):
    kind = "scope"


class JobNotFound(NotFound):
    kind = "job"


class DuplicateId(StoreError):
    """The id is already in use."""

    def __init__(self, kind: str, wanted: str) -> None:
        super().__init__(f"There is already a {kind} {wanted!r}")
        self.kind = kind
        self.wanted = wanted


class LeaseLost(StoreError):
    """Another process holds the job or lock now; the caller's work must not count."""

    def __init__(self, what: str) -> None:
        super().__init__(f"The lease on {what!r} was lost to another process")
        self.what = what


class CopyIncomplete(StoreError):
    """A copied store lacks records of its source."""


class StoreUnavailable(StoreError):
    """The store cannot be opened or does not answer."""


class StoreBusy(StoreUnavailable):
    """Another process held the store for longer than the time limit."""


class StoreCorrupt(StoreUnavailable):
    """The file is damaged or is not a RagForge store."""


class StoreReadOnly(StoreUnavailable):
    """The store's file or folder cannot be written to."""


class SchemaTooOld(StoreReadOnly):
    """The store is opened only for reading, and must be upgraded first."""


class StoreFull(StoreUnavailable):
    """The disk is full; nothing of the failed write was kept."""


class SchemaTooNew(StoreUnavailable):
    """The store was written by a newer RagForge."""

    def __init__(self, location: str, found: int, known: int) -> None:
        super().__init__(
            f"{location} has schema {found}, this RagForge knows up to {known}. "
            "Upgrade RagForge, or choose another store with --store."
        )
        self.found = found
        self.known = known
