"""Trust: what RagForge may do with a folder, and what it asks the user about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from ragforge.config.files import find_project_file
from ragforge.config.mcp_client import PROJECT_SERVERS, ProjectServers, read_project_servers
from ragforge.config.settings import Settings
from ragforge.config.trust import (
    NOTHING_SENSITIVE,
    FolderDecision,
    ProjectFileState,
    ProposedSettings,
    TrustFile,
    format_moment,
    read_proposed_settings,
)
from ragforge.errors import InputError
from ragforge.folders import find_project, is_project, is_too_wide
from ragforge.memory.sessions import normalise
from ragforge.records import dataclass

# For the doors, from the rooms below.
__all__ = ["FolderDecision"]


@dataclass(frozen=True, slots=True)
class FolderTrust:
    """What may be done with a project's folder.

    The user's answers are read each time: another terminal may have changed them.
    """

    root: Path
    file: TrustFile
    by_program: bool = False  # the program that opened RagForge trusts the folder

    @classmethod
    def of(cls, settings: Settings, root: Path, by_program: bool = False) -> FolderTrust:
        """Return the trust in the project at a root."""
        return cls(root, TrustFile(Path(settings.agent.state_dir)), by_program)

    @classmethod
    def around(cls, settings: Settings, cwd: Path) -> FolderTrust:
        """Return the trust in the project of a directory."""
        return cls.of(settings, find_project(normalise(cwd)))

    @property
    def is_too_wide(self) -> bool:
        """Whether the folder is a home directory or the like, which needs an explicit yes."""
        return is_too_wide(self.root)

    @property
    def obeys(self) -> bool:
        """Whether the folder's instruction files are followed."""
        return self.by_program or self.file.find(self.root).trusted is True

    def starts(self, servers: ProjectServers) -> bool:
        """Whether the servers of the folder's `.mcp.json` are started, as the user saw them."""
        decision = self.file.find(self.root)
        return self.by_program or decision.judge(PROJECT_SERVERS, servers.digest) == "in force"

    @property
    def reads(self) -> bool:
        """Whether the folder's files are read: it is a project, or the user said yes."""
        if self.by_program or is_project(self.root):
            return True
        return self.file.find(self.root).readable is True

    @property
    def was_refused(self) -> bool:
        """Whether the user said that the folder's files are not to be read."""
        return self.file.find(self.root).readable is False

    def answer_reading(self, yes: bool) -> None:
        """Remember whether the folder's files may be read. Raises InputError."""
        decision = self.file.find(self.root)
        changed = replace(decision, readable=yes, decided_at=format_moment())
        self.file.remember(self.root, changed)

    def allow_by_name(self) -> None:
        """Remember that the user asked to read the folder by name.

        Raises InputError for a home directory and the like, which need an explicit yes.
        """
        if self.reads:
            return
        if self.is_too_wide:
            raise InputError(
                f"{self.root} is more than one project, so it is not read without a yes: "
                f"`ragforge ingest --yes {self.root}` reads all of it."
            )
        self.answer_reading(True)

    def describe_unread(self) -> str:
        """Return why nothing in the folder is read, in one line."""
        what = "more than a project" if self.is_too_wide else "not a project"
        return (
            f"{self.root} is {what}: its files are not read; "
            "`ragforge trust` allows it, memory works without."
        )


@dataclass(frozen=True, slots=True)
class TrustQuestion:
    """What in a folder needs the user's trust, and what the user decided before."""

    root: Path
    decision: FolderDecision
    file: Path | None  # the project's file that applies in the directory
    proposed: ProposedSettings
    instructions: tuple[str, ...]
    is_project: bool  # its files are read without the user's yes
    servers: ProjectServers = field(default_factory=ProjectServers)

    @property
    def state(self) -> ProjectFileState:
        """Whether what is there is in force."""
        state = self.decision.judge(self._name, self.proposed.digest or NOTHING_SENSITIVE)
        return self.servers_state if state == "in force" and self.servers.entries else state

    @property
    def servers_state(self) -> ProjectFileState:
        """Whether the servers of `.mcp.json` are started."""
        return self.decision.judge(PROJECT_SERVERS, self.servers.digest)

    @property
    def has_something(self) -> bool:
        """Whether there is anything to trust."""
        return self.file is not None or bool(self.instructions) or bool(self.servers.entries)

    @property
    def ignored(self) -> tuple[str, ...]:
        """The files that instruct or start nothing as long as the question is open."""
        servers = (PROJECT_SERVERS,) if self.servers.entries else ()
        return servers if self.decision.trusted else (*self.instructions, *servers)

    @property
    def is_open(self) -> bool:
        """Whether the user was not asked yet, or something changed since."""
        return self.has_something and self.state in ("not trusted", "changed")

    def answer(self, settings: Settings, yes: bool) -> TrustQuestion:
        """Remember the user's answer to exactly what was shown, and return it as answered.

        Raises InputError if it cannot be remembered.
        """
        digests = {
            **self.decision.settings,
            PROJECT_SERVERS: self.servers.digest,
            self._name: self.proposed.digest or NOTHING_SENSITIVE,
        }
        readable = self.decision.readable if self.is_project else yes
        answered = FolderDecision(yes, readable, digests, format_moment())
        TrustFile(Path(settings.agent.state_dir)).remember(self.root, answered)
        return replace(self, decision=answered)

    @property
    def _name(self) -> str:
        return "" if self.file is None else self.file.relative_to(self.root).as_posix()


def examine_folder(settings: Settings, cwd: Path) -> TrustQuestion:
    """Return what in the folder of a directory needs trust."""
    from ragforge.context.instructions import find_instruction_files  # most commands ask nothing
    from ragforge.tools.prompt_files import find_project_prompts

    place = normalise(cwd)
    root = find_project(place)
    file = find_project_file(place)
    return TrustQuestion(
        root,
        TrustFile(Path(settings.agent.state_dir)).find(root),
        file,
        ProposedSettings() if file is None else read_proposed_settings(file),
        (
            *find_instruction_files(root, place),
            *(f"/{one.name}" for one in find_project_prompts(root, "commands")),
            *(f"skill {one.name}" for one in find_project_prompts(root, "skills")),
            *(f"agent {one.name}" for one in find_project_prompts(root, "agents")),
        ),
        is_project(root),
        read_project_servers(root),
    )


def list_trust(settings: Settings) -> Mapping[str, FolderDecision]:
    """Return every folder that was decided about, by its path."""
    return TrustFile(Path(settings.agent.state_dir)).find_all()
