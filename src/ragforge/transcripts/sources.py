"""Sources: all agents whose transcripts are read."""

from __future__ import annotations

from ragforge.transcripts.aider import AIDER
from ragforge.transcripts.claude_code import CLAUDE_CODE
from ragforge.transcripts.cline import CLINE, ROO
from ragforge.transcripts.codex import CODEX
from ragforge.transcripts.copilot import COPILOT
from ragforge.transcripts.cursor import CURSOR
from ragforge.transcripts.gemini import GEMINI
from ragforge.transcripts.goose import GOOSE
from ragforge.transcripts.kimi import KIMI
from ragforge.transcripts.opencode import OPENCODE
from ragforge.transcripts.qwen import QWEN
from ragforge.transcripts.source import TranscriptSource

SOURCES: tuple[TranscriptSource, ...] = (
    *(CLAUDE_CODE, CODEX, GEMINI, OPENCODE, AIDER),
    *(COPILOT, QWEN, KIMI, CURSOR, GOOSE, CLINE, ROO),
)
