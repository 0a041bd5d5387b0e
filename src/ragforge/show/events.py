"""Events of a turn, and its answer, as JSON; retries as a line. See docs/terminal.md."""

from __future__ import annotations

from ragforge import events
from ragforge.domain.answers import Answer
from ragforge.domain.chat import Usage
from ragforge.domain.text import Json


def format_retry(event: events.Waiting) -> str:
    """Return why a model is asked again, and when."""
    problem = event.problem.rstrip(".")
    return f"{problem}. Attempt {count_attempt(event)} follows in {event.seconds:.0f} s."


def count_attempt(event: events.Waiting) -> str:
    """Return which attempt it is, and of how many."""
    return f"{event.attempt} of {event.attempts}" if event.attempts else str(event.attempt)


def event_to_json(event: events.Event) -> dict[str, Json]:
    """Return an event as an object whose `type` says what it is."""
    match event:
        case events.QuestionStored():
            return {
                "type": "asked",
                "conversation_id": event.conversation_id,
                "turn_index": event.turn_index,
            }
        case events.ContextBuilt():
            return {"type": "context", "receipt": event.receipt.to_json()}
        case events.Text():
            return {"type": "text", "text": event.text}
        case events.Reasoning():
            return {"type": "reasoning", "text": event.text}
        case events.ToolStarted():
            return {
                "type": "tool_started",
                "id": event.id,
                "name": event.name,
                "arguments": event.arguments,
                "depth": event.depth,
            }
        case events.ToolFinished():
            return {
                "type": "tool_finished",
                "id": event.id,
                "name": event.name,
                "arguments": event.arguments,
                "result": event.result,
                "success": event.success,
                "error": event.error,
                "duration_ms": event.duration_ms,
                "depth": event.depth,
            }
        case events.CommandPrinted():
            return {"type": "command_printed", "text": event.text}
        case events.Waiting():
            return {
                "type": "waiting",
                "model": event.model,
                "attempt": event.attempt,
                "attempts": event.attempts or None,
                "problem": event.problem or None,
                "seconds": round(event.seconds, 1),
                "chars": event.chars or None,
            }
        case events.Used():
            return {
                "type": "used",
                "usage": usage_to_json(event.usage),
                "window_share": event.window_share and round(event.window_share, 4),
            }
        case events.Noticed():
            return {"type": "notice", "text": event.text}
        case events.Done():
            return {"type": "done", "answer": answer_to_json(event.answer)}


def answer_to_json(answer: Answer) -> dict[str, Json]:
    """Return an answer with everything that belongs to it."""
    return {
        "content": answer.content,
        "conversation_id": answer.conversation_id,
        "turn_index": answer.turn_index,
        "model": answer.model,
        "problem": answer.problem,
        "stopped": answer.stopped,
        "reasoning": answer.reasoning,
        "tool_calls": [
            {
                "name": call.tool_name,
                "arguments": call.arguments,
                "success": call.success,
                "error": call.result.error if call.result else None,
                "duration_ms": call.duration_ms,
            }
            for call in answer.tool_calls
        ],
        "usage": usage_to_json(answer.usage),
        "receipt": answer.receipt.to_json(),
        "passages": [
            {
                "source": p.source,
                "score": round(p.score, 4),
                "text": p.text,
                "file": p.file,
                "line": p.line if p.file else None,
            }
            for p in answer.passages
        ],
    }


def usage_to_json(usage: Usage) -> dict[str, Json]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "usd": usage.usd,
    }
