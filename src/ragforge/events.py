"""Events: what a program receives while a turn runs.

async for event in conversation.stream_message("Where is the login?"):
    match event:
        case Text(text):
            print(text, end="")
        case ToolStarted(name=name, arguments=arguments):
            print(f"\\n[{name} {arguments}]")
"""

from ragforge.agent.events import (
    CommandPrinted,
    ContextBuilt,
    Done,
    Event,
    Noticed,
    OnEvent,
    QuestionStored,
    Reasoning,
    Text,
    ToolFinished,
    ToolStarted,
    Used,
    Waiting,
)

__all__ = [
    "CommandPrinted",
    "ContextBuilt",
    "Done",
    "Event",
    "Noticed",
    "OnEvent",
    "QuestionStored",
    "Reasoning",
    "Text",
    "ToolFinished",
    "ToolStarted",
    "Used",
    "Waiting",
]
