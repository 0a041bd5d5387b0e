"""Offers: what RagForge can do for an editor, as the protocol lists it."""

from __future__ import annotations

from collections.abc import Sequence

from acp import PROTOCOL_VERSION, schema

from ragforge.acp.texts import clean
from ragforge.app.features.user_commands import PromptFile
from ragforge.domain.conversations import Conversation
from ragforge.domain.modes import MODES, Mode

_MODES: dict[Mode, tuple[str, str]] = {
    "ask": ("Ask", "You are asked before each change."),
    "plan": ("Plan", "Nothing is changed; the answer is a plan."),
    "accept-edits": ("Accept edits", "Files of the project are edited without asking."),
    "auto": ("Auto", "Files are edited and commands run in a sandbox without asking."),
}

RETRY = "/retry"
UNDO = "/undo"
_BUILT_IN = {
    RETRY: "Resume the last turn if it was interrupted or has no answer",
    UNDO: "Revert the last change of a file",
}


def introduce(version: str, *, sees: bool) -> schema.InitializeResponse:
    """Return the name and the capabilities of the agent; `sees`: whether it accepts images.

    There is only one version of the protocol so far.
    """
    return schema.InitializeResponse(
        protocol_version=PROTOCOL_VERSION,
        agent_info=schema.Implementation(name="ragforge", title="RagForge", version=version),
        agent_capabilities=schema.AgentCapabilities(
            load_session=True,
            prompt_capabilities=schema.PromptCapabilities(embedded_context=True, image=sees),
            mcp_capabilities=schema.McpCapabilities(http=True, sse=False),
            session_capabilities=schema.SessionCapabilities(
                list=schema.SessionListCapabilities(),
                fork=schema.SessionForkCapabilities(),
                resume=schema.SessionResumeCapabilities(),
                close=schema.SessionCloseCapabilities(),
            ),
        ),
        auth_methods=[],
    )


def list_modes(current: Mode, has_auto: bool) -> schema.SessionModeState:
    """Return the modes that can be used, and which is on."""
    modes = [
        schema.SessionMode(id=mode, name=_MODES[mode][0], description=_MODES[mode][1])
        for mode in MODES
        if mode != "auto" or has_auto
    ]
    return schema.SessionModeState(current_mode_id=current, available_modes=modes)


def list_commands(files: Sequence[PromptFile]) -> list[schema.AvailableCommand]:
    """Return our commands and those that the user or the trusted project wrote."""
    ours = [
        schema.AvailableCommand(name=name.removeprefix("/"), description=text)
        for name, text in _BUILT_IN.items()
    ]
    own = [
        schema.AvailableCommand(
            name=one.name,
            description=clean(one.description),
            input=schema.AvailableCommandInput(
                schema.UnstructuredCommandInput(hint=clean(one.argument_hint))
            )
            if one.argument_hint
            else None,
        )
        for one in files
        if f"/{one.name}" not in _BUILT_IN
    ]
    return ours + own


def describe_session(one: Conversation) -> schema.SessionInfo:
    """Return a session as a line of a list."""
    title = None if one.title is None else clean(one.title)
    return schema.SessionInfo(
        session_id=one.uuid, cwd=one.cwd, title=title, updated_at=one.updated_at.isoformat()
    )
