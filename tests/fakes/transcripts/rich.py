"""Rich: a session of each agent that writes lines, with all its traps."""

from __future__ import annotations

from collections.abc import Callable

from ragforge.transcripts.claude_code import CLAUDE_CODE
from ragforge.transcripts.codex import CODEX
from ragforge.transcripts.copilot import COPILOT
from ragforge.transcripts.cursor import CURSOR
from ragforge.transcripts.gemini import GEMINI
from ragforge.transcripts.kimi import KIMI
from ragforge.transcripts.qwen import QWEN
from ragforge.transcripts.source import TranscriptSource
from tests.fakes.transcripts import claude_code, codex, copilot, cursor, gemini, kimi, qwen
from tests.fakes.transcripts.files import Line

RICH: list[tuple[TranscriptSource, Callable[[], list[Line]]]] = [
    (CLAUDE_CODE, lambda: list(claude_code.make_rich_session().lines)),
    (CODEX, lambda: list(codex.make_rich_session().lines)),
    (GEMINI, lambda: list(gemini.make_rich_session().lines)),
    (COPILOT, lambda: list(copilot.make_rich_session().lines)),
    (QWEN, lambda: list(qwen.make_rich_session().lines)),
    (KIMI, lambda: list(kimi.make_rich_session().lines)),
    (CURSOR, lambda: list(cursor.make_rich_session())),
]
